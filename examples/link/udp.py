"""A program that carries streams of a scenario over UDP, and writes down what it sent and got.

One program for both ends: the streams that its node sends it sends, and it waits for the others. What it is told stands in its
environment; the record is described in docs/guide/link.md.

Faults are put in where a number of a message is given: `--corrupt 3,4 --duplicate 5 --drop 6 --replay 7 --misroute 8=10.0.0.3`.
A replayed message is sent once more behind the ten that follow it.
"""

import argparse
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
REPLAYED_AFTER = 10


def numbers(text):
    return {int(number) for number in text.split(",")}


def places(text):
    return {int(number): place for number, place in (word.split("=") for word in text.split(","))}


parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
for fault in ("corrupt", "duplicate", "drop", "replay"):
    parser.add_argument(f"--{fault}", type=numbers, default=set(), metavar="N,N")
parser.add_argument("--misroute", type=places, default={}, metavar="N=ADDRESS")
faults = parser.parse_args()

records = os.open(os.environ["CHRONOSEAL_RECORDS"], os.O_WRONLY | os.O_APPEND)
epoch_ns = int(os.environ["CHRONOSEAL_EPOCH_NS"])


def record(kind, flags, stream, length, sequence, due_ns):
    at_ns = time.clock_gettime_ns(time.CLOCK_MONOTONIC)
    os.write(records, struct.pack("<BBHIQqq", kind, flags, stream, length, sequence, due_ns, at_ns))


def send(stream):
    sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
    body = bytes(stream["length"] - HEAD.size)
    sequence, kept = 0, {}
    due_ns = epoch_ns + stream["offset_ns"]
    while True:
        pause_ns = due_ns - time.clock_gettime_ns(time.CLOCK_MONOTONIC)
        # What was due before the program was there is sent at once, and is late.
        if pause_ns > 0:
            time.sleep(pause_ns / 1e9)
        message = HEAD.pack(stream["number"], sequence, zlib.crc32(body)) + body
        record(SENT, 0, stream["number"], len(message), sequence, due_ns)
        if sequence in faults.replay:
            kept[sequence + REPLAYED_AFTER] = message
        if sequence in faults.corrupt:
            message = message[:-1] + bytes([message[-1] ^ 1])
        copies = [message] * (0 if sequence in faults.drop else 1 + (sequence in faults.duplicate))
        for copy in copies + ([kept.pop(sequence)] if sequence in kept else []):
            for peer in [faults.misroute[sequence]] if sequence in faults.misroute else stream["peers"]:
                sender.sendto(copy, (peer, PORT))
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
