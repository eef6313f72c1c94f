/* What the bench adds to a message in an adapter: own_part LENGTH. It prints the median and the 99th percentile [ns] of each step, of batches of 64.
 *
 * `stamp` and `sent` are in the time that is measured of a message, and `serialized` twice, at an adapter that says what serializing takes. `received`,
 * its checksum and its record, comes after that was taken.
 */
#include "contract.c"

#include <sys/mman.h>

enum { BATCHES = 2001, BATCH = 64 };

static uint8_t *bytes;
static uint32_t length, checksum;
static volatile int64_t seen_ns;

static void stamp(void) { seen_ns = contract_now_ns(); }

static void sent(void) { note((struct record){KIND_SENT, 0, opened.streams[0].number, length, 1, 2, contract_now_ns()}); }

static void received(void) { contract_received(&opened.streams[0], 1, bytes, length, checksum, contract_now_ns()); }

static void serialized(void) {
    int64_t begin_ns = contract_now_ns();
    contract_serialized(&opened.streams[0], contract_now_ns() - begin_ns);
}

static int by_size(const void *one, const void *other) {
    int64_t a = *(const int64_t *)one, b = *(const int64_t *)other;
    return (a > b) - (a < b);
}

static void measure(const char *name, void (*step)(void)) {
    static int64_t took_ns[BATCHES];
    for (int i = 0; i < BATCHES; i++) {
        int64_t begin_ns = contract_now_ns();
        for (int j = 0; j < BATCH; j++) {
            step();
        }
        took_ns[i] = contract_now_ns() - begin_ns;
        if (ftruncate(records, 0) != 0) {
            contract_fail(EXIT_OTHER, "records", strerror(errno));
        }
    }
    qsort(took_ns, BATCHES, sizeof took_ns[0], by_size);
    printf("%-10s %8.1f %8.1f\n", name, (double)took_ns[BATCHES / 2] / BATCH, (double)took_ns[BATCHES * 99 / 100] / BATCH);
}

int main(int count, char **words) {
    length = count == 2 ? (uint32_t)strtoul(words[1], NULL, 10) : 0;
    bytes = length == 0 ? NULL : malloc(length);
    /* As the bench has it: a file in memory, to which records are appended. */
    records = memfd_create("records", MFD_CLOEXEC);
    if (bytes == NULL || records < 0 || fcntl(records, F_SETFL, O_APPEND) != 0) {
        fprintf(stderr, "usage: own_part LENGTH\n");
        return EXIT_USAGE;
    }
    for (uint32_t i = 0; i < length; i++) {
        bytes[i] = (uint8_t)(i * 7);
    }
    checksum = (uint32_t)crc32(0, bytes, length);
    measure("stamp", stamp);
    measure("sent", sent);
    measure("received", received);
    measure("serialized", serialized);
    return 0;
}
