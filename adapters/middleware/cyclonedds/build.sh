#!/bin/sh
# Builds the adapter into the folder that is named. Needs Debian's cyclonedds-dev, cyclonedds-tools, zlib1g-dev and gcc.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
mkdir -p "$to"
for program in idlc cc; do
    command -v "$program" >/dev/null || {
        echo "$program is missing: apt-get install cyclonedds-dev cyclonedds-tools zlib1g-dev gcc" >&2
        exit 69
    }
done
(cd "$to" && idlc -l c "$here/message.idl")
plugins=$(dirname "$(find /usr/lib -name libdds_security_auth.so 2>/dev/null | head -1)")
cc -O2 -Wall -Wextra -Werror -I"$to" "$here/adapter.c" "$to/message.c" -DPLUGINS="\"$plugins\"" -lddsc -lz -lpthread -o "$to/adapter"
