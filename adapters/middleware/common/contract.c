#define _GNU_SOURCE
#include "contract.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "bodies.h"
#include "buffers.h"
#include "keys.h"

enum { KIND_SENT = 1, KIND_RECEIVED = 2, KIND_SERIALIZED = 3, FLAG_ALTERED = 1, END_GRACE_MS = 300, WATCH_MS = 5000, TOOK_MAX = 4096 };

struct record {
    uint8_t kind, flags;
    uint16_t stream;
    uint32_t length;
    uint64_t sequence;
    int64_t due_ns, at_ns;
};
_Static_assert(sizeof(struct record) == 32, "a record has 32 bytes");

/* What serializing took of the last messages of a stream [ns]. */
struct took {
    atomic_uint count;
    atomic_uint ns[TOOK_MAX];
};

static struct call opened;
static struct took took_of[STREAMS_MAX];
static const char *usage_text;
static int records = -1;
static int64_t epoch_ns;
static uint64_t number_first;
static atomic_bool is_stopped, has_received;
static sem_t stopping;

int64_t contract_now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

void contract_sleep_ms(int milliseconds) {
    struct timespec pause = {milliseconds / 1000, milliseconds % 1000 * 1000000L};
    nanosleep(&pause, NULL);
}

bool contract_is_stopped(void) { return atomic_load(&is_stopped); }

void contract_fail_usage(void) {
    fprintf(stderr, "usage: adapter [--bodies FOLDER] %s\n"
                    "with what chronoseal gives a program that carries streams in its environment\n", usage_text);
    exit(EXIT_USAGE);
}

/* Once, for a program that is not the only one to know why nothing comes. */
static void look_at_keys(void) {
    static atomic_bool has_looked;
    if (!atomic_exchange(&has_looked, true)) {
        keys_check(&opened);
    }
}

void contract_fail(int status, const char *what, const char *why) {
    fprintf(stderr, "%s: %s\n", what, why);
    fflush(NULL);
    if (status == EXIT_REFUSED || status == EXIT_NO_MATCH) {
        look_at_keys();
    }
    /* Not `exit`: other threads may still use what it would destroy. */
    _exit(status);
}

void contract_say(const struct stream *stream, const char *format, ...) {
    va_list arguments;
    char line[512];
    va_start(arguments, format);
    vsnprintf(line, sizeof line, format, arguments);
    va_end(arguments);
    printf("%s: %s\n", stream->name, line);
    fflush(stdout);
}

static void put(struct record record) {
    if (write(records, &record, sizeof record) != (ssize_t)sizeof record) {
        contract_fail(EXIT_OTHER, "CHRONOSEAL_RECORDS", strerror(errno));
    }
}

#ifdef RECORDS_AT_END
/* Records as they would be if they cost nothing, to hold against: ../own_part.py. They are written when the run is over. */
enum { KEPT_MAX = 1 << 16 };
static struct record kept[KEPT_MAX];
static atomic_uint kept_count;

static void note(struct record record) {
    unsigned place = atomic_fetch_add(&kept_count, 1);
    if (place < KEPT_MAX) {
        kept[place] = record;
    }
}

static void put_kept(void) {
    for (unsigned i = 0; i < atomic_load(&kept_count) && i < KEPT_MAX; i++) {
        put(kept[i]);
    }
}
#else
static void note(struct record record) { put(record); }
static void put_kept(void) {}
#endif

void contract_received(const struct stream *stream, uint64_t number, const void *bytes, uint32_t length, uint32_t checksum, int64_t at_ns) {
    atomic_store_explicit(&has_received, true, memory_order_relaxed);
    /* Every byte is used, so that no copy of it can be left out. */
    bool is_altered = crc32(0, bytes, length) != checksum;
    note((struct record){KIND_RECEIVED, is_altered ? FLAG_ALTERED : 0, stream->number, length, number, 0, at_ns});
}

void contract_serialized(const struct stream *stream, int64_t took_ns) {
    struct took *took = &took_of[stream - opened.streams];
    unsigned place = atomic_fetch_add(&took->count, 1) % TOOK_MAX;
    atomic_store(&took->ns[place], took_ns < 0 ? 0 : took_ns > UINT_MAX ? UINT_MAX : (unsigned)took_ns);
}

static int by_value(const void *one, const void *other) {
    unsigned a = *(const unsigned *)one, b = *(const unsigned *)other;
    return (a > b) - (a < b);
}

