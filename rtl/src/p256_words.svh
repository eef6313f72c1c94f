// Included in the modules that use it: Yosys 0.23 reads packages but no imports of them.
// verilator lint_off UNUSEDPARAM

// Words that the engine's parts share: registers, instructions, statuses, and the two moduli.
//
// P-256 is NIST SP 800-186 §3.2.1.3 (the former FIPS 186-4 D.1.2.3). All field elements on the engine are in
// Montgomery form, x * 2^256 mod p, unless a comment says plain.
localparam logic [255:0] P = 256'hffffffff_00000001_00000000_00000000_00000000_ffffffff_ffffffff_ffffffff;
localparam logic [255:0] N = 256'hffffffff_00000000_ffffffff_ffffffff_bce6faad_a7179e84_f3b9cac2_fc632551;

// Instruction: operation, destination, operand a, operand b. Control instructions use the last eight bits.
localparam int unsigned INSTRUCTION_BITS = 22;

// d = a * b / 2^256 mod p: a below 2^256, b below p.
localparam logic [3:0] MUL = 4'd0;
// d = a + b, a - b modulo p or n: below the modulus if both operands are; a + ZERO reduces any a below 2^256.
localparam logic [3:0] ADDP = 4'd1;
localparam logic [3:0] SUBP = 4'd2;
localparam logic [3:0] ADDN = 4'd3;
localparam logic [3:0] SUBN = 4'd4;
// Control. Two calls may be nested.
localparam logic [3:0] CALL = 4'd8;
localparam logic [3:0] RET = 4'd9;
localparam logic [3:0] JUMP = 4'd10;
// Sets the bit counter; with COMB, operand b of BITS is read 128 bits higher.
localparam logic [3:0] COUNT = 4'd11;
// Takes the counter one down and jumps; goes on if it was zero.
localparam logic [3:0] LOOP = 4'd12;
// Selects entry {bit of b, bit of a} of the table, at the counter.
localparam logic [3:0] BITS = 4'd13;
// Selects the entry that is named.
localparam logic [3:0] SELECT = 4'd14;
// Ends with a status if the condition holds, and goes on if not.
localparam logic [3:0] HALT = 4'd15;

localparam logic [5:0] COMB = 6'd1;

// Conditions of HALT, about the last result: is it zero, did it need its one correction by the modulus.
localparam logic [5:0] ALWAYS = 6'd0;
localparam logic [5:0] IF_ZERO = 6'd1;
localparam logic [5:0] IF_NONZERO = 6'd2;
localparam logic [5:0] IF_CORRECTED = 6'd3;

localparam logic [7:0] OK = 8'd0;
localparam logic [7:0] COORDINATE_OUT_OF_RANGE = 8'd1;
localparam logic [7:0] NOT_ON_CURVE = 8'd2;
localparam logic [7:0] INFINITY = 8'd3;
localparam logic [7:0] MISMATCH = 8'd4;
localparam logic [7:0] SCALAR_OUT_OF_RANGE = 8'd5;

// What the bus can start; also the first addresses of the microcode, where each has its jump.
localparam logic [7:0] OP_BASE = 8'd0;
localparam logic [7:0] OP_POINT = 8'd1;
localparam logic [7:0] OP_DUAL = 8'd2;
localparam logic [7:0] OP_SIGN = 8'd3;
localparam logic [7:0] OP_VERIFY = 8'd4;
localparam logic [7:0] OP_CHECK = 8'd5;
localparam logic [7:0] OP_IMPORT = 8'd6;
localparam logic [7:0] OP_ERASE = 8'd7;
localparam logic [7:0] OP_PUBLIC = 8'd8;
localparam logic [7:0] OP_AGREE = 8'd9;
localparam logic [7:0] OP_DIAGNOSE_MUL = 8'd10;
localparam logic [7:0] OP_DIAGNOSE_ADDP = 8'd11;
localparam logic [7:0] OP_DIAGNOSE_SUBP = 8'd12;
localparam logic [7:0] OP_DIAGNOSE_ADDN = 8'd13;
localparam logic [7:0] OP_DIAGNOSE_SUBN = 8'd14;

// Registers of 256 bits. The bus reads only the first two and writes only the six after them, of which the last is spare.
localparam logic [5:0] OUT0 = 6'd0;
localparam logic [5:0] OUT1 = 6'd1;
localparam logic [5:0] IN0 = 6'd2;
localparam logic [5:0] IN1 = 6'd3;
localparam logic [5:0] IN2 = 6'd4;
localparam logic [5:0] IN3 = 6'd5;
localparam logic [5:0] IN4 = 6'd6;
// The running point, and its double.
localparam logic [5:0] RX = 6'd8;
localparam logic [5:0] RY = 6'd9;
localparam logic [5:0] RZ = 6'd10;
localparam logic [5:0] SX = 6'd11;
localparam logic [5:0] SY = 6'd12;
localparam logic [5:0] SZ = 6'd13;
localparam logic [5:0] T0 = 6'd14;
localparam logic [5:0] T1 = 6'd15;
// The table of four points, four registers each. Entry 0 is the point at infinity, (0 : 1 : 0), and never written.
localparam logic [5:0] ZERO = 6'd16;
localparam logic [5:0] ONE = 6'd17;
// Not Montgomery: multiplying by it leaves that form.
localparam logic [5:0] PLAIN_ONE = 6'd19;
localparam logic [5:0] E1X = 6'd20;
localparam logic [5:0] E1Y = 6'd21;
localparam logic [5:0] E1Z = 6'd22;
localparam logic [5:0] E2X = 6'd24;
localparam logic [5:0] E2Y = 6'd25;
localparam logic [5:0] E2Z = 6'd26;
localparam logic [5:0] E3X = 6'd28;
localparam logic [5:0] E3Y = 6'd29;
localparam logic [5:0] E3Z = 6'd30;
localparam logic [5:0] T2 = 6'd32;
localparam logic [5:0] T3 = 6'd33;
localparam logic [5:0] T4 = 6'd34;
// Scalars, plain.
localparam logic [5:0] K0 = 6'd35;
localparam logic [5:0] K1 = 6'd36;
localparam logic [5:0] U = 6'd37;
// Constants: 2^512 mod p, the curve's b, p - 2 (plain), G, H = 2^128 G, and G + H.
localparam logic [5:0] R2 = 6'd40;
localparam logic [5:0] B = 6'd41;
localparam logic [5:0] P_MINUS_2 = 6'd42;
localparam logic [5:0] GX = 6'd43;
localparam logic [5:0] GY = 6'd44;
localparam logic [5:0] HX = 6'd45;
localparam logic [5:0] HY = 6'd46;
localparam logic [5:0] GHX = 6'd47;
localparam logic [5:0] GHY = 6'd48;
// Not registers but ways to name one: the selected entry of the table, the selected key slot.
localparam logic [5:0] QX = 6'd60;
localparam logic [5:0] QY = 6'd61;
localparam logic [5:0] QZ = 6'd62;
localparam logic [5:0] KEY = 6'd63;

// verilator lint_on UNUSEDPARAM
