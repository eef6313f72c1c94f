// The simulated accelerator as a process: frames in on standard input, frames out on standard output.
//
// It knows no wall clock. Times it reports are cycles of the simulated engine and a declared model of the link.
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <stdexcept>
#include <string>

#include "device.h"

// Verilator's runtime asks for simulated time; nothing here depends on it.
double sc_time_stamp() { return 0; }

namespace {

constexpr char usage[] =
    "usage: p256_engine [--link none|usb-full|usb-high] [--clock-hz HZ] [--flash FILE]\n"
    "Frames on standard input, answers on standard output; ends with its input.\n";

struct Arguments {
    DeviceOptions options;
    std::unique_ptr<Flash> flash;
};

Link link_of(const std::string& name) {
    if (name == "none") return Link::none;
    if (name == "usb-full") return Link::usb_full;
    if (name == "usb-high") return Link::usb_high;
    throw std::runtime_error("no link '" + name + "': none, usb-full or usb-high");
}

uint32_t clock_of(const std::string& text) {
    char* end = nullptr;
    errno = 0;
    unsigned long long hz = strtoull(text.c_str(), &end, 10);
    bool is_number = !text.empty() && text.find_first_not_of("0123456789") == std::string::npos;
    if (!is_number || errno || hz == 0 || hz > UINT32_MAX) throw std::runtime_error("no clock rate [Hz]: '" + text + "'");
    return uint32_t(hz);
}

Arguments parse(int count, char** words) {
    Arguments arguments;
    for (int i = 1; i < count; i += 2) {
        std::string name = words[i];
        if (i + 1 == count) throw std::runtime_error(name == "--help" ? "" : "no value for '" + name + "'");
        std::string value = words[i + 1];
        if (name == "--link") {
            arguments.options.link = link_of(value);
        } else if (name == "--clock-hz") {
            arguments.options.clock_hz = clock_of(value);
        } else if (name == "--flash") {
            arguments.flash = std::make_unique<Flash>(value);
        } else {
            throw std::runtime_error("no option '" + name + "'");
        }
    }
    return arguments;
}

bool send(const Frame& frame) {
    Bytes bytes = encode(frame);
    for (size_t done = 0; done < bytes.size();) {
        ssize_t written = write(STDOUT_FILENO, &bytes[done], bytes.size() - done);
        if (written < 0 && errno == EINTR) continue;
        if (written <= 0) return false;
        done += size_t(written);
    }
    return true;
}

bool serve(Device& device) {
    FrameReader reader;
    uint8_t bytes[4096];
    for (;;) {
        ssize_t len = read(STDIN_FILENO, bytes, sizeof bytes);
        if (len < 0 && errno == EINTR) continue;
        if (len <= 0) return len == 0;
        reader.push(bytes, size_t(len));
        Frame frame;
        for (auto found = reader.next(frame); found != FrameReader::Found::nothing; found = reader.next(frame)) {
            bool good = found == FrameReader::Found::frame;
            if (!send(good ? device.answer(frame) : device.answer_to_bad_frame(frame))) return false;
        }
    }
}

}  // namespace

int main(int count, char** words) {
    try {
        Arguments arguments = parse(count, words);
        Device device(arguments.options, std::move(arguments.flash));
        if (serve(device)) return 0;
        fprintf(stderr, "p256_engine: the link broke: %s\n", strerror(errno));
        return 1;
    } catch (const std::runtime_error& error) {
        if (*error.what()) fprintf(stderr, "p256_engine: %s\n", error.what());
        fputs(usage, stderr);
        return 2;
    }
}