static void put_serialized(void) {
    static unsigned sorted[TOOK_MAX];
    for (int i = 0; i < opened.streams_count; i++) {
        unsigned count = atomic_load(&took_of[i].count);
        count = count < TOOK_MAX ? count : TOOK_MAX;
        for (unsigned j = 0; j < count; j++) {
            sorted[j] = atomic_load(&took_of[i].ns[j]);
        }
        if (count > 0) {
            qsort(sorted, count, sizeof *sorted, by_value);
            put((struct record){KIND_SERIALIZED, 0, opened.streams[i].number, count, sorted[count / 2], 0, contract_now_ns()});
        }
    }
}

/* What stands behind a key of the bench's own flat JSON; it writes no others. */
static const char *behind(const char *object, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(object, quoted);
    if (at == NULL) {
        contract_fail(EXIT_USAGE, "CHRONOSEAL_STREAMS has no", key);
    }
    return at + strlen(quoted);
}

static void read_peers(struct stream *stream, const char *at) {
    const char *end = strchr(at, ']');
    while (end != NULL && (at = strchr(at, '"')) != NULL && at < end) {
        if (stream->peers_count == PEERS_MAX || sscanf(at, "\"%15[0-9.]\"", stream->peers[stream->peers_count]) != 1) {
            contract_fail(EXIT_USAGE, stream->name, "more receivers than an adapter has room for, or an address of another kind");
        }
        stream->peers_count++;
        at = strchr(at + 1, '"') + 1;
    }
}

static void read_streams(struct call *call, const char *json) {
    for (const char *at = strchr(json, '{'); at != NULL; at = strchr(at + 1, '{')) {
        if (call->streams_count == STREAMS_MAX) {
            contract_fail(EXIT_USAGE, "CHRONOSEAL_STREAMS", "more streams than an adapter has room for");
        }
        struct stream *stream = &call->streams[call->streams_count++];
        if (sscanf(behind(at, "name"), "\"%127[^\"]\"", stream->name) != 1) {
            contract_fail(EXIT_USAGE, "CHRONOSEAL_STREAMS", "a stream has no name");
        }
        stream->number = (uint16_t)strtoul(behind(at, "number"), NULL, 10);
        stream->length = (uint32_t)strtoul(behind(at, "length"), NULL, 10);
        stream->sends = strncmp(behind(at, "sends"), "true", 4) == 0;
        stream->period_ns = strtoll(behind(at, "period_ns"), NULL, 10);
        stream->offset_ns = strtoll(behind(at, "offset_ns"), NULL, 10);
        read_peers(stream, behind(at, "peers"));
    }
}

/* There should have been messages, and none came. */
static bool is_in_vain(void) {
    bool receives = false;
    for (int i = 0; i < opened.streams_count; i++) {
        receives |= !opened.streams[i].sends;
    }
    return receives && !atomic_load(&has_received);
}

/* A receiver that waits in a call of its library says no word by itself. */
static void *watch(void *unused) {
    contract_sleep_ms(WATCH_MS);
    if (!contract_is_stopped() && is_in_vain()) {
        look_at_keys();
    }
    return unused;
}

static void on_signal(int number) {
    (void)number;
    atomic_store(&is_stopped, true);
    sem_post(&stopping);
}

struct call *contract_open(int count, char **words, const char *usage, int words_min, int words_max) {
    struct call *call = &opened;
    const char *json = getenv("CHRONOSEAL_STREAMS"), *epoch = getenv("CHRONOSEAL_EPOCH_NS"), *file = getenv("CHRONOSEAL_RECORDS");
    const char *folder = NULL;
    usage_text = usage;
    words++;
    count--;
    if (count >= 2 && strcmp(words[0], "--bodies") == 0) {
        folder = words[1];
        words += 2;
        count -= 2;
    }
    if (count < 2 + words_min || count > 2 + words_max || !json || !epoch || !file) {
        contract_fail_usage();
    }
    call->address = words[0];
    call->mode = words[1];
    call->words = words + 2;
    call->words_count = count - 2;
    records = open(file, O_WRONLY | O_APPEND);
    if (records < 0) {
        contract_fail(EXIT_OTHER, file, strerror(errno));
    }
    epoch_ns = strtoll(epoch, NULL, 10);
    /* The bench counts from 0. Who forges messages for a trial sets it, so that they can be told from others. */
    const char *first = getenv("CHRONOSEAL_FIRST_NUMBER");
    number_first = first ? strtoull(first, NULL, 10) : 0;
    buffers_open();
    read_streams(call, json);
    for (int i = 0; i < call->streams_count; i++) {
        if (call->streams[i].sends) {
            bodies_find(&call->streams[i], folder);
        }
    }
    sem_init(&stopping, 0, 0);
    struct sigaction action = {.sa_handler = on_signal, .sa_flags = SA_RESTART};
    sigaction(SIGTERM, &action, NULL);
    signal(SIGPIPE, SIG_IGN);
    pthread_t watcher;
    if (is_in_vain() && pthread_create(&watcher, NULL, watch, NULL) == 0) {
        pthread_detach(watcher);
    }
    return call;
}

