#!/bin/sh
# Runs mosquitto: broker.sh ADDRESS [KEYS]. Its configuration is removed with it.
#
# With a folder of keys it speaks TLS 1.3, asks for certificates, and lets robot and station publish and subscribe, nobody else.
address=${1:?usage: broker.sh ADDRESS [KEYS]}
own=$(mktemp -d)
if test $# -ge 2; then
    cat > "$own/names" <<NAMES
user robot
topic readwrite #
user station
topic readwrite #
NAMES
    cat > "$own/conf" <<CONF
listener 8883 $address
tls_version tlsv1.3
cafile $2/ca.pem
certfile $2/certificate.pem
keyfile $2/key.pem
require_certificate true
use_identity_as_username true
allow_anonymous false
acl_file $own/names
CONF
else
    cat > "$own/conf" <<CONF
listener 1883 $address
allow_anonymous true
CONF
fi
# It would become a user who cannot read the keys. What waits for a receiver waits in memory, so there is a limit.
cat >> "$own/conf" <<CONF
user root
set_tcp_nodelay true
max_queued_messages 16
log_dest stderr
log_type error
log_type warning
CONF
PATH=$PATH:/usr/sbin mosquitto -c "$own/conf" &
broker=$!
trap 'kill $broker' TERM INT
wait $broker
status=$?
# Above 128 it was the signal that ended the waiting.
test $status -gt 128 && wait $broker && status=0
rm -rf "$own"
exit $status
