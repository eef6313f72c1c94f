/* Messages in datagrams, the longer ones in several. A publisher greets its receivers until they answer. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "parts.h"
#include "raw.h"

enum {
    KIND_GREETING = 1,
    KIND_ANSWER = 2,
    DATAGRAM_MAX = 65507,
    GREET_EVERY_NS = 20000000,
};

enum { PART = DATAGRAM_MAX - sizeof(struct head) };

struct sender {
    int socket;
    int64_t greeted_ns;
    unsigned answered_count;
    bool has_answered[PEERS_MAX];
    struct sockaddr_in peers[PEERS_MAX];
};

int udp_socket(const char *host, const struct stream *stream, uint16_t port, bool is_shared) {
    int opened = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), buffer = BUFFER, shared = is_shared;
    struct sockaddr_in own = address_of(host, stream);
    own.sin_port = htons(port);
    setsockopt(opened, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    setsockopt(opened, SOL_SOCKET, SO_REUSEADDR, &shared, sizeof shared);
    if (opened < 0 || bind(opened, (struct sockaddr *)&own, sizeof own) != 0) {
        contract_fail(EXIT_OTHER, stream->name, strerror(errno));
    }
    return opened;
}

static void greet(struct sender *sender, const struct stream *stream) {
    struct head head = {.magic = MAGIC, .stream = stream->number, .kind = KIND_GREETING};
    for (unsigned i = 0; i < stream->peers_count; i++) {
        if (!sender->has_answered[i]) {
            sendto(sender->socket, &head, sizeof head, 0, (struct sockaddr *)&sender->peers[i], sizeof sender->peers[i]);
        }
    }
}

static unsigned matched(struct stream *stream) {
    struct sender *sender = stream->end;
    struct sockaddr_in from;
    socklen_t from_length = sizeof from;
    struct head head;
    int64_t now_ns = contract_now_ns();
    if (now_ns - sender->greeted_ns >= GREET_EVERY_NS) {
        sender->greeted_ns = now_ns;
        greet(sender, stream);
    }
    while (recvfrom(sender->socket, &head, sizeof head, MSG_DONTWAIT, (struct sockaddr *)&from, &from_length) == (ssize_t)sizeof head) {
        bool is_answer = head.magic == MAGIC && head.kind == KIND_ANSWER && head.stream == stream->number;
        for (unsigned i = 0; i < stream->peers_count && is_answer; i++) {
            if (!sender->has_answered[i] && from.sin_addr.s_addr == sender->peers[i].sin_addr.s_addr) {
                sender->has_answered[i] = true;
                sender->answered_count++;
            }
        }
    }
    return sender->answered_count;
}

static void publish(struct stream *stream, uint64_t number, const struct body *body) {
    struct sender *sender = stream->end;
    for (unsigned i = 0; i < stream->peers_count; i++) {
        uint32_t offset = 0;
        do {
            struct head head = head_of(stream, number, body, offset, PART);
            struct iovec parts[] = {{&head, sizeof head}, {(void *)(body->bytes + offset), part_length(&head)}};
            struct msghdr datagram = {
                .msg_name = &sender->peers[i], .msg_namelen = sizeof sender->peers[i], .msg_iov = parts, .msg_iovlen = 2};
            if (sendmsg(sender->socket, &datagram, 0) < 0) {
                contract_say(stream, "message %llu to %s: %s", (unsigned long long)number, stream->peers[i], strerror(errno));
                break;
            }
            offset += part_length(&head);
        } while (offset < body->length);
    }
}

static void subscribe(struct stream *stream) {
    int receiver = (int)(intptr_t)stream->end;
    static _Thread_local uint8_t datagram[DATAGRAM_MAX];
    struct partial *partials = parts_new();
    while (!contract_is_stopped()) {
        struct pollfd readable = {.fd = receiver, .events = POLLIN};
        if (poll(&readable, 1, 100) <= 0) {
            continue;
        }
        struct sockaddr_in from;
        socklen_t from_length = sizeof from;
        ssize_t got;
        while ((got = recvfrom(receiver, datagram, sizeof datagram, MSG_DONTWAIT, (struct sockaddr *)&from, &from_length)) >= 0) {
            int64_t at_ns = contract_now_ns();
            struct head head;
            if (got < (ssize_t)sizeof head) {
                continue;
            }
            memcpy(&head, datagram, sizeof head);
            if (head.magic == MAGIC && head.stream == stream->number && head.kind == KIND_GREETING) {
                head.kind = KIND_ANSWER;
                sendto(receiver, &head, sizeof head, 0, (struct sockaddr *)&from, from_length);
            } else {
                parts_got(stream, partials, datagram, (size_t)got, at_ns);
            }
        }
    }
}

struct adapter udp_open(struct call *call) {
    for (int i = 0; i < call->streams_count; i++) {
        struct stream *stream = &call->streams[i];
        if (stream->sends) {
            struct sender *sender = calloc(1, sizeof *sender);
            sender->socket = udp_socket(call->address, stream, 0, false);
            for (unsigned j = 0; j < stream->peers_count; j++) {
                sender->peers[j] = address_of(stream->peers[j], stream);
            }
            stream->end = sender;
        } else {
            stream->end = (void *)(intptr_t)udp_socket(call->address, stream, (uint16_t)(PORT + stream->number), false);
        }
    }
    return (struct adapter){.matched = matched, .send = publish, .receive = subscribe};
}
