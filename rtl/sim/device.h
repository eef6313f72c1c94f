// The microcontroller between USB and FPGA: takes requests, moves words in and out, knows which slots are occupied.
#pragma once

#include <memory>

#include "engine.h"
#include "flash.h"
#include "frame.h"
#include "usb.h"

enum class Status : uint8_t {
    ok = 0,
    coordinate_out_of_range = 1,
    not_on_curve = 2,
    infinity = 3,
    mismatch = 4,
    scalar_out_of_range = 5,
    slot_empty = 6,
    no_such_slot = 7,
    slot_occupied = 8,
    slot_protected = 9,
    no_flash = 10,
    flash_write_failed = 11,
    unknown_type = 12,
    wrong_length = 13,
    bad_frame = 14,
    engine_stuck = Engine::stuck,
};

struct DeviceOptions {
    Link link = Link::usb_high;
    uint32_t clock_hz = 100'000'000;
};

class Device {
public:
    // Without flash there are no predefined keys.
    Device(DeviceOptions options, std::unique_ptr<Flash> flash);

    Frame answer(const Frame& request);
    Frame answer_to_bad_frame(const Frame& as_read);

private:
    Status handle(const Frame& request, Bytes& result);
    Status compute(const struct Computation& computation, const Bytes& payload, Bytes& result);
    Status import_key(uint8_t slot, const Number& key);
    Status erase(uint8_t slot);
    void configure();
    bool occupied(uint8_t slot) const { return occupied_ >> slot & 1; }
    Frame framed(const Frame& request, uint8_t type, Status status, uint64_t cycles, const Bytes& result) const;

    DeviceOptions options_;
    std::unique_ptr<Flash> flash_;
    std::unique_ptr<Engine> engine_;
    uint64_t occupied_ = 0;  // bit i: slot i
    uint64_t cycles_before_configuration_ = 0;
};
