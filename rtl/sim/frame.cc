#include "frame.h"

namespace {

constexpr uint8_t start_byte = 0xa5;
constexpr size_t header_len = 5;
constexpr size_t crc_len = 4;

}  // namespace

uint32_t crc32(const uint8_t* bytes, size_t len) {
    uint32_t crc = 0xffffffff;
    for (size_t i = 0; i < len; i++) {
        crc ^= bytes[i];
        for (int bit = 0; bit < 8; bit++) crc = crc >> 1 ^ (crc & 1 ? 0xedb88320 : 0);
    }
    return ~crc;
}

void append(Bytes& bytes, uint64_t value, unsigned len) {
    for (unsigned i = len; i-- > 0;) bytes.push_back(uint8_t(value >> 8 * i));
}

Bytes encode(const Frame& frame) {
    Bytes bytes{start_byte, frame.type, frame.sequence};
    append(bytes, frame.payload.size(), 2);
    bytes.insert(bytes.end(), frame.payload.begin(), frame.payload.end());
    append(bytes, crc32(&bytes[1], bytes.size() - 1), crc_len);
    return bytes;
}

FrameReader::Found FrameReader::next(Frame& frame) {
    size_t skipped = 0;
    while (skipped < buffer_.size() && buffer_[skipped] != start_byte) skipped++;
    buffer_.erase(buffer_.begin(), buffer_.begin() + skipped);
    if (buffer_.size() < header_len) return Found::nothing;

    frame.type = buffer_[1];
    frame.sequence = buffer_[2];
    frame.payload.clear();
    size_t payload_len = size_t(buffer_[3]) << 8 | buffer_[4];
    if (payload_len > payload_len_max) {
        // Such a length says nothing about where the next frame begins.
        buffer_.erase(buffer_.begin());
        return Found::bad_frame;
    }
    size_t checked_len = header_len + payload_len;
    if (buffer_.size() < checked_len + crc_len) return Found::nothing;

    uint32_t crc = 0;
    for (size_t i = 0; i < crc_len; i++) crc = crc << 8 | buffer_[checked_len + i];
    bool good = crc == crc32(&buffer_[1], checked_len - 1);
    if (good) frame.payload.assign(buffer_.begin() + header_len, buffer_.begin() + checked_len);
    buffer_.erase(buffer_.begin(), buffer_.begin() + checked_len + crc_len);
    return good ? Found::frame : Found::bad_frame;
}
