#!/bin/sh
# Builds the adapter into the folder that is named, and puts what runs the master beside it.
set -eu
here=$(cd "$(dirname "$0")" && pwd)
to=${1:?usage: build.sh FOLDER}
packages="libroscpp-dev libsensor-msgs-dev python3-rosmaster zlib1g-dev g++ pkg-config"
. "$here/../common/build.sh"
need c++ pkg-config rosmaster
need_header ros/ros.h
need_header sensor_msgs/PointCloud2.h
build_contract
c++ -std=c++17 -O2 $warnings -I"$common" "$here/adapter.cpp" $contract $(pkg-config --cflags --libs roscpp) $contract_flags -o "$to/adapter"
cp "$here/broker.sh" "$to/"
