// The microcode: 256 instructions of 22 bits, out a cycle after their address.
//
// There is no branch on data but HALT, whose conditions look at public values: a received point, a result at infinity,
// the verdict of a verification. So each operation takes one time, whatever the scalars.
module p256_microcode (
    input logic clk,
    input logic [7:0] address,
    output logic [21:0] instruction
);
    `include "p256_words.svh"

    // Where routines begin. Each is as long as the distance to the next.
    localparam logic [7:0] ADD = 8'd16;
    localparam logic [7:0] MULTIPLY = 8'd60;
    localparam logic [7:0] FIXED = 8'd101;
    localparam logic [7:0] JOINT = 8'd113;
    localparam logic [7:0] AFFINE = 8'd126;
    localparam logic [7:0] CHECK = 8'd139;
    localparam logic [7:0] SCALE = 8'd156;
    localparam logic [7:0] BASE = 8'd163;
    localparam logic [7:0] PUBLIC = 8'd167;
    localparam logic [7:0] POINT = 8'd171;
    localparam logic [7:0] AGREE = 8'd178;
    localparam logic [7:0] DUAL = 8'd181;
    localparam logic [7:0] SIGN = 8'd187;
    localparam logic [7:0] VERIFY = 8'd202;
    localparam logic [7:0] IMPORT = 8'd219;
    localparam logic [7:0] ERASE = 8'd224;
    localparam logic [7:0] POINT_CHECK = 8'd226;
    localparam logic [7:0] DIAGNOSE = 8'd228;

    logic [INSTRUCTION_BITS-1:0] rom[0:255];
    initial begin
        for (int i = 0; i < 256; i++) rom[i] = {HALT, 18'd0};

        rom[OP_BASE] = {JUMP, 10'd0, BASE};
        rom[OP_POINT] = {JUMP, 10'd0, POINT};
        rom[OP_DUAL] = {JUMP, 10'd0, DUAL};
        rom[OP_SIGN] = {JUMP, 10'd0, SIGN};
        rom[OP_VERIFY] = {JUMP, 10'd0, VERIFY};
        rom[OP_CHECK] = {JUMP, 10'd0, POINT_CHECK};
        rom[OP_IMPORT] = {JUMP, 10'd0, IMPORT};
        rom[OP_ERASE] = {JUMP, 10'd0, ERASE};
        rom[OP_PUBLIC] = {JUMP, 10'd0, PUBLIC};
        rom[OP_AGREE] = {JUMP, 10'd0, AGREE};
        rom[OP_DIAGNOSE_MUL] = {JUMP, 10'd0, DIAGNOSE};
        rom[OP_DIAGNOSE_ADDP] = {JUMP, 10'd0, DIAGNOSE + 8'd2};
        rom[OP_DIAGNOSE_SUBP] = {JUMP, 10'd0, DIAGNOSE + 8'd4};
        rom[OP_DIAGNOSE_ADDN] = {JUMP, 10'd0, DIAGNOSE + 8'd6};
        rom[OP_DIAGNOSE_SUBN] = {JUMP, 10'd0, DIAGNOSE + 8'd8};

        // R = S + selected entry. Complete: right for equal, opposite and infinite points too.
        // Renes, Costello, Batina, EUROCRYPT 2016, algorithm 4 (a = -3): 12 products, 2 by b.
        rom[ADD] = {MUL, T0, SX, QX};
        rom[ADD+1] = {MUL, T1, SY, QY};
        rom[ADD+2] = {MUL, T2, SZ, QZ};
        rom[ADD+3] = {ADDP, T3, SX, SY};
        rom[ADD+4] = {ADDP, T4, QX, QY};
        rom[ADD+5] = {MUL, T3, T3, T4};
        rom[ADD+6] = {ADDP, T4, T0, T1};
        rom[ADD+7] = {SUBP, T3, T3, T4};
        rom[ADD+8] = {ADDP, T4, SY, SZ};
        rom[ADD+9] = {ADDP, RX, QY, QZ};
        rom[ADD+10] = {MUL, T4, T4, RX};
        rom[ADD+11] = {ADDP, RX, T1, T2};
        rom[ADD+12] = {SUBP, T4, T4, RX};
        rom[ADD+13] = {ADDP, RX, SX, SZ};
        rom[ADD+14] = {ADDP, RY, QX, QZ};
        rom[ADD+15] = {MUL, RX, RX, RY};
        rom[ADD+16] = {ADDP, RY, T0, T2};
        rom[ADD+17] = {SUBP, RY, RX, RY};
        rom[ADD+18] = {MUL, RZ, B, T2};
        rom[ADD+19] = {SUBP, RX, RY, RZ};
        rom[ADD+20] = {ADDP, RZ, RX, RX};
        rom[ADD+21] = {ADDP, RX, RX, RZ};
        rom[ADD+22] = {SUBP, RZ, T1, RX};
        rom[ADD+23] = {ADDP, RX, T1, RX};
        rom[ADD+24] = {MUL, RY, B, RY};
        rom[ADD+25] = {ADDP, T1, T2, T2};
        rom[ADD+26] = {ADDP, T2, T1, T2};
        rom[ADD+27] = {SUBP, RY, RY, T2};
        rom[ADD+28] = {SUBP, RY, RY, T0};
        rom[ADD+29] = {ADDP, T1, RY, RY};
        rom[ADD+30] = {ADDP, RY, T1, RY};
        rom[ADD+31] = {ADDP, T1, T0, T0};
        rom[ADD+32] = {ADDP, T0, T1, T0};
        rom[ADD+33] = {SUBP, T0, T0, T2};
        rom[ADD+34] = {MUL, T1, T4, RY};
        rom[ADD+35] = {MUL, T2, T0, RY};
        rom[ADD+36] = {MUL, RY, RX, RZ};
        rom[ADD+37] = {ADDP, RY, RY, T2};
        rom[ADD+38] = {MUL, RX, T3, RX};
        rom[ADD+39] = {SUBP, RX, RX, T1};
        rom[ADD+40] = {MUL, RZ, T4, RZ};
        rom[ADD+41] = {MUL, T1, T3, T0};
        rom[ADD+42] = {ADDP, RZ, RZ, T1};
        rom[ADD+43] = {RET, 18'd0};

        // R = sum over the bits of K0 and K1, highest first: R = 2 R + entry {bit of K1, bit of K0}. Adds infinity for
        // {0, 0} as it adds any other point: neither the order of operations nor their number depends on a scalar.
        rom[MULTIPLY] = {ADDP, RX, ZERO, ZERO};
        rom[MULTIPLY+1] = {ADDP, RY, ONE, ZERO};
        rom[MULTIPLY+2] = {ADDP, RZ, ZERO, ZERO};
        // S = 2 R, algorithm 6 of the same: 8 products, 3 squares, 2 by b.
        rom[MULTIPLY+3] = {MUL, T0, RX, RX};
        rom[MULTIPLY+4] = {MUL, T1, RY, RY};
        rom[MULTIPLY+5] = {MUL, T2, RZ, RZ};
        rom[MULTIPLY+6] = {MUL, T3, RX, RY};
        rom[MULTIPLY+7] = {ADDP, T3, T3, T3};
        rom[MULTIPLY+8] = {MUL, SZ, RX, RZ};
        rom[MULTIPLY+9] = {ADDP, SZ, SZ, SZ};
        rom[MULTIPLY+10] = {MUL, SY, B, T2};
        rom[MULTIPLY+11] = {SUBP, SY, SY, SZ};
        rom[MULTIPLY+12] = {ADDP, SX, SY, SY};
        rom[MULTIPLY+13] = {ADDP, SY, SX, SY};
        rom[MULTIPLY+14] = {SUBP, SX, T1, SY};
        rom[MULTIPLY+15] = {ADDP, SY, T1, SY};
        rom[MULTIPLY+16] = {MUL, SY, SX, SY};
        rom[MULTIPLY+17] = {MUL, SX, SX, T3};
        rom[MULTIPLY+18] = {ADDP, T3, T2, T2};
        rom[MULTIPLY+19] = {ADDP, T2, T2, T3};
        rom[MULTIPLY+20] = {MUL, SZ, B, SZ};
        rom[MULTIPLY+21] = {SUBP, SZ, SZ, T2};
        rom[MULTIPLY+22] = {SUBP, SZ, SZ, T0};
        rom[MULTIPLY+23] = {ADDP, T3, SZ, SZ};
        rom[MULTIPLY+24] = {ADDP, SZ, SZ, T3};
        rom[MULTIPLY+25] = {ADDP, T3, T0, T0};
        rom[MULTIPLY+26] = {ADDP, T0, T3, T0};
        rom[MULTIPLY+27] = {SUBP, T0, T0, T2};
        rom[MULTIPLY+28] = {MUL, T0, T0, SZ};
        rom[MULTIPLY+29] = {ADDP, SY, SY, T0};
        rom[MULTIPLY+30] = {MUL, T0, RY, RZ};
        rom[MULTIPLY+31] = {ADDP, T0, T0, T0};
        rom[MULTIPLY+32] = {MUL, SZ, T0, SZ};
        rom[MULTIPLY+33] = {SUBP, SX, SX, SZ};
        rom[MULTIPLY+34] = {MUL, SZ, T0, T1};
        rom[MULTIPLY+35] = {ADDP, SZ, SZ, SZ};
        rom[MULTIPLY+36] = {ADDP, SZ, SZ, SZ};
        rom[MULTIPLY+37] = {BITS, 6'd0, K0, K1};
        rom[MULTIPLY+38] = {CALL, 10'd0, ADD};
        rom[MULTIPLY+39] = {LOOP, 10'd0, MULTIPLY + 8'd3};
        rom[MULTIPLY+40] = {RET, 18'd0};

        // R = K0 G: 128 steps, since the high half of K0 goes with H = 2^128 G.
        rom[FIXED] = {ADDP, E1X, GX, ZERO};
        rom[FIXED+1] = {ADDP, E1Y, GY, ZERO};
        rom[FIXED+2] = {ADDP, E1Z, ONE, ZERO};
        rom[FIXED+3] = {ADDP, E2X, HX, ZERO};
        rom[FIXED+4] = {ADDP, E2Y, HY, ZERO};
        rom[FIXED+5] = {ADDP, E2Z, ONE, ZERO};
        rom[FIXED+6] = {ADDP, E3X, GHX, ZERO};
        rom[FIXED+7] = {ADDP, E3Y, GHY, ZERO};
        rom[FIXED+8] = {ADDP, E3Z, ONE, ZERO};
        rom[FIXED+9] = {ADDN, K1, K0, ZERO};
        rom[FIXED+10] = {COUNT, COMB, 4'd0, 8'd127};
        rom[FIXED+11] = {JUMP, 10'd0, MULTIPLY};

        // R = K0 * entry 1 + K1 G, as Shamir's trick does it.
        rom[JOINT] = {ADDP, E2X, GX, ZERO};
        rom[JOINT+1] = {ADDP, E2Y, GY, ZERO};
        rom[JOINT+2] = {ADDP, E2Z, ONE, ZERO};
        rom[JOINT+3] = {ADDP, SX, E1X, ZERO};
        rom[JOINT+4] = {ADDP, SY, E1Y, ZERO};
        rom[JOINT+5] = {ADDP, SZ, E1Z, ZERO};
        rom[JOINT+6] = {SELECT, 10'd0, 8'd2};
        rom[JOINT+7] = {CALL, 10'd0, ADD};
        rom[JOINT+8] = {ADDP, E3X, RX, ZERO};
        rom[JOINT+9] = {ADDP, E3Y, RY, ZERO};
        rom[JOINT+10] = {ADDP, E3Z, RZ, ZERO};
        rom[JOINT+11] = {COUNT, 6'd0, 4'd0, 8'd255};
        rom[JOINT+12] = {JUMP, 10'd0, MULTIPLY};

        // OUT0, OUT1 = affine coordinates of R, plain.
        rom[AFFINE] = {ADDP, E1Y, RZ, ZERO};
        rom[AFFINE+1] = {HALT, IF_ZERO, 4'd0, INFINITY};
        rom[AFFINE+2] = {ADDP, T0, ONE, ZERO};
        rom[AFFINE+3] = {COUNT, 6'd0, 4'd0, 8'd255};
        // 1 / Z = Z^(p-2). Entry 0 has Y = 1, which is what a bit that is 0 multiplies by.
        rom[AFFINE+4] = {MUL, T0, T0, T0};
        rom[AFFINE+5] = {BITS, 6'd0, P_MINUS_2, ZERO};
        rom[AFFINE+6] = {MUL, T0, T0, QY};
        rom[AFFINE+7] = {LOOP, 10'd0, AFFINE + 8'd4};
        rom[AFFINE+8] = {MUL, T1, RX, T0};
        rom[AFFINE+9] = {MUL, OUT0, T1, PLAIN_ONE};
        rom[AFFINE+10] = {MUL, T1, RY, T0};
        rom[AFFINE+11] = {MUL, OUT1, T1, PLAIN_ONE};
        rom[AFFINE+12] = {RET, 18'd0};

        // Entry 1 = the point (IN3, IN4), if it is one: SP 800-186 D.1.1. The curve has prime order, so no more is to be checked.
        rom[CHECK] = {ADDP, T0, IN3, ZERO};
        rom[CHECK+1] = {HALT, IF_CORRECTED, 4'd0, COORDINATE_OUT_OF_RANGE};
        rom[CHECK+2] = {ADDP, T0, IN4, ZERO};
        rom[CHECK+3] = {HALT, IF_CORRECTED, 4'd0, COORDINATE_OUT_OF_RANGE};
        rom[CHECK+4] = {MUL, E1X, IN3, R2};
        rom[CHECK+5] = {MUL, E1Y, IN4, R2};
        rom[CHECK+6] = {ADDP, E1Z, ONE, ZERO};
        // x^3 - 3 x + b = y^2
        rom[CHECK+7] = {MUL, T0, E1X, E1X};
        rom[CHECK+8] = {MUL, T0, T0, E1X};
        rom[CHECK+9] = {ADDP, T1, E1X, E1X};
        rom[CHECK+10] = {ADDP, T1, T1, E1X};
        rom[CHECK+11] = {SUBP, T0, T0, T1};
        rom[CHECK+12] = {ADDP, T0, T0, B};
        rom[CHECK+13] = {MUL, T1, E1Y, E1Y};
        rom[CHECK+14] = {SUBP, T0, T0, T1};
        rom[CHECK+15] = {HALT, IF_NONZERO, 4'd0, NOT_ON_CURVE};
        rom[CHECK+16] = {RET, 18'd0};

        // U = K0 * E1X mod n, by doubling and adding: seldom, so that products modulo n need no hardware.
        rom[SCALE] = {ADDN, U, ZERO, ZERO};
        rom[SCALE+1] = {COUNT, 6'd0, 4'd0, 8'd255};
        rom[SCALE+2] = {ADDN, U, U, U};
        rom[SCALE+3] = {BITS, 6'd0, K0, ZERO};
        rom[SCALE+4] = {ADDN, U, U, QX};
        rom[SCALE+5] = {LOOP, 10'd0, SCALE + 8'd2};
        rom[SCALE+6] = {RET, 18'd0};

        // IN0 G.
        rom[BASE] = {ADDN, K0, IN0, ZERO};
        rom[BASE+1] = {CALL, 10'd0, FIXED};
        rom[BASE+2] = {CALL, 10'd0, AFFINE};
        rom[BASE+3] = {HALT, ALWAYS, 4'd0, OK};

        // Key G.
        rom[PUBLIC] = {ADDN, K0, KEY, ZERO};
        rom[PUBLIC+1] = {CALL, 10'd0, FIXED};
        rom[PUBLIC+2] = {CALL, 10'd0, AFFINE};
        rom[PUBLIC+3] = {HALT, ALWAYS, 4'd0, OK};

        // IN0 (IN3, IN4).
        rom[POINT] = {CALL, 10'd0, CHECK};
        rom[POINT+1] = {ADDN, K0, IN0, ZERO};
        rom[POINT+2] = {ADDN, K1, ZERO, ZERO};
        rom[POINT+3] = {COUNT, 6'd0, 4'd0, 8'd255};
        rom[POINT+4] = {CALL, 10'd0, MULTIPLY};
        rom[POINT+5] = {CALL, 10'd0, AFFINE};
        rom[POINT+6] = {HALT, ALWAYS, 4'd0, OK};

        // Key (IN3, IN4).
        rom[AGREE] = {CALL, 10'd0, CHECK};
        rom[AGREE+1] = {ADDN, K0, KEY, ZERO};
        rom[AGREE+2] = {JUMP, 10'd0, POINT + 8'd2};

        // IN0 G + IN1 (IN3, IN4).
        rom[DUAL] = {CALL, 10'd0, CHECK};
        rom[DUAL+1] = {ADDN, K1, IN0, ZERO};
        rom[DUAL+2] = {ADDN, K0, IN1, ZERO};
        rom[DUAL+3] = {CALL, 10'd0, JOINT};
        rom[DUAL+4] = {CALL, 10'd0, AFFINE};
        rom[DUAL+5] = {HALT, ALWAYS, 4'd0, OK};

        // OUT0, OUT1 = ECDSA signature (FIPS 186-5 §6.4.1) with nonce IN0, digest IN1, inverse of the nonce IN2, and the key.
        rom[SIGN] = {ADDN, K0, IN0, ZERO};
        rom[SIGN+1] = {CALL, 10'd0, FIXED};
        rom[SIGN+2] = {CALL, 10'd0, AFFINE};
        // r = x mod n
        rom[SIGN+3] = {ADDN, K0, OUT0, ZERO};
        rom[SIGN+4] = {HALT, IF_ZERO, 4'd0, SCALAR_OUT_OF_RANGE};
        rom[SIGN+5] = {ADDN, OUT0, K0, ZERO};
        rom[SIGN+6] = {ADDN, E1X, KEY, ZERO};
        rom[SIGN+7] = {CALL, 10'd0, SCALE};
        // s = k^-1 (e + r d)
        rom[SIGN+8] = {ADDN, T0, IN1, ZERO};
        rom[SIGN+9] = {ADDN, E1X, U, T0};
        rom[SIGN+10] = {ADDN, K0, IN2, ZERO};
        rom[SIGN+11] = {CALL, 10'd0, SCALE};
        rom[SIGN+12] = {ADDN, OUT1, U, ZERO};
        rom[SIGN+13] = {HALT, IF_ZERO, 4'd0, SCALAR_OUT_OF_RANGE};
        rom[SIGN+14] = {HALT, ALWAYS, 4'd0, OK};

        // ECDSA verification (FIPS 186-5 §6.4.2): digest IN0, r IN1, w = 1/s IN2, public key (IN3, IN4).
        rom[VERIFY] = {ADDN, T0, IN1, ZERO};
        rom[VERIFY+1] = {HALT, IF_CORRECTED, 4'd0, SCALAR_OUT_OF_RANGE};
        rom[VERIFY+2] = {HALT, IF_ZERO, 4'd0, SCALAR_OUT_OF_RANGE};
        // u1 = e w, u2 = r w
        rom[VERIFY+3] = {ADDN, E1X, IN2, ZERO};
        rom[VERIFY+4] = {ADDN, K0, IN0, ZERO};
        rom[VERIFY+5] = {CALL, 10'd0, SCALE};
        rom[VERIFY+6] = {ADDN, K1, U, ZERO};
        rom[VERIFY+7] = {ADDN, K0, IN1, ZERO};
        rom[VERIFY+8] = {CALL, 10'd0, SCALE};
        rom[VERIFY+9] = {ADDN, K0, U, ZERO};
        rom[VERIFY+10] = {CALL, 10'd0, CHECK};
        rom[VERIFY+11] = {CALL, 10'd0, JOINT};
        rom[VERIFY+12] = {CALL, 10'd0, AFFINE};
        rom[VERIFY+13] = {ADDN, T0, OUT0, ZERO};
        rom[VERIFY+14] = {SUBN, T0, T0, IN1};
        rom[VERIFY+15] = {HALT, IF_NONZERO, 4'd0, MISMATCH};
        rom[VERIFY+16] = {HALT, ALWAYS, 4'd0, OK};

        // Key = IN0, if 1 <= IN0 < n.
        rom[IMPORT] = {ADDN, T0, IN0, ZERO};
        rom[IMPORT+1] = {HALT, IF_CORRECTED, 4'd0, SCALAR_OUT_OF_RANGE};
        rom[IMPORT+2] = {HALT, IF_ZERO, 4'd0, SCALAR_OUT_OF_RANGE};
        rom[IMPORT+3] = {ADDN, KEY, IN0, ZERO};
        rom[IMPORT+4] = {HALT, ALWAYS, 4'd0, OK};

        // Key = 0.
        rom[ERASE] = {ADDN, KEY, ZERO, ZERO};
        rom[ERASE+1] = {HALT, ALWAYS, 4'd0, OK};

        // Is (IN3, IN4) a point?
        rom[POINT_CHECK] = {CALL, 10'd0, CHECK};
        rom[POINT_CHECK+1] = {HALT, ALWAYS, 4'd0, OK};

        // The arithmetic itself, two instructions an operation.
        rom[DIAGNOSE] = {MUL, OUT0, IN0, IN1};
        rom[DIAGNOSE+1] = {HALT, ALWAYS, 4'd0, OK};
        rom[DIAGNOSE+2] = {ADDP, OUT0, IN0, IN1};
        rom[DIAGNOSE+3] = {HALT, ALWAYS, 4'd0, OK};
        rom[DIAGNOSE+4] = {SUBP, OUT0, IN0, IN1};
        rom[DIAGNOSE+5] = {HALT, ALWAYS, 4'd0, OK};
        rom[DIAGNOSE+6] = {ADDN, OUT0, IN0, IN1};
        rom[DIAGNOSE+7] = {HALT, ALWAYS, 4'd0, OK};
        rom[DIAGNOSE+8] = {SUBN, OUT0, IN0, IN1};
        rom[DIAGNOSE+9] = {HALT, ALWAYS, 4'd0, OK};
    end

    always_ff @(posedge clk) instruction <= rom[address];
endmodule
