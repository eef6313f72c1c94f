/* Messages in datagrams, the longer ones in several. A publisher greets its receivers until they answer. */
#include <errno.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>

#include "raw.h"

enum {
    MAGIC = 0x44555343,
    KIND_GREETING = 1,
    KIND_ANSWER = 2,
    KIND_MESSAGE = 3,
    DATAGRAM_MAX = 65507,
    BUFFER = 4 << 20,  /* of a socket [byte] */
    PARTIAL_MAX = 4,   /* messages of which parts have come */
    FRAGMENTS_MAX = 2048,
    GREET_EVERY_NS = 20000000,
};

/* Both ends are the same machine, so it goes over the wire as it is. */
struct head {
    uint32_t magic;
    uint16_t stream, kind;
    uint64_t number;
    uint32_t length, checksum; /* of the whole message */
    uint32_t offset;           /* of this datagram's part */
    uint32_t reserved;
};
_Static_assert(sizeof(struct head) == 32, "no padding");
enum { FRAGMENT = DATAGRAM_MAX - sizeof(struct head) };

struct sender {
    int socket;
    int64_t greeted_ns;
    unsigned answered_count;
    bool has_answered[PEERS_MAX];
    struct sockaddr_in peers[PEERS_MAX];
};

/* A message of which parts have come. */
struct partial {
    bool is_used, is_whole;
    struct head head;
    uint32_t missing;
    uint8_t has[FRAGMENTS_MAX / 8];
    uint8_t *bytes;
    uint32_t capacity;
};

static int open_socket(const char *host, const struct stream *stream, uint16_t port) {
    int opened = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0), buffer = BUFFER;
    struct sockaddr_in own = address_of(host, stream);
    own.sin_port = htons(port);
    setsockopt(opened, SOL_SOCKET, SO_RCVBUF, &buffer, sizeof buffer);
    setsockopt(opened, SOL_SOCKET, SO_SNDBUF, &buffer, sizeof buffer);
    if (opened < 0 || bind(opened, (struct sockaddr *)&own, sizeof own) != 0) {
        contract_fail(EXIT_OTHER, stream->name, strerror(errno));
    }
    socklen_t length = sizeof buffer;
    getsockopt(opened, SOL_SOCKET, SO_RCVBUF, &buffer, &length);
    /* The kernel grants twice what it was asked for, for its own accounts. */
    if (buffer < 2 * BUFFER) {
        contract_say(stream, "the kernel grants a receive buffer of %d B only", buffer / 2);
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
    struct head head = {.magic = MAGIC, .stream = stream->number, .kind = KIND_MESSAGE, .number = number};
    head.length = body->length;
    head.checksum = body->checksum;
    for (unsigned i = 0; i < stream->peers_count; i++) {
        uint32_t offset = 0;
        do {
            uint32_t length = body->length - offset < FRAGMENT ? body->length - offset : FRAGMENT;
            head.offset = offset;
            struct iovec parts[] = {{&head, sizeof head}, {(void *)(body->bytes + offset), length}};
            struct msghdr datagram = {
                .msg_name = &sender->peers[i], .msg_namelen = sizeof sender->peers[i], .msg_iov = parts, .msg_iovlen = 2};
            if (sendmsg(sender->socket, &datagram, 0) < 0) {
                contract_say(stream, "message %llu to %s: %s", (unsigned long long)number, stream->peers[i], strerror(errno));
                break;
            }
            offset += length;
        } while (offset < body->length);
    }
}

static void begin(struct partial *partial, const struct head *head) {
    if (partial->capacity < head->length) {
        free(partial->bytes);
        partial->bytes = malloc(head->length);
        partial->capacity = head->length;
    }
    partial->is_used = true;
    partial->is_whole = false;
    partial->head = *head;
    partial->missing = head->length;
    memset(partial->has, 0, sizeof partial->has);
}

/* A part of a longer message. Of two messages that need the same room the later one has it. */
static void add(const struct stream *stream, struct partial *partials, const struct head *head, const uint8_t *bytes, uint32_t length) {
    struct partial *partial = &partials[head->number % PARTIAL_MAX];
    bool is_other = !partial->is_used || partial->head.number != head->number;
    if (head->offset % FRAGMENT != 0 || head->length > FRAGMENTS_MAX * (uint64_t)FRAGMENT || head->length > MESSAGE_MAX ||
        head->offset > head->length || length > head->length - head->offset ||
        (partial->is_used && partial->head.number > head->number) || (!is_other && partial->head.length != head->length)) {
        return;
    }
    if (is_other) {
        begin(partial, head);
    }
    uint32_t index = head->offset / FRAGMENT;
    if (partial->is_whole || (partial->has[index / 8] >> index % 8 & 1)) {
        return;
    }
    partial->has[index / 8] |= (uint8_t)(1 << index % 8);
    memcpy(partial->bytes + head->offset, bytes, length);
    partial->missing -= length;
    if (partial->missing == 0) {
        int64_t at_ns = contract_now_ns();
        partial->is_whole = true;
        contract_received(stream, head->number, partial->bytes, head->length, partial->head.checksum, at_ns);
    }
}

static void subscribe(struct stream *stream) {
    int receiver = (int)(intptr_t)stream->end;
    static _Thread_local uint8_t datagram[DATAGRAM_MAX];
    struct partial *partials = calloc(PARTIAL_MAX, sizeof *partials);
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
            uint32_t length = (uint32_t)got - sizeof head;
            if (head.magic != MAGIC || head.stream != stream->number) {
                continue;
            }
            if (head.kind == KIND_GREETING) {
                head.kind = KIND_ANSWER;
                sendto(receiver, &head, sizeof head, 0, (struct sockaddr *)&from, from_length);
            } else if (head.kind == KIND_MESSAGE && head.offset == 0 && head.length == length) {
                contract_received(stream, head.number, datagram + sizeof head, length, head.checksum, at_ns);
            } else if (head.kind == KIND_MESSAGE) {
                add(stream, partials, &head, datagram + sizeof head, length);
            }
        }
    }
}

struct adapter udp_open(struct call *call) {
    for (int i = 0; i < call->streams_count; i++) {
        struct stream *stream = &call->streams[i];
        if (stream->sends) {
            struct sender *sender = calloc(1, sizeof *sender);
            sender->socket = open_socket(call->address, stream, 0);
            for (unsigned j = 0; j < stream->peers_count; j++) {
                sender->peers[j] = address_of(stream->peers[j], stream);
            }
            stream->end = sender;
        } else {
            stream->end = (void *)(intptr_t)open_socket(call->address, stream, (uint16_t)(PORT + stream->number));
        }
    }
    return (struct adapter){.matched = matched, .send = publish, .receive = subscribe};
}
