#include "engine.h"

namespace {

constexpr unsigned first_input = 2;      // register IN0
constexpr uint64_t cycles_max = 1'000'000;  // the longest operation takes about 300,000

}  // namespace

Engine::Engine() : model_(std::make_unique<Vp256_engine>(&context_)) {
    model_->reset = 1;
    tick();
    tick();
    model_->reset = 0;
}

Engine::~Engine() { model_->final(); }

void Engine::tick() {
    model_->clk = 0;
    model_->eval();
    model_->clk = 1;
    model_->eval();
    cycles_++;
}

void Engine::write_input(unsigned index, const Number& number) {
    model_->bus_write = 1;
    model_->bus_register = first_input + index;
    for (unsigned word = 0; word < 4; word++) {
        uint64_t data = 0;
        for (unsigned i = 0; i < 8; i++) data = data << 8 | number[8 * (3 - word) + i];
        model_->bus_word = word;
        model_->bus_data = data;
        tick();
    }
    model_->bus_write = 0;
}

Number Engine::read_output(unsigned index) {
    Number number;
    model_->bus_register = index;
    for (unsigned word = 0; word < 4; word++) {
        model_->bus_word = word;
        tick();
        for (unsigned i = 0; i < 8; i++) number[8 * (3 - word) + i] = uint8_t(model_->bus_result >> 8 * (7 - i));
    }
    return number;
}

uint8_t Engine::run(uint8_t operation, uint8_t slot) {
    model_->operation = operation;
    model_->slot = slot;
    model_->start = 1;
    tick();
    model_->start = 0;
    for (uint64_t end = cycles_ + cycles_max; model_->busy; tick()) {
        if (cycles_ == end) return stuck;
    }
    return model_->status;
}
