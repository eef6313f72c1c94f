#!/bin/sh
# Builds the adapter into the folder that is named, and puts what runs nats-server beside it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
packages="nats-server libssl-dev zlib1g-dev gcc"
. "$here/../common/build.sh"
PATH=$PATH:/usr/sbin
need cc nats-server
need_header openssl/ssl.h
build_contract
cc -O2 $warnings -I"$common" "$here/adapter.c" $contract -lssl -lcrypto $contract_flags -o "$to/adapter"
cp "$here/broker.sh" "$to/"
