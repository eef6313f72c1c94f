"""Floods whoever takes part: flood.py PLACES…, each `udp ADDRESS PORT` or `tcp ADDRESS PORT`, or `rtps PUBLISHER SUBSCRIBER OWN_ADDRESS`.

Datagrams of 1,000 B as fast as one process sends them, at most 100,000 a second, in the form of RTPS if the place is announced by it; up to 2,000
connections a second that say nothing, of which the last 200 are kept open. What finds no room in a queue of the link counts as sent.
"""

import collections
import os
import signal
import socket
import sys
import time

BEGIN_S = 1.5
TURN_S = 0.01
DATAGRAMS_A_TURN = 1_000
CONNECTIONS_A_TURN = 20
LENGTH = 1_000
KEPT = 200


class Datagrams:
    def __init__(self, address, port, front=b""):
        self.to, self.front, self.sent, self.refused = (address, port), front, 0, 0
        self.socket = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)

    def turn(self):
        datagram = self.front + os.urandom(LENGTH - len(self.front))
        for _ in range(DATAGRAMS_A_TURN):
            try:
                self.socket.sendto(datagram, self.to)
                self.sent += 1
            except OSError:
                self.refused += 1

    def word(self):
        return f"{self.sent} datagrams sent to port {self.to[1]}" if self.sent else ""


class Connections:
    def __init__(self, address, port):
        self.to, self.open, self.made, self.refused = (address, port), collections.deque(), 0, 0

    def turn(self):
        for _ in range(CONNECTIONS_A_TURN):
            try:
                self.open.append(socket.create_connection(self.to, timeout=0.2))
                self.made += 1
            except OSError:
                self.refused += 1
        while len(self.open) > KEPT:
            self.open.popleft().close()

    def word(self):
        refused = f", {self.refused} refused or not answered" if self.refused else ""
        return f"{self.made} connections to port {self.to[1]}{refused}" if self.made + self.refused else ""


def places(words):
    while words:
        kind, words = words[0], words[1:]
        if kind == "rtps":
            import rtps

            publisher, subscriber, own, *words = words
            header, port = rtps.learn(rtps.listen(own), publisher, subscriber)
            yield Datagrams(subscriber, port, header)
        else:
            address, port, *words = words
            yield {"udp": Datagrams, "tcp": Connections}[kind](address, int(port))


def main():
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    words = [part for word in sys.argv[1:] for part in word.split()]
    floods = []
    try:
        floods = list(places(words))
        time.sleep(BEGIN_S)
        next_at = time.monotonic()
        while True:
            for flood in floods:
                flood.turn()
            next_at = max(next_at + TURN_S, time.monotonic() - TURN_S)
            time.sleep(max(0, next_at - time.monotonic()))
    finally:
        said = [flood.word() for flood in floods if flood.word()]
        if said:
            print("; ".join(said), flush=True)


if __name__ == "__main__":
    main()
