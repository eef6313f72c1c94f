/* Carries streams of a scenario over Eclipse Cyclone DDS, and writes down what it sent and got: docs/guide/link.md says how.
 *
 *   adapter ADDRESS best-effort|reliable [SECURITY_FOLDER]
 *
 * ADDRESS is that of the node itself. Each stream is a topic of its own. With a folder of keys and documents it speaks DDS Security; the
 * README says what has to be there. Exits with 64 for a wrong call, 66 if security is refused, 75 if nobody is there to send to, 1 for
 * what else fails.
 */
#include <dds/dds.h>
#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>
#include <zlib.h>

#include "message.h"

enum { KIND_SENT = 1, KIND_RECEIVED = 2, FLAG_ALTERED = 1, STREAMS_MAX = 64, HISTORY = 16, WAITING = 256, MATCH_S = 10 };

struct record {
    uint8_t kind, flags;
    uint16_t stream;
    uint32_t length;
    uint64_t sequence;
    int64_t due_ns, at_ns;
};
_Static_assert(sizeof(struct record) == 32, "a record has 32 bytes");

struct stream {
    unsigned number, length, peers;
    int sends;
    int64_t period_ns, offset_ns;
    char name[128];
    dds_entity_t end;
    dds_entity_t participant;
};

static int records = -1;
static int64_t epoch_ns;
static atomic_int stopped;

static int64_t now_ns(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return now.tv_sec * INT64_C(1000000000) + now.tv_nsec;
}

static void stop(int signal) {
    (void)signal;
    atomic_store(&stopped, 1);
}

static void fail(const char *what, dds_return_t code) {
    fprintf(stderr, "%s: %s\n", what, dds_strretcode(-code));
    exit(1);
}

static void note(struct record record) {
    if (write(records, &record, sizeof record) != (ssize_t)sizeof record) {
        perror("CHRONOSEAL_RECORDS");
        exit(1);
    }
}

/* The number behind a key of the bench's own flat JSON; it writes no others. */
static int64_t number_of(const char *object, const char *key) {
    char quoted[64];
    snprintf(quoted, sizeof quoted, "\"%s\":", key);
    const char *at = strstr(object, quoted);
    if (at == NULL) {
        fprintf(stderr, "CHRONOSEAL_STREAMS: no %s\n", key);
        exit(64);
    }
    at += strlen(quoted);
    return strncmp(at, "true", 4) == 0 ? 1 : strtoll(at, NULL, 10);
}

static int read_streams(const char *json, struct stream *streams) {
    int count = 0;
    for (const char *at = strchr(json, '{'); at != NULL && count < STREAMS_MAX; at = strchr(at + 1, '{')) {
        struct stream *stream = &streams[count++];
        const char *name = strstr(at, "\"name\":\"");
        if (name == NULL || sscanf(name, "\"name\":\"%127[^\"]\"", stream->name) != 1) {
            fprintf(stderr, "CHRONOSEAL_STREAMS: no name\n");
            exit(64);
        }
        const char *peers = strstr(at, "\"peers\":["), *close = peers ? strchr(peers, ']') : NULL;
        for (const char *one = peers; one != NULL && one < close; one = strchr(one + 1, ',')) {
            stream->peers++;
        }
        stream->number = (unsigned)number_of(at, "number");
        stream->length = (unsigned)number_of(at, "length");
        stream->sends = (int)number_of(at, "sends");
        stream->period_ns = number_of(at, "period_ns");
        stream->offset_ns = number_of(at, "offset_ns");
    }
    return count;
}

/* Until every receiver is known: what is sent before reaches nobody. */
static void await_match(struct stream *stream) {
    dds_publication_matched_status_t matched = {0};
    int64_t until = now_ns() + MATCH_S * INT64_C(1000000000);
    while (!atomic_load(&stopped) && now_ns() < until) {
        dds_return_t code = dds_get_publication_matched_status(stream->end, &matched);
        if (code < 0) {
            fail(stream->name, code);
        }
        if (matched.current_count >= stream->peers) {
            printf("%s: matched by %u at %.3f s\n", stream->name, matched.current_count, (now_ns() - epoch_ns) / 1e9);
            fflush(stdout);
            return;
        }
        dds_sleepfor(DDS_MSECS(2));
    }
    if (!atomic_load(&stopped)) {
        fprintf(stderr, "%s: matched by %u of %u in %d s\n", stream->name, matched.current_count, stream->peers, MATCH_S);
        exit(75);
    }
}