void contract_limit(const struct call *call, uint32_t length_max) {
    for (int i = 0; i < call->streams_count; i++) {
        for (uint32_t j = 0; j < call->streams[i].bodies_count; j++) {
            if (call->streams[i].bodies[j].length > length_max) {
                char why[96];
                snprintf(why, sizeof why, "messages of %u B, and this middleware takes %u B", call->streams[i].bodies[j].length, length_max);
                contract_fail(EXIT_OVER_LIMIT, call->streams[i].name, why);
            }
        }
    }
}

/* A stream with its thread. */
struct work {
    struct stream *stream;
    const struct adapter *adapter;
    pthread_t thread;
};

/* Until every receiver is known: what is sent before reaches nobody. */
static void await_match(const struct adapter *adapter, struct stream *stream) {
    unsigned matched = 0;
    for (int64_t until = contract_now_ns() + MATCH_S * INT64_C(1000000000); contract_now_ns() < until; contract_sleep_ms(2)) {
        if (contract_is_stopped()) {
            return;
        }
        matched = adapter->matched(stream);
        if (matched >= stream->peers_count) {
            contract_say(stream, "matched by %u at %.3f s", matched, (contract_now_ns() - epoch_ns) / 1e9);
            return;
        }
    }
    char why[64];
    snprintf(why, sizeof why, "matched by %u of %u in %d s", matched, stream->peers_count, MATCH_S);
    contract_fail(EXIT_NO_MATCH, stream->name, why);
}

/* Open loop: each message has its time in advance, and what could not be sent in time is sent late. */
static void *publish(void *argument) {
    struct work *work = argument;
    struct stream *stream = work->stream;
    await_match(work->adapter, stream);
    /* The first message is due when the next of its schedule is. */
    int64_t due_ns = epoch_ns + stream->offset_ns;
    int64_t passed_ns = contract_now_ns() - due_ns;
    due_ns += passed_ns > 0 ? (passed_ns / stream->period_ns + 1) * stream->period_ns : 0;
    for (uint64_t number = number_first; !contract_is_stopped(); number++, due_ns += stream->period_ns) {
        struct timespec due = {due_ns / 1000000000, due_ns % 1000000000};
        while (clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &due, NULL) == EINTR && !contract_is_stopped()) {
        }
        if (contract_is_stopped()) {
            break;
        }
        const struct body *body = &stream->bodies[number % stream->bodies_count];
        note((struct record){KIND_SENT, 0, stream->number, body->length, number, due_ns, contract_now_ns()});
        work->adapter->send(stream, number, body);
    }
    return NULL;
}

static void *receive(void *argument) {
    struct work *work = argument;
    work->adapter->receive(work->stream);
    return NULL;
}

/* What is known only when the run is over. */
static void put_rest(void) {
    put_kept();
    put_serialized();
    buffers_close(&opened);
}

void contract_run(struct call *call, const struct adapter *adapter) {
    static struct work works[STREAMS_MAX];
    int count = 0;
    contract_widen(call);
    /* Where the run was over before everything was set up, there is nothing to use. */
    for (int i = 0; i < call->streams_count && !contract_is_stopped(); i++) {
        struct stream *stream = &call->streams[i];
        if (stream->sends || adapter->receive != NULL) {
            struct work *work = &works[count++];
            *work = (struct work){stream, adapter, 0};
            if (pthread_create(&work->thread, NULL, stream->sends ? publish : receive, work) != 0) {
                contract_fail(EXIT_OTHER, stream->name, "no thread for it");
            }
        }
    }
    while (!contract_is_stopped()) {
        sem_wait(&stopping);
    }
    struct timespec until;
    clock_gettime(CLOCK_REALTIME, &until);
    until.tv_nsec += END_GRACE_MS * 1000000L;
    until.tv_sec += until.tv_nsec / 1000000000;
    until.tv_nsec %= 1000000000;
    for (int i = 0; i < count; i++) {
        if (pthread_timedjoin_np(works[i].thread, NULL, &until) != 0) {
            /* It waits in a call of the middleware; all records are there already. */
            put_rest();
            fflush(NULL);
            _exit(0);
        }
    }
    put_rest();
}
