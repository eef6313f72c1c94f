#!/usr/bin/env python3
"""A station's network layer and an application at the daemon `chronoseal vss serve`.

Registers as a layer, signs and verifies messages, forces a change of pseudonym, and agrees to it when asked.

    ./client.py /run/vss [--messages 20]
"""

import argparse
import socket
import struct
import sys
from collections import deque

OK, REFUSED, MALFORMED, EVENT = 0, 1, 2, 0x80
SIGN, VERIFY, CHANGE, REGISTER, ANSWER = 1, 2, 5, 8, 9
CAM = 36
UNKNOWN = 0xFFFFFFFF


class Refused(Exception):
    """The daemon said no."""


class Daemon:
    """One connection to the daemon."""

    def __init__(self, path):
        self.socket = socket.socket(socket.AF_UNIX)
        self.socket.connect(path)
        self.events = deque()
        self.id = 0

    def _exactly(self, count):
        data = b""
        while len(data) < count:
            part = self.socket.recv(count - len(data))
            if not part:
                raise ConnectionError("the daemon has gone")
            data += part
        return data

    def receive(self):
        """Status, id and body of what comes next."""
        (length,) = struct.unpack("!I", self._exactly(4))
        frame = self._exactly(length)
        return frame[0], struct.unpack("!I", frame[1:5])[0], frame[5:]

    def call(self, operation, body=b""):
        """The answer to a request; events that come first are kept."""
        self.id += 1
        self.socket.sendall(struct.pack("!IBBI", len(body) + 6, 1, operation, self.id) + body)
        while True:
            status, number, answer = self.receive()
            if status == EVENT:
                self.events.append(answer)
            elif status == OK and number == self.id:
                return answer
            else:
                raise Refused(answer.decode())

    def sign(self, payload, psid=CAM):
        """`createSignature` without a location."""
        return self.call(SIGN, struct.pack("!IB", psid, 0) + payload)

    def verify(self, message):
        """`verifySignature`: 0 accepted, 1 refused, 2 not verified; and the checks."""
        answer = self.call(VERIFY, struct.pack("!BII", 1, UNKNOWN, UNKNOWN) + message)
        checks, at = [], 18
        for _ in range(answer[17]):
            name_length = answer[at]
            name = answer[at + 1 : at + 1 + name_length].decode()
            at += 1 + name_length
            why_length = answer[at]
            why = answer[at + 1 : at + 1 + why_length].decode()
            at += 1 + why_length
            end, took_ns = struct.unpack("!BI", answer[at : at + 5])
            at += 5
            checks.append((name, ("passed", "failed", "skipped")[end], why, took_ns))
        return answer[0], checks


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("socket")
    parser.add_argument("--messages", type=int, default=20)
    options = parser.parse_args()
    application, layer = Daemon(options.socket), Daemon(options.socket)
    (number,) = struct.unpack("!H", layer.call(REGISTER))
    changes = 0
    for count in range(options.messages):
        message = application.sign(b"x" * (count + 1))
        outcome, checks = application.verify(message)
        if outcome != 0:
            print(next(check for check in checks if check[1] == "failed"), file=sys.stderr)
            return 1
        if count == options.messages // 2:
            try:
                application.call(CHANGE)
            except Refused as reason:
                print(f"no change: {reason}")
                continue
            _, _, asked = layer.receive()
            print(f"layer {number} is asked for station id {struct.unpack('!I', asked[11:15])[0]:08x}, address {asked[15:21].hex(':')}")
            layer.call(ANSWER, struct.pack("!HB", number, 1))
            changes += 1
    print(f"{options.messages} messages signed and verified, {changes} change of pseudonym")
    return 0


if __name__ == "__main__":
    sys.exit(main())
