/* Carries streams of a scenario over NATS by plain sockets; ../common/contract.h has what all adapters share.
 *
 *   adapter [--bodies FOLDER] ADDRESS plain BROKER
 *   adapter [--bodies FOLDER] ADDRESS token|tls BROKER KEYS
 *
 * BROKER is the address of the node on which nats-server runs. Each stream is a subject, streams.NAME, and has a connection of its own. A
 * publisher asks in hello.NAME who is there; receivers answer in here.NAME with their address.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "contract.h"

enum { PORT = 4222, RETRY_MS = 50, ASK_EVERY_MS = 20, LINE_MAX_LENGTH = 4096, BUFFER = 64 << 10, SUBJECT_MAX = 160, FIRST_RECORD = 16 << 10 };

/* Whatever the server's configuration says, it takes no more [byte]. */
enum { MESSAGE_MAX = 64 << 20 };

/* In front of each body. */
struct head {
    uint64_t number;
    uint32_t checksum, reserved;
};
_Static_assert(sizeof(struct head) == 16, "no padding");

struct client {
    struct stream *stream;
    int socket;
    SSL *tls; /* NULL without */
    size_t begin, end;
    char buffer[BUFFER];
    uint8_t *message;
    size_t capacity, payload_max;
    unsigned here_count;
    char here[PEERS_MAX][INET_ADDRSTRLEN];
    int64_t asked_ns;
};

static struct call *call;
static SSL_CTX *tls_context;
static char token[LINE_MAX_LENGTH];

static bool write_all(struct client *client, const void *bytes, size_t length) {
    const uint8_t *at = bytes;
    while (length > 0) {
        size_t done = 0;
        if (client->tls != NULL) {
            if (SSL_write_ex(client->tls, at, length, &done) != 1) {
                return false;
            }
        } else {
            ssize_t sent = send(client->socket, at, length, MSG_NOSIGNAL);
            if (sent < 0 && errno != EINTR) {
                return false;
            }
            done = sent > 0 ? (size_t)sent : 0;
        }
        at += done;
        length -= done;
    }
    return true;
}

static bool write_text(struct client *client, const char *text) { return write_all(client, text, strlen(text)); }

/* Whether something can be read before `timeout_ms` are over. */
static bool has_more(struct client *client, int timeout_ms) {
    struct pollfd readable = {.fd = client->socket, .events = POLLIN};
    return client->begin < client->end || (client->tls != NULL && SSL_pending(client->tls) > 0) || poll(&readable, 1, timeout_ms) > 0;
}

static ssize_t read_some(struct client *client, void *to, size_t length) {
    size_t got = 0;
    if (client->tls != NULL) {
        return SSL_read_ex(client->tls, to, length, &got) == 1 ? (ssize_t)got : 0;
    }
    ssize_t received;
    while ((received = recv(client->socket, to, length, 0)) < 0 && errno == EINTR) {
    }
    return received;
}

static bool read_all(struct client *client, uint8_t *to, size_t length) {
    size_t held = client->end - client->begin < length ? client->end - client->begin : length;
    memcpy(to, client->buffer + client->begin, held);
    client->begin += held;
    while (held < length) {
        ssize_t got = read_some(client, to + held, length - held);
        if (got <= 0) {
            return false;
        }
        held += (size_t)got;
    }
    return true;
}

/* A line of the protocol, without its end. */
static bool read_line(struct client *client, char line[LINE_MAX_LENGTH]) {
    size_t length = 0;
    while (true) {
        if (client->begin == client->end) {
            ssize_t got = read_some(client, client->buffer, sizeof client->buffer);
            if (got <= 0) {
                return false;
            }
            client->begin = 0;
            client->end = (size_t)got;
        }
        char next = client->buffer[client->begin++];
        if (next == '\n') {
            line[length > 0 && line[length - 1] == '\r' ? length - 1 : length] = 0;
            return true;
        }
        if (length + 1 == LINE_MAX_LENGTH) {
            return false;
        }
        line[length++] = next;
    }
}

static bool publish_bytes(struct client *client, const char *kind, const struct head *head, const uint8_t *bytes, size_t length) {
    static _Thread_local uint8_t first[FIRST_RECORD];
    size_t head_length = head != NULL ? sizeof *head : 0;
    size_t front = (size_t)snprintf((char *)first, sizeof first, "PUB %s.%s %zu\r\n", kind, client->stream->name, head_length + length);
    if (head != NULL) {
        memcpy(first + front, head, sizeof *head);
        front += sizeof *head;
    }
    /* A short message is one write, and one record of TLS. */
    size_t with = length < sizeof first - front - 2 ? length : sizeof first - front - 2;
    memcpy(first + front, bytes, with);
    front += with;
    if (with == length) {
        memcpy(first + front, "\r\n", 2);
        return write_all(client, first, front + 2);
    }
    return write_all(client, first, front) && write_all(client, bytes + with, length - with) && write_text(client, "\r\n");
}

