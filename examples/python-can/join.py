#!/usr/bin/env python3
"""Two python-can clients on a live bus of chronoseal. See README.md beside this file."""

import sys
import time

import can
from can.interfaces.udp_multicast import UdpMulticastBus

GROUP = "239.74.163.2"
FIRST_PORT = 43113
BUS_CHANNEL = "chronoseal"


class Client(UdpMulticastBus):
    """Hears what the bus has carried, and nothing before.

    Multicast gives a client its own datagrams back at once. What comes from the bus has the bus's channel; the frames
    of others have `is_rx` set, the client's own have it clear: the bus confirms that they are through.
    """

    def __init__(self, number):
        super().__init__(channel=GROUP, port=FIRST_PORT + number, hop_limit=0)

    def _recv_internal(self, timeout):
        until = time.monotonic() + (timeout or 0)
        while True:
            message, filtered = super()._recv_internal(timeout)
            if message is None or message.channel == BUS_CHANNEL:
                return message, filtered
            if timeout is not None:
                timeout = max(0, until - time.monotonic())


def released(client, count, within_s):
    """The next frames of the bus, at most `count`."""
    frames = []
    until = time.monotonic() + within_s
    while len(frames) < count and (left := until - time.monotonic()) > 0:
        if (message := client.recv(left)) is not None:
            frames.append(message)
    return frames


def wait_for_bus(client):
    """Sends until the first frame comes back confirmed: the bus may start after its clients."""
    for _ in range(50):
        client.send(can.Message(arbitration_id=0x7FF, is_extended_id=False))
        if released(client, 1, 0.1):
            released(client, 100, 0.2)
            return
    sys.exit("no bus answers on " + GROUP)


def main():
    one, other = Client(0), Client(1)
    wait_for_bus(one)
    released(other, 1000, 0.1)
    failures = 0

    # While a long frame of one is on the bus, both queue a short one: the lower identifier goes first, whoever sent
    # it, and whenever.
    long = can.Message(arbitration_id=0x300, is_extended_id=False, is_fd=True, bitrate_switch=False, data=bytes(64))
    rounds = 100
    for index in range(rounds):
        one.send(long)
        one.send(can.Message(arbitration_id=0x200, is_extended_id=False, data=[index]))
        other.send(can.Message(arbitration_id=0x100, is_extended_id=False, data=[index]))
        at_one, at_other = released(one, 3, 1), released(other, 3, 1)
        orders = [[message.arbitration_id for message in frames] for frames in (at_one, at_other)]
        confirmed = [message.arbitration_id for message in at_one if not message.is_rx]
        if orders != [[0x300, 0x100, 0x200]] * 2 or confirmed != [0x300, 0x200]:
            failures += 1
            print(f"round {index}: one heard {orders[0]}, the other {orders[1]}, confirmed {confirmed}")
        elif index == 0:
            for message in at_other:
                print(message)
    print(f"{rounds - failures} of {rounds} rounds: 0x100 overtook 0x200 behind 0x300, for both clients")
    one.shutdown()
    other.shutdown()
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
