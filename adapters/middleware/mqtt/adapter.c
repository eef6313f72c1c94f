/* Carries streams of a scenario over MQTT with libmosquitto; ../common/contract.h has what all adapters share.
 *
 *   adapter [--bodies FOLDER] ADDRESS qos-0|qos-1 BROKER [KEYS]
 *
 * BROKER is the address of the node on which mosquitto runs. With a folder of keys the connections are TLS 1.3. Each stream is a topic,
 * streams/NAME, and has a connection of its own. A receiver says that it is there by a retained message in ready/NAME/ADDRESS.
 */
#include <mosquitto.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "contract.h"

enum { PORT = 1883, PORT_TLS = 8883, KEEPALIVE_S = 60, WAITING = 16, TOPIC_MAX = 256, RETRY_MS = 50 };

/* Topic, head and body have to fit into a packet of the protocol [byte]. */
enum { MESSAGE_MAX = 268435455 - 1024 };

/* In front of each body. */
struct head {
    uint64_t number;
    uint32_t checksum, reserved;
};
_Static_assert(sizeof(struct head) == 16, "no padding");

struct client {
    struct stream *stream;
    struct mosquitto *connection;
    uint8_t **messages; /* head and body of each of the stream's bodies */
    pthread_mutex_t lock;
    pthread_cond_t has_changed;
    unsigned waiting; /* messages that the library has not sent yet */
    unsigned ready_count;
    char ready[PEERS_MAX][TOPIC_MAX];
};

static struct call *call;
static int qos;

static void on_connect(struct mosquitto *connection, void *context, int code) {
    struct client *client = context;
    char topic[TOPIC_MAX];
    if (code != 0) {
        contract_fail(EXIT_REFUSED, client->stream->name, mosquitto_connack_string(code));
    }
    snprintf(topic, sizeof topic, client->stream->sends ? "ready/%s/+" : "streams/%s", client->stream->name);
    mosquitto_subscribe(connection, NULL, topic, client->stream->sends ? 1 : qos);
}

/* Once the broker has the subscription, the publisher may begin. */
static void on_subscribe(struct mosquitto *connection, void *context, int id, int count, const int *granted) {
    struct client *client = context;
    char topic[TOPIC_MAX];
    (void)id;
    if (count < 1 || granted[0] > 2) {
        contract_fail(EXIT_REFUSED, client->stream->name, "the broker refuses the subscription");
    }
    if (!client->stream->sends) {
        snprintf(topic, sizeof topic, "ready/%s/%s", client->stream->name, call->address);
        mosquitto_publish(connection, NULL, topic, 1, "1", 1, true);
    }
}

static void note_ready(struct client *client, const char *topic) {
    pthread_mutex_lock(&client->lock);
    bool is_known = client->ready_count == PEERS_MAX;
    for (unsigned i = 0; i < client->ready_count; i++) {
        is_known |= strcmp(client->ready[i], topic) == 0;
    }
    if (!is_known) {
        snprintf(client->ready[client->ready_count++], TOPIC_MAX, "%s", topic);
    }
    pthread_mutex_unlock(&client->lock);
}

static void on_message(struct mosquitto *connection, void *context, const struct mosquitto_message *message) {
    int64_t at_ns = contract_now_ns();
    struct client *client = context;
    struct head head;
    (void)connection;
    if (client->stream->sends) {
        note_ready(client, message->topic);
    } else if (message->payloadlen >= (int)sizeof head) {
        const uint8_t *payload = message->payload;
        memcpy(&head, payload, sizeof head);
        contract_received(client->stream, head.number, payload + sizeof head, (uint32_t)message->payloadlen - (uint32_t)sizeof head,
                          head.checksum, at_ns);
    }
}

static void on_publish(struct mosquitto *connection, void *context, int id) {
    struct client *client = context;
    (void)connection;
    (void)id;
    pthread_mutex_lock(&client->lock);
    client->waiting -= client->waiting > 0;
    pthread_cond_signal(&client->has_changed);
    pthread_mutex_unlock(&client->lock);
}

static void on_disconnect(struct mosquitto *connection, void *context, int code) {
    struct client *client = context;
    (void)connection;
    if (code != 0 && !contract_is_stopped()) {
        contract_say(client->stream, "the broker ended the connection");
    }
}

static unsigned matched(struct stream *stream) {
    struct client *client = stream->end;
    pthread_mutex_lock(&client->lock);
    unsigned count = client->ready_count;
    pthread_mutex_unlock(&client->lock);
    return count;
}