static void note_here(struct client *client, const uint8_t *address, size_t length) {
    char text[INET_ADDRSTRLEN] = "";
    memcpy(text, address, length < sizeof text - 1 ? length : sizeof text - 1);
    bool is_known = client->here_count == PEERS_MAX;
    for (unsigned i = 0; i < client->here_count; i++) {
        is_known |= strcmp(client->here[i], text) == 0;
    }
    if (!is_known) {
        memcpy(client->here[client->here_count++], text, sizeof text);
    }
}

/* A message of the server: `MSG SUBJECT SID [REPLY] LENGTH`, and its bytes. */
static bool take(struct client *client, char *line) {
    char *subject = strtok(line + 4, " "), *word, *last = NULL;
    while ((word = strtok(NULL, " ")) != NULL) {
        last = word;
    }
    size_t length = last != NULL ? strtoul(last, NULL, 10) : SIZE_MAX;
    if (subject == NULL || length > MESSAGE_MAX) {
        return false;
    }
    if (client->capacity < length + 2) {
        free(client->message);
        client->capacity = length + 2;
        client->message = malloc(client->capacity);
    }
    if (client->message == NULL || !read_all(client, client->message, length + 2)) {
        return false;
    }
    int64_t at_ns = contract_now_ns();
    struct head head;
    if (strncmp(subject, "hello.", 6) == 0) {
        return publish_bytes(client, "here", NULL, (const uint8_t *)call->address, strlen(call->address));
    }
    if (strncmp(subject, "here.", 5) == 0) {
        note_here(client, client->message, length);
    } else if (length >= sizeof head && length - sizeof head <= UINT32_MAX) {
        memcpy(&head, client->message, sizeof head);
        contract_received(client->stream, head.number, client->message + sizeof head, (uint32_t)(length - sizeof head), head.checksum, at_ns);
    }
    return true;
}

/* What the server says next. */
static bool turn(struct client *client) {
    char line[LINE_MAX_LENGTH];
    if (!read_line(client, line)) {
        return false;
    }
    if (strncmp(line, "MSG ", 4) == 0) {
        return take(client, line);
    }
    if (strcmp(line, "PING") == 0) {
        return write_text(client, "PONG\r\n");
    }
    if (strncmp(line, "-ERR", 4) == 0) {
        bool is_refusal = strcasestr(line, "authorization") || strcasestr(line, "permissions") || strcasestr(line, "secure") ||
                          strcasestr(line, "authentication");
        contract_fail(is_refusal ? EXIT_REFUSED : EXIT_OTHER, client->stream->name, line + 5);
    }
    return true;
}

static void ended(struct client *client) {
    if (client->socket >= 0 && !contract_is_stopped()) {
        contract_say(client->stream, "the connection to the broker ended; nothing more is sent or received");
    }
    SSL_free(client->tls);
    client->tls = NULL;
    close(client->socket);
    client->socket = -1;
}

static unsigned matched(struct stream *stream) {
    struct client *client = stream->end;
    int64_t now_ns = contract_now_ns();
    if (client->socket >= 0 && now_ns - client->asked_ns > ASK_EVERY_MS * INT64_C(1000000)) {
        client->asked_ns = now_ns;
        if (!publish_bytes(client, "hello", NULL, NULL, 0)) {
            ended(client);
        }
    }
    while (client->socket >= 0 && has_more(client, 0)) {
        if (!turn(client)) {
            ended(client);
        }
    }
    return client->here_count;
}

static void publish(struct stream *stream, uint64_t number, const struct body *body) {
    struct client *client = stream->end;
    struct head head = {number, body->checksum, 0};
    while (client->socket >= 0 && has_more(client, 0)) {
        if (!turn(client)) {
            ended(client);
        }
    }
    if (client->socket >= 0 && !publish_bytes(client, "streams", &head, body->bytes, body->length)) {
        ended(client);
    }
}

static void receive(struct stream *stream) {
    struct client *client = stream->end;
    while (client->socket >= 0 && !contract_is_stopped()) {
        if (has_more(client, 100) && !turn(client)) {
            ended(client);
        }
    }
}

static void open_tls(const char *keys) {
    static const char *const names[] = {"ca.pem", "certificate.pem", "key.pem"};
    char paths[3][LINE_MAX_LENGTH];
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", keys, names[i]);
    }
    tls_context = SSL_CTX_new(TLS_client_method());
    SSL_CTX_set_min_proto_version(tls_context, TLS1_3_VERSION);
    SSL_CTX_set_verify(tls_context, SSL_VERIFY_PEER, NULL);
    if (SSL_CTX_load_verify_locations(tls_context, paths[0], NULL) != 1 || SSL_CTX_use_certificate_chain_file(tls_context, paths[1]) != 1 ||
        SSL_CTX_use_PrivateKey_file(tls_context, paths[2], SSL_FILETYPE_PEM) != 1) {
        contract_fail(EXIT_REFUSED, keys, ERR_reason_error_string(ERR_peek_last_error()));
    }
}

