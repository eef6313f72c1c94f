#!/bin/sh
# Runs the ROS master: broker.sh ADDRESS. Its logs are removed with it.
address=${1:?usage: broker.sh ADDRESS}
logs=$(mktemp -d)
export ROS_IP="$address" ROS_MASTER_URI="http://$address:11311" ROS_HOME="$logs" ROS_LOG_DIR="$logs"
/usr/bin/rosmaster --core -p 11311 &
master=$!
trap 'kill $master' TERM INT
wait $master
status=$?
# 143: it was asked to end.
test $status -eq 143 && wait $master
rm -rf "$logs"
test $status -eq 143 || exit $status
