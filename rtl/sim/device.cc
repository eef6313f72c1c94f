#include "device.h"

#include <algorithm>

// A request that is numbers in, an operation, numbers out.
struct Computation {
    uint8_t type;
    uint8_t operation;
    bool uses_key;  // the payload begins with the slot
    // Where the payload's numbers go: indices of input registers.
    unsigned inputs;
    uint8_t input[5];
    unsigned outputs;
};

namespace {

enum Type : uint8_t {
    info = 0x01,
    slots = 0x02,
    reload = 0x03,
    import = 0x10,
    provision = 0x11,
    erase_key = 0x12,
    diagnose = 0x70,
};
constexpr uint8_t is_answer = 0x80;
constexpr uint8_t unreadable = 0xff;

constexpr Computation computations[] = {
    {0x13, Engine::public_key, true, 0, {}, 2},
    {0x20, Engine::base, false, 1, {0}, 2},
    {0x21, Engine::point, false, 3, {0, 3, 4}, 2},
    {0x22, Engine::dual, false, 4, {0, 1, 3, 4}, 2},
    {0x23, Engine::agree, true, 2, {3, 4}, 1},
    {0x24, Engine::sign, true, 3, {1, 0, 2}, 2},
    {0x25, Engine::verify, false, 5, {0, 1, 2, 3, 4}, 0},
    {0x26, Engine::check, false, 2, {3, 4}, 0},
};

constexpr uint16_t protocol_version = 1;
constexpr uint8_t slot_count = 64;
constexpr uint8_t diagnoses = 5;

Number number_at(const Bytes& payload, size_t at) {
    Number number;
    std::copy_n(payload.begin() + at, number.size(), number.begin());
    return number;
}

}  // namespace

Device::Device(DeviceOptions options, std::unique_ptr<Flash> flash) : options_(options), flash_(std::move(flash)) {
    configure();
}

void Device::configure() {
    if (engine_) cycles_before_configuration_ += engine_->cycles();
    engine_ = std::make_unique<Engine>();
    occupied_ = 0;
    for (uint8_t slot = 0; flash_ && slot < predefined_slots; slot++) {
        // Only what the engine took was ever stored; a file made by hand may hold something else, and that is left out.
        if (const auto& key = flash_->key(slot)) import_key(slot, *key);
    }
}

Frame Device::answer(const Frame& request) {
    Bytes result;
    uint64_t before = cycles_before_configuration_ + engine_->cycles();
    Status status = handle(request, result);
    if (status != Status::ok) result.clear();
    uint64_t cycles = cycles_before_configuration_ + engine_->cycles() - before;
    return framed(request, request.type | is_answer, status, cycles, result);
}

Frame Device::answer_to_bad_frame(const Frame& as_read) {
    return framed(as_read, unreadable, Status::bad_frame, 0, {});
}

Frame Device::framed(const Frame& request, uint8_t type, Status status, uint64_t cycles, const Bytes& result) const {
    Frame answer{type, request.sequence, {uint8_t(status)}};
    append(answer.payload, cycles, 8);
    size_t answer_len = answer.wire_len() + 8 + result.size();
    append(answer.payload, transfer_ns(options_.link, request.wire_len()) + transfer_ns(options_.link, answer_len), 8);
    answer.payload.insert(answer.payload.end(), result.begin(), result.end());
    return answer;
}

Status Device::handle(const Frame& request, Bytes& result) {
    const Bytes& payload = request.payload;
    for (const Computation& computation : computations) {
        if (computation.type == request.type) return compute(computation, payload, result);
    }
    switch (request.type) {
        case info:
            if (!payload.empty()) return Status::wrong_length;
            append(result, protocol_version, 2);
            append(result, options_.clock_hz, 4);
            append(result, uint8_t(options_.link), 1);
            append(result, slot_count, 1);
            append(result, predefined_slots, 1);
            append(result, flash_ != nullptr, 1);
            return Status::ok;
        case slots:
        case reload:
            if (!payload.empty()) return Status::wrong_length;
            if (request.type == reload) configure();
            append(result, occupied_, 8);
            return Status::ok;
        case import:
        case provision: {
            if (payload.size() != 1 + sizeof(Number)) return Status::wrong_length;
            uint8_t slot = payload[0];
            if (slot >= slot_count) return Status::no_such_slot;
            bool is_predefined = slot < predefined_slots;
            if (is_predefined != (request.type == provision)) return Status::slot_protected;
            if (is_predefined && !flash_) return Status::no_flash;
            if (occupied(slot)) return Status::slot_occupied;
            Number key = number_at(payload, 1);
            Status status = import_key(slot, key);
            if (status == Status::ok && is_predefined && !flash_->store(slot, key)) {
                engine_->run(Engine::erase, slot);
                occupied_ &= ~(uint64_t{1} << slot);
                return Status::flash_write_failed;
            }
            return status;
        }
        case erase_key:
            if (payload.size() != 1) return Status::wrong_length;
            return erase(payload[0]);
        case diagnose:
            if (payload.size() != 1 + 2 * sizeof(Number)) return Status::wrong_length;
            if (payload[0] >= diagnoses) return Status::unknown_type;
            return compute({diagnose, uint8_t(Engine::diagnose + payload[0]), false, 2, {0, 1}, 1},
                           {payload.begin() + 1, payload.end()}, result);
        default:
            return Status::unknown_type;
    }
}

Status Device::compute(const Computation& computation, const Bytes& payload, Bytes& result) {
    size_t numbers_at = computation.uses_key ? 1 : 0;
    if (payload.size() != numbers_at + computation.inputs * sizeof(Number)) return Status::wrong_length;
    uint8_t slot = 0;
    if (computation.uses_key) {
        slot = payload[0];
        if (slot >= slot_count) return Status::no_such_slot;
        if (!occupied(slot)) return Status::slot_empty;
    }
    for (unsigned i = 0; i < computation.inputs; i++) {
        engine_->write_input(computation.input[i], number_at(payload, numbers_at + i * sizeof(Number)));
    }
    Status status = Status(engine_->run(computation.operation, slot));
    // u1 G + u2 Q = infinity is one more way for a signature not to hold.
    if (computation.operation == Engine::verify && status == Status::infinity) return Status::mismatch;
    if (status != Status::ok) return status;
    for (unsigned i = 0; i < computation.outputs; i++) {
        Number number = engine_->read_output(i);
        result.insert(result.end(), number.begin(), number.end());
    }
    return Status::ok;
}

Status Device::import_key(uint8_t slot, const Number& key) {
    engine_->write_input(0, key);
    Status status = Status(engine_->run(Engine::import, slot));
    if (status == Status::ok) occupied_ |= uint64_t{1} << slot;
    return status;
}

Status Device::erase(uint8_t slot) {
    if (slot >= slot_count) return Status::no_such_slot;
    if (!occupied(slot)) return Status::slot_empty;
    if (slot < predefined_slots && !flash_->store(slot, std::nullopt)) return Status::flash_write_failed;
    Status status = Status(engine_->run(Engine::erase, slot));
    if (status == Status::ok) occupied_ &= ~(uint64_t{1} << slot);
    return status;
}