static void *publish(void *argument) {
    struct stream *stream = argument;
    uint32_t seed = stream->number + 1;
    uint8_t *body = malloc(stream->length);
    for (unsigned i = 0; i < stream->length; i++) {
        seed = seed * 1664525 + 1013904223;
        body[i] = (uint8_t)(seed >> 24);
    }
    chronoseal_Message message = {.checksum = (uint32_t)crc32(0, body, stream->length)};
    message.body = (dds_sequence_octet){stream->length, stream->length, body, false};
    await_match(stream);
    /* The first message is due when the next of its schedule is. */
    int64_t due = epoch_ns + stream->offset_ns;
    int64_t passed = now_ns() - due;
    due += passed > 0 ? (passed / stream->period_ns + 1) * stream->period_ns : 0;
    for (; !atomic_load(&stopped); due += stream->period_ns) {
        struct timespec at = {due / 1000000000, due % 1000000000};
        clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &at, NULL);
        if (atomic_load(&stopped)) {
            break;
        }
        note((struct record){KIND_SENT, 0, (uint16_t)stream->number, stream->length, message.number, due, now_ns()});
        dds_return_t code = dds_write(stream->end, &message);
        if (code < 0) {
            printf("%s: message %llu: %s\n", stream->name, (unsigned long long)message.number, dds_strretcode(-code));
            fflush(stdout);
        }
        message.number++;
    }
    return NULL;
}

static void *subscribe(void *argument) {
    struct stream *stream = argument;
    dds_entity_t waitset = dds_create_waitset(stream->participant);
    dds_entity_t condition = dds_create_readcondition(stream->end, DDS_ANY_STATE);
    dds_waitset_attach(waitset, condition, 0);
    while (!atomic_load(&stopped)) {
        if (dds_waitset_wait(waitset, NULL, 0, DDS_MSECS(100)) <= 0) {
            continue;
        }
        void *samples[1] = {NULL};
        dds_sample_info_t info[1];
        while (dds_take(stream->end, samples, info, 1, 1) > 0) {
            int64_t at = now_ns();
            const chronoseal_Message *message = samples[0];
            if (info[0].valid_data) {
                /* Every byte is used, so that no copy of it can be left out. */
                int is_altered = crc32(0, message->body._buffer, message->body._length) != message->checksum;
                note((struct record){KIND_RECEIVED, is_altered ? FLAG_ALTERED : 0, (uint16_t)stream->number,
                                     message->body._length, message->number, 0, at});
            }
            dds_return_loan(stream->end, samples, 1);
        }
    }
    return NULL;
}

static void set_security(dds_qos_t *qos, const char *folder) {
    static const char *const plugins[][2] = {
        {"dds.sec.auth.library.path", "dds_security_auth"},
        {"dds.sec.auth.library.init", "init_authentication"},
        {"dds.sec.auth.library.finalize", "finalize_authentication"},
        {"dds.sec.crypto.library.path", "dds_security_crypto"},
        {"dds.sec.crypto.library.init", "init_crypto"},
        {"dds.sec.crypto.library.finalize", "finalize_crypto"},
        {"dds.sec.access.library.path", "dds_security_ac"},
        {"dds.sec.access.library.init", "init_access_control"},
        {"dds.sec.access.library.finalize", "finalize_access_control"},
    };
    static const char *const files[][2] = {
        {"dds.sec.auth.identity_ca", "identity_ca.pem"},
        {"dds.sec.auth.identity_certificate", "identity.pem"},
        {"dds.sec.auth.private_key", "key.pem"},
        {"dds.sec.access.permissions_ca", "permissions_ca.pem"},
        {"dds.sec.access.governance", "governance.p7s"},
        {"dds.sec.access.permissions", "permissions.p7s"},
    };
    char text[4096];
    for (size_t i = 0; i < sizeof plugins / sizeof *plugins; i++) {
        int is_path = strstr(plugins[i][0], ".path") != NULL;
        snprintf(text, sizeof text, is_path ? "%s/lib%s.so" : "%s%s", is_path ? PLUGINS : "", plugins[i][1]);
        dds_qset_prop(qos, plugins[i][0], text);
    }
    for (size_t i = 0; i < sizeof files / sizeof *files; i++) {
        snprintf(text, sizeof text, "file:%s/%s", folder, files[i][1]);
        dds_qset_prop(qos, files[i][0], text);
    }
}

