/* Carries streams of a scenario over Eclipse Cyclone DDS; ../common/contract.h has what all adapters share.
 *
 *   adapter [--bodies FOLDER] ADDRESS best-effort|reliable [SECURITY_FOLDER]
 *
 * Each stream is a topic of its own. With a folder of keys and documents it speaks DDS Security; the README says what has to be there.
 */
#include <ctype.h>
#include <dds/dds.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"
#include "message.h"

enum { HISTORY = 16, WAITING = 256 };

static dds_entity_t participant;

static dds_entity_t end_of(const struct stream *stream) { return (dds_entity_t)(intptr_t)stream->end; }

static dds_entity_t must(const char *what, dds_return_t entity) {
    if (entity < 0) {
        contract_fail(EXIT_OTHER, what, dds_strretcode(-entity));
    }
    return entity;
}

/* A name that Cyclone takes. */
static dds_entity_t topic_of(const struct stream *stream) {
    char name[sizeof stream->name];
    for (size_t i = 0; i < sizeof name; i++) {
        name[i] = stream->name[i] == '\0' || isalnum((unsigned char)stream->name[i]) ? stream->name[i] : '_';
    }
    return must(stream->name, dds_create_topic(participant, &chronoseal_Message_desc, name, NULL, NULL));
}

static unsigned matched(struct stream *stream) {
    dds_publication_matched_status_t status = {0};
    must(stream->name, dds_get_publication_matched_status(end_of(stream), &status));
    return status.current_count;
}

static void publish(struct stream *stream, uint64_t number, const struct body *body) {
    chronoseal_Message message = {.number = number, .checksum = body->checksum};
    message.body = (dds_sequence_octet){body->length, body->length, (uint8_t *)body->bytes, false};
    dds_return_t code = dds_write(end_of(stream), &message);
    if (code < 0) {
        contract_say(stream, "message %llu: %s", (unsigned long long)number, dds_strretcode(-code));
    }
}

static void subscribe(struct stream *stream) {
    dds_entity_t waitset = must(stream->name, dds_create_waitset(participant));
    dds_entity_t condition = must(stream->name, dds_create_readcondition(end_of(stream), DDS_ANY_STATE));
    must(stream->name, dds_waitset_attach(waitset, condition, 0));
    while (!contract_is_stopped()) {
        if (dds_waitset_wait(waitset, NULL, 0, DDS_MSECS(100)) <= 0) {
            continue;
        }
        void *samples[1] = {NULL};
        dds_sample_info_t info[1];
        while (dds_take(end_of(stream), samples, info, 1, 1) > 0) {
            int64_t at_ns = contract_now_ns();
            const chronoseal_Message *message = samples[0];
            if (info[0].valid_data) {
                contract_received(stream, message->number, message->body._buffer, message->body._length, message->checksum, at_ns);
            }
            dds_return_loan(end_of(stream), samples, 1);
        }
    }
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
    struct call *call = contract_open(count, words, "ADDRESS best-effort|reliable|reliable-in-default-datagrams [SECURITY_FOLDER]", 0, 1);
    /* The library's own datagrams have up to 14,720 B. */
    bool is_default = strcmp(call->mode, "reliable-in-default-datagrams") == 0;
    bool is_reliable = is_default || strcmp(call->mode, "reliable") == 0;
    if (!is_reliable && strcmp(call->mode, "best-effort") != 0) {
        contract_fail_usage();
    }
    char config[1024];
    snprintf(config, sizeof config,
             "<General><Interfaces><NetworkInterface address=\"%s\" multicast=\"true\"/></Interfaces>"
             "<AllowMulticast>spdp</AllowMulticast>%s</General>"
             "<Internal><SocketReceiveBufferSize max=\"4MB\"/></Internal>",
             call->address, is_default ? "" : "<MaxMessageSize>65500B</MaxMessageSize>");
    must("domain", dds_create_domain(0, config));
    dds_qos_t *qos = dds_create_qos();
    if (call->words_count == 1) {
        set_security(qos, call->words[0]);
    }
    participant = dds_create_participant(0, qos, NULL);
    if (participant < 0) {
        contract_fail(call->words_count == 1 ? EXIT_REFUSED : EXIT_OTHER, "participant", dds_strretcode(-participant));
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
    for (int i = 0; i < call->streams_count; i++) {
        struct stream *stream = &call->streams[i];
        dds_entity_t topic = topic_of(stream);
        dds_entity_t end = stream->sends ? dds_create_writer(participant, topic, qos, NULL) : dds_create_reader(participant, topic, qos, NULL);
        stream->end = (void *)(intptr_t)must(stream->name, end);
    }
    dds_delete_qos(qos);
    contract_run(call, &(struct adapter){.matched = matched, .send = publish, .receive = subscribe});
    fflush(NULL);
    /* Deleting the domain waits for peers that may have ended already. */
    _exit(0);
}
