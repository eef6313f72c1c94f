#!/bin/sh
# Builds the adapter into the folder that is named, and puts what runs mosquitto beside it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
packages="mosquitto libmosquitto-dev zlib1g-dev gcc"
. "$here/../common/build.sh"
PATH=$PATH:/usr/sbin
need cc mosquitto
need_header mosquitto.h
build_contract
cc -O2 $warnings -I"$common" "$here/adapter.c" $contract -lmosquitto $contract_flags -o "$to/adapter"
cp "$here/broker.sh" "$to/"