int main(int count, char **words) {
    const char *json = getenv("CHRONOSEAL_STREAMS"), *epoch = getenv("CHRONOSEAL_EPOCH_NS");
    const char *file = getenv("CHRONOSEAL_RECORDS");
    int is_reliable = count >= 3 && strcmp(words[2], "reliable") == 0;
    if (count < 3 || count > 4 || (!is_reliable && strcmp(words[2], "best-effort") != 0) || !json || !epoch || !file) {
        fprintf(stderr, "usage: adapter ADDRESS best-effort|reliable [SECURITY_FOLDER]\n"
                        "with what chronoseal gives a program that carries streams in its environment\n");
        return 64;
    }
    records = open(file, O_WRONLY | O_APPEND);
    if (records < 0) {
        perror(file);
        return 1;
    }
    epoch_ns = strtoll(epoch, NULL, 10);
    signal(SIGTERM, stop);

    char config[1024];
    snprintf(config, sizeof config,
             "<General><Interfaces><NetworkInterface address=\"%s\" multicast=\"true\"/></Interfaces>"
             "<AllowMulticast>spdp</AllowMulticast><MaxMessageSize>65500B</MaxMessageSize></General>"
             "<Internal><SocketReceiveBufferSize max=\"4MB\"/></Internal>",
             words[1]);
    dds_entity_t domain = dds_create_domain(0, config);
    if (domain < 0) {
        fail("domain", domain);
    }
    dds_qos_t *qos = dds_create_qos();
    if (count == 4) {
        set_security(qos, words[3]);
    }
    dds_entity_t participant = dds_create_participant(0, qos, NULL);
    if (participant < 0) {
        fprintf(stderr, "participant: %s\n", dds_strretcode(-participant));
        return count == 4 ? 66 : 1;
    }
    dds_reset_qos(qos);
    dds_qset_reliability(qos, is_reliable ? DDS_RELIABILITY_RELIABLE : DDS_RELIABILITY_BEST_EFFORT, DDS_SECS(10));
    if (is_reliable) {
        /* A writer whose link is too slow waits, and nothing is dropped. */
        dds_qset_history(qos, DDS_HISTORY_KEEP_ALL, 0);
        dds_qset_resource_limits(qos, WAITING, DDS_LENGTH_UNLIMITED, WAITING);
    } else {
        dds_qset_history(qos, DDS_HISTORY_KEEP_LAST, HISTORY);
    }

    static struct stream streams[STREAMS_MAX];
    int streams_count = read_streams(json, streams);
    pthread_t threads[STREAMS_MAX];
    for (int i = 0; i < streams_count; i++) {
        struct stream *stream = &streams[i];
        stream->participant = participant;
        dds_entity_t topic = dds_create_topic(participant, &chronoseal_Message_desc, stream->name, NULL, NULL);
        if (topic < 0) {
            fail(stream->name, topic);
        }
        stream->end = stream->sends ? dds_create_writer(participant, topic, qos, NULL) : dds_create_reader(participant, topic, qos, NULL);
        if (stream->end < 0) {
            fail(stream->name, stream->end);
        }
        pthread_create(&threads[i], NULL, stream->sends ? publish : subscribe, stream);
    }
    dds_delete_qos(qos);
    for (int i = 0; i < streams_count; i++) {
        pthread_join(threads[i], NULL);
    }
    dds_delete(domain);
    return 0;
}
