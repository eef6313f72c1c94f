/* Messages in datagrams: what stands before each part, and how parts become messages again. */
#ifndef CHRONOSEAL_PARTS_H
#define CHRONOSEAL_PARTS_H

#include <stddef.h>

#include "contract.h"

enum {
    MAGIC = 0x44555343,
    KIND_MESSAGE = 3,
    BUFFER = 4 << 20, /* of a socket that sends [byte] */
};

/* Both ends are the same machine, so it goes over the wire as it is. */
struct head {
    uint32_t magic;
    uint16_t stream, kind;
    uint64_t number;
    uint32_t length, checksum; /* of the whole message */
    uint32_t offset;           /* of this datagram's part */
    uint32_t part;             /* what each part but the last has [byte] */
};
_Static_assert(sizeof(struct head) == 32, "no padding");

/* Of the part of a message that begins at `offset`, with at most `part` bytes. */
struct head head_of(const struct stream *stream, uint64_t number, const struct body *body, uint32_t offset, uint32_t part);

/* What stands behind it [byte]. */
uint32_t part_length(const struct head *head);

/* Messages of which parts have come. */
struct partial;
struct partial *parts_new(void);
void parts_free(struct partial *partials);

/* Takes what came in a datagram at `at_ns`; what is no part of a message of this stream is left. */
void parts_got(const struct stream *stream, struct partial *partials, const uint8_t *datagram, size_t length, int64_t at_ns);

#endif
