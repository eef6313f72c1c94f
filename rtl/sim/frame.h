// Frames of the link: start byte, type, sequence, length, payload, CRC-32. README.md has the table.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

using Bytes = std::vector<uint8_t>;

constexpr size_t payload_len_max = 512;
constexpr size_t frame_overhead = 9;  // start, type, sequence, two of length, four of CRC

struct Frame {
    uint8_t type = 0;
    uint8_t sequence = 0;
    Bytes payload;

    // Bytes of it on the link.
    size_t wire_len() const { return frame_overhead + payload.size(); }
};

// CRC-32 of IEEE 802.3, as zlib has it.
uint32_t crc32(const uint8_t* bytes, size_t len);

Bytes encode(const Frame& frame);

// Numbers are big-endian.
void append(Bytes& bytes, uint64_t value, unsigned len);

// Finds frames in a stream of bytes.
class FrameReader {
public:
    enum class Found { nothing, frame, bad_frame };

    void push(const uint8_t* bytes, size_t len) { buffer_.insert(buffer_.end(), bytes, bytes + len); }

    // The next frame. Of a bad one only type and sequence are filled in, as they were read.
    Found next(Frame& frame);

private:
    Bytes buffer_;
};
