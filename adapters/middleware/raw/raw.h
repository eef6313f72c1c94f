/* The ways of this adapter to carry messages: datagrams, connections, and datagrams under DTLS. */
#ifndef CHRONOSEAL_RAW_H
#define CHRONOSEAL_RAW_H

#include <arpa/inet.h>

#include "contract.h"

/* A stream has the port of this number and its own. */
enum { PORT = 6000 };

/* Longer ones are no messages of ours [byte]. */
enum { MESSAGE_MAX = 64 << 20 };

/* What they do with the streams of a call. With a folder of keys connections are TLS 1.3; without, it is NULL. */
struct adapter udp_open(struct call *call);
struct adapter tcp_open(struct call *call, const char *keys);
struct adapter dtls_open(struct call *call, const char *keys);

/* A socket for datagrams at a port of `host`, or at any for 0; a shared port may have several. Ends the program if there can be none. */
int udp_socket(const char *host, const struct stream *stream, uint16_t port, bool is_shared);

/* Takes certificates and key of a folder, and asks the other end for a certificate of the same authority. Ends the program if they cannot be used. */
struct ssl_ctx_st;
void use_keys(struct ssl_ctx_st *context, const char *folder);

static inline struct sockaddr_in address_of(const char *host, const struct stream *stream) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_port = htons((uint16_t)(PORT + stream->number))};
    inet_pton(AF_INET, host, &address.sin_addr);
    return address;
}

#endif
