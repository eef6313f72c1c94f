/* Changes a file of bodies at random and has the adapters' reader read it: fuzz_bodies FOLDER COUNT, where FOLDER/seed.bodies is a good one.
 *
 * Each is read in a process of its own, which must end well or with the status of a file that cannot be used. Built with the sanitizers of the
 * compiler, so that a byte read outside of the file ends it otherwise. The changes are the same each time.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "bodies.h"

enum { FILE_MAX = 1 << 20 };

static uint32_t state = 1;

static uint32_t next(void) {
    state = state * 1664525 + 1013904223;
    return state >> 8;
}

/* A field, some bytes, or the end. */
static size_t change(uint8_t *file, size_t size) {
    static const uint64_t extremes[] = {0, 1, 15, 16, 0x7FFFFFFF, 0xFFFFFFFF, UINT64_MAX - 7, UINT64_MAX};
    for (uint32_t left = 1 + next() % 4; left > 0 && size > 0; left--) {
        size_t at = next() % (next() % 2 ? size : (size < 64 ? size : 64));
        switch (next() % 4) {
        case 0: file[at] ^= (uint8_t)(1 << next() % 8); break;
        case 1: file[at] = (uint8_t)next(); break;
        case 2: memcpy(file + (at & ~7u), &extremes[next() % 8], size - (at & ~7u) < 8 ? size - (at & ~7u) : 8); break;
        default: size = next() % (size + 1); break;
        }
    }
    return size;
}

int main(int count, char **words) {
    static uint8_t seed[FILE_MAX], file[FILE_MAX];
    char path[4096];
    int read_well = 0, refused = 0, total = count == 3 ? atoi(words[2]) : 0;
    snprintf(path, sizeof path, "%s/seed.bodies", count == 3 ? words[1] : "");
    FILE *from = count == 3 ? fopen(path, "rb") : NULL;
    if (from == NULL) {
        fprintf(stderr, "usage: fuzz_bodies FOLDER COUNT, with FOLDER/seed.bodies\n");
        return EXIT_USAGE;
    }
    size_t seed_size = fread(seed, 1, sizeof seed, from);
    fclose(from);
    for (int number = 0; number < total; number++) {
        memcpy(file, seed, seed_size);
        size_t size = number == 0 ? seed_size : change(file, seed_size);
        snprintf(path, sizeof path, "%s/changed.bodies", words[1]);
        FILE *to = fopen(path, "wb");
        if (to == NULL || fwrite(file, 1, size, to) != size || fclose(to) != 0) {
            return EXIT_OTHER;
        }
        pid_t child = fork();
        if (child == 0) {
            struct stream stream = {.name = "changed", .length = 4};
            if (freopen("/dev/null", "w", stderr) == NULL) {
                _exit(EXIT_OTHER);
            }
            bodies_find(&stream, words[1]);
            volatile uint32_t sum = 0;
            for (uint32_t i = 0; i < stream.bodies_count; i++) {
                for (uint32_t j = 0; j < stream.bodies[i].length; j++) {
                    sum += stream.bodies[i].bytes[j];
                }
            }
            _exit(0);
        }
        int status = 0;
        waitpid(child, &status, 0);
        bool is_well = WIFEXITED(status) && (WEXITSTATUS(status) == 0 || WEXITSTATUS(status) == EXIT_USAGE);
        if (!is_well) {
            printf("file number %d ends the reader with status %d; it is left in %s\n", number, status, path);
            return EXIT_OTHER;
        }
        *(WEXITSTATUS(status) == 0 ? &read_well : &refused) += 1;
    }
    printf("%d files read, %d refused\n", read_well, refused);
    return read_well > 0 && refused > 0 ? 0 : EXIT_OTHER;
}
