#include "flash.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>

#include "frame.h"

namespace {

// Magic, which slots are occupied, all keys, CRC-32 of what is before it.
constexpr char magic[] = "P256KEY1";
constexpr size_t magic_len = sizeof magic - 1;
constexpr size_t keys_at = magic_len + 1;
constexpr size_t crc_at = keys_at + predefined_slots * sizeof(Number);
constexpr size_t image_len = crc_at + 4;

bool write_all(int file, const Bytes& bytes) {
    for (size_t done = 0; done < bytes.size();) {
        ssize_t written = write(file, &bytes[done], bytes.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        done += size_t(written);
    }
    return fsync(file) == 0;
}

// Either the old image or the new one is there, whenever power is lost.
bool replace(const std::string& path, const Bytes& image) {
    std::string beside = path + ".new";
    int file = open(beside.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
    if (file < 0) return false;
    bool written = write_all(file, image);
    written = close(file) == 0 && written;
    if (written && rename(beside.c_str(), path.c_str()) == 0) return true;
    unlink(beside.c_str());
    return false;
}

}  // namespace

Flash::Flash(std::string path) : path_(std::move(path)) {
    FILE* file = fopen(path_.c_str(), "rb");
    if (!file) {
        if (errno == ENOENT) return;
        throw std::runtime_error(path_ + ": " + strerror(errno));
    }
    Bytes image(image_len + 1);
    image.resize(fread(image.data(), 1, image.size(), file));
    fclose(file);
    bool good = image.size() == image_len && memcmp(image.data(), magic, magic_len) == 0;
    if (good) {
        uint32_t crc = 0;
        for (size_t i = crc_at; i < image_len; i++) crc = crc << 8 | image[i];
        good = crc == crc32(image.data(), crc_at);
    }
    if (!good) throw std::runtime_error("flash corrupt: " + path_);
    for (unsigned slot = 0; slot < predefined_slots; slot++) {
        if (!(image[magic_len] >> slot & 1)) continue;
        keys_[slot].emplace();
        std::copy_n(&image[keys_at + slot * sizeof(Number)], sizeof(Number), keys_[slot]->begin());
    }
}

bool Flash::store(unsigned slot, const std::optional<Number>& key) {
    auto changed = keys_;
    changed[slot] = key;
    Bytes image(magic, magic + magic_len);
    uint8_t occupied = 0;
    for (unsigned i = 0; i < predefined_slots; i++) occupied |= uint8_t(changed[i].has_value() << i);
    image.push_back(occupied);
    for (const auto& each : changed) {
        Number number = each.value_or(Number{});
        image.insert(image.end(), number.begin(), number.end());
    }
    append(image, crc32(image.data(), image.size()), 4);
    if (!replace(path_, image)) return false;
    keys_ = changed;
    return true;
}
