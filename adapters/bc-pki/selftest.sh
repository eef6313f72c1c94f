#!/usr/bin/env bash
# Two Bouncy Castle PKIs and their client on loopback: enrolment, renewal, tickets, tickets of one PKI
# with the other's credential, and what must be refused. Needs Java 17, Maven and curl.
set -euo pipefail
cd "$(dirname "$0")"

if [[ ! -f target/bc-pki.jar || -n "$(find src pom.xml -newer target/bc-pki.jar -print -quit)" ]]; then
    start=$(date +%s)
    # The first build fetches Bouncy Castle and the Maven plugins; later ones work offline.
    mvn -o -q -B package 2>/dev/null || mvn -q -B package
    echo "built and unit-tested in $(($(date +%s) - start)) s"
fi

work=$(mktemp -d)
servers=()
stop() {
    for pid in "${servers[@]}"; do kill "$pid" 2>/dev/null || true; done
    rm -rf "$work"
}
trap stop EXIT

bc() { java -XX:TieredStopAtLevel=1 -jar target/bc-pki.jar "$@"; }

# serve NAME OPTIONS...: starts a PKI in $work/NAME on a free port and sets url_NAME
serve() {
    local name=$1; shift
    java -XX:TieredStopAtLevel=1 -jar target/bc-pki.jar serve --dir "$work/$name" --port 0 --name "$name" "$@" \
        >"$work/$name.out" 2>"$work/$name.log" &
    servers+=($!)
    for _ in $(seq 100); do
        if grep -q listening "$work/$name.out"; then
            printf -v "url_$name" '%s' "$(sed -n 's/^listening //p' "$work/$name.out")"
            return
        fi
        sleep 0.2
    done
    cat "$work/$name.log"; echo "server $name did not start"; exit 1
}

passed=0
pass() { passed=$((passed + 1)); echo "ok   $1"; }
fail() { echo "FAIL $1"; tail -n 5 "$work"/*.log; exit 1; }
# refused WHAT TEXT COMMAND...: the command must fail and say TEXT
refused() {
    local what=$1 text=$2; shift 2
    if output=$("$@" 2>&1); then fail "$what: accepted"; fi
    grep -q -- "$text" <<<"$output" || fail "$what: wrong reason: $output"
    pass "$what"
}

serve alpha
serve beta --curve brainpoolp256r1 --root-curve brainpoolp384r1

for name in alpha beta; do
    declare -n url=url_$name
    pki=$work/$name car=$work/car-$name id=c0ffee$(printf '%s' "$name" | od -An -tx1 | tr -d ' \n')
    bc client keygen --dir "$car"
    enrol=(client enrol --dir "$car" --id "$id" --url "$url/ea" --ea "$pki/ea.oer" --rca "$pki/rca.oer")
    refused "$name: a station not registered is unknown" 'response code 6' bc "${enrol[@]}"
    bc register --dir "$pki" --id "$id" --key "$car/canonical.pub.pem" --permission 36:01ffff --permission 37:01ffffff
    bc "${enrol[@]}" >/dev/null && pass "$name: enrolment"
    first=$(sha256sum <"$car/ec.oer")
    bc client reenrol --dir "$car" --url "$url/ea" --ea "$pki/ea.oer" --rca "$pki/rca.oer" >/dev/null
    [[ $first != "$(sha256sum <"$car/ec.oer")" ]] || fail "$name: renewal changed nothing"
    pass "$name: renewal"
    authorize=(client authorize --dir "$car" --url "$url/aa" --aa "$pki/aa.oer" --ea "$pki/ea.oer" --rca "$pki/rca.oer")
    [[ $(bc "${authorize[@]}" --count 5 | wc -l) == 5 ]] || fail "$name: tickets"
    pass "$name: five tickets"
    bc "${authorize[@]}" --encryption-key --curve brainpoolp256r1 >/dev/null && pass "$name: ticket with encryption key"
    refused "$name: permissions beyond the station's" 'response code 25' bc "${authorize[@]}" --permission 139:01ffffffffff
    refused "$name: permissions beyond the AA's" 'response code 12' bc "${authorize[@]}" --permission 99:01
done

# Tickets of one PKI with the other's credential, through trust lists.
foreign=(client authorize --dir "$work/car-alpha" --url "$url_beta/aa" --aa "$work/beta/aa.oer" --ea "$work/alpha/ea.oer" --rca "$work/beta/rca.oer")
refused "beta's AA does not know alpha's EA before it trusts alpha's root" 'response code 10' bc "${foreign[@]}"
bc trust --dir "$work/beta" --rca "$work/alpha/rca.oer" --dc "$url_alpha"
refused "alpha's EA does not answer beta's AA before it trusts beta's root" 'response code 19' bc "${foreign[@]}"
[[ $(bc trust --dir "$work/alpha" --tlm "$work/beta/tlm.oer" --ectl "$url_beta/getectl") == rca\ * ]] || fail "root from the ECTL"
bc "${foreign[@]}" >/dev/null && pass "alpha's credential gets a ticket of beta"
bc client authorize --dir "$work/car-beta" --url "$url_alpha/aa" --aa "$work/alpha/aa.oer" --ea "$work/beta/ea.oer" --rca "$work/alpha/rca.oer" \
    >/dev/null && pass "beta's credential gets a ticket of alpha"

# Refusals.
refused "a credential of beta is not alpha's" 'response code 22' \
    bc client authorize --dir "$work/car-beta" --url "$url_alpha/aa" --aa "$work/alpha/aa.oer" --ea "$work/alpha/ea.oer"
refused "a request encrypted to another EA" 'HTTP 400' \
    bc client reenrol --dir "$work/car-alpha" --url "$url_alpha/ea" --ea "$work/beta/ea.oer"
[[ $(head -c 300 /dev/urandom | curl -s -o /dev/null -w '%{http_code}' -H 'Content-Type: application/x-its-request' \
    --data-binary @- "$url_alpha/ea") == 400 ]] || fail "garbage"
pass "garbage is HTTP 400"
[[ $(curl -s -o /dev/null -w '%{http_code}' --data-binary x "$url_alpha/aa") == 415 ]] || fail "content type"
pass "another content type is HTTP 415"
bc revoke --dir "$work/alpha" --certificate "$work/alpha/ea.oer"
refused "tickets on the word of a revoked EA" 'response code 11' bc "${foreign[@]}"
id=c0ffee$(printf 'beta' | od -An -tx1 | tr -d ' \n')
bc revoke --dir "$work/beta" --id "$id"
refused "renewal by a revoked station" 'response code 9' \
    bc client reenrol --dir "$work/car-beta" --url "$url_beta/ea" --ea "$work/beta/ea.oer"

echo "$passed checks passed"
