#!/usr/bin/env python3
"""Signs and verifies at the daemon `chronoseal vss serve`, for Vanetza on the other end of a pipe; run.sh starts both.

    station.py SOCKET sign N            N CAMs and N DENMs, a line each in hexadecimal
    station.py SOCKET verify < MESSAGES each as it is, and with one octet changed

Exit status 1 if something is not as expected.
"""

import collections
import pathlib
import struct
import sys
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[3] / "examples" / "vss"))
import client

CAM, DENM = 36, 37
PLACE = struct.pack("!BiiH", 1, 487_000_000, 91_000_000, 4096)


def sign(daemon, count):
    for number in range(2 * count):
        payload = bytes([number]) * (number + 1)
        if number % 2:
            message = daemon.call(client.SIGN, struct.pack("!I", DENM) + PLACE + payload)
        else:
            message = daemon.sign(payload, CAM)
        print(message.hex(), flush=True)
        time.sleep(0.2)


def verify(daemon, lines):
    messages, changed, wrong, refusals = 0, 0, 0, collections.Counter()
    for line in lines:
        message = bytes.fromhex(line)
        # An eighth of the octets of each, before the message itself: a CAM is fresh for 2 s, and a copy is refused as one.
        for at in range(messages // 2 % 8, len(message), 8):
            octet = message[at] ^ 1 << at // 8 % 8
            outcome, checks = daemon.verify(message[:at] + bytes([octet]) + message[at + 1 :])
            changed += 1
            if outcome == 1:
                refusals[next(name for name, end, _, _ in checks if end == "failed")] += 1
            else:
                print(f"  not refused with octet {at} of {line.strip()} changed")
                wrong += 1
        outcome, checks = daemon.verify(message)
        print(f"  {len(message)} octets:", "accepted" if outcome == 0 else [check for check in checks if check[1] == "failed"])
        messages += 1
        wrong += outcome != 0
    reasons = " ".join(f"{count} by {check};" for check, count in sorted(refusals.items()))
    print(f"chronoseal: {messages} messages, {changed} changed ones: {reasons} {wrong} not as expected")
    return wrong or not messages


def main():
    daemon = client.Daemon(sys.argv[1])
    if sys.argv[2] == "sign":
        return sign(daemon, int(sys.argv[3]))
    return 1 if verify(daemon, sys.stdin) else 0


if __name__ == "__main__":
    sys.exit(main())
