#!/bin/sh
# Makes the keys and documents of DDS Security, with the names that SROS 2 gives them: ../common/dds_keys.sh says how.
set -eu
umask 077
"$(dirname "$0")/../common/dds_keys.sh" "$@"
for name in robot station insider stranger; do
    cd "$1/$name"
    mv identity_ca.pem identity_ca.cert.pem
    mv permissions_ca.pem permissions_ca.cert.pem
    mv identity.pem cert.pem
    # RustDDS reads keys in PKCS #8 only.
    openssl pkcs8 -topk8 -nocrypt -in key.pem -out key.pkcs8
    mv key.pkcs8 key.pem
    cd "$OLDPWD"
done
