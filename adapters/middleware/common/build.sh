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
    echo "#include <$1>" | "${CXX:-c++}" -x c++ -std=c++17 -fsyntax-only - 2>/dev/null || missing "$1"
}

missing() { # what
    echo "$1 is missing: apt-get install $packages" >&2
    exit 69
}

# The contract's part of each adapter: $contract are its objects, $contract_flags what the rest of the adapter is built and linked with.
build_contract() {
    contract=""
    for part in contract bodies; do
        "${CC:-cc}" -O2 $warnings -c "$common/$part.c" -o "$to/$part.o"
        contract="$contract $to/$part.o"
    done
    contract_flags="-I$common -lz -lpthread"
}
