/* Messages over DTLS 1.2 (RFC 6347), in records that fit the packets of the network: no kernel cuts them. Certificates at both ends.
 *
 * A receiver answers a first message with a cookie, so that whoever lies about its address costs it no memory; a sender that has shown where it is
 * gets a socket of its own at the same port. The handshake's last message is the receiver's, so a sender that has it is heard.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/hmac.h>
#include <openssl/rand.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "parts.h"
#include "raw.h"

enum {
    RECORD_MAX = 16 << 10,
    HANDSHAKE_MS = 1000, /* an end that takes longer is given up, and may begin anew */
    RESEND_US = 50000,   /* a flight that is lost is sent again after this, then after twice as long, and so on */
    SENDERS_MAX = 16,
    COOKIE = 32,
    IP_AND_UDP = 28,
    MTU_LEAST = 256, /* what OpenSSL can cut a handshake for */
};

struct session {
    const struct stream *stream;
    int socket; /* -1 where there is none */
    SSL *tls;
    uint32_t part; /* of a message in a record [byte] */
};

static SSL_CTX *context;
static uint8_t secret[COOKIE];
static atomic_int senders;
static atomic_flag is_told = ATOMIC_FLAG_INIT; /* that packets are too short; each new try would say it again */

static void end(struct session *session) {
    if (session->tls != NULL) {
        SSL_shutdown(session->tls);
        SSL_free(session->tls);
    }
    session->tls = NULL;
    if (session->socket >= 0) {
        close(session->socket);
    }
    session->socket = -1;
}

static unsigned resend_after(SSL *tls, unsigned before_us) {
    (void)tls;
    return before_us == 0 ? RESEND_US : 2 * before_us;
}

/* What of a datagram is left for a record, and for the part of a message in it. */
static bool fit(struct session *session) {
    int mtu = 0;
    socklen_t length = sizeof mtu;
    if (getsockopt(session->socket, IPPROTO_IP, IP_MTU, &mtu, &length) != 0 || mtu - IP_AND_UDP < MTU_LEAST) {
        if (!atomic_flag_test_and_set(&is_told)) {
            contract_say(session->stream, "packets of %d B are too short for DTLS, which needs %d B", mtu, MTU_LEAST + IP_AND_UDP);
        }
        return false;
    }
    SSL_set_options(session->tls, SSL_OP_NO_QUERY_MTU);
    SSL_set_mtu(session->tls, (long)(mtu - IP_AND_UDP));
    return true;
}

/* The rest of a handshake that is under way, and what a record has room for after it. */
static bool shake_hands(struct session *session, int (*handshake)(SSL *)) {
    int64_t until_ns = contract_now_ns() + HANDSHAKE_MS * INT64_C(1000000);
    for (int done = handshake(session->tls); done != 1; done = handshake(session->tls)) {
        struct timeval resend = {0, RESEND_US};
        if (SSL_get_error(session->tls, done) != SSL_ERROR_WANT_READ || contract_now_ns() > until_ns || contract_is_stopped()) {
            return false;
        }
        DTLSv1_get_timeout(session->tls, &resend);
        struct pollfd readable = {.fd = session->socket, .events = POLLIN};
        if (poll(&readable, 1, (int)(resend.tv_sec * 1000 + resend.tv_usec / 1000 + 1)) == 0) {
            DTLSv1_handle_timeout(session->tls);
        }
    }
    size_t room = DTLS_get_data_mtu(session->tls);
    room = room < RECORD_MAX ? room : RECORD_MAX;
    session->part = (uint32_t)(room - sizeof(struct head));
    return true;
}

/* Ends that wait for each other do so by poll; what is sent waits for room in the socket. */
static void bind_to(struct session *session, SSL *tls, const struct sockaddr_in *peer) {
    session->tls = tls;
    BIO *bio = SSL_get_rbio(tls);
    BIO_ADDR *address = BIO_ADDR_new();
    BIO_ADDR_rawmake(address, AF_INET, &peer->sin_addr, sizeof peer->sin_addr, peer->sin_port);
    BIO_set_fd(bio, session->socket, BIO_NOCLOSE);
    BIO_ctrl(bio, BIO_CTRL_DGRAM_SET_CONNECTED, 0, address);
    BIO_ADDR_free(address);
    DTLS_set_timer_cb(tls, resend_after);
}

