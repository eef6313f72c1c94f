/* Calls the static library on x86-64 Linux without a C library: whatever the library needs beyond the four memory
 * functions every Rust target needs, the linker cannot find. Prints "ok" or what went wrong. */
#include <stddef.h>
#include <stdint.h>

extern uint64_t chronoseal_seal_and_open(uint32_t hash, uint32_t payload, uint64_t freshness);
extern uint64_t chronoseal_hmac(uint32_t hash, uint64_t message);
extern int64_t chronoseal_control_frame(uint32_t cycle, int64_t sent_ps, int64_t delay_ps);
extern uint64_t chronoseal_fourq_public(uint64_t secret);
extern uint32_t chronoseal_fourq_exchange(uint64_t one, uint64_t other);
extern uint64_t chronoseal_suite_exchange(uint32_t suite, uint8_t one, uint8_t other);
extern uint32_t chronoseal_secoc(uint32_t payload);
extern uint32_t chronoseal_group_key(uint32_t scheme, uint8_t seed);

/* The linker takes these from here. -fno-builtin keeps the compiler from turning them into calls of themselves. */
void *memcpy(void *to, const void *from, size_t len) {
    unsigned char *t = to;
    const unsigned char *f = from;
    while (len--) *t++ = *f++;
    return to;
}
void *memmove(void *to, const void *from, size_t len) {
    unsigned char *t = to;
    const unsigned char *f = from;
    if (t < f) return memcpy(to, from, len);
    while (len--) t[len] = f[len];
    return to;
}
void *memset(void *to, int value, size_t len) {
    unsigned char *t = to;
    while (len--) *t++ = (unsigned char)value;
    return to;
}
int memcmp(const void *a, const void *b, size_t len) {
    const unsigned char *x = a, *y = b;
    for (; len--; x++, y++)
        if (*x != *y) return *x - *y;
    return 0;
}
int bcmp(const void *a, const void *b, size_t len) { return memcmp(a, b, len); }

static long system_call(long number, long a, long b, long c) {
    long result;
    __asm__ volatile("syscall" : "=a"(result) : "a"(number), "D"(a), "S"(b), "d"(c) : "rcx", "r11", "memory");
    return result;
}

static int say(const char *text, int status) {
    size_t len = 0;
    while (text[len]) len++;
    system_call(1 /* write */, 1, (long)text, (long)len);
    return status;
}

/* HMACs with the key 00 01 .. 3f, by Python's hmac:
 *   hmac.new(bytes(range(64)), bytes.fromhex("0064 01020304 0102030405060708"), name).hexdigest()[:16]
 * and the same over 0102030405060708 alone; names sha1, sha256, sha3_256. */
static const uint64_t sealed_tag[3] = {0x660c9da35e85d477, 0xe05f166cd5553171, 0x57c06f75ec7d1690};
static const uint64_t plain_tag[3] = {0x9b76d92334a3ccca, 0x3e557d2291f56614, 0xe9ce54b9b3d1080e};

int run(void) {
    for (uint32_t hash = 0; hash < 3; hash++) {
        if (chronoseal_seal_and_open(hash, 0x01020304, 0x0102030405060708) != sealed_tag[hash])
            return say("a frame is not sealed or opened as it should be\n", 1);
        if (chronoseal_hmac(hash, 0x0102030405060708) != plain_tag[hash])
            return say("an HMAC differs from its vector\n", 1);
    }
    if (chronoseal_seal_and_open(3, 0, 0) != 0) return say("an unknown hash is not refused\n", 1);
    if (chronoseal_control_frame(7, 1000, 234) != 1234) return say("a control frame does not read back\n", 1);
    /* Public keys of the secrets 1 and 2: crates/fourq/tests/vectors/fourqlib.csv, rows 0 and 2. */
    if (chronoseal_fourq_public(1) != 0x87b2cb2b46a224b9) return say("FourQ's base point differs from its vector\n", 1);
    if (chronoseal_fourq_public(2) != 0x6c62cb013d32a235) return say("a FourQ key differs from its vector\n", 1);
    if (chronoseal_fourq_exchange(3, 5) != 1) return say("a FourQ exchange goes otherwise than it should\n", 1);
    /* P-256 and X25519 with the private keys 11..11 and 22..22, by Python's cryptography; FourQ only has to go well. */
    if (chronoseal_suite_exchange(0, 0x11, 0x22) == 0) return say("FourQ as a suite goes otherwise than it should\n", 1);
    if (chronoseal_suite_exchange(1, 0x11, 0x22) != 0xccfc261f58193c98) return say("P-256 differs from its vector\n", 1);
    if (chronoseal_suite_exchange(2, 0x11, 0x22) != 0x9e004098efc091d4) return say("X25519 differs from its vector\n", 1);
    if (chronoseal_suite_exchange(3, 0x11, 0x22) != 0) return say("an unknown suite is not refused\n", 1);
    /* CMAC over 0064 01020304 00000001 with the key 00 01 .. 0f, by the same; its first 24 bits behind the count. */
    if (chronoseal_secoc(0x01020304) != 0x01bfa395) return say("a PDU secured by SecOC differs from its vector\n", 1);
    for (uint32_t scheme = 0; scheme < 3; scheme++)
        if (chronoseal_group_key(scheme, 0x11) != 1) return say("a group does not come to one key\n", 1);
    if (chronoseal_group_key(3, 0x11) != 0) return say("an unknown scheme is not refused\n", 1);
    return say("ok\n", 0);
}

__asm__(".globl _start\n"
        "_start:\n"
        "  xor %ebp, %ebp\n"
        "  and $-16, %rsp\n"
        "  call run\n"
        "  mov %eax, %edi\n"
        "  mov $60, %eax\n" /* exit */
        "  syscall\n");
