#!/usr/bin/env python3
"""Makes messages of real sensor data: sensors.py FOLDER.

Writes laser.bodies, image.bodies and cloud.bodies, in the format of README.md, from the recordings in data/robot:

laser  assembled: each message has the ranges of three scans of one laser after the other, and of each range its square as a stand-in for an
       intensity, all as 32-bit floats: 1,083 ranges and intensities, 8,664 B.
image  640 x 480 pixels of 3 bytes, as the camera saw them: 921,600 B.
cloud  the same pixels with their depth, as an organised cloud of 640 x 480 points: x, y, z, 1, colour and three words of nothing, as the Point
       Cloud Library has them: 9,830,400 B.
"""

import bz2
import pathlib
import struct
import sys
import zlib

RECORDINGS = pathlib.Path(__file__).resolve().parents[2] / "data" / "robot"
SCANS = 120
WIDTH, HEIGHT = 640, 480


def main():
    if len(sys.argv) != 2:
        sys.exit("usage: sensors.py FOLDER")
    out = pathlib.Path(sys.argv[1])
    out.mkdir(parents=True, exist_ok=True)
    frames = sorted(RECORDINGS.glob("frame-*.color.png"))
    colours = [png(path, 3) for path in frames]
    depths = [png(path.with_name(path.name.replace("color", "depth")), 2) for path in frames]
    write(out / "laser.bodies", list(scans()))
    write(out / "image.bodies", colours)
    write(out / "cloud.bodies", [cloud(colour, depth) for colour, depth in zip(colours, depths)])


def scans():
    """Three scans of a CARMEN log are one message."""
    log = bz2.open(RECORDINGS / "mit-csail.clf.bz2", "rt")
    fields = (line.split() for line in log if line.startswith("FLASER "))
    ranges = ([float(value) for value in words[2 : 2 + int(words[1])]] for words in fields)
    for three in zip(*[ranges] * 3):
        values = sum(three, [])
        yield struct.pack(f"<{2 * len(values)}f", *values, *(value * value for value in values))


def png(path, depth):
    """The pixels of an image of the camera, `depth` bytes each."""
    data = pixels(path)
    if len(data) != WIDTH * HEIGHT * depth:
        sys.exit(f"{path}: it is not an image of {WIDTH} x {HEIGHT} pixels of {depth} B")
    return data


# Values of a pixel, by the colour type of a PNG without a palette.
VALUES = {0: 1, 2: 3, 4: 2, 6: 4}
PIXELS_MAX = 1 << 30


def pixels(path):
    """The pixels of a PNG without a palette or interlace, with 8 or 16 bits for each value (ISO/IEC 15948)."""
    data = path.read_bytes()
    at, packed, head = 8, b"", None
    while at + 8 <= len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            head = struct.unpack(">IIBBBBB", body)
        packed += body if kind == b"IDAT" else b""
        at += 12 + length
    if head is None:
        raise ValueError("it has no header")
    width, height, bits, colour, _, _, interlace = head
    if bits not in (8, 16) or colour not in VALUES or interlace:
        raise ValueError("images with a palette, interlace or less than 8 bits are not read")
    depth = VALUES[colour] * bits // 8
    stride = width * depth
    if (stride + 1) * height > PIXELS_MAX:
        raise ValueError(f"{width} x {height} pixels are too many")
    raw = zlib.decompressobj().decompress(packed, (stride + 1) * height + 1)
    rows, above = [], bytearray(stride)
    for y in range(height):
        begin = y * (stride + 1)
        row = bytearray(raw[begin + 1 : begin + 1 + stride])
        if len(row) < stride:
            raise ValueError(f"it ends in row {y} of {height}")
        above = unfiltered(raw[begin], row, above, depth)
        rows.append(bytes(above))
    return b"".join(rows)


def unfiltered(kind, row, above, depth):
    """A row of an image, of which the file has the differences to its neighbours (ISO/IEC 15948, 9.2)."""
    for x in range(len(row)):
        left = row[x - depth] if x >= depth else 0
        if kind == 1:
            row[x] = (row[x] + left) & 255
        elif kind == 2:
            row[x] = (row[x] + above[x]) & 255
        elif kind == 3:
            row[x] = (row[x] + (left + above[x]) // 2) & 255
        elif kind == 4:
            corner = above[x - depth] if x >= depth else 0
            guess = left + above[x] - corner
            distances = [abs(guess - left), abs(guess - above[x]), abs(guess - corner)]
            nearest = [left, above[x], corner][distances.index(min(distances))]
            row[x] = (row[x] + nearest) & 255
    return row


def cloud(colour, depth):
    """A point for each pixel, by the pinhole camera of camera-intrinsics.txt; where there is no depth it is not a number."""
    values = [float(word) for word in (RECORDINGS / "camera-intrinsics.txt").read_text().split()]
    focal_x, centre_x, focal_y, centre_y = values[0], values[2], values[4], values[5]
    point, points = struct.Struct("<ffffI3I"), bytearray(32 * WIDTH * HEIGHT)
    nothing = float("nan")
    for number in range(WIDTH * HEIGHT):
        y, x = divmod(number, WIDTH)
        # Millimetres, with the higher byte first.
        z = (depth[2 * number] << 8 | depth[2 * number + 1]) / 1000
        red, green, blue = colour[3 * number : 3 * number + 3]
        place = ((x - centre_x) * z / focal_x, (y - centre_y) * z / focal_y, z) if z else (nothing, nothing, nothing)
        point.pack_into(points, 32 * number, *place, 1.0, red << 16 | green << 8 | blue, 0, 0, 0)
    return bytes(points)


def write(path, bodies):
    bodies = bodies[:SCANS]
    offset, table = 16 + 16 * len(bodies), b""
    for body in bodies:
        table += struct.pack("<QII", offset, len(body), zlib.crc32(body))
        offset += len(body)
    path.write_bytes(struct.pack("<8sII", b"CSBODIES", 1, len(bodies)) + table + b"".join(bodies))


if __name__ == "__main__":
    main()
