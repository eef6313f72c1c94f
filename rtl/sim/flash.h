// The memory beside the FPGA from which it is configured: the predefined keys, in the clear, as in a bitstream.
#pragma once

#include <optional>
#include <string>

#include "engine.h"

constexpr unsigned predefined_slots = 8;

class Flash {
public:
    // A file that does not exist is an empty flash. Throws std::runtime_error if it cannot be read or is not one.
    explicit Flash(std::string path);

    const std::optional<Number>& key(unsigned slot) const { return keys_[slot]; }

    // Sets or clears a key. False, and nothing changed, if the file could not be written.
    bool store(unsigned slot, const std::optional<Number>& key);

private:
    std::string path_;
    std::array<std::optional<Number>, predefined_slots> keys_;
};
