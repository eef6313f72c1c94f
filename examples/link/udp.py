"""A program that carries streams of a scenario over UDP, and writes down what it sent and got.

One program for both ends: the streams that its node sends it sends, and it waits for the others. What it is told stands in its
environment; the record is described in docs/guide/link.md.
"""

import json
import os
import socket
import struct
import threading
import time
import zlib

PORT = 6000
HEAD = struct.Struct("<HQI")  # stream, sequence, checksum of what follows
SENT, RECEIVED = 1, 2
ALTERED = 1

records = os.open(os.environ["CHRONOSEAL_RECORDS"], os.O_WRONLY | os.O_APPEND)
epoch_ns = int(os.environ["CHRONOSEAL_EPOCH_NS"])


def record(kind, flags, stream, length, sequence, due_ns):
    at_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    os.write(records, struct.pack("<BBHIQqq", kind, flags, stream, length, sequence, due_ns, at_ns))


def send(stream):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    body = bytes(stream["length"] - HEAD.size)
    sequence = 0
    due_ns = epoch_ns + stream["offset_ns"]
    while True:
        pause_ns = due_ns - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        # What was due before the program was there is sent at once, and is late.
        if pause_ns > 0:
            time.sleep(pause_ns / 1e9)
        message = HEAD.pack(stream["number"], sequence, zlib.crc32(body)) + body
        record(SENT, 0, stream["number"], len(message), sequence, due_ns)
        for peer in stream["peers"]:
            sender.sendto(message, (peer, PORT))
        sequence += 1
        due_ns += stream["period_ns"]


def receive():
    receiver = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    receiver.bind(("0.0.0.0", PORT))
    while True:
        message = receiver.recv(65_535)
        if len(message) >= HEAD.size:
            stream, sequence, checksum = HEAD.unpack_from(message)
            altered = zlib.crc32(message[HEAD.size:]) != checksum
            record(RECEIVED, ALTERED if altered else 0, stream, len(message), sequence, 0)


streams = json.loads(os.environ["CHRONOSEAL_STREAMS"])
for stream in streams:
    if stream["sends"]:
        threading.Thread(target=send, args=(stream,), daemon=True).start()
receive()
