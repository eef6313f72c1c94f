#include "parts.h"

#include <stdlib.h>
#include <string.h>

#include "raw.h"

/* Of more messages than this of which parts are missing the oldest is given up. */
enum { PARTIALS = 4, PARTS_MAX = 1 << 16 };

struct partial {
    bool is_used, is_whole;
    struct head head;
    uint32_t missing;
    uint8_t has[PARTS_MAX / 8];
    uint8_t *bytes;
    uint32_t capacity;
};

struct partial *parts_new(void) { return calloc(PARTIALS, sizeof(struct partial)); }

void parts_free(struct partial *partials) {
    for (int i = 0; i < PARTIALS; i++) {
        free(partials[i].bytes);
    }
    free(partials);
}

struct head head_of(const struct stream *stream, uint64_t number, const struct body *body, uint32_t offset, uint32_t part) {
    return (struct head){
        .magic = MAGIC,
        .stream = stream->number,
        .kind = KIND_MESSAGE,
        .number = number,
        .length = body->length,
        .checksum = body->checksum,
        .offset = offset,
        .part = part,
    };
}

uint32_t part_length(const struct head *head) {
    uint32_t rest = head->length - head->offset;
    return rest < head->part ? rest : head->part;
}

static void begin(struct partial *partial, const struct head *head) {
    if (partial->capacity < head->length) {
        free(partial->bytes);
        partial->bytes = malloc(head->length);
        partial->capacity = head->length;
    }
    partial->is_used = true;
    partial->is_whole = false;
    partial->head = *head;
    partial->missing = head->length;
    memset(partial->has, 0, sizeof partial->has);
}

/* A part of a longer message. Of two messages that need the same room the later one has it. */
static void add(const struct stream *stream, struct partial *partials, const struct head *head, const uint8_t *bytes, uint32_t length) {
    struct partial *partial = &partials[head->number % PARTIALS];
    bool is_other = !partial->is_used || partial->head.number != head->number;
    bool is_like = is_other || (partial->head.length == head->length && partial->head.part == head->part);
    if (head->offset % head->part != 0 || head->length > PARTS_MAX * (uint64_t)head->part || head->length > MESSAGE_MAX ||
        (partial->is_used && partial->head.number > head->number) || !is_like) {
        return;
    }
    if (is_other) {
        begin(partial, head);
    }
    uint32_t index = head->offset / head->part;
    if (partial->is_whole || (partial->has[index / 8] >> index % 8 & 1)) {
        return;
    }
    partial->has[index / 8] |= (uint8_t)(1 << index % 8);
    memcpy(partial->bytes + head->offset, bytes, length);
    partial->missing -= length;
    if (partial->missing == 0) {
        int64_t at_ns = contract_now_ns();
        partial->is_whole = true;
        contract_received(stream, head->number, partial->bytes, head->length, partial->head.checksum, at_ns);
    }
}

void parts_got(const struct stream *stream, struct partial *partials, const uint8_t *datagram, size_t length, int64_t at_ns) {
    struct head head;
    if (length < sizeof head) {
        return;
    }
    memcpy(&head, datagram, sizeof head);
    const uint8_t *bytes = datagram + sizeof head;
    bool is_ours = head.magic == MAGIC && head.kind == KIND_MESSAGE && head.stream == stream->number;
    if (!is_ours || head.part == 0 || head.offset > head.length || part_length(&head) != length - sizeof head) {
        return;
    }
    if (head.length == part_length(&head)) {
        contract_received(stream, head.number, bytes, head.length, head.checksum, at_ns);
    } else {
        add(stream, partials, &head, bytes, part_length(&head));
    }
}
