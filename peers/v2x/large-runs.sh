#!/bin/sh
# The V2X tests with as many cases as a version was accepted with, and what other decoders read, one after the other; losses alone take 12 minutes.
#
#   peers/v2x/large-runs.sh PYTHON IEEE ETSI
#
# PYTHON has pycrate 0.8.1 and asn1tools 0.165.0; IEEE and ETSI are folders of ASN.1 modules (docs/guide/v2x-peers.md).
# Ends at the first that fails. Bouncy Castle's authorities have to be built (adapters/bc-pki), or those tests say that they were left out.
set -eu
python=$(realpath "$1") ieee=$(realpath "$2") etsi=$(realpath "$3")
cd "$(dirname "$0")/../.."
out=$(mktemp -d)
trap 'rm -r "$out"' EXIT
run() { cargo test --workspace --test "$1" -- --nocapture --test-threads 1 $2; }

cargo build --workspace --bin chronoseal-v2x --example its_messages
# The study's functional rows, with everything that the processor has and with nothing of it.
for mask in "" all; do
    for number in 1 2 3 4 5 6 7 8 9 10; do
        # 3: what cannot be tried here is not checked.
        status=0
        CHRONOSEAL_NO_LANES=$mask target/debug/chronoseal-v2x -q study run v2x-vss --functional --out "$out/$mask$number" \
            > "$out/said" 2>&1 || status=$?
        grep -m 1 "test cases passed" "$out/said"
        [ "$status" = 0 ] || [ "$status" = 3 ] || { cat "$out/said"; exit 1; }
        # No row is named by lanes that are not there.
        if [ "$mask" = all ] || ! grep -q avx512ifma /proc/cpuinfo; then
            ! grep -ri "eight lanes" "$out/said" "$out/$mask$number" || exit 1
        fi
    done
done
LINT_BATCHES=1000 run v2x "lint_batches pki_linking"
DAEMONS=50 run program "tickets::tickets_of_daemons"
run program "credential stores misbehaviour"
run v2x-service "pki::siege pki::interop"
LOST_ANSWERS=1000 run v2x-service "as_many_are_counted"
KILLS=100 run v2x-service "killed_at_any_moment"
CHRONOSEAL_PEERS_PYTHON=$python CHRONOSEAL_IEEE_ASN1=$ieee run v2x "peers"
target/debug/examples/its_messages 10000 1 > "$out/messages"
"$python" peers/v2x/messages.py "$out/messages" --modules "$etsi"
"$python" peers/v2x/reports.py target/debug/chronoseal-v2x --ieee "$ieee"
echo "all of it held"
