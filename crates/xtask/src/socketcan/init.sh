#!/bin/sh
# First process of a user-mode Linux whose kernel has CAN. The root is the host's own file system. Everything that
# is written lands in $FOLDER. The kernel's command line sets FOLDER, TEST, COMMAND, SCENARIO, MODULES and BUSYBOX.
export PATH="$TOOLS:/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
exec >"$FOLDER/guest.log" 2>&1
$BUSYBOX mount -t proc proc /proc
$BUSYBOX mount -t sysfs sysfs /sys
$BUSYBOX mount -t tmpfs tmpfs /run
for module in net/can/can net/can/can-raw drivers/net/can/dev/can-dev drivers/net/can/vcan; do
    $BUSYBOX insmod "$MODULES/kernel/$module.ko" || echo "no module $module"
done
$BUSYBOX ip link set lo up
$BUSYBOX ip link add vcan0 type vcan && $BUSYBOX ip link set vcan0 mtu 72 && $BUSYBOX ip link set vcan0 up

# Waits until something is in the file $1: 10 s at most.
await() {
    tries=0
    while [ ! -s "$1" ] && [ $tries -lt 1000 ]; do tries=$((tries + 1)); $BUSYBOX usleep 10000; done
}

# Starts candump, its log going to $1, and returns when it listens. It is sent frames until it has seen one.
listen() {
    : >"$1"
    candump -L -r 4194304 vcan0 >>"$1" &
    listener=$!
    until [ -s "$1" ]; do
        cansend vcan0 7FF#
        $BUSYBOX usleep 20000
    done
    $BUSYBOX usleep 100000
    : >"$1"
}

listen "$FOLDER/stations.candump"
"$TEST" socketcan vcan0 "$FOLDER" &
test=$!
await "$FOLDER/stations.done"
$BUSYBOX usleep 200000
kill $listener

listen "$FOLDER/bus.candump"
echo go >"$FOLDER/bus.go"
await "$FOLDER/bus.candump"
# The bus is on. A stranger on the interface: classical and FD, both formats of identifier, and a remote frame.
for number in 1 2 3 4 5 6 7 8; do
    cansend vcan0 7A$number#0102030$number
    cansend vcan0 1ABCDE0$number##50102030405060708
    cansend vcan0 7B$number#R
done
$BUSYBOX usleep 200000
echo done >"$FOLDER/outside.done"
wait $test
echo "test ended with $?"
$BUSYBOX usleep 200000
kill $listener

# The command itself: stations of a scenario on the interface. The car's recording stays away: this system of one processor
# computes slowly, and who plays thousands of frames would keep it from all else.
listen "$FOLDER/command.candump"
"$COMMAND" run "$SCENARIO" --set recordings.0.start=60s --set duration=8s --engine live --can-interface vcan0 --capture --out "$FOLDER/run" --format json \
    >"$FOLDER/command.json" 2>"$FOLDER/command.err"
echo "command ended with $?"
$BUSYBOX usleep 200000
kill $listener
"$TEST" candump "$FOLDER/run/capture.pcapng" >"$FOLDER/command.log"
$BUSYBOX poweroff -f
