#!/bin/sh
# Makes keys: keys.sh FOLDER mutual (certificates: ../common/tls_keys.sh says how) or keys.sh FOLDER token (FOLDER/NAME/token, the stranger's another).
set -eu
test "${2:-}" = token || exec "$(dirname "$0")/../common/tls_keys.sh" "$@"
umask 077
right=$(openssl rand -hex 24)
for name in robot station broker; do
    mkdir -p "$1/$name"
    echo "$right" > "$1/$name/token"
done
mkdir -p "$1/stranger"
openssl rand -hex 24 > "$1/stranger/token"
