#!/bin/sh
# Builds the adapter into the folder that is named.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
packages="libfastrtps-dev zlib1g-dev g++"
. "$here/../common/build.sh"
need c++
need_header fastdds/dds/domain/DomainParticipant.hpp
build_contract
c++ -std=c++17 -O2 $warnings -I"$common" "$here/adapter.cpp" $contract -lfastrtps -lfastcdr $contract_flags -o "$to/adapter"
