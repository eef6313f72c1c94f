#!/bin/sh
# Runs nats-server: broker.sh ADDRESS [token|tls KEYS]. Its configuration is removed with it.
#
# With `token` whoever has the token in KEYS may do anything. With `tls` it asks for certificates of the CA in KEYS, and lets robot and station
# publish and subscribe, nobody else.
address=${1:?usage: broker.sh ADDRESS [token|tls KEYS]}
own=$(mktemp -d)
umask 077
cat > "$own/conf" <<CONF
listen: "$address:4222"
# What the server allows at most; its own setting is 1 MB.
max_payload: 64MB
# What waits for a receiver waits in memory.
max_pending: 128MB
logfile: "/dev/stderr"
CONF
case ${2:-} in
    "") ;;
    token) echo "authorization { token: \"$(cat "$3/token")\" }" >> "$own/conf" ;;
    tls)
        cat >> "$own/conf" <<CONF
tls { cert_file: "$3/certificate.pem", key_file: "$3/key.pem", ca_file: "$3/ca.pem", verify_and_map: true, timeout: 5 }
authorization { users: [ { user: "CN=robot,O=chronoseal" }, { user: "CN=station,O=chronoseal" } ] }
CONF
        ;;
    *) echo "usage: broker.sh ADDRESS [token|tls KEYS]" >&2; exit 64 ;;
esac
PATH=$PATH:/usr/sbin nats-server -c "$own/conf" 2>"$own/log" &
broker=$!
trap 'kill $broker' TERM INT
wait $broker
status=$?
# Above 128 it was the signal that ended the waiting; the server itself then ends with 1.
test $status -gt 128 && { wait $broker; status=0; }
grep -E "\[(WRN|ERR|FTL)\]" "$own/log" | tail -5
rm -rf "$own"
exit $status
