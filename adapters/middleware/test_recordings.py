#!/usr/bin/env python3
"""Recordings of every kind, whole, cut at each byte, and with altered bytes: what is read is what was written, and nothing ends in a traceback."""

import bz2
import pathlib
import random
import re
import struct
import tempfile
import unittest
import zlib

import recordings


def field(name, value):
    data = name.encode() + b"=" + value
    return struct.pack("<I", len(data)) + data


def record(fields, data):
    head = b"".join(field(name, value) for name, value in fields)
    return struct.pack("<I", len(head)) + head + struct.pack("<I", len(data)) + data


def ros_string(text):
    return struct.pack("<I", len(text)) + text


def ros_scan(ranges, intensities):
    head = struct.pack("<III", 1, 2, 3) + ros_string(b"laser") + struct.pack("<7f", *range(7))
    return head + b"".join(struct.pack(f"<I{len(values)}f", len(values), *values) for values in (ranges, intensities))


def ros_image(pixels):
    head = struct.pack("<III", 1, 2, 3) + ros_string(b"camera") + struct.pack("<II", 1, len(pixels)) + ros_string(b"mono8")
    return head + struct.pack("<BI", 0, len(pixels)) + ros_string(pixels)


def a_bag(compress=None):
    """Two topics in a chunk, and an index as bags of 2010 have it."""
    connection = lambda number, topic, kind: record(
        [("op", b"\x07"), ("conn", struct.pack("<I", number)), ("topic", topic)], field("type", kind)
    )
    message = lambda number, second, data: record(
        [("op", b"\x02"), ("conn", struct.pack("<I", number)), ("time", struct.pack("<II", second, 500))], data
    )
    chunk = connection(0, b"/scan", b"sensor_msgs/LaserScan") + connection(1, b"/eye", b"sensor_msgs/Image")
    for second in range(3):
        chunk += message(0, second, ros_scan([second, 2.5], [7.0])) + message(1, second, ros_image(bytes([second] * 6)))
    packed = compress(chunk) if compress else chunk
    name = b"bz2" if compress else b"none"
    entry = struct.pack("<III", 0, 500, 0)
    index = record([("op", b"\x04"), ("ver", struct.pack("<I", 1)), ("conn", struct.pack("<I", 0)), ("count", struct.pack("<I", 1))], entry)
    index = index[: -len(entry) - 4] + struct.pack("<I", 20) + entry
    chunk = record([("op", b"\x05"), ("compression", name), ("size", struct.pack("<I", len(chunk)))], packed)
    return b"#ROSBAG V2.0\n" + record([("op", b"\x03")], b" " * 20) + chunk + index + chunk


def cdr_image(pixels):
    data = struct.pack("<iI", 1, 2) + struct.pack("<I", 4) + b"eye\0" + struct.pack("<II", 1, len(pixels))
    data += struct.pack("<I", 6) + b"mono8\0" + b"\0"
    data += b"\0" * (-len(data) % 4) + struct.pack("<II", len(pixels), len(pixels)) + pixels
    return b"\0\1\0\0" + data


def an_mcap(is_in_chunk):
    item = lambda kind, data: struct.pack("<BQ", kind, len(data)) + data
    items = item(3, struct.pack("<H", 1) + ros_string(b"sensor_msgs/msg/Image") + ros_string(b"ros2msg") + ros_string(b""))
    items += item(4, struct.pack("<HH", 5, 1) + ros_string(b"/eye") + ros_string(b"cdr") + ros_string(b""))
    for number in range(3):
        items += item(5, struct.pack("<HIQQ", 5, number, number * 1_000, 0) + cdr_image(bytes([number] * 7)))
    if is_in_chunk:
        items = item(6, struct.pack("<QQQI", 0, 0, len(items), 0) + ros_string(b"") + struct.pack("<Q", len(items)) + items)
    return recordings.MCAP + item(1, ros_string(b"") + ros_string(b"")) + items + item(15, b"\0" * 4) + recordings.MCAP


POINTS = [(1.5, 2.5, 7), (3.5, -4.5, 8), (5.5, 6.5, 9)]
PACKED = b"".join(struct.pack("<ffH", *point) for point in POINTS)


def a_pcd(form):
    head = f"# .PCD\nVERSION .7\nFIELDS x y label\nSIZE 4 4 2\nTYPE F F U\nCOUNT 1 1 1\nWIDTH 3\nHEIGHT 1\nPOINTS 3\nDATA {form}\n".encode()
    if form == "ascii":
        return head + b"".join(b"%f %f %d\n" % point for point in POINTS)
    if form == "binary":
        return head + PACKED
    columns = b"".join(struct.pack(f"<3{code}", *(point[at] for point in POINTS)) for at, code in enumerate("ffH"))
    packed = bytes([len(columns) - 1]) + columns
    return head + struct.pack("<II", len(packed), len(columns)) + packed


