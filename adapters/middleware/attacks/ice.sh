#!/bin/sh
# Destroys a topic of IceStorm, which nobody is asked for: ice.sh BROKER TOPIC [KEYS]. Needs Debian's zeroc-ice-utils.
# Without a word: then nobody takes it for an attack that was stopped.
command -v icestormadmin >/dev/null || exit 69
sleep 1.5
transport=tcp
test $# -ge 3 && transport=ssl && set -- "$1" "$2" --Ice.Plugin.IceSSL=IceSSL:createIceSSL "--IceSSL.DefaultDir=$3" --IceSSL.CAs=ca.pem \
    --IceSSL.CertFile=certificate.pem --IceSSL.KeyFile=key.pem --IceSSL.VerifyPeer=2
broker=$1
topic=$2
shift 2
icestormadmin "--IceStormAdmin.TopicManager.Default=IceStorm/TopicManager:$transport -h $broker -p 10000" "$@" -e "destroy $topic" 2>&1
echo "destroy $topic: exit status $?"
