#!/usr/bin/env python3
"""Makes messages of a recording: recordings.py FOLDER NAME FILE [TOPIC].

Writes FOLDER/NAME.bodies, in the format of README.md, and prints one JSON object: what was read, how many messages, the longest of them [byte], their
mean period [ns] if the recording has times, and whether anything was left out. It reads, by what is in the file and not by its name:

ROS 1 bag      version 2.0, uncompressed, BZ2 or LZ4 (python3-lz4); linearly, without its index. One that is cut gives what comes before
MCAP           messages serialized as ROS 1 or ROS 2 (CDR) has them; LZ4, Zstandard (python3-lz4, python3-zstandard) or uncompressed
PCD            one cloud: ascii, binary, binary_compressed; the points as the file has them, without padding
PNG            one image, or a folder of them in the order of their names
pcap           datagrams of a lidar, such as Velodyne's and Ouster's, put together where they are fragmented

A message of sensor_msgs/LaserScan becomes its ranges and intensities, of Image its pixels, of PointCloud2 its points; any other is taken as it is serialized.
"""

import bz2
import json
import pathlib
import struct
import sys
import zlib

# More are not kept: bodies are taken in turn.
MESSAGES_MAX = 100_000
BYTES_MAX = 512 << 20
# A longer one is no message, and no chunk of any writer [byte].
RECORD_MAX = 1 << 30
# A file that is not read piece by piece [byte].
FILE_MAX = 2 << 30


class Wrong(Exception):
    """What is wrong with a recording, for people."""


class Cut(Exception):
    """A recording ends in the middle; what came before counts."""


class Taken:
    """The messages of one stream, and what is said of them."""

    def __init__(self, topic):
        self.topic, self.kind = topic, ""
        self.bodies, self.times, self.size = [], [], 0
        self.notes, self.others = [], {}

    def is_full(self):
        return len(self.bodies) >= MESSAGES_MAX or self.size >= BYTES_MAX

    def add(self, body, time_ns=None):
        self.bodies.append(bytes(body))
        self.size += len(body)
        if time_ns is not None:
            self.times.append(time_ns)

    def offer(self, topic, kind, body, time_ns):
        """A message of a recording with topics: of the one that is asked for, or of the only one."""
        self.others[topic] = (kind, self.others.get(topic, (kind, 0))[1] + 1)
        if self.topic is None or topic == self.topic:
            self.add(body(), time_ns)


def exactly(file, length, where):
    """So many bytes, or the end of the recording."""
    if length > RECORD_MAX:
        raise Wrong(f"at byte {where}: a record of {length} B is longer than any of {RECORD_MAX} B that is read")
    data = file.read(length)
    if len(data) < length:
        raise Cut(f"it is cut in the record at byte {where}: what comes before was read")
    return data


class Fields:
    """Reads what ROS serialized, with alignment (CDR) or without (ROS 1)."""

    def __init__(self, data, is_cdr):
        self.data, self.at, self.is_cdr = data, 0, is_cdr
        self.order, self.origin = "<", 0
        if is_cdr:
            self.order = "<" if len(data) > 1 and data[1] & 1 else ">"
            self.at = self.origin = 4

    def number(self, code):
        size = struct.calcsize(code)
        if self.is_cdr:
            self.at += -(self.at - self.origin) % size
        if self.at + size > len(self.data):
            raise Wrong("a message ends before its fields do")
        (value,) = struct.unpack_from(self.order + code, self.data, self.at)
        self.at += size
        return value

    def bytes(self, length):
        if length > len(self.data) - self.at:
            raise Wrong("a message ends before its fields do")
        self.at += length
        return self.data[self.at - length : self.at]

    def string(self):
        return self.bytes(self.number("I"))

    def header(self):
        for _ in range(2 if self.is_cdr else 3):
            self.number("I")
        self.string()

    def floats(self):
        count = self.number("I")
        return self.bytes(4 * count)


