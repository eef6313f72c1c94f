/* Carries streams of a scenario over plain sockets; ../common/contract.h has what all adapters share.
 *
 *   adapter [--bodies FOLDER] ADDRESS udp|tcp
 *   adapter [--bodies FOLDER] ADDRESS tls|dtls KEYS
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "raw.h"

int main(int count, char **words) {
    struct call *call = contract_open(count, words, "ADDRESS udp|tcp|tls|dtls [KEYS, for tls and dtls]", 0, 1);
    bool is_udp = strcmp(call->mode, "udp") == 0, is_tcp = strcmp(call->mode, "tcp") == 0;
    bool is_tls = strcmp(call->mode, "tls") == 0, is_dtls = strcmp(call->mode, "dtls") == 0;
    if ((!is_udp && !is_tcp && !is_tls && !is_dtls) || call->words_count != (is_tls || is_dtls)) {
        contract_fail_usage();
    }
    contract_limit(call, MESSAGE_MAX);
    const char *keys = call->words_count > 0 ? call->words[0] : NULL;
    struct adapter adapter = is_udp ? udp_open(call) : is_dtls ? dtls_open(call, keys) : tcp_open(call, keys);
    contract_run(call, &adapter);
    fflush(NULL);
    /* Connections may wait for more in threads of their own. */
    _exit(0);
}
