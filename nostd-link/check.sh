#!/bin/sh
# Builds, links and runs the static library without std, alloc and a C library. Prints "ok".
set -eu
cd "$(dirname "$0")"
target="${CARGO_TARGET_DIR:-../target}/nostd"
# The target has the standard library; this is how a build does without.
RUSTFLAGS="--cfg without_std ${RUSTFLAGS:-}" cargo build --quiet --release --locked --target-dir "$target"
if [ "$(uname -sm)" != "Linux x86_64" ]; then
    echo "ok (built; linked and run on x86-64 Linux only)"
    exit 0
fi
"${CC:-cc}" -O1 -Wall -Wextra -Werror -ffreestanding -fno-builtin -fno-stack-protector -fno-pie \
    -nostdlib -nostartfiles -static -no-pie -Wl,--gc-sections \
    -o "$target/nostd-link" main.c "$target/release/libchronoseal_nostd_link.a"
"$target/nostd-link"
