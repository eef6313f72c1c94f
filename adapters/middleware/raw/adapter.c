/* Carries streams of a scenario over plain sockets; ../common/contract.h has what all adapters share.
 *
 *   adapter [--bodies FOLDER] ADDRESS udp|tcp
 *   adapter [--bodies FOLDER] ADDRESS tls KEYS
 */
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "raw.h"

int main(int count, char **words) {
    struct call *call = contract_open(count, words, "ADDRESS udp|tcp|tls [KEYS, for tls]", 0, 1);
    bool is_udp = strcmp(call->mode, "udp") == 0, is_tls = strcmp(call->mode, "tls") == 0;
    if ((!is_udp && !is_tls && strcmp(call->mode, "tcp") != 0) || call->words_count != is_tls) {
        contract_fail_usage();
    }
    contract_limit(call, MESSAGE_MAX);
    struct adapter adapter = is_udp ? udp_open(call) : tcp_open(call, is_tls ? call->words[0] : NULL);
    contract_run(call, &adapter);
    fflush(NULL);
    /* Connections may wait for more in threads of their own. */
    _exit(0);
}