def laser_scan(fields):
    fields.header()
    for _ in range(7):
        fields.number("f")
    return fields.floats() + fields.floats()


def image(fields):
    fields.header()
    fields.number("I"), fields.number("I")
    fields.string()
    fields.number("B"), fields.number("I")
    return fields.bytes(fields.number("I"))


def point_cloud(fields):
    fields.header()
    fields.number("I"), fields.number("I")
    for _ in range(fields.number("I")):
        fields.string()
        fields.number("I"), fields.number("B"), fields.number("I")
    fields.number("B"), fields.number("I"), fields.number("I")
    return fields.bytes(fields.number("I"))


KINDS = {"LaserScan": laser_scan, "Image": image, "PointCloud2": point_cloud}


def body_of(kind, data, is_cdr):
    """What a message of this type holds."""
    words = kind.split("/")
    reader = KINDS.get(words[-1]) if words[0] == "sensor_msgs" else None
    return reader(Fields(data, is_cdr)) if reader else data


# --- ROS 1 bags: http://wiki.ros.org/Bags/Format/2.0

MESSAGE, INDEX, CHUNK, CONNECTION = 2, 4, 5, 7
# Of an index for each message [byte]. Bags of 2010 say that they have 20.
INDEX_ENTRY = 12


def bag(file, taken):
    file.seek(0)
    line = file.readline(64)
    if line != b"#ROSBAG V2.0\n":
        raise Wrong(f"it is a bag of version {line[9:].strip().decode(errors='replace')}, and 2.0 is read: `rosbag fix` makes one of it")
    connections = {}
    while not taken.is_full():
        record = bag_record(file, file.tell())
        if record is None:
            return
        head, data = record
        if head.get("op") == bytes([CHUNK]):
            length = head.get("size", b"")
            if len(length) != 4:
                raise Wrong(f"the chunk before byte {file.tell()} does not say how long it is")
            try:
                chunk = unpacked(head.get("compression", b"none").decode(errors="replace"), data, *struct.unpack("<I", length))
            except (OSError, EOFError, ValueError, RuntimeError) as error:
                raise Wrong(f"the chunk before byte {file.tell()} cannot be unpacked: {error}") from error
            at = 0
            while at < len(chunk) and not taken.is_full():
                head, data, at = record_in(chunk, at)
                bag_item(head, data, connections, taken)
        else:
            bag_item(head, data, connections, taken)


def bag_record(file, where):
    length = file.read(4)
    if not length:
        return None
    if len(length) < 4:
        raise Cut(f"it is cut at byte {where}: what comes before was read")
    head = fields_of(exactly(file, struct.unpack("<I", length)[0], where))
    (length,) = struct.unpack("<I", exactly(file, 4, where))
    if head.get("op") == bytes([INDEX]) and len(head.get("count", b"")) == 4:
        length = INDEX_ENTRY * struct.unpack("<I", head["count"])[0]
    return head, exactly(file, length, where)


def record_in(chunk, at):
    parts = []
    for _ in range(2):
        if at + 4 > len(chunk):
            raise Wrong("a chunk ends in the middle of a record")
        (length,) = struct.unpack_from("<I", chunk, at)
        at += 4 + length
        if at > len(chunk):
            raise Wrong("a chunk ends in the middle of a record")
        parts.append(chunk[at - length : at])
    return fields_of(parts[0]), parts[1], at


def fields_of(data):
    found, at = {}, 0
    while at + 4 <= len(data):
        (length,) = struct.unpack_from("<I", data, at)
        name, sign, value = data[at + 4 : at + 4 + length].partition(b"=")
        if not sign:
            raise Wrong("a field of a record has no name")
        found[name.decode(errors="replace")] = value
        at += 4 + length
    return found


