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


def contest(one, other, number):
    """One round: what both heard, or None if this script was too slow for the round to mean anything."""
    # 30 long frames keep the bus busy for 40 ms. Meanwhile `one` queues a short frame, and after it `other` one with a
    # lower identifier.
    busy = can.Message(arbitration_id=0x100, is_extended_id=False, is_fd=True, bitrate_switch=False, data=bytes(64))
    began = time.monotonic()
    for _ in range(30):
        one.send(busy)
    one.send(can.Message(arbitration_id=0x300, is_extended_id=False, data=[number]))
    other.send(can.Message(arbitration_id=0x200, is_extended_id=False, data=[number]))
    took = time.monotonic() - began
    heard = released(one, 32, 2), released(other, 32, 2)
    return heard if took < 0.03 else None


def stood_still(frames, lengths):
    """Whether the bus was idle within the round though frames waited: the host had taken the processor from it."""
    # A timestamp is the end of a frame on the bus.
    return any(
        after.timestamp - before.timestamp > lengths[after.arbitration_id] + 50e-6
        for before, after in zip(frames, frames[1:])
    )


def main():
    one, other = Client(0), Client(1)
    wait_for_bus(one)
    released(other, 1000, 0.1)
    expected = [0x100] * 30 + [0x200, 0x300]
    heard = [(number, contest(one, other, number)) for number in range(20)]
    heard = [(number, both) for number, both in heard if both is not None]
    one.shutdown()
    other.shutdown()
    # How long each frame takes: it follows the one before it without a pause somewhere.
    lengths = {}
    for _, (frames, _) in heard:
        for before, after in zip(frames, frames[1:]):
            took = after.timestamp - before.timestamp
            lengths[after.arbitration_id] = min(took, lengths.get(after.arbitration_id, took))
    rounds = failures = idle = 0
    for number, both in heard:
        orders = [[message.arbitration_id for message in frames] for frames in both]
        # Each client's own frames come as confirmations, the other's as received.
        own = [[message.arbitration_id for message in frames if not message.is_rx] for frames in both]
        if orders == [expected] * 2 and own == [[0x100] * 30 + [0x300], [0x200]]:
            rounds += 1
            if rounds == 1:
                for message in both[1][-2:]:
                    print(message)
        elif stood_still(both[0], lengths):
            idle += 1
        else:
            rounds += 1
            failures += 1
            print(f"round {number}: one heard {orders[0]}, the other {orders[1]}, confirmed {own}")
    print(f"{rounds - failures} of {rounds} rounds: 0x200 overtook 0x300, which had waited longer, for both clients")
    if idle:
        print(f"{idle} rounds mean nothing: the bus stood still in between")
    return 1 if failures or idle > 2 or rounds < 10 else 0


if __name__ == "__main__":
    sys.exit(main())