static void set_waiting(int socket, bool waits) {
    int flags = fcntl(socket, F_GETFL);
    fcntl(socket, F_SETFL, waits ? flags & ~O_NONBLOCK : flags | O_NONBLOCK);
}

static SSL *new_tls(int socket) {
    SSL *tls = SSL_new(context);
    BIO *bio = BIO_new_dgram(socket, BIO_NOCLOSE);
    SSL_set_bio(tls, bio, bio);
    return tls;
}

static bool connect_to(struct session *session, const char *host, const char *peer) {
    struct sockaddr_in address = address_of(peer, session->stream);
    session->socket = udp_socket(host, session->stream, 0, false);
    set_waiting(session->socket, false);
    ERR_clear_error();
    if (connect(session->socket, (struct sockaddr *)&address, sizeof address) == 0) {
        bind_to(session, new_tls(session->socket), &address);
        if (fit(session) && shake_hands(session, SSL_connect)) {
            set_waiting(session->socket, true);
            return true;
        }
    }
    end(session);
    return false;
}

struct sender {
    const char *host;
    struct session sessions[PEERS_MAX];
};

static unsigned matched(struct stream *stream) {
    struct sender *sender = stream->end;
    unsigned count = 0;
    for (unsigned i = 0; i < stream->peers_count; i++) {
        count += sender->sessions[i].socket >= 0 || connect_to(&sender->sessions[i], sender->host, stream->peers[i]);
    }
    return count;
}

static bool send_message(struct session *session, uint64_t number, const struct body *body) {
    uint8_t record[RECORD_MAX];
    uint32_t offset = 0;
    do {
        struct head head = head_of(session->stream, number, body, offset, session->part);
        uint32_t length = part_length(&head);
        memcpy(record, &head, sizeof head);
        memcpy(record + sizeof head, body->bytes + offset, length);
        if (SSL_write(session->tls, record, (int)(sizeof head + length)) <= 0) {
            return false;
        }
        offset += length;
    } while (offset < body->length);
    return true;
}

static void publish(struct stream *stream, uint64_t number, const struct body *body) {
    struct sender *sender = stream->end;
    for (unsigned i = 0; i < stream->peers_count; i++) {
        struct session *session = &sender->sessions[i];
        if (session->socket >= 0 && !send_message(session, number, body)) {
            contract_say(stream, "message %llu to %s: %s; nothing more is sent there", (unsigned long long)number, stream->peers[i],
                         errno != 0 ? strerror(errno) : "DTLS ended");
            end(session);
        }
    }
}

static const char *reason(void) {
    const char *why = ERR_reason_error_string(ERR_peek_last_error());
    return why != NULL ? why : "it did not end in time";
}

static void *serve(void *argument) {
    struct session session = *(struct session *)argument;
    free(argument);
    ERR_clear_error();
    if (!fit(&session) || !shake_hands(&session, SSL_accept)) {
        contract_say(session.stream, "a handshake was refused: %s", reason());
        end(&session);
        atomic_fetch_sub(&senders, 1);
        return NULL;
    }
    struct partial *partials = parts_new();
    uint8_t record[RECORD_MAX];
    while (!contract_is_stopped()) {
        int got = SSL_read(session.tls, record, sizeof record);
        int64_t at_ns = contract_now_ns();
        if (got > 0) {
            parts_got(session.stream, partials, record, (size_t)got, at_ns);
            continue;
        }
        if (SSL_get_error(session.tls, got) != SSL_ERROR_WANT_READ) {
            break;
        }
        struct pollfd readable = {.fd = session.socket, .events = POLLIN};
        poll(&readable, 1, 100);
    }
    if (!contract_is_stopped()) {
        contract_say(session.stream, "a session ended");
    }
    parts_free(partials);
    end(&session);
    atomic_fetch_sub(&senders, 1);
    return NULL;
}

