#!/bin/sh
# Vanetza beside chronoseal's authorities and daemon: it enrols, gets tickets and lists, and both verify what the other has signed.
#
#   peers/v2x/vanetza/run.sh VANETZA [BUILD]
#
# VANETZA is a folder of its source (github.com/riebl/vanetza), BUILD where it is built, target/vanetza if not given: some minutes once.
# Wants cmake, ninja-build, libboost-dev, libboost-date-time-dev, libssl-dev and openssl of Debian, and chronoseal-v2x in
# target/debug or where CHRONOSEAL_V2X says. Vanetza's client of authorities wants CLI11 2.6, which CMake fetches from GitHub, or
# finds where CLI11 says. COUNT messages of each kind, 20 if not given. Ends at the first that fails.
set -eu
here=$(realpath "$(dirname "$0")")
vanetza=$(realpath "$1") build=${2:-$here/../../../target/vanetza}
v2x=$(realpath "${CHRONOSEAL_V2X:-$here/../../../target/debug/chronoseal-v2x}")
cmake -S "$here" -B "$build" -G Ninja -DVANETZA="$vanetza" ${CLI11:+-DFETCHCONTENT_SOURCE_DIR_CLI11="$CLI11"} > /dev/null
build=$(realpath "$build")
ninja -C "$build" peer pki | tail -n 1
peer=$build/peer pki=$build/vanetza/bin/pki

out=$(mktemp -d)
started=
trap 'for process in $started; do kill "$process" || true; done; rm -r "$out"' EXIT
cd "$out"
wait_for() { for _ in $(seq 600); do grep -q "$1" "$2" 2> /dev/null && return; sleep 0.1; done; cat "$2"; exit 1; }

exchange() { # curves of the root, of EA and AA, and of the ticket here; the curve of Vanetza's keys
    echo "root $1, authorities $2, tickets $3"
    mkdir "$3" && cd "$3"
    "$v2x" pki serve --dir pki --root-curve "$1" --curve "$2" --port 0 > serving 2>&1 &
    server=$! started="$started $server"
    wait_for listening serving
    url=$(sed -n 's/^listening //p' serving)
    root=$("$v2x" pki show pki/rca.oer | grep -o '[0-9A-F]\{16\}' | head -n 1)
    at_ea="--url $url/ea --ea pki/ea.oer --rca pki/rca.oer" at_aa="--url $url/aa --aa pki/aa.oer --ea pki/ea.oer --rca pki/rca.oer"

    # A station here, with its daemon.
    "$v2x" pki keygen --dir car
    "$v2x" pki register --dir pki --id c0ffee01 --key car/canonical.pub.pem
    "$v2x" pki enrol --dir car --id c0ffee01 $at_ea > /dev/null
    "$v2x" pki authorize --dir car $at_aa --curve "$3" --count 2 > /dev/null
    cat > vss.toml <<END
folder = "car"
pin_file = "car/pin"
hsm = { kind = "software", folder = "car/keys" }
[trust]
roots = ["pki/rca.oer"]
authorities = ["pki/aa.oer"]
END
    "$v2x" vss serve vss.toml --socket socket > daemon 2>&1 &
    daemon=$! started="$started $daemon"
    for _ in $(seq 100); do [ -S socket ] && break; sleep 0.1; done

    # A station of Vanetza's, at the same authorities.
    export VANETZA_PKI_DATA="$PWD/vanetza"
    mkdir -p vanetza/certificates
    cp pki/rca.oer "vanetza/certificates/$root.rca"
    "$pki" key generate --key-type "$4" --out canonical.pem > /dev/null
    openssl pkey -in canonical.pem -pubout -out canonical.pub.pem
    "$v2x" pki register --dir pki --id c0ffee02 --key canonical.pub.pem
    "$pki" station set-root-ca "$root"
    { "$pki" dc --url "$url" ctl && "$pki" dc --url "$url" crl; } | tee lists
    [ "$(grep -c 'L is valid. Added' lists)" = 2 ]
    "$pki" enrol init --canonical-id-hex c0ffee02 --canonical-keyfile canonical.pem --key-type "$4"
    "$pki" enrol renew --key-type "$4"
    "$pki" at request --key-type "$4" --permission 36:01ffff --permission 37:01ffffff
    ticket=$(echo vanetza/certificates/*.at)
    key=$(ls -t vanetza/keys/*.pem | head -n 1)

    python3 "$here/station.py" socket sign "${COUNT:-20}" | "$peer" verify pki/rca.oer pki/aa.oer
    "$peer" sign pki/rca.oer pki/aa.oer "$ticket" "$key" "${COUNT:-20}" | python3 "$here/station.py" socket verify
    kill "$server" "$daemon"
    wait "$server" "$daemon" 2> /dev/null || true
    started=
    cd ..
}

exchange nistp256 nistp256 nistp256 NistP256
exchange brainpoolp256r1 brainpoolp256r1 brainpoolp256r1 BrainpoolP256r1
# Its client cannot ask for tickets with keys of 384 bits: with those goes SHA-384, and it has only SHA-256 there.
exchange brainpoolp384r1 brainpoolp256r1 brainpoolp384r1 BrainpoolP256r1
echo "all of it held"
