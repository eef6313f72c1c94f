// 64 x 64 bits to 128, in three cycles, one product a cycle. Four parts of 32 x 32 bits, each four DSP48E1 with their
// input registers.
module p256_multiplier (
    input logic clk,
    input logic [63:0] a,
    input logic [63:0] b,
    // Two cycles after a and b: without it the product is zero.
    input logic enable,
    output logic [127:0] product
);
    logic [63:0] a_held, b_held, low, cross_a, cross_b, high;

    always_ff @(posedge clk) begin
        a_held <= a;
        b_held <= b;
        low <= {32'd0, a_held[31:0]} * {32'd0, b_held[31:0]};
        cross_a <= {32'd0, a_held[63:32]} * {32'd0, b_held[31:0]};
        cross_b <= {32'd0, a_held[31:0]} * {32'd0, b_held[63:32]};
        high <= {32'd0, a_held[63:32]} * {32'd0, b_held[63:32]};
        product <= enable ? {high, low} + {31'd0, {1'b0, cross_a} + {1'b0, cross_b}, 32'd0} : 128'd0;
    end
endmodule
