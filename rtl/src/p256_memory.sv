// 128 registers of four 64-bit words, least significant word first: 64 to compute with, 64 key slots.
//
// Two copies give two read ports out of block RAM that has one. What is read appears a cycle after its address. The
// first contents are part of the FPGA's configuration: the constants, and no keys.
module p256_memory (
    input logic clk,
    input logic [8:0] a_address,
    output logic [63:0] a,
    input logic [8:0] b_address,
    output logic [63:0] b,
    input logic write,
    input logic [8:0] write_address,
    input logic [63:0] write_data
);
    `include "p256_words.svh"

    (* ram_style = "block" *) logic [63:0] copy_a[0:511];
    (* ram_style = "block" *) logic [63:0] copy_b[0:511];

    // Recompute: ONE = 2^256 mod p, R2 = 2^512 mod p; the others are values of SP 800-186 times ONE mod p.
    function automatic logic [255:0] first_value(input logic [6:0] register_number);
        case (register_number)
            {1'b0, ONE}:
            first_value = 256'h00000000fffffffeffffffffffffffffffffffff000000000000000000000001;
            {1'b0, PLAIN_ONE}:
            first_value = 256'h0000000000000000000000000000000000000000000000000000000000000001;
            {1'b0, R2}:
            first_value = 256'h00000004fffffffdfffffffffffffffefffffffbffffffff0000000000000003;
            {1'b0, B}:
            first_value = 256'hdc30061d04874834e5a220abf7212ed6acf005cd78843090d89cdf6229c4bddf;
            {1'b0, P_MINUS_2}: first_value = P - 256'd2;
            {1'b0, GX}:
            first_value = 256'h18905f76a53755c679fb732b7762251075ba95fc5fedb60179e730d418a9143c;
            {1'b0, GY}:
            first_value = 256'h8571ff1825885d85d2e88688dd21f3258b4ab8e4ba19e45cddf25357ce95560a;
            {1'b0, HX}:
            first_value = 256'h61d587d421d324f65a96a5d5dd38706391c19ac38fdce86762a8c244bfe20925;
            {1'b0, HY}:
            first_value = 256'hfa11fe124621efbe10f8441e05bab43e2384800853778b65e87673a2a37173ea;
            {1'b0, GHX}:
            first_value = 256'h586eb04c1f13bedcb6d03d678ac5ca8e01ba8d5bb1923c231c891f2b2cb19ffd;
            {1'b0, GHY}:
            first_value = 256'h19d5ac0870864f11278fd6c056c652fa1e81a33c1819ede20c35c6e527e8ed09;
            default: first_value = 256'd0;
        endcase
    endfunction

    initial begin
        for (int i = 0; i < 128; i++) begin
            logic [255:0] value;
            value = first_value(i[6:0]);
            for (int word = 0; word < 4; word++) begin
                copy_a[4*i+word] = value[64*word+:64];
                copy_b[4*i+word] = value[64*word+:64];
            end
        end
    end

    always_ff @(posedge clk) begin
        a <= copy_a[a_address];
        b <= copy_b[b_address];
        if (write) begin
            copy_a[write_address] <= write_data;
            copy_b[write_address] <= write_data;
        end
    end
endmodule
