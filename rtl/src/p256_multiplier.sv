// 64 x 64 bits to 128, two cycles, one product a cycle. Four 32 x 32 parts, each four DSP48E1.
module p256_multiplier (
    input logic clk,
    input logic [63:0] a,
    input logic [63:0] b,
    // A cycle after a and b: without it the product is zero.
    input logic enable,
    output logic [127:0] product
);
    logic [63:0] low, cross_a, cross_b, high;

    always_ff @(posedge clk) begin
        low <= {32'd0, a[31:0]} * {32'd0, b[31:0]};
        cross_a <= {32'd0, a[63:32]} * {32'd0, b[31:0]};
        cross_b <= {32'd0, a[31:0]} * {32'd0, b[63:32]};
        high <= {32'd0, a[63:32]} * {32'd0, b[63:32]};
        product <= enable ? {high, low} + {31'd0, {1'b0, cross_a} + {1'b0, cross_b}, 32'd0} : 128'd0;
    end
endmodule
