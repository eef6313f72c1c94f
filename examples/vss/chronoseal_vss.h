/* Client of the security daemon `chronoseal vss serve`; protocol: docs/reference/vss-protocol.md.
 *
 * Header only, C99 and POSIX. One connection is for one thread. Every call returns CVSS_OK, CVSS_REFUSED (the daemon
 * said no; cvss_error() says why), CVSS_MALFORMED (a fault of the caller) or CVSS_GONE (no daemon).
 *
 *     struct cvss vss;
 *     if (cvss_open(&vss, "/run/vss") != CVSS_OK) ...
 *     uint8_t message[2048]; size_t len = sizeof message;
 *     cvss_sign(&vss, CVSS_CAM, payload, payload_len, NULL, message, &len);
 */
#ifndef CHRONOSEAL_VSS_H
#define CHRONOSEAL_VSS_H

#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#define CVSS_VERSION 1
#define CVSS_CAM 36u
#define CVSS_DENM 37u
#define CVSS_UNKNOWN UINT32_MAX
#define CVSS_FRAME_MAX 262144u

enum cvss_status { CVSS_OK = 0, CVSS_REFUSED = 1, CVSS_MALFORMED = 2, CVSS_GONE = -1, CVSS_EVENT = 0x80 };

enum cvss_operation {
    CVSS_CREATE_SIGNATURE = 1,
    CVSS_VERIFY_SIGNATURE = 2,
    CVSS_ENCRYPT_SENDING_FRAME = 3,
    CVSS_DECRYPT_RECEIVED_FRAME = 4,
    CVSS_CHANGE_PSEUDONYM = 5,
    CVSS_BLOCK_PSEUDONYM_CHANGE = 6,
    CVSS_FREE_PSEUDONYM_CHANGE = 7,
    CVSS_REGISTER_REQUEST_NETWORK_ID_CHANGE = 8,
    CVSS_ANSWER_NETWORK_ID_CHANGE = 9,
    CVSS_INDICATE_NETWORK_ID_CHANGE = 10,
    CVSS_MOVED = 11,
    CVSS_STATISTICS = 12,
    CVSS_AUDIT = 13
};

/* Where a message is made: a tenth of a microdegree, and decimetres from -409.6 m on. */
struct cvss_location { int32_t latitude, longitude; uint16_t elevation; };

struct cvss {
    int fd;
    uint32_t id;
    char error[256];
};

static inline void cvss_put32(uint8_t *at, uint32_t value) {
    at[0] = (uint8_t)(value >> 24); at[1] = (uint8_t)(value >> 16); at[2] = (uint8_t)(value >> 8); at[3] = (uint8_t)value;
}

static inline uint32_t cvss_get32(const uint8_t *at) {
    return (uint32_t)at[0] << 24 | (uint32_t)at[1] << 16 | (uint32_t)at[2] << 8 | at[3];
}

static inline const char *cvss_error(const struct cvss *vss) { return vss->error; }

static inline int cvss_open(struct cvss *vss, const char *path) {
    struct sockaddr_un address = { .sun_family = AF_UNIX };
    vss->id = 0;
    vss->error[0] = 0;
    if (strlen(path) >= sizeof address.sun_path) return CVSS_MALFORMED;
    strcpy(address.sun_path, path);
    vss->fd = socket(AF_UNIX, SOCK_STREAM, 0);
    if (vss->fd < 0) return CVSS_GONE;
    if (connect(vss->fd, (const struct sockaddr *)&address, sizeof address) == 0) return CVSS_OK;
    close(vss->fd);
    vss->fd = -1;
    return CVSS_GONE;
}

static inline void cvss_close(struct cvss *vss) {
    if (vss->fd >= 0) close(vss->fd);
    vss->fd = -1;
}

static inline int cvss_write(int fd, const uint8_t *bytes, size_t len) {
    while (len > 0) {
        ssize_t written = write(fd, bytes, len);
        if (written <= 0) return CVSS_GONE;
        bytes += written;
        len -= (size_t)written;
    }
    return CVSS_OK;
}

static inline int cvss_read(int fd, uint8_t *bytes, size_t len) {
    while (len > 0) {
        ssize_t taken = read(fd, bytes, len);
        if (taken <= 0) return CVSS_GONE;
        bytes += taken;
        len -= (size_t)taken;
    }
    return CVSS_OK;
}

