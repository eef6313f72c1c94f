#define _GNU_SOURCE
#include "buffers.h"

#include <dirent.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

/* A message may come at once, while its receiver waits for a processor, and the next ones behind it. */
enum { HELD = 4, LEAST = 4 << 20, MOST = 512 << 20 };

static uint64_t refused_before;
static atomic_bool is_said;

/* The receive buffer that a node wants, which is 0 if it receives nothing, and the stream whose messages need it. */
static uint32_t wanted_by(const struct call *call, const struct stream **longest) {
    *longest = NULL;
    for (int i = 0; i < call->streams_count; i++) {
        const struct stream *stream = &call->streams[i];
        if (!stream->sends && (*longest == NULL || stream->length > (*longest)->length)) {
            *longest = stream;
        }
    }
    if (*longest == NULL) {
        return 0;
    }
    uint64_t wanted = (uint64_t)HELD * (*longest)->length;
    return (uint32_t)(wanted < LEAST ? LEAST : wanted > MOST ? MOST : wanted);
}

static int option(int socket, int name) {
    int value = 0;
    socklen_t length = sizeof value;
    return getsockopt(socket, SOL_SOCKET, name, &value, &length) == 0 ? value : -1;
}

/* What the kernel grants a socket; it says twice as much, for its own accounts. */
static uint32_t granted(int socket) { return (uint32_t)option(socket, SO_RCVBUF) / 2; }

/* The least that a socket for datagrams was granted of `wanted`. A descriptor of another kind changes nothing. */
static uint32_t widen(int socket, uint32_t wanted, uint32_t least) {
    int value = (int)wanted;
    if (option(socket, SO_DOMAIN) != AF_INET || option(socket, SO_TYPE) != SOCK_DGRAM) {
        return least;
    }
    /* Who administers the host's network may go beyond its limit. */
    if (granted(socket) < wanted && setsockopt(socket, SOL_SOCKET, SO_RCVBUFFORCE, &value, sizeof value) != 0) {
        setsockopt(socket, SOL_SOCKET, SO_RCVBUF, &value, sizeof value);
    }
    return granted(socket) < least ? granted(socket) : least;
}

static uint32_t widen_all(uint32_t wanted) {
    uint32_t least = wanted;
    DIR *open_ones = opendir("/proc/self/fd");
    for (struct dirent *entry; open_ones != NULL && (entry = readdir(open_ones)) != NULL;) {
        if (entry->d_name[0] != '.') {
            least = widen(atoi(entry->d_name), wanted, least);
        }
    }
    if (open_ones != NULL) {
        closedir(open_ones);
    }
    return least;
}

void contract_widen(const struct call *call) {
    const struct stream *longest;
    uint32_t wanted = wanted_by(call, &longest), least = wanted > 0 ? widen_all(wanted) : 0;
    if (least < wanted && !atomic_exchange(&is_said, true)) {
        contract_say(longest, "limit: the kernel grants a receive buffer of %u B, and %u B are wanted: run as root, or `sysctl -w net.core.rmem_max=%u`",
                     least, wanted, wanted);
    }
}

/* Datagrams of this network namespace that found no room in the buffers of their sockets. */
static uint64_t refused(void) {
    char names[1024], values[1024];
    uint64_t found = 0;
    FILE *file = fopen("/proc/self/net/snmp", "r");
    while (file != NULL && fgets(names, sizeof names, file) != NULL && fgets(values, sizeof values, file) != NULL) {
        char *in_names, *in_values;
        char *name = strtok_r(names, " \n", &in_names), *value = strtok_r(values, " \n", &in_values);
        bool is_udp = name != NULL && strcmp(name, "Udp:") == 0;
        for (; is_udp && name != NULL && value != NULL; name = strtok_r(NULL, " \n", &in_names), value = strtok_r(NULL, " \n", &in_values)) {
            if (strcmp(name, "RcvbufErrors") == 0) {
                found = strtoull(value, NULL, 10);
            }
        }
    }
    if (file != NULL) {
        fclose(file);
    }
    return found;
}

void buffers_open(void) { refused_before = refused(); }

void buffers_close(const struct call *call) {
    const struct stream *longest;
    uint32_t wanted = wanted_by(call, &longest);
    uint64_t count = refused() - refused_before;
    if (wanted == 0 || count == 0) {
        return;
    }
    uint32_t least = widen_all(wanted);
    if (least < wanted) {
        contract_say(longest, "limit: %llu datagrams found no room in a receive buffer of %u B, and %u B are wanted: run as root, or `sysctl -w net.core.rmem_max=%u`",
                     (unsigned long long)count, least, wanted, wanted);
    } else {
        contract_say(longest, "limit: %llu datagrams found no room in a receive buffer of %u B: they come faster than this host takes them",
                     (unsigned long long)count, least);
    }
}
