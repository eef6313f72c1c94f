# Read by the build.sh of each adapter, which sets `here` (its folder), `to` (where to build) and `packages` (of Debian) before.
common=$here/../common
warnings="-Wall -Wextra -Werror"
mkdir -p "$to"

need() { # programs
    for program; do
        command -v "$program" >/dev/null || missing "$program"
    done
}

need_header() { # its name
    echo "#include <$1>" | "${CC:-cc}" -x c -fsyntax-only - 2>/dev/null || echo "#include <$1>" | "${CXX:-c++}" -x c++ -std=c++17 -fsyntax-only - 2>/dev/null || missing "$1"
}

missing() { # what
    echo "$1 is missing: apt-get install $packages" >&2
    exit 69
}

# The contract's part of each adapter: $contract are its objects, $contract_flags what the rest of the adapter is built and linked with.
build_contract() {
    contract=""
    for part in contract bodies buffers keys; do
        "${CC:-cc}" -O2 $warnings -c "$common/$part.c" -o "$to/$part.o"
        contract="$contract $to/$part.o"
    done
    contract_flags="-I$common -lz -lpthread"
    cp "$common/keys_check.sh" "$to/keys_check.sh"
}

# Builds the Rust crate in $here, whose program is called adapter. It has a target folder of its own, which is thrown away, or what
# CHRONOSEAL_CARGO_TARGET names, which is kept. What the caller has set for builds of its own does not count here.
build_rust() {
    command -v cargo >/dev/null || {
        echo "cargo is missing: https://rustup.rs installs it" >&2
        exit 69
    }
    need cc
    need_header zlib.h
    target=${CHRONOSEAL_CARGO_TARGET:-$to/target}
    (
        for name in $(env | sed -n 's/^\(RUSTC\|RUSTC_[A-Z_]*\|RUSTFLAGS\|CARGO_ENCODED_RUSTFLAGS\|CARGO_INCREMENTAL\|CARGO_\(BUILD\|PROFILE\|TARGET\)_[A-Z0-9_]*\)=.*/\1/p'); do
            unset "$name"
        done
        cd "$here"
        CARGO_TARGET_DIR=$target cargo build --release --locked --quiet --bin adapter
    )
    cp "$target/release/adapter" "$common/keys_check.sh" "$to"
    test -n "${CHRONOSEAL_CARGO_TARGET:-}" || rm -rf "$target"
}
