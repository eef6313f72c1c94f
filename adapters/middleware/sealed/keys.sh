#!/bin/sh
# Makes FOLDER/NAME/key: one key for robot and station, and another one for a stranger.
#
#   keys.sh FOLDER shared
set -eu
to=${1:?usage: keys.sh FOLDER shared}
test "${2:-}" = shared || {
    echo "usage: keys.sh FOLDER shared" >&2
    exit 64
}
umask 077
for name in robot station broker stranger; do
    mkdir -p "$to/$name"
done
head -c 32 /dev/urandom >"$to/robot/key"
cp "$to/robot/key" "$to/station/key"
head -c 32 /dev/urandom >"$to/stranger/key"