def bag_item(head, data, connections, taken):
    kind, number = head.get("op"), head.get("conn")
    if kind == bytes([CONNECTION]) and number is not None:
        topic = head.get("topic", b"").decode(errors="replace")
        connections[number] = (topic, fields_of(data).get("type", b"").decode(errors="replace"))
    elif kind == bytes([MESSAGE]) and number in connections and len(head.get("time", b"")) == 8:
        topic, kind = connections[number]
        seconds, nanoseconds = struct.unpack("<II", head["time"])
        taken.offer(topic, kind, lambda: body_of(kind, data, False), seconds * 1_000_000_000 + nanoseconds)


def unpacked(compression, data, length):
    """What `length` bytes were packed into. More are not unpacked, whatever the data would come to."""
    if length > RECORD_MAX:
        raise Wrong(f"a chunk of {length} B is longer than any of {RECORD_MAX} B that is read")
    if compression in ("none", ""):
        return data
    if compression == "bz2":
        unpacked = bz2.BZ2Decompressor().decompress(data, length + 1)
    elif compression == "lz4":
        unpacked = library("lz4.frame", "python3-lz4").LZ4FrameDecompressor().decompress(data, length + 1)
    elif compression == "zstd":
        zstd = library("zstandard", "python3-zstandard")
        try:
            unpacked = zstd.ZstdDecompressor().stream_reader(data).read(length + 1)
        except zstd.ZstdError as error:
            raise ValueError(error) from error
    else:
        raise Wrong(f"it is compressed by `{compression}`: none, bz2, lz4 and zstd are read")
    if len(unpacked) != length:
        raise Wrong(f"a chunk of {length} B unpacks to another length")
    return unpacked


def library(name, package):
    try:
        return __import__(name, fromlist=["_"])
    except ImportError:
        raise Wrong(f"{package} is missing: `apt-get install {package}`") from None


# --- MCAP: https://mcap.dev/spec

MCAP = b"\x89MCAP0\r\n"
MCAP_SCHEMA, MCAP_CHANNEL, MCAP_MESSAGE, MCAP_CHUNK, MCAP_DATA_END = 3, 4, 5, 6, 15


def mcap(file, taken):
    file.seek(len(MCAP))
    schemas, channels = {}, {}
    while not taken.is_full():
        where = file.tell()
        head = file.read(9)
        if not head or head.startswith(MCAP):
            return
        if len(head) < 9:
            raise Cut(f"it is cut at byte {where}: what comes before was read")
        kind, length = struct.unpack("<BQ", head)
        if kind == MCAP_DATA_END:
            return
        data = exactly(file, length, where)
        if kind != MCAP_CHUNK:
            mcap_item(kind, data, schemas, channels, taken)
            continue
        fields = Fields(data, False)
        fields.bytes(16)
        length = fields.number("Q")
        fields.number("I")
        compression = fields.string().decode(errors="replace")
        packed = fields.bytes(fields.number("Q"))
        try:
            chunk = Fields(unpacked(compression, packed, length), False)
        except (OSError, EOFError, ValueError, RuntimeError) as error:
            raise Wrong(f"the chunk at byte {where} cannot be unpacked: {error}") from error
        while chunk.at < len(chunk.data) and not taken.is_full():
            kind = chunk.number("B")
            mcap_item(kind, chunk.bytes(chunk.number("Q")), schemas, channels, taken)


def mcap_item(kind, data, schemas, channels, taken):
    fields = Fields(data, False)
    if kind == MCAP_SCHEMA:
        number = fields.number("H")
        schemas[number] = fields.string().decode(errors="replace")
    elif kind == MCAP_CHANNEL:
        number, schema = fields.number("H"), fields.number("H")
        topic, encoding = (fields.string().decode(errors="replace") for _ in range(2))
        channels[number] = (topic, schemas.get(schema, ""), encoding)
    elif kind == MCAP_MESSAGE:
        number = fields.number("H")
        fields.number("I")
        time_ns = fields.number("Q")
        fields.number("Q")
        if number in channels:
            topic, kind, encoding = channels[number]
            data = data[fields.at :]
            is_known = encoding in ("ros1", "cdr")
            taken.offer(topic, kind, lambda: body_of(kind, data, encoding == "cdr") if is_known else data, time_ns)


