#!/usr/bin/env bash
# Stands in for rustdoc while cargo tests the examples of a crate: makes the crate's pages too, a warning being an error, with the same
# arguments. `cargo doc` would compile all crates of others once more.
set -eu
pages=()
is_test=
words=("$@")
for ((at = 0; at < ${#words[@]}; at++)); do
    case "${words[at]}" in
        --test) is_test=1 ;;
        --test-run-directory | --test-args) at=$((at + 1)) ;;
        --no-run | --nocapture) ;;
        *) pages+=("${words[at]}") ;;
    esac
done
if [ -n "$is_test" ]; then
    rustdoc "${pages[@]}" -D warnings --document-private-items --out-dir "${CARGO_TARGET_DIR:-target}/pages"
fi
exec rustdoc "$@"
