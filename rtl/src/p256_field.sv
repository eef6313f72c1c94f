// Products modulo p, and sums and differences modulo p or n, a 64-bit word at a time.
//
// A product is a Montgomery product with four words, column by column: sum of a[j] b[i-j] into one accumulator, and after
// each of the first four columns a multiple m of p that makes its low word zero. p's form makes that multiple shifts and
// additions. With W = 2^64, p = W^4 - 2^32 W^3 + W^3 + 2^32 W - 1, so that m p, added at column i, is
//
//     -m           to column i      the low word becomes zero, since m is that word
//     +m 2^32      to column i + 1
//     +m - m 2^32  to column i + 3
//     +m           to column i + 4
//
// Columns 4 to 7 are the words of the result, below 2 p if a < 2^256 and b < p: (a b + m p) / 2^256 < 2 p. Every result,
// of products, sums and differences, then goes through one correction by the modulus, made beside it and chosen at the end.
// So the time of an operation does not depend on values.
//
//     cycle             0        1       2           3        4        5
//     product, step s   address  a, b    parts       product  add      correction, of the column that left
//     sum, word s       address  a +- b  correction
//
// Steps and words go in at one a cycle. A product takes 25 cycles, a sum 7, to the first cycle of the next operation;
// the result is written while that one already reads, word j never later than it is read.
module p256_field (
    input logic clk,
    input logic reset,
    // Level: an operation is wanted. `operation` holds still until `done`, the last cycle of it.
    input logic run,
    input logic [3:0] operation,
    output logic done,
    // The words wanted, and the words, a cycle later.
    output logic [1:0] a_word,
    output logic [1:0] b_word,
    input logic [63:0] a,
    input logic [63:0] b,
    // The result, in four cycles from `done` on.
    output logic write,
    output logic [1:0] write_word,
    output logic [63:0] write_data,
    // Of the last result, once it is written.
    output logic is_zero,
    output logic is_corrected
);
    `include "p256_words.svh"

    localparam logic [1:0] NO_TERM = 2'd0;
    localparam logic [1:0] PLUS = 2'd1;
    localparam logic [1:0] PLUS_MINUS = 2'd2;

    // What a step of a product does when its product arrives at the accumulator.
    // {first, multiply, next column, fold, out, term, index of m, a word, b word}
    function automatic logic [12:0] step_of_product(input logic [4:0] step);
        case (step)
            // Column 0.
            5'd0: step_of_product = {5'b11000, NO_TERM, 2'd0, 2'd0, 2'd0};
            5'd1: step_of_product = {5'b01110, NO_TERM, 2'd0, 2'd0, 2'd1};
            5'd2: step_of_product = {5'b01000, NO_TERM, 2'd0, 2'd1, 2'd0};
            5'd3: step_of_product = {5'b01110, NO_TERM, 2'd1, 2'd0, 2'd2};
            5'd4: step_of_product = {5'b01000, NO_TERM, 2'd0, 2'd1, 2'd1};
            5'd5: step_of_product = {5'b01000, NO_TERM, 2'd0, 2'd2, 2'd0};
            5'd6: step_of_product = {5'b01110, NO_TERM, 2'd2, 2'd0, 2'd3};
            5'd7: step_of_product = {5'b01000, PLUS_MINUS, 2'd0, 2'd1, 2'd2};
            5'd8: step_of_product = {5'b01000, NO_TERM, 2'd0, 2'd2, 2'd1};
            5'd9: step_of_product = {5'b01000, NO_TERM, 2'd0, 2'd3, 2'd0};
            // Column 4: there are no multiples after it.
            5'd10: step_of_product = {5'b01110, NO_TERM, 2'd3, 2'd1, 2'd3};
            5'd11: step_of_product = {5'b01000, PLUS_MINUS, 2'd1, 2'd2, 2'd2};
            5'd12: step_of_product = {5'b01000, PLUS, 2'd0, 2'd3, 2'd1};
            5'd13: step_of_product = {5'b01101, PLUS_MINUS, 2'd2, 2'd2, 2'd3};
            5'd14: step_of_product = {5'b01000, PLUS, 2'd1, 2'd3, 2'd2};
            5'd15: step_of_product = {5'b01101, PLUS_MINUS, 2'd3, 2'd3, 2'd3};
            5'd16: step_of_product = {5'b00000, PLUS, 2'd2, 2'd0, 2'd0};
            5'd17: step_of_product = {5'b00101, PLUS, 2'd3, 2'd0, 2'd0};
            // The last column's word and the bit above it leave.
            default: step_of_product = {5'b00101, NO_TERM, 2'd0, 2'd0, 2'd0};
        endcase
    endfunction

    localparam logic [4:0] LAST_OF_PRODUCT = 5'd18;
    localparam logic [4:0] LAST_OF_SUM = 5'd3;

    // Cycle 0: addresses.
    logic is_product, is_difference;
    logic [4:0] step;
    logic issued, issue, is_last;
    logic [12:0] control;
    assign is_product = operation == MUL;
    assign is_difference = operation == SUBP || operation == SUBN;
    assign issue = run && !issued;
    assign is_last = step == (is_product ? LAST_OF_PRODUCT : LAST_OF_SUM);
    assign control = step_of_product(step);
    assign a_word = is_product ? control[3:2] : step[1:0];
    assign b_word = is_product ? control[1:0] : step[1:0];

    always_ff @(posedge clk) begin
        if (reset || done) begin
            step <= 5'd0;
            issued <= 1'b0;
        end else if (issue) begin
            step <= step + 5'd1;
            issued <= is_last;
        end
    end

    // Cycles 1 to 4 of a product.
    logic [8:0] control_1, control_2, control_3;
    logic first, next_column, fold, column_out;
    logic [1:0] fold_index;
    logic product_1, product_2, product_3, product_4, last_1, last_2, last_3, last_4;
    always_ff @(posedge clk) begin
        control_1 <= control[12:4];
        control_2 <= control_1;
        control_3 <= control_2;
        {first, next_column, fold, column_out, fold_index} <= {control_3[8], control_3[6:4], control_3[1:0]};
        last_1 <= is_last;
        last_2 <= last_1;
        last_3 <= last_2;
        last_4 <= last_3;
        product_1 <= !reset && issue && is_product;
        product_2 <= !reset && product_1;
        product_3 <= !reset && product_2;
        product_4 <= !reset && product_3;
    end

    logic [127:0] product;
    p256_multiplier multiplier (
        .clk(clk),
        .a(a),
        .b(b),
        .enable(control_3[7]),
        .product(product)
    );

    // Signed, since a term may be negative for a while. A column is at most four products, the carry of the one before
    // and two terms: below 2^131.
    logic [131:0] accumulator, kept, term, added;
    logic [63:0] m[0:3];
    assign kept = next_column ? {{64{accumulator[131]}}, accumulator[131:64]} : accumulator;
    // Folding: what is left of a column after its low word m is gone, plus the carry m of that, plus m (2^32 - 1).
    assign added = fold ? {36'd0, accumulator[63:0], 32'd0} : term;
    always_ff @(posedge clk) begin
        case (control_3[3:2])
            PLUS: term <= {68'd0, m[control_3[1:0]]};
            PLUS_MINUS: term <= {68'd0, m[control_3[1:0]]} - {36'd0, m[control_3[1:0]], 32'd0};
            default: term <= 132'd0;
        endcase
        if (product_4) begin
            accumulator <= (first ? 132'd0 : kept) + {4'd0, product} + added;
            if (fold) m[fold_index] <= accumulator[63:0];
        end
    end

    // Cycle 1 of a sum.
    logic sum_1, carry;
    logic [64:0] sum;
    assign sum = is_difference ? {1'b0, a} - {1'b0, b} - {64'd0, carry} : {1'b0, a} + {1'b0, b} + {64'd0, carry};
    always_ff @(posedge clk) begin
        sum_1 <= !reset && issue && !is_product;
        carry <= sum_1 && sum[64];
    end

    // Words of either, least significant first; `top` is what is above the last.
    logic valid, valid_last, top;
    logic [63:0] word;
    logic [1:0] index;
    always_ff @(posedge clk) begin
        valid <= !reset && (sum_1 || (product_4 && column_out));
        valid_last <= product_4 ? last_4 : last_1;
        word <= product_4 ? accumulator[63:0] : sum[63:0];
        top <= product_4 ? accumulator[64] : sum[64];
        index <= reset ? 2'd0 : valid ? index + 2'd1 : index;
    end

    // The correction: word -+ modulus.
    logic [63:0] modulus;
    logic [64:0] changed;
    logic borrow, borrow_in, all_zero, all_changed_zero;
    assign modulus = operation == ADDN || operation == SUBN ? N[64*index+:64] : P[64*index+:64];
    assign borrow_in = index != 2'd0 && borrow;
    assign changed = is_difference ? {1'b0, word} + {1'b0, modulus} + {64'd0, borrow_in}
                                   : {1'b0, word} - {1'b0, modulus} - {64'd0, borrow_in};
    logic word_zero, changed_zero;
    assign word_zero = (index == 2'd0 || all_zero) && word == 64'd0;
    assign changed_zero = (index == 2'd0 || all_changed_zero) && changed[63:0] == 64'd0;

    // Needed if the sum is not below the modulus, or the difference is below zero.
    logic needed;
    assign needed = is_difference ? top : top || !changed[64];

    logic [63:0] words[0:3], changed_words[0:3];
    always_ff @(posedge clk) begin
        if (valid) begin
            words[index] <= word;
            changed_words[index] <= changed[63:0];
            borrow <= changed[64];
            all_zero <= word_zero;
            all_changed_zero <= changed_zero;
            if (valid_last) begin
                is_corrected <= needed;
                is_zero <= needed ? changed_zero : word_zero;
            end
        end
        done <= !reset && valid && valid_last;
    end

    assign write_data = is_corrected ? changed_words[write_word] : words[write_word];
    always_ff @(posedge clk) begin
        if (reset) begin
            write <= 1'b0;
            write_word <= 2'd0;
        end else begin
            if (valid && valid_last) write <= 1'b1;
            else if (write_word == 2'd3) write <= 1'b0;
            write_word <= write ? write_word + 2'd1 : 2'd0;
        end
    end
endmodule
