#!/bin/sh
# Builds the adapter into the folder that is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
packages="libssl-dev zlib1g-dev gcc"
. "$here/../common/build.sh"
need cc
need_header openssl/ssl.h
build_contract
"${CC:-cc}" -O2 $warnings -I"$common" "$here/adapter.c" "$here/udp.c" "$here/tcp.c" "$here/dtls.c" "$here/parts.c" $contract -lssl -lcrypto $contract_flags -o "$to/adapter"