/* A sender that has shown its address gets a socket and a thread. */
static void take(struct stream *stream, const struct call *call, SSL *tls, const BIO_ADDR *from) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = BIO_ADDR_rawport(from)};
    BIO_ADDR_rawaddress(from, &address.sin_addr, NULL);
    struct session *session = malloc(sizeof *session);
    *session = (struct session){stream, udp_socket(call->address, stream, (uint16_t)(PORT + stream->number), true), NULL, 0};
    contract_widen(call);
    set_waiting(session->socket, false);
    bind_to(session, tls, &address);
    pthread_t thread;
    bool is_one_too_many = atomic_fetch_add(&senders, 1) >= SENDERS_MAX;
    if (is_one_too_many || connect(session->socket, (struct sockaddr *)&address, sizeof address) != 0) {
        contract_say(stream, "a sender was refused: %s", is_one_too_many ? "there are as many as there is room for" : strerror(errno));
        atomic_fetch_sub(&senders, 1);
        end(session);
        free(session);
    } else if (pthread_create(&thread, NULL, serve, session) != 0) {
        contract_fail(EXIT_OTHER, stream->name, "no thread for a session");
    } else {
        pthread_detach(thread);
    }
}

struct receiver {
    const struct call *call;
    int socket;
};

static void subscribe(struct stream *stream) {
    struct receiver *receiver = stream->end;
    struct pollfd listener = {.fd = receiver->socket, .events = POLLIN};
    BIO_ADDR *from = BIO_ADDR_new();
    SSL *tls = NULL;
    while (!contract_is_stopped()) {
        if (poll(&listener, 1, 100) <= 0) {
            continue;
        }
        if (tls == NULL) {
            tls = new_tls(receiver->socket);
            SSL_set_options(tls, SSL_OP_COOKIE_EXCHANGE);
        }
        int shown = DTLSv1_listen(tls, from);
        if (shown > 0) {
            take(stream, receiver->call, tls, from);
            tls = NULL;
        } else if (shown < 0) {
            SSL_free(tls);
            tls = NULL;
        }
    }
}

/* That of who sent what the record layer has just read. */
static int cookie_of(SSL *tls, uint8_t *cookie, unsigned *length) {
    struct {
        uint8_t address[16];
        uint16_t port;
    } shown = {0};
    BIO_ADDR *from = BIO_ADDR_new();
    BIO_dgram_get_peer(SSL_get_rbio(tls), from);
    size_t size = sizeof shown.address;
    int is_made = BIO_ADDR_rawaddress(from, NULL, &size) == 1 && size <= sizeof shown.address &&
                  BIO_ADDR_rawaddress(from, shown.address, &size) == 1;
    shown.port = BIO_ADDR_rawport(from);
    BIO_ADDR_free(from);
    return is_made && HMAC(EVP_sha256(), secret, sizeof secret, (const uint8_t *)&shown, sizeof shown, cookie, length) != NULL;
}

static int cookie_fits(SSL *tls, const uint8_t *cookie, unsigned length) {
    uint8_t expected[EVP_MAX_MD_SIZE];
    unsigned expected_length = 0;
    return cookie_of(tls, expected, &expected_length) && length == expected_length && CRYPTO_memcmp(cookie, expected, length) == 0;
}

struct adapter dtls_open(struct call *call, const char *keys) {
    context = SSL_CTX_new(DTLS_method());
    SSL_CTX_set_min_proto_version(context, DTLS1_2_VERSION);
    use_keys(context, keys);
    SSL_CTX_set_cookie_generate_cb(context, cookie_of);
    SSL_CTX_set_cookie_verify_cb(context, cookie_fits);
    if (RAND_bytes(secret, sizeof secret) != 1) {
        contract_fail(EXIT_OTHER, "cookies", "the host has no random bytes");
    }
    for (int i = 0; i < call->streams_count; i++) {
        struct stream *stream = &call->streams[i];
        if (stream->sends) {
            struct sender *sender = calloc(1, sizeof *sender);
            sender->host = call->address;
            for (unsigned j = 0; j < PEERS_MAX; j++) {
                sender->sessions[j] = (struct session){stream, -1, NULL, 0};
            }
            stream->end = sender;
        } else {
            struct receiver *receiver = malloc(sizeof *receiver);
            receiver->call = call;
            receiver->socket = udp_socket(call->address, stream, (uint16_t)(PORT + stream->number), true);
            set_waiting(receiver->socket, false);
            stream->end = receiver;
        }
    }
    return (struct adapter){.matched = matched, .send = publish, .receive = subscribe};
}
