#!/usr/bin/env bash
# Stands in for the compiler in `.ci/run`: the path of rustc and its arguments follow, as cargo gives them.
# Clippy compiles, so that the lints need no build of their own. Where a crate is optimised a little, only its library is, not its
# tests: to optimise a test takes longer than the optimised test saves, but for two crates whose tests compute much.
set -eu
words=("$@")
for word in "$@"; do
    if [ "$word" = --test ] && [[ ${CARGO_PKG_NAME-} != chronoseal-@(media|v2x-fleet) ]]; then
        words=("${words[@]/#opt-level=1/opt-level=0}")
    fi
done
exec "${1%rustc}clippy-driver" "${words[@]}"