/* The library would keep whatever it is given, so a publisher waits here where the link is too slow. */
static void publish(struct stream *stream, uint64_t number, const struct body *body) {
    struct client *client = stream->end;
    uint8_t *message = client->messages[body - stream->bodies];
    char topic[TOPIC_MAX];
    snprintf(topic, sizeof topic, "streams/%s", stream->name);
    memcpy(message, &number, sizeof number);
    pthread_mutex_lock(&client->lock);
    while (client->waiting >= WAITING && !contract_is_stopped()) {
        pthread_cond_wait(&client->has_changed, &client->lock);
    }
    client->waiting++;
    pthread_mutex_unlock(&client->lock);
    int code = mosquitto_publish(client->connection, NULL, topic, (int)(sizeof(struct head) + body->length), message, qos, false);
    if (code != MOSQ_ERR_SUCCESS) {
        contract_say(stream, "message %llu: %s", (unsigned long long)number, mosquitto_strerror(code));
    }
}

static void prepare(struct client *client) {
    struct stream *stream = client->stream;
    client->messages = calloc(stream->bodies_count, sizeof *client->messages);
    for (uint32_t i = 0; i < stream->bodies_count; i++) {
        const struct body *body = &stream->bodies[i];
        struct head head = {.checksum = body->checksum};
        client->messages[i] = malloc(sizeof head + body->length);
        memcpy(client->messages[i], &head, sizeof head);
        memcpy(client->messages[i] + sizeof head, body->bytes, body->length);
    }
}

static void set_tls(struct mosquitto *connection, const char *keys) {
    char paths[3][4096];
    static const char *const names[] = {"ca.pem", "certificate.pem", "key.pem"};
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", keys, names[i]);
    }
    int code = mosquitto_tls_set(connection, paths[0], NULL, paths[1], paths[2], NULL);
    if (code == MOSQ_ERR_SUCCESS) {
        code = mosquitto_tls_opts_set(connection, 1, "tlsv1.3", NULL);
    }
    if (code != MOSQ_ERR_SUCCESS) {
        contract_fail(EXIT_REFUSED, keys, mosquitto_strerror(code));
    }
    /* The certificate has to be of the CA, but has a name and no address. */
    mosquitto_tls_insecure_set(connection, true);
}

static void open_client(struct stream *stream, const char *broker, const char *keys) {
    struct client *client = calloc(1, sizeof *client);
    char id[TOPIC_MAX];
    snprintf(id, sizeof id, "%s %s", call->address, stream->name);
    client->stream = stream;
    client->connection = mosquitto_new(id, true, client);
    pthread_mutex_init(&client->lock, NULL);
    pthread_cond_init(&client->has_changed, NULL);
    stream->end = client;
    if (stream->sends) {
        prepare(client);
    }
    mosquitto_connect_callback_set(client->connection, on_connect);
    mosquitto_subscribe_callback_set(client->connection, on_subscribe);
    mosquitto_message_callback_set(client->connection, on_message);
    mosquitto_publish_callback_set(client->connection, on_publish);
    mosquitto_disconnect_callback_set(client->connection, on_disconnect);
    mosquitto_int_option(client->connection, MOSQ_OPT_TCP_NODELAY, 1);
    if (keys != NULL) {
        set_tls(client->connection, keys);
    }
    int code = MOSQ_ERR_UNKNOWN;
    for (int waited_ms = 0; waited_ms <= MATCH_S * 1000 && !contract_is_stopped(); waited_ms += RETRY_MS) {
        code = mosquitto_connect(client->connection, broker, keys ? PORT_TLS : PORT, KEEPALIVE_S);
        if (code == MOSQ_ERR_SUCCESS) {
            mosquitto_loop_start(client->connection);
            return;
        }
        contract_sleep_ms(RETRY_MS);
    }
    if (!contract_is_stopped()) {
        contract_fail(code == MOSQ_ERR_TLS ? EXIT_REFUSED : EXIT_NO_MATCH, "broker", mosquitto_strerror(code));
    }
}

int main(int count, char **words) {
    call = contract_open(count, words, "ADDRESS qos-0|qos-1 BROKER [KEYS]", 1, 2);
    qos = strcmp(call->mode, "qos-1") == 0;
    if (qos == 0 && strcmp(call->mode, "qos-0") != 0) {
        contract_fail_usage();
    }
    contract_limit(call, MESSAGE_MAX);
    mosquitto_lib_init();
    for (int i = 0; i < call->streams_count; i++) {
        open_client(&call->streams[i], call->words[0], call->words_count == 2 ? call->words[1] : NULL);
    }
    contract_run(call, &(struct adapter){.matched = matched, .send = publish});
    fflush(NULL);
    /* The library's threads may still send. */
    _exit(0);
}
