#!/bin/sh
# Builds the adapter into the folder that is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
packages="gcc zlib1g-dev libssl-dev pkg-config openssl"
. "$here/../common/build.sh"
build_rust