/* Sends a request whose body is `head` and then `tail`. */
static inline int cvss_send(struct cvss *vss, uint8_t operation, const uint8_t *head, size_t head_len,
                            const uint8_t *tail, size_t tail_len) {
    uint8_t front[10];
    if (head_len + tail_len + 6 > CVSS_FRAME_MAX) return CVSS_MALFORMED;
    cvss_put32(front, (uint32_t)(head_len + tail_len + 6));
    front[4] = CVSS_VERSION;
    front[5] = operation;
    cvss_put32(front + 6, ++vss->id);
    if (cvss_write(vss->fd, front, sizeof front) != CVSS_OK) return CVSS_GONE;
    if (cvss_write(vss->fd, head, head_len) != CVSS_OK) return CVSS_GONE;
    return cvss_write(vss->fd, tail, tail_len);
}

/* What comes next: an answer, or an event if a layer is registered. `*len` is the room, then what came. */
static inline int cvss_receive(struct cvss *vss, uint8_t *body, size_t *len) {
    uint8_t front[9], rest[64];
    if (cvss_read(vss->fd, front, sizeof front) != CVSS_OK) return CVSS_GONE;
    size_t total = cvss_get32(front) - 5, kept = total < *len ? total : *len;
    if (cvss_get32(front) < 5 || total > CVSS_FRAME_MAX) return CVSS_GONE;
    if (cvss_read(vss->fd, body, kept) != CVSS_OK) return CVSS_GONE;
    for (size_t left = total - kept; left > 0;) {
        size_t part = left < sizeof rest ? left : sizeof rest;
        if (cvss_read(vss->fd, rest, part) != CVSS_OK) return CVSS_GONE;
        left -= part;
    }
    *len = kept;
    if (front[4] == CVSS_REFUSED || front[4] == CVSS_MALFORMED)
        snprintf(vss->error, sizeof vss->error, "%.*s", (int)kept, (const char *)body);
    else if (kept < total)
        return CVSS_MALFORMED; /* not enough room */
    return front[4];
}

static inline int cvss_call(struct cvss *vss, uint8_t operation, const uint8_t *head, size_t head_len,
                            const uint8_t *tail, size_t tail_len, uint8_t *answer, size_t *answer_len) {
    int sent = cvss_send(vss, operation, head, head_len, tail, tail_len);
    return sent == CVSS_OK ? cvss_receive(vss, answer, answer_len) : sent;
}

/* createSignature. `location` may be NULL. */
static inline int cvss_sign(struct cvss *vss, uint32_t psid, const uint8_t *payload, size_t payload_len,
                            const struct cvss_location *location, uint8_t *message, size_t *message_len) {
    uint8_t head[15];
    size_t head_len = 5;
    cvss_put32(head, psid);
    head[4] = location != NULL;
    if (location != NULL) {
        cvss_put32(head + 5, (uint32_t)location->latitude);
        cvss_put32(head + 9, (uint32_t)location->longitude);
        head[13] = (uint8_t)(location->elevation >> 8);
        head[14] = (uint8_t)location->elevation;
        head_len = 15;
    }
    return cvss_call(vss, CVSS_CREATE_SIGNATURE, head, head_len, payload, payload_len, message, message_len);
}

/* verifySignature. The answer's first byte: 0 accepted, 1 refused, 2 not verified by policy; its layout is in the
 * protocol's description. `distance_m` and `time_to_collision_ms` may be CVSS_UNKNOWN. */
static inline int cvss_verify(struct cvss *vss, int is_demanded, uint32_t distance_m, uint32_t time_to_collision_ms,
                              const uint8_t *message, size_t message_len, uint8_t *answer, size_t *answer_len) {
    uint8_t head[9];
    head[0] = is_demanded != 0;
    cvss_put32(head + 1, distance_m);
    cvss_put32(head + 5, time_to_collision_ms);
    return cvss_call(vss, CVSS_VERIFY_SIGNATURE, head, sizeof head, message, message_len, answer, answer_len);
}

/* changePseudonym, freePseudonymChange: operations without a body and an answer. */
static inline int cvss_do(struct cvss *vss, uint8_t operation) {
    uint8_t answer[256];
    size_t len = sizeof answer;
    return cvss_call(vss, operation, NULL, 0, NULL, 0, answer, &len);
}

/* blockPseudonymChange, at most 255 s. */
static inline int cvss_block(struct cvss *vss, uint8_t duration_s) {
    uint8_t answer[256];
    size_t len = sizeof answer;
    return cvss_call(vss, CVSS_BLOCK_PSEUDONYM_CHANGE, &duration_s, 1, NULL, 0, answer, &len);
}

#endif
