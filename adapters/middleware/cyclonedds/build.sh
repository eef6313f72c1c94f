#!/bin/sh
# Builds the adapter into the folder that is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
packages="cyclonedds-dev cyclonedds-tools zlib1g-dev gcc"
. "$here/../common/build.sh"
need idlc cc
build_contract
(cd "$to" && idlc -l c "$here/message.idl")
plugins=$(dirname "$(find /usr/lib -name libdds_security_auth.so 2>/dev/null | head -1)")
cc -O2 $warnings -I"$to" -I"$common" "$here/adapter.c" "$to/message.c" $contract -DPLUGINS="\"$plugins\"" -lddsc $contract_flags -o "$to/adapter"