def a_pcap():
    """A datagram in two fragments, the later one first, and a shorter one to another port."""
    datagram = struct.pack(">HHHH", 1, 2368, 8 + 40, 0) + bytes(range(40))
    packet = lambda offset, more, data: (
        b"\0" * 12 + b"\x08\0\x45\0" + struct.pack(">HHHBBH", 20 + len(data), 9, (more << 13) | offset // 8, 64, 17, 0) + b"\1" * 8 + data
    )
    frames = [packet(24, 0, datagram[24:]), packet(0, 1, datagram[:24]), packet(0, 0, struct.pack(">HHHH", 1, 99, 9, 0) + b"x")]
    packets = [struct.pack("<IIII", 1, at, len(frame), len(frame)) + frame for at, frame in enumerate(frames)]
    return struct.pack("<IHHIIII", 0xA1B2C3D4, 2, 4, 0, 0, 65535, 1) + b"".join(packets)


def a_png():
    chunk = lambda kind, data: struct.pack(">I", len(data)) + kind + data + struct.pack(">I", zlib.crc32(kind + data))
    rows = b"\0" + bytes([1, 2, 3, 4, 5, 6]) + b"\2" + bytes([1] * 6)
    return recordings.PNG + chunk(b"IHDR", struct.pack(">IIBBBBB", 2, 2, 8, 2, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b"")


EVERY = {
    "bag": a_bag(),
    "bag.bz2": a_bag(bz2.compress),
    "mcap": an_mcap(False),
    "mcap.chunk": an_mcap(True),
    "pcd.ascii": a_pcd("ascii"),
    "pcd.binary": a_pcd("binary"),
    "pcd.compressed": a_pcd("binary_compressed"),
    "pcap": a_pcap(),
    "png": a_png(),
}


class Recordings(unittest.TestCase):
    def setUp(self):
        # In memory, where there is such a folder: thousands of files are written.
        folder = tempfile.TemporaryDirectory(dir="/dev/shm" if pathlib.Path("/dev/shm").is_dir() else None)
        self.addCleanup(folder.cleanup)
        self.path = pathlib.Path(folder.name) / "recording"

    def taken(self, data, topic=None):
        self.path.write_bytes(data)
        taken = recordings.Taken(topic)
        try:
            recordings.read(self.path, taken)
        except recordings.Cut as cut:
            taken.notes.append(str(cut))
        return taken

    def test_bags(self):
        for name in ("bag", "bag.bz2"):
            scans = self.taken(EVERY[name], "/scan")
            self.assertEqual(scans.bodies, [struct.pack("<fff", second, 2.5, 7.0) for second in range(3)] * 2)
            self.assertEqual(scans.times[:3], [500, 1_000_000_500, 2_000_000_500])
            self.assertEqual(self.taken(EVERY[name], "/eye").bodies, [bytes([second] * 6) for second in range(3)] * 2)

    def test_mcap(self):
        for name in ("mcap", "mcap.chunk"):
            taken = self.taken(EVERY[name])
            self.assertEqual((taken.bodies, taken.times), ([bytes([at] * 7) for at in range(3)], [0, 1_000, 2_000]))

    def test_clouds(self):
        for name in ("pcd.ascii", "pcd.binary", "pcd.compressed"):
            self.assertEqual(self.taken(EVERY[name]).bodies, [PACKED], name)

    def test_datagrams(self):
        self.assertEqual(self.taken(EVERY["pcap"]).bodies, [bytes(range(40))])
        self.assertEqual(self.taken(EVERY["pcap"], "99").bodies, [b"x"])

    def test_images(self):
        self.assertEqual(self.taken(EVERY["png"]).bodies, [bytes([1, 2, 3, 4, 5, 6, 2, 3, 4, 5, 6, 7])])

    def test_a_topic_has_to_be_chosen(self):
        for topic, words in ((None, "/eye (sensor_msgs/Image, 6), /scan"), ("/nose", "no messages of /nose")):
            with self.assertRaisesRegex(recordings.Wrong, re.escape(words)):
                recordings.chosen(self.taken(EVERY["bag"], topic))

    def test_a_chunk_is_not_unpacked_beyond_what_it_says(self):
        bomb = bz2.compress(b"\0" * (64 << 20))
        chunk = record([("op", b"\x05"), ("compression", b"bz2"), ("size", struct.pack("<I", 100))], bomb)
        with self.assertRaisesRegex(recordings.Wrong, "100 B unpacks to another length"):
            self.taken(b"#ROSBAG V2.0\n" + chunk)

    def test_a_recording_of_nothing_is_refused(self):
        empty = a_pcd("ascii").replace(b"WIDTH 3", b"WIDTH 0").replace(b"POINTS 3", b"POINTS 0").split(b"1.5")[0]
        with self.assertRaisesRegex(recordings.Wrong, "only empty ones"):
            recordings.chosen(self.taken(empty))

    def test_others_are_named(self):
        for begin, words in ((b"SQLite format 3\0", "ros2 bag convert"), (b"#ROSBAG V1.2\n", "rosbag fix"), (b"", "none of them")):
            with self.assertRaisesRegex(recordings.Wrong, words):
                self.taken(begin)

    def test_a_cut_recording_gives_what_comes_before(self):
        for name, data in EVERY.items():
            whole = self.taken(data, "/scan" if "bag" in name else None).bodies
            for length in range(len(data)):
                try:
                    taken = self.taken(data[:length], "/scan" if "bag" in name else None)
                except recordings.Wrong:
                    continue
                self.assertEqual(taken.bodies, whole[: len(taken.bodies)], f"{name}, {length} B")

    def test_altered_bytes_end_in_no_traceback(self):
        chance = random.Random(1)
        for name, data in EVERY.items():
            for _ in range(1_000):
                altered = bytearray(data)
                for _ in range(chance.randint(1, 4)):
                    altered[chance.randrange(len(altered))] = chance.choice((0, 1, 0x7F, 0xFF, chance.randrange(256)))
                try:
                    self.taken(bytes(altered), "/scan" if "bag" in name else None)
                except recordings.Wrong:
                    pass
                except Exception as error:
                    raise AssertionError(f"{name}: {bytes(altered)!r}") from error


if __name__ == "__main__":
    unittest.main()