# --- PCD: https://pointclouds.org/documentation/tutorials/pcd_file_format.html


def pcd(file, taken):
    file.seek(0)
    head = {}
    while "DATA" not in head:
        line = file.readline(4096)
        if not line:
            raise Wrong("its header has no DATA line")
        words = line.decode(errors="replace").split("#")[0].split()
        if words:
            head[words[0]] = words[1:]
    try:
        sizes = [int(word) for word in head["SIZE"]]
        kinds = head["TYPE"]
        counts = [int(word) for word in head.get("COUNT", ["1"] * len(sizes))]
        points = int(head["POINTS"][0]) if "POINTS" in head else int(head["WIDTH"][0]) * int(head["HEIGHT"][0])
        codes = ["".join(CODES[kind, size] * count) for kind, size, count in zip(kinds, sizes, counts)]
    except (KeyError, IndexError, ValueError) as error:
        raise Wrong(f"its header is wrong or lacks {error}") from error
    step = sum(size * count for size, count in zip(sizes, counts))
    if points < 0 or step <= 0 or points * step > RECORD_MAX:
        raise Wrong(f"it has {points} points of {step} B, and at most {RECORD_MAX} B are read")
    form = head["DATA"][0] if head["DATA"] else ""
    if form == "binary":
        data = file.read(points * step)
    elif form == "binary_compressed":
        (packed_len, length) = struct.unpack("<II", file.read(8).ljust(8, b"\0"))
        if length != points * step:
            raise Wrong(f"its points unpack to {length} B, and {points * step} B are due")
        data = by_points(lzf(file.read(min(packed_len, RECORD_MAX)), length), sizes, counts, points)
    elif form == "ascii":
        record = struct.Struct("<" + "".join(codes))
        is_float = [code in "fd" for code in "".join(codes)]
        rows = []
        for line in file:
            words = line.split()
            if words:
                try:
                    rows.append(record.pack(*(float(word) if real else int(word) for word, real in zip(words, is_float, strict=True))))
                except (ValueError, struct.error, OverflowError) as error:
                    raise Wrong(f"point {len(rows)}: {error}") from error
        data = b"".join(rows)
    else:
        raise Wrong(f"its points are `{form}`: ascii, binary and binary_compressed are read")
    if len(data) != points * step:
        raise Wrong(f"it has {len(data)} B of points, and its header says {points * step} B")
    taken.add(data)


CODES = {
    ("I", 1): "b", ("I", 2): "h", ("I", 4): "i", ("I", 8): "q", ("U", 1): "B", ("U", 2): "H", ("U", 4): "I", ("U", 8): "Q",
    ("F", 4): "f", ("F", 8): "d",
}  # fmt: skip


def lzf(data, length):
    """Unpacks LZF, of which points are compressed."""
    out, at = bytearray(), 0
    try:
        while at < len(data) and len(out) < length:
            control = data[at]
            at += 1
            if control < 32:
                out += data[at : at + control + 1]
                at += control + 1
                continue
            count = (control >> 5) + 2
            if count == 9:
                count += data[at]
                at += 1
            begin = len(out) - ((control & 31) << 8) - data[at] - 1
            at += 1
            if begin < 0:
                raise Wrong("its compressed points refer to what is before them")
            while count > 0:
                piece = out[begin : begin + count]
                out += piece
                begin, count = begin + len(piece), count - len(piece)
    except IndexError:
        raise Wrong("its compressed points end in the middle") from None
    if len(out) != length:
        raise Wrong(f"its compressed points unpack to {len(out)} B, and {length} B are due")
    return bytes(out)


