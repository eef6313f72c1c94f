// The simulated engine and its bus, a clock cycle at a time.
#pragma once

#include <array>
#include <cstdint>
#include <memory>

#include "Vp256_engine.h"

// 32 bytes, big-endian.
using Number = std::array<uint8_t, 32>;

class Engine {
public:
    // Operations, as p256_words.svh numbers them.
    enum Operation : uint8_t {
        base = 0,
        point = 1,
        dual = 2,
        sign = 3,
        verify = 4,
        check = 5,
        import = 6,
        erase = 7,
        public_key = 8,
        agree = 9,
        diagnose = 10,  // the first of five
    };

    // Statuses of operations are 0 to 5; this one is of a simulation that did not end.
    static constexpr uint8_t stuck = 15;

    // Configured anew: constants in place, no keys.
    Engine();
    ~Engine();

    // Into register IN0 + index.
    void write_input(unsigned index, const Number& number);
    // Out of register OUT0 + index.
    Number read_output(unsigned index);
    // Runs an operation to its end and gives back its status.
    uint8_t run(uint8_t operation, uint8_t slot);

    // Clock cycles since configuration.
    uint64_t cycles() const { return cycles_; }

private:
    void tick();

    VerilatedContext context_;
    std::unique_ptr<Vp256_engine> model_;
    uint64_t cycles_ = 0;
};
