#include "bodies.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zlib.h>

_Static_assert(__BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__, "the file is little-endian, and read as it is");

struct head {
    char magic[8];
    uint32_t version, count;
};

struct entry {
    uint64_t offset; /* from the start of the file */
    uint32_t length, checksum;
};
_Static_assert(sizeof(struct head) == 16 && sizeof(struct entry) == 16, "as the file has them");

static void make_up(struct stream *stream) {
    uint8_t *bytes = malloc(stream->length > 0 ? stream->length : 1);
    uint32_t seed = stream->number + 1u;
    for (uint32_t i = 0; i < stream->length; i++) {
        seed = seed * 1664525 + 1013904223;
        bytes[i] = (uint8_t)(seed >> 24);
    }
    stream->bodies[0] = (struct body){bytes, stream->length, (uint32_t)crc32(0, bytes, stream->length)};
}

/* The checksums are computed here, which also brings the pages into memory before anything is measured. */
static void use_file(struct stream *stream, const char *path, const uint8_t *file, uint64_t size) {
    const struct head *head = (const void *)file;
    if (size < sizeof *head || memcmp(head->magic, "CSBODIES", 8) != 0 || head->version != 1) {
        contract_fail(EXIT_USAGE, path, "no file of bodies of version 1");
    }
    if (head->count == 0 || head->count > (size - sizeof *head) / sizeof(struct entry)) {
        contract_fail(EXIT_USAGE, path, "it has no bodies, or ends within their table");
    }
    const struct entry *entries = (const void *)(file + sizeof *head);
    stream->bodies_count = head->count;
    stream->bodies = calloc(head->count, sizeof *stream->bodies);
    for (uint32_t i = 0; i < head->count; i++) {
        const struct entry *entry = &entries[i];
        if (entry->offset > size || entry->length > size - entry->offset) {
            contract_fail(EXIT_USAGE, path, "a body is outside the file");
        }
        const uint8_t *bytes = file + entry->offset;
        if (crc32(0, bytes, entry->length) != entry->checksum) {
            contract_fail(EXIT_USAGE, path, "a body has another checksum than its table says");
        }
        stream->bodies[i] = (struct body){bytes, entry->length, entry->checksum};
    }
}

void bodies_find(struct stream *stream, const char *folder) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s.bodies", folder ? folder : "", stream->name);
    int file = folder ? open(path, O_RDONLY | O_CLOEXEC) : -1;
    if (file < 0) {
        if (folder && errno != ENOENT) {
            contract_fail(EXIT_USAGE, path, strerror(errno));
        }
        stream->bodies_count = 1;
        stream->bodies = calloc(1, sizeof *stream->bodies);
        make_up(stream);
        return;
    }
    struct stat status;
    void *mapped = fstat(file, &status) == 0 && status.st_size > 0
                       ? mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_SHARED, file, 0)
                       : MAP_FAILED;
    close(file);
    if (mapped == MAP_FAILED) {
        contract_fail(EXIT_USAGE, path, "it cannot be mapped");
    }
    use_file(stream, path, mapped, (uint64_t)status.st_size);
}