def by_points(data, sizes, counts, points):
    """Points one after the other, of which the file has one field after the other."""
    step = sum(size * count for size, count in zip(sizes, counts))
    out, at, offset = bytearray(points * step), 0, 0
    for size, count in zip(sizes, counts):
        width = size * count
        column = data[at : at + width * points]
        for byte in range(width):
            out[offset + byte :: step] = column[byte::width]
        at, offset = at + width * points, offset + width
    return bytes(out)


# --- PNG

PNG = b"\x89PNG\r\n\x1a\n"


def png(path, taken):
    sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
    import sensors

    try:
        taken.add(sensors.pixels(path))
    except (struct.error, zlib.error, IndexError, ValueError) as error:
        raise Wrong(f"{path.name}: it is no PNG that can be read: {error}") from error


# --- pcap: https://www.ietf.org/archive/id/draft-ietf-opsawg-pcap-04.html, and pcapng in its simplest form

PCAP_UNITS = {0xA1B2C3D4: 1_000, 0xA1B23C4D: 1}


def pcap(file, taken):
    """The datagrams of one destination port: that of the topic, or the one with the most bytes."""
    ports, whole = {}, {}
    for time_ns, link, frame in packets(file):
        datagram = udp(link, frame, whole)
        if datagram and sum(size for size, *_ in ports.values()) < BYTES_MAX:
            port, data = datagram
            size, datagrams = ports.get(port, (0, []))
            datagrams.append((time_ns, data))
            ports[port] = (size + len(data), datagrams)
    for port, (size, datagrams) in ports.items():
        taken.others[str(port)] = ("UDP", len(datagrams))
    if taken.topic is None and ports:
        taken.topic = str(max(ports, key=lambda port: ports[port][0]))
    for time_ns, data in ports.get(int(taken.topic) if (taken.topic or "").isdigit() else -1, (0, []))[1][:MESSAGES_MAX]:
        taken.add(data, time_ns)


def packets(file):
    file.seek(0)
    head = file.read(24)
    for order in "<>":
        unit = PCAP_UNITS.get(struct.unpack(order + "I", head[:4])[0])
        if unit:
            link = struct.unpack(order + "I", head[20:24].ljust(4, b"\0"))[0] & 0xFFFF
            return classic(file, order, unit, link)
    raise Wrong("it is a pcapng: `editcap -F pcap IN OUT` makes a pcap of it")


def classic(file, order, unit, link):
    while True:
        where = file.tell()
        head = file.read(16)
        if len(head) < 16:
            if head:
                raise Cut(f"it is cut at byte {where}: what comes before was read")
            return
        seconds, fraction, length, _ = struct.unpack(order + "IIII", head)
        yield seconds * 1_000_000_000 + fraction * unit, link, exactly(file, length, where)


def udp(link, frame, whole):
    """The destination port and the data of a datagram, once all of its fragments are there."""
    at = {1: 14, 113: 16, 101: 0, 0: 4}.get(link)
    if at is None:
        raise Wrong(f"its link type {link} is none of Ethernet, Linux cooked, raw IP and loopback")
    if link == 1 and frame[12:14] == b"\x81\x00":
        at += 4
    packet = frame[at:]
    if len(packet) < 20 or packet[0] >> 4 != 4 or packet[9] != 17:
        return None
    length, number, place = struct.unpack(">HHH", packet[2:8])
    data = packet[(packet[0] & 15) * 4 : length or None]
    offset, more = 8 * (place & 0x1FFF), place & 0x2000
    if offset or more:
        key = packet[12:20] + number.to_bytes(2, "big")
        pieces = whole.setdefault(key, {})
        pieces[offset] = (data, bool(more))
        if len(whole) > 64:
            whole.pop(next(iter(whole)))
        data, expected = b"", 0
        for begin, (piece, is_followed) in sorted(pieces.items()):
            if begin != expected:
                return None
            data, expected, last = data + piece, begin + len(piece), not is_followed
        if not last:
            return None
        whole.pop(key, None)
    if len(data) < 8:
        return None
    return int.from_bytes(data[2:4], "big"), data[8 : int.from_bytes(data[4:6], "big") or None]