static void read_token(const char *keys) {
    char path[LINE_MAX_LENGTH];
    snprintf(path, sizeof path, "%s/token", keys);
    FILE *file = fopen(path, "r");
    if (file == NULL || fscanf(file, "%128[0-9a-f]", token) != 1) {
        contract_fail(EXIT_REFUSED, path, "no token of hexadecimal digits");
    }
    fclose(file);
}

/* Greets the server: it says what it takes first, then we say who we are and what we want. */
static bool greet(struct client *client) {
    char line[LINE_MAX_LENGTH], text[2 * LINE_MAX_LENGTH];
    const char *name = client->stream->name;
    if (!read_line(client, line) || strncmp(line, "INFO ", 5) != 0) {
        return false;
    }
    const char *payload = strstr(line, "\"max_payload\":");
    client->payload_max = payload != NULL ? strtoul(payload + strlen("\"max_payload\":"), NULL, 10) : 1 << 20;
    if (tls_context != NULL) {
        client->tls = SSL_new(tls_context);
        SSL_set_fd(client->tls, client->socket);
        if (SSL_connect(client->tls) != 1) {
            return false;
        }
    }
    snprintf(text, sizeof text, "CONNECT {\"verbose\":false,\"pedantic\":false,\"echo\":false,\"lang\":\"c\",\"version\":\"1\",\"protocol\":0%s%s%s}\r\n",
             token[0] ? ",\"auth_token\":\"" : "", token, token[0] ? "\"" : "");
    if (!write_text(client, text)) {
        return false;
    }
    /* In this order: whoever is asked whether it is there has the messages by then. */
    if (client->stream->sends) {
        snprintf(text, sizeof text, "SUB here.%s 1\r\nPING\r\n", name);
    } else {
        snprintf(text, sizeof text, "SUB streams.%s 1\r\nSUB hello.%s 2\r\nPING\r\n", name, name);
    }
    if (!write_text(client, text)) {
        return false;
    }
    while (read_line(client, line)) {
        if (strcmp(line, "PONG") == 0) {
            return true;
        }
        if (strncmp(line, "-ERR", 4) == 0) {
            contract_fail(EXIT_REFUSED, name, line + 5);
        }
        if (strncmp(line, "MSG ", 4) == 0 && !take(client, line)) {
            return false;
        }
    }
    return false;
}

static void open_client(struct stream *stream, const char *broker) {
    struct client *client = calloc(1, sizeof *client);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons(PORT)};
    int on = 1;
    bool is_reached = false;
    inet_pton(AF_INET, broker, &address.sin_addr);
    client->stream = stream;
    stream->end = client;
    for (int waited_ms = 0; waited_ms <= MATCH_S * 1000 && !contract_is_stopped(); waited_ms += RETRY_MS) {
        client->begin = client->end = 0;
        client->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
        setsockopt(client->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
        if (connect(client->socket, (struct sockaddr *)&address, sizeof address) == 0) {
            is_reached = true;
            if (greet(client)) {
                return;
            }
        }
        SSL_free(client->tls);
        client->tls = NULL;
        close(client->socket);
        client->socket = -1;
        if (is_reached && tls_context != NULL) {
            break;
        }
        contract_sleep_ms(RETRY_MS);
    }
    if (!contract_is_stopped()) {
        contract_fail(is_reached ? EXIT_REFUSED : EXIT_NO_MATCH, "broker", is_reached ? "it ended the connection" : strerror(errno));
    }
}

static size_t payload_of(const struct stream *stream) {
    const struct client *client = stream->end;
    return client != NULL && client->socket >= 0 ? client->payload_max : MESSAGE_MAX;
}

int main(int count, char **words) {
    call = contract_open(count, words, "ADDRESS plain|token|tls BROKER [KEYS, for token and tls]", 1, 2);
    bool is_token = strcmp(call->mode, "token") == 0, is_tls = strcmp(call->mode, "tls") == 0;
    if ((!is_token && !is_tls && strcmp(call->mode, "plain") != 0) || call->words_count != 1 + (is_token || is_tls)) {
        contract_fail_usage();
    }
    if (is_tls) {
        open_tls(call->words[1]);
    } else if (is_token) {
        read_token(call->words[1]);
    }
    size_t limit = MESSAGE_MAX;
    for (int i = 0; i < call->streams_count; i++) {
        open_client(&call->streams[i], call->words[0]);
        limit = payload_of(&call->streams[i]) < limit ? payload_of(&call->streams[i]) : limit;
    }
    contract_limit(call, limit > sizeof(struct head) ? (uint32_t)(limit - sizeof(struct head)) : 0);
    contract_run(call, &(struct adapter){.matched = matched, .send = publish, .receive = receive});
    fflush(NULL);
    _exit(0);
}
