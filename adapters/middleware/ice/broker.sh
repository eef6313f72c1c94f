#!/bin/sh
# Runs IceStorm in an IceBox:
#
#   broker.sh ADDRESS
#   broker.sh ADDRESS KEYS [TRUSTED]
#
# With a folder of keys it speaks TLS and asks for certificates; TRUSTED are the holders that are let in, as IceSSL.TrustOnly has them.
address=${1:?usage: broker.sh ADDRESS [KEYS [TRUSTED]]}
transport=tcp
test $# -ge 2 && transport=ssl
storm="IceStormService,37:createIceStorm --IceStorm.Transient=1"
storm="$storm '--IceStorm.TopicManager.Endpoints=$transport -h $address -p 10000'"
storm="$storm '--IceStorm.Publish.Endpoints=$transport -h $address -p 10001'"
# What waits for a receiver waits in memory, so there is a limit.
storm="$storm --IceStorm.Send.QueueSizeMax=64 --IceStorm.Send.QueueSizeMaxPolicy=DropEvents"
transport_of_storm="--Ice.MessageSizeMax=0 --Ice.Default.Host=$address"
if test $# -ge 2; then
    transport_of_storm="$transport_of_storm --Ice.Plugin.IceSSL=IceSSL:createIceSSL --IceSSL.DefaultDir=$2 --IceSSL.CAs=ca.pem"
    transport_of_storm="$transport_of_storm --IceSSL.CertFile=certificate.pem --IceSSL.KeyFile=key.pem --IceSSL.VerifyPeer=2"
fi
test $# -ge 3 && transport_of_storm="$transport_of_storm '--IceSSL.TrustOnly=$3'"
exec icebox "--IceBox.Service.IceStorm=$storm $transport_of_storm"