# --- all of them


def read(path, taken):
    """Recognises a recording by its bytes and takes its messages."""
    if path.is_dir():
        images = sorted(path.glob("*.png"))
        if not images:
            raise Wrong("the folder has no PNG images")
        taken.kind = "PNG images"
        for one in images:
            if not taken.is_full():
                png(one, taken)
        return
    if path.stat().st_size > FILE_MAX * 64:
        raise Wrong("it is longer than 128 GiB")
    with path.open("rb") as file:
        begin = file.read(512)
        found = {
            "ROS 1 bag": (bag, begin.startswith(b"#ROSBAG")),
            "MCAP": (mcap, begin.startswith(MCAP)),
            "PCD": (pcd, b"VERSION" in begin and b"FIELDS" in begin),
            "pcap": (pcap, begin[:4] in (b"\xd4\xc3\xb2\xa1", b"\xa1\xb2\xc3\xd4", b"\x4d\x3c\xb2\xa1", b"\xa1\xb2\x3c\x4d", b"\x0a\x0d\x0d\x0a")),
        }  # fmt: skip
        if begin.startswith(PNG):
            taken.kind = "PNG image"
            return png(path, taken)
        for kind, (reader, fits) in found.items():
            if fits:
                taken.kind = kind
                return reader(file, taken)
    what = "a ROS 2 bag of SQLite: `ros2 bag convert` makes MCAP of it" if begin.startswith(b"SQLite format 3") else "none of them by its first bytes"
    raise Wrong(f"ROS 1 bags, MCAP, PCD, PNG and pcap are read, and this is {what}")


def chosen(taken):
    """Without a topic a recording has to have only one, or one of each kind that adapters have types for."""
    if len(taken.others) > 1 and taken.topic is None or taken.topic is not None and not taken.bodies:
        rows = [f"{topic} ({kind}, {count})" for topic, (kind, count) in sorted(taken.others.items())]
        what = "choose one of its topics" if taken.topic is None else f"it has no messages of {taken.topic}; there are"
        raise Wrong("; ".join([f"{what}: {', '.join(rows[:40]) or 'none'}", *taken.notes]))
    if not any(taken.bodies):
        raise Wrong("; ".join(["it has no messages, or only empty ones", *taken.notes]))


def write(path, bodies):
    offset, table = 16 + 16 * len(bodies), []
    for body in bodies:
        table.append(struct.pack("<QII", offset, len(body), zlib.crc32(body)))
        offset += len(body)
    with path.open("wb") as file:
        file.write(struct.pack("<8sII", b"CSBODIES", 1, len(bodies)) + b"".join(table))
        file.writelines(bodies)


def main(words):
    if len(words) not in (3, 4):
        sys.exit("usage: recordings.py FOLDER NAME FILE [TOPIC]")
    out, name, file = pathlib.Path(words[0]), words[1], pathlib.Path(words[2])
    taken = Taken(words[3] if len(words) == 4 else None)
    try:
        try:
            read(file, taken)
        except Cut as cut:
            taken.notes.append(str(cut))
        chosen(taken)
        out.mkdir(parents=True, exist_ok=True)
        write(out / f"{name}.bodies", taken.bodies)
    except (Wrong, OSError) as error:
        sys.exit(f"{file}: {error}")
    if taken.is_full():
        taken.notes.append(f"only its first {len(taken.bodies)} messages are taken")
    times = taken.times
    # Times that stand still or go back say nothing of a rate.
    period = (times[-1] - times[0]) // (len(times) - 1) if len(times) > 1 else 0
    period = period if period > 0 else None
    lengths = [len(body) for body in taken.bodies]
    print(json.dumps({"kind": taken.kind, "messages": len(lengths), "longest": max(lengths), "period_ns": period, "notes": taken.notes}))


if __name__ == "__main__":
    main(sys.argv[1:])
