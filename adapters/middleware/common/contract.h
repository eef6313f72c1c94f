/* What every middleware adapter shares: its command line, the streams that the bench gives it, the bodies of messages, the schedule, and
 * the records. docs/guide/link.md describes the environment and the records; README.md one folder up describes the whole contract.
 *
 *   adapter [--bodies FOLDER] ADDRESS MODE [WORDS]
 *
 * ADDRESS is that of the node itself. MODE and WORDS are the adapter's own. It can be used from C and from C++.
 */
#ifndef CHRONOSEAL_CONTRACT_H
#define CHRONOSEAL_CONTRACT_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

enum {
    EXIT_OTHER = 1,
    EXIT_USAGE = 64,      /* a wrong call, or a file of bodies that cannot be used */
    EXIT_OVER_LIMIT = 65, /* a message is longer than this middleware takes */
    EXIT_REFUSED = 66,    /* security refused our own keys or documents, or the broker refused us */
    EXIT_NO_MATCH = 75,   /* nobody to send to in time: not there, or refused */
};
enum { STREAMS_MAX = 64, PEERS_MAX = 16, NAME_MAX_LENGTH = 127, MATCH_S = 10 };

/* What one message carries. */
struct body {
    const uint8_t *bytes;
    uint32_t length;
    uint32_t checksum; /* CRC-32 as zlib has it */
};

struct stream {
    uint16_t number;
    bool sends;
    char name[NAME_MAX_LENGTH + 1];
    int64_t period_ns, offset_ns;
    uint32_t length; /* of a message [byte], where no file has its body */
    unsigned peers_count;
    char peers[PEERS_MAX][INET_ADDRSTRLEN]; /* the receivers; of a stream that is received, its sender */
    uint32_t bodies_count;                  /* messages take them in turn; none of a stream that is received */
    struct body *bodies;
    void *end; /* for the adapter: its publisher, its socket */
};

struct call {
    const char *address, *mode;
    int words_count;
    char **words;
    int streams_count;
    struct stream streams[STREAMS_MAX];
};

/* What an adapter does with the streams. */
struct adapter {
    /* How many receivers there are at present. Nothing is sent before it says as many as the stream has peers. */
    unsigned (*matched)(struct stream *stream);
    /* Hands over a message. What it serializes is in the time that is measured. `body` is one of the stream's. */
    void (*send)(struct stream *stream, uint64_t number, const struct body *body);
    /* Receives until `contract_is_stopped`, in a thread for each stream that is received; NULL where the library calls back. */
    void (*receive)(struct stream *stream);
};

/* Reads command line and environment; ends the program if they are wrong. There are from `words_min` to `words_max` WORDS. */
struct call *contract_open(int count, char **words, const char *usage, int words_min, int words_max);

/* Ends the program if a message to be sent is longer than the middleware takes. */
void contract_limit(const struct call *call, uint32_t length_max);

/* Prints how the adapter is called, and exits. */
__attribute__((noreturn)) void contract_fail_usage(void);

/* Prints a line `WHAT: WHY` and exits. */
__attribute__((noreturn)) void contract_fail(int status, const char *what, const char *why);

/* Has every UDP socket of a program that receives hold several of its longest messages, as long as the kernel lets it; where it grants less, it prints
 * the setting that mends that. `contract_run` does so: only who opens sockets later must do it again. */
void contract_widen(const struct call *call);

/* Sends and receives until the bench says that the run is over, and returns then. */
void contract_run(struct call *call, const struct adapter *adapter);

/* Writes down that a message was received: all of it at `at_ns`, which is taken before the checksum is computed over every byte. */
void contract_received(const struct stream *stream, uint64_t number, const void *bytes, uint32_t length, uint32_t checksum, int64_t at_ns);

/* Says what serializing a message that is sent took, or deserializing one that came, of the time that is measured of it. Of each stream the last
 * ones are kept, and a record of their median is written when the run is over. */
void contract_serialized(const struct stream *stream, int64_t took_ns);

/* Prints a line about a stream, which the report shows. */
__attribute__((format(printf, 2, 3))) void contract_say(const struct stream *stream, const char *format, ...);

bool contract_is_stopped(void);

/* CLOCK_MONOTONIC. */
int64_t contract_now_ns(void);

void contract_sleep_ms(int milliseconds);

#ifdef __cplusplus
}
#endif
#endif
