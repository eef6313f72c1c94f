#!/bin/sh
# Prints the version of a crate that the lock file of the adapter in this folder has, which cargo fetches and builds when the adapter is used for the first
# time: crate_version.sh CRATE. Fails where it cannot be built.
set -eu
command -v cargo >/dev/null || {
    echo "cargo is missing: https://rustup.rs installs it" >&2
    exit 69
}
sed -n "/^name = \"$1\"\$/{n;s/^version = \"\\(.*\\)\"\$/\\1, built here/p;}" Cargo.lock | grep .
