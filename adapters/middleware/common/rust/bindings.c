/* Fields of the contract's structures for Rust, so that nobody writes down their layout a second time. */
#include "contract.h"

_Static_assert(EXIT_OTHER == 1 && EXIT_USAGE == 64 && EXIT_OVER_LIMIT == 65 && EXIT_REFUSED == 66 && EXIT_NO_MATCH == 75, "as src/lib.rs has them");

const char *binding_address(const struct call *call) { return call->address; }
const char *binding_mode(const struct call *call) { return call->mode; }
int binding_words_count(const struct call *call) { return call->words_count; }
const char *binding_word(const struct call *call, int place) { return call->words[place]; }
int binding_streams_count(const struct call *call) { return call->streams_count; }
struct stream *binding_stream(struct call *call, int place) { return &call->streams[place]; }

const char *binding_name(const struct stream *stream) { return stream->name; }
uint16_t binding_number(const struct stream *stream) { return stream->number; }
bool binding_sends(const struct stream *stream) { return stream->sends; }
unsigned binding_peers_count(const struct stream *stream) { return stream->peers_count; }
const char *binding_peer(const struct stream *stream, unsigned place) { return stream->peers[place]; }
uint32_t binding_bodies_count(const struct stream *stream) { return stream->bodies_count; }
const struct body *binding_body(const struct stream *stream, uint32_t place) { return &stream->bodies[place]; }
void *binding_end(const struct stream *stream) { return stream->end; }
void binding_set_end(struct stream *stream, void *end) { stream->end = end; }

const uint8_t *binding_bytes(const struct body *body) { return body->bytes; }
uint32_t binding_length(const struct body *body) { return body->length; }
uint32_t binding_checksum(const struct body *body) { return body->checksum; }

void binding_say(const struct stream *stream, const char *text) { contract_say(stream, "%s", text); }

void binding_run(struct call *call, unsigned (*matched)(struct stream *), void (*send)(struct stream *, uint64_t, const struct body *),
                 void (*receive)(struct stream *)) {
    contract_run(call, &(struct adapter){.matched = matched, .send = send, .receive = receive});
}
