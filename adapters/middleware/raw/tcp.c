/* Messages over connections, one from a publisher to each receiver of a stream: plain, or TLS 1.3 with certificates at both ends. */
#define _GNU_SOURCE
#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <unistd.h>

#include "raw.h"

/* What a receiver says once it takes a connection; before, its kernel or its TLS may have done so alone. */
enum { WELCOME = 'w', RECORD_MAX = 16 << 10, PATIENCE_S = 1 };

struct head {
    uint64_t number;
    uint32_t length, checksum;
};
_Static_assert(sizeof(struct head) == 16, "no padding");

struct connection {
    const struct stream *stream;
    int socket; /* -1 where there is none */
    SSL *tls;   /* NULL of a plain one */
};

static SSL_CTX *tls_context;

static void set_patience(int socket, int seconds) {
    struct timeval patience = {.tv_sec = seconds};
    setsockopt(socket, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience);
}

static void disconnect(struct connection *connection) {
    SSL_free(connection->tls);
    connection->tls = NULL;
    if (connection->socket >= 0) {
        close(connection->socket);
    }
    connection->socket = -1;
}

static bool read_all(struct connection *connection, void *to, size_t length) {
    uint8_t *at = to;
    while (length > 0) {
        ssize_t got = connection->tls ? SSL_read(connection->tls, at, (int)length) : recv(connection->socket, at, length, MSG_WAITALL);
        if (got <= 0 && !(got < 0 && errno == EINTR && connection->tls == NULL)) {
            return false;
        }
        at += got > 0 ? got : 0;
        length -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

static bool write_plain(struct connection *connection, const struct head *head, const struct body *body) {
    struct iovec parts[] = {{(void *)head, sizeof *head}, {(void *)body->bytes, body->length}};
    struct iovec *part = parts;
    for (int left = 2; left > 0;) {
        ssize_t done = writev(connection->socket, part, left);
        if (done < 0 && errno == EINTR) {
            continue;
        }
        if (done < 0) {
            return false;
        }
        while (left > 0 && (size_t)done >= part->iov_len) {
            done -= (ssize_t)part->iov_len;
            part++;
            left--;
        }
        if (left > 0) {
            part->iov_base = (uint8_t *)part->iov_base + done;
            part->iov_len -= (size_t)done;
        }
    }
    return true;
}

/* The head shares its record with the beginning of the body, so that a short message is one record. */
static bool write_tls(struct connection *connection, const struct head *head, const struct body *body) {
    uint8_t first[RECORD_MAX];
    size_t with_head = body->length < sizeof first - sizeof *head ? body->length : sizeof first - sizeof *head;
    size_t done, rest = body->length - with_head;
    memcpy(first, head, sizeof *head);
    memcpy(first + sizeof *head, body->bytes, with_head);
    return SSL_write_ex(connection->tls, first, sizeof *head + with_head, &done) == 1 &&
           (rest == 0 || SSL_write_ex(connection->tls, body->bytes + with_head, rest, &done) == 1);
}

/* Takes TLS into use, if there is any; the time that a socket has for it is limited. */
static bool secure(struct connection *connection, int (*handshake)(SSL *)) {
    if (tls_context == NULL) {
        return true;
    }
    connection->tls = SSL_new(tls_context);
    SSL_set_fd(connection->tls, connection->socket);
    return handshake(connection->tls) == 1;
}

static bool connect_to(struct connection *connection, const char *peer) {
    struct sockaddr_in address = address_of(peer, connection->stream);
    int on = 1;
    uint8_t welcome = 0;
    connection->socket = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    set_patience(connection->socket, PATIENCE_S);
    setsockopt(connection->socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    if (connect(connection->socket, (struct sockaddr *)&address, sizeof address) == 0 && secure(connection, SSL_connect) &&
        read_all(connection, &welcome, 1) && welcome == WELCOME) {
        set_patience(connection->socket, 0);
        return true;
    }
    disconnect(connection);
    return false;
}

static unsigned matched(struct stream *stream) {
    struct connection *connections = stream->end;
    unsigned count = 0;
    for (unsigned i = 0; i < stream->peers_count; i++) {
        count += connections[i].socket >= 0 || connect_to(&connections[i], stream->peers[i]);
    }
    return count;
}

static void publish(struct stream *stream, uint64_t number, const struct body *body) {
    struct connection *connections = stream->end;
    struct head head = {number, body->length, body->checksum};
    for (unsigned i = 0; i < stream->peers_count; i++) {
        struct connection *connection = &connections[i];
        bool is_open = connection->socket >= 0;
        if (is_open && !(connection->tls ? write_tls : write_plain)(connection, &head, body)) {
            contract_say(stream, "message %llu to %s: %s; nothing more is sent there", (unsigned long long)number, stream->peers[i],
                         connection->tls ? "TLS ended" : strerror(errno));
            disconnect(connection);
        }
    }
}

static void *serve(void *argument) {
    struct connection connection = *(struct connection *)argument;
    uint8_t *bytes = NULL, welcome = WELCOME;
    uint32_t capacity = 0;
    struct head head;
    int on = 1;
    free(argument);
    setsockopt(connection.socket, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    set_patience(connection.socket, PATIENCE_S);
    if (!secure(&connection, SSL_accept)) {
        const char *why = ERR_reason_error_string(ERR_peek_last_error());
        contract_say(connection.stream, "a connection was refused: %s", why ? why : "it ended");
        disconnect(&connection);
        return NULL;
    }
    set_patience(connection.socket, 0);
    bool is_open = connection.tls ? SSL_write(connection.tls, &welcome, 1) == 1 : send(connection.socket, &welcome, 1, 0) == 1;
    while (is_open && read_all(&connection, &head, sizeof head) && head.length <= MESSAGE_MAX) {
        if (capacity < head.length) {
            free(bytes);
            bytes = malloc(head.length);
            capacity = head.length;
        }
        if (!read_all(&connection, bytes, head.length)) {
            break;
        }
        int64_t at_ns = contract_now_ns();
        contract_received(connection.stream, head.number, bytes, head.length, head.checksum, at_ns);
    }
    if (!contract_is_stopped()) {
        contract_say(connection.stream, "a connection ended");
    }
    free(bytes);
    disconnect(&connection);
    return NULL;
}

static void subscribe(struct stream *stream) {
    struct pollfd listener = {.fd = (int)(intptr_t)stream->end, .events = POLLIN};
    while (!contract_is_stopped()) {
        int accepted = poll(&listener, 1, 100) > 0 ? accept4(listener.fd, NULL, NULL, SOCK_CLOEXEC) : -1;
        if (accepted < 0) {
            continue;
        }
        struct connection *connection = malloc(sizeof *connection);
        *connection = (struct connection){stream, accepted, NULL};
        pthread_t thread;
        if (pthread_create(&thread, NULL, serve, connection) != 0) {
            contract_fail(EXIT_OTHER, stream->name, "no thread for a connection");
        }
        pthread_detach(thread);
    }
}

void use_keys(SSL_CTX *context, const char *folder) {
    static const char *const names[] = {"ca.pem", "certificate.pem", "key.pem"};
    char paths[3][4096];
    for (int i = 0; i < 3; i++) {
        snprintf(paths[i], sizeof paths[i], "%s/%s", folder, names[i]);
    }
    SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, NULL);
    if (SSL_CTX_load_verify_locations(context, paths[0], NULL) != 1 || SSL_CTX_use_certificate_chain_file(context, paths[1]) != 1 ||
        SSL_CTX_use_PrivateKey_file(context, paths[2], SSL_FILETYPE_PEM) != 1) {
        contract_fail(EXIT_REFUSED, folder, ERR_reason_error_string(ERR_peek_last_error()));
    }
}

static void open_tls(const char *keys) {
    tls_context = SSL_CTX_new(TLS_method());
    SSL_CTX_set_min_proto_version(tls_context, TLS1_3_VERSION);
    use_keys(tls_context, keys);
}

static int listen_at(const char *host, const struct stream *stream) {
    struct sockaddr_in own = address_of(host, stream);
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0), on = 1;
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(listener, (struct sockaddr *)&own, sizeof own) != 0 || listen(listener, PEERS_MAX) != 0) {
        contract_fail(EXIT_OTHER, stream->name, strerror(errno));
    }
    return listener;
}

struct adapter tcp_open(struct call *call, const char *keys) {
    if (keys != NULL) {
        open_tls(keys);
    }
    for (int i = 0; i < call->streams_count; i++) {
        struct stream *stream = &call->streams[i];
        if (stream->sends) {
            struct connection *connections = calloc(PEERS_MAX, sizeof *connections);
            for (unsigned j = 0; j < PEERS_MAX; j++) {
                connections[j] = (struct connection){stream, -1, NULL};
            }
            stream->end = connections;
        } else {
            stream->end = (void *)(intptr_t)listen_at(call->address, stream);
        }
    }
    return (struct adapter){.matched = matched, .send = publish, .receive = subscribe};
}
