// The engine: microcode, registers, arithmetic, and a bus for words in and out.
//
// The bus, used while the engine is not busy, writes registers 2 to 7 and reads registers 0 and 1. Nothing else can be read
// or written from outside, so a key leaves its slot only through what an operation makes of it.
module p256_engine (
    input logic clk,
    input logic reset,
    // Word 0 is the least significant. What is read appears a cycle after its address.
    input logic bus_write,
    input logic [2:0] bus_register,
    input logic [1:0] bus_word,
    input logic [63:0] bus_data,
    output logic [63:0] bus_result,
    // A pulse; `operation` and `slot` are taken with it.
    input logic start,
    input logic [3:0] operation,
    input logic [5:0] slot,
    output logic busy,
    // Of the last operation, once the engine is not busy.
    output logic [2:0] status
);
    `include "p256_words.svh"

    logic [INSTRUCTION_BITS-1:0] instruction;
    logic [3:0] code;
    logic [5:0] d, operand_a, operand_b;
    logic [7:0] target;
    assign {code, d, operand_a, operand_b} = instruction;
    assign target = instruction[7:0];

    // An instruction is valid from the cycle after its address was given.
    logic fetched;
    logic [7:0] address, next_address, return_0, return_1;
    p256_microcode microcode (
        .clk(clk),
        .address(next_address),
        .instruction(instruction)
    );

    logic arithmetic, field_done, writing, is_zero, is_corrected;
    logic [1:0] a_word, b_word, write_word;
    logic [63:0] a, b, write_data;
    assign arithmetic = busy && fetched && !code[3];
    p256_field field (
        .clk(clk),
        .reset(reset),
        .run(arithmetic),
        .operation(code),
        .done(field_done),
        .a_word(a_word),
        .b_word(b_word),
        .a(a),
        .b(b),
        .write(writing),
        .write_word(write_word),
        .write_data(write_data),
        .is_zero(is_zero),
        .is_corrected(is_corrected)
    );

    // Arithmetic may begin while the last result is being written; control waits for it.
    logic control, bits_read, advance;
    assign control = busy && fetched && code[3] && !writing;
    assign advance = field_done || (control && (code != BITS || bits_read));

    logic holds;
    always_comb begin
        case (d)
            IF_ZERO: holds = is_zero;
            IF_NONZERO: holds = !is_zero;
            IF_CORRECTED: holds = is_corrected;
            default: holds = 1'b1;
        endcase
    end

    logic [7:0] counter;
    always_comb begin
        next_address = address;
        if (start && !busy) next_address = {4'd0, operation};
        else if (advance) begin
            case (code)
                CALL, JUMP: next_address = target;
                RET: next_address = return_0;
                LOOP: next_address = counter == 8'd0 ? address + 8'd1 : target;
                default: next_address = address + 8'd1;
            endcase
        end
    end

    logic comb;
    logic [1:0] entry;
    logic [5:0] slot_taken;
    always_ff @(posedge clk) begin
        address <= next_address;
        fetched <= !reset && (busy || start);
        bits_read <= control && code == BITS && !bits_read;
        if (reset) begin
            busy <= 1'b0;
            status <= OK[2:0];
        end else if (!busy) begin
            if (start) begin
                busy <= 1'b1;
                slot_taken <= slot;
            end
        end else if (control) begin
            case (code)
                CALL: {return_1, return_0} <= {return_0, address + 8'd1};
                RET: return_0 <= return_1;
                COUNT: {comb, counter} <= {d == COMB, target};
                LOOP: counter <= counter - 8'd1;
                BITS: if (bits_read) entry <= {b[counter[5:0]], a[counter[5:0]]};
                SELECT: entry <= target[1:0];
                HALT:
                if (holds) begin
                    busy <= 1'b0;
                    status <= target[2:0];
                end
                default: ;
            endcase
        end
    end

    // Which register an operand means.
    function automatic logic [6:0] register_of(input logic [5:0] operand, input logic [1:0] selected,
                                               input logic [5:0] key);
        case (operand)
            QX, QY, QZ: register_of = {3'b001, selected, operand[1:0]};
            KEY: register_of = {1'b1, key};
            default: register_of = {1'b0, operand};
        endcase
    endfunction

    logic [8:0] a_address, b_address, write_address;
    logic [6:0] destination;
    logic bus_writes;
    always_comb begin
        a_address = {register_of(operand_a, entry, slot_taken), a_word};
        b_address = {register_of(operand_b, entry, slot_taken), b_word};
        if (!busy) a_address = {6'd0, bus_register[0], bus_word};
        else if (code == BITS) begin
            a_address[1:0] = counter[7:6];
            b_address[1:0] = {counter[7] | comb, counter[6]};
        end
    end
    assign bus_writes = bus_write && !busy && bus_register >= IN0[2:0];
    assign write_address = writing ? {destination, write_word} : {4'd0, bus_register, bus_word};
    assign bus_result = a;
    // The result of an operation is still being written when the next one has begun.
    always_ff @(posedge clk) if (arithmetic && !writing) destination <= register_of(d, entry, slot_taken);

    p256_memory memory (
        .clk(clk),
        .a_address(a_address),
        .a(a),
        .b_address(b_address),
        .b(b),
        .write(writing || bus_writes),
        .write_address(write_address),
        .write_data(writing ? write_data : bus_data)
    );
endmodule
