#!/bin/sh
# Makes keys and certificates: ../common/tls_keys.sh says how.
exec "$(dirname "$0")/../common/tls_keys.sh" "$@"
