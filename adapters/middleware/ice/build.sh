#!/bin/sh
# Builds the adapter into the folder that is named, and puts what runs IceStorm beside it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
packages="libzeroc-ice-dev zeroc-ice-compilers zeroc-icebox libzeroc-icestorm3.7 zlib1g-dev g++"
. "$here/../common/build.sh"
need c++ slice2cpp icebox
need_header Ice/Ice.h
build_contract
slice2cpp --output-dir "$to" "$here/message.ice"
c++ -std=c++17 -O2 $warnings -DICE_CPP11_MAPPING -I"$to" -I"$common" "$here/adapter.cpp" "$to/message.cpp" $contract \
    -lIceStorm++11 -lIce++11 $contract_flags -o "$to/adapter"
cp "$here/broker.sh" "$to/"
