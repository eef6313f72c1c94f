#!/usr/bin/env python3
"""Converts public CAN recordings to the small files beside this script. For developers; nothing else needs it.

Needs Python 3.11 and, for MF4 recordings, from PyPI: asammdf==8.8.28 cantools==45.1.0

    convert.py signals RECORDING.MF4 DATABASE.dbc 0x23 NAME=Message.Signal ... > OUT.csv
    convert.py frames  BUSMASTER.log SECONDS                                   > OUT.csv
    convert.py log     BUSMASTER.log|RECORDING.MF4                             > OUT.log
    convert.py periods CANDUMP.log                                             > OUT.csv
    convert.py synthetic PERIODS.csv SECONDS                                   > OUT.log
    convert.py self-test

`signals` takes the frames of one source address; a message is found by its parameter group number, whatever its
priority. `frames` takes the first SECONDS of a BUSMASTER log, `log` writes all of a recording as candump -l would.
`periods` keeps of a recording that may not be copied what are facts about its bus: identifiers, lengths, median periods
and first times; `synthetic` makes traffic of such a table, with a counter for data. A recording is known by its SHA-256, so that no file
gets a wrong source or licence. SOURCES.md has the command of every file kept here.
"""

import hashlib
import math
import pathlib
import re
import struct
import sys

CSS = ("https://github.com/CSS-Electronics/api-examples commit f7932bacb2969dec591508d15f89e8a898ca99c6 "
       "examples/data-processing/LOG/94C49784/00000005/00000002.MF4")
SAVVYCAN = ("https://github.com/collin80/SavvyCAN commit 11b7b08d1aa69d9465249f638a7992153e3063ff "
            "examples/BusMasterLog.log")

# SHA-256 of a recording: source, licence.
RECORDINGS = {
    "02c67ed7156e21339467c4ec43277c0854446e26bacba9e8e5945089f5665fea": (CSS, "MIT, Copyright (c) 2020 CSS-Electronics"),
    "dbaed1f8879bee21658eb1b05daf55688710a6302565d0c74cbe37f034990fe3": (SAVVYCAN, "MIT, Copyright (c) 2015 Collin Kidder"),
}

# SHA-256 of a recording of which only facts may be kept.
FACTS_ONLY = {
    "6fbaf2f78e4d9eef30cafc8c39c837390ae9534771cd3cb74768d4594641270c": (
        "https://github.com/zombieCraig/ICSim commit 74c0916afeafaf3e37ffbc44298f552a5757e758 data/sample-can.log"),
}


def provenance(recording: bytes) -> tuple[str, str]:
    digest = hashlib.sha256(recording).hexdigest()
    if digest not in RECORDINGS:
        sys.exit(f"unknown recording {digest}: add its source and licence to RECORDINGS first")
    return RECORDINGS[digest]


def write_table(source: str, licence: str, notes: list[str], columns: str, rows: list[tuple]) -> None:
    print(f"# source: {source}")
    print(f"# licence: {licence}")
    for note in notes:
        print(f"# {note}")
    print(columns)
    for row in rows:
        print(*row, sep=",")


def parameter_group(can_id: int) -> int:
    """PGN of a 29-bit identifier: SAE J1939-21; NMEA 2000 shares it. PDU1 (format below 240) has no group extension."""
    pgn = can_id >> 8 & 0x3FFFF
    return pgn if pgn >> 8 & 0xFF >= 240 else pgn & 0x3FF00


def is_available(raw: int, bits: int, is_signed: bool) -> bool:
    """False for the largest raw value, which means "not available"."""
    return raw != (1 << (bits - 1 if is_signed else bits)) - 1


def signals(path: str, database: str, source_address: str, *wanted: str) -> None:
    import asammdf
    import cantools

    source, licence = provenance(pathlib.Path(path).read_bytes())
    messages = {message.name: message for message in cantools.database.load_file(database).messages}
    # By parameter group: (name in the table, message, signal).
    by_group: dict[int, list[tuple]] = {}
    notes = []
    for item in wanted:
        name, signal_path = item.split("=")
        message_name, signal_name = signal_path.split(".")
        message = messages[message_name]
        signal = message.get_signal_by_name(signal_name)
        by_group.setdefault(parameter_group(message.frame_id), []).append((name, message, signal))
        notes.append(f"unit: {name} {signal.unit}")

    mdf = asammdf.MDF(path)
    ids = mdf.get("CAN_DataFrame.ID")
    data = mdf.get("CAN_DataFrame.DataBytes").samples
    rows = []
    for time_s, can_id, frame in zip(ids.timestamps, ids.samples, data, strict=True):
        can_id = int(can_id)
        if can_id & 0xFF != int(source_address, 0):
            continue
        for name, message, signal in by_group.get(parameter_group(can_id), []):
            raw = message.decode(bytes(frame), decode_choices=False, scaling=False)[signal.name]
            if is_available(raw, signal.length, signal.is_signed):
                # Twelve digits are more than any of these signals has; the same on every machine.
                rows.append((round(time_s * 1e6), name, f"{raw * signal.scale + signal.offset:.12g}"))
    rows.sort(key=lambda row: row[0])
    start_us = rows[0][0]
    notes.insert(0, f"conversion: data/convert.py signals, source address {source_address}, time from the first sample")
    write_table(source, licence, notes, "time_us,name,value", [(t - start_us, n, v) for t, n, v in rows])


BUSMASTER_LINE = re.compile(r"(\d+):(\d+):(\d+):(\d+) Rx \d+ ([0-9A-F]+) ([sx]) (\d)((?: [0-9A-F]{2})*) ?$")


def busmaster_frame(line: str) -> tuple[int, str, str] | None:
    """(time since midnight [us], identifier, data) of a data frame; the last field of a time is milliseconds."""
    match = BUSMASTER_LINE.match(line)
    if not match:
        return None
    hours, minutes, seconds, milliseconds = (int(field) for field in match.groups()[:4])
    time_us = ((hours * 60 + minutes) * 60 + seconds) * 1_000_000 + milliseconds * 1_000
    digits = 3 if match[6] == "s" else 8
    data = match[8].replace(" ", "")
    assert len(data) == 2 * int(match[7]), line
    return time_us, f"{int(match[5], 16):0{digits}X}", data


def frames(path: str, seconds: str) -> None:
    recording = pathlib.Path(path).read_bytes()
    source, licence = provenance(recording)
    lines = recording.decode("ascii").splitlines()
    rows = [frame for frame in map(busmaster_frame, lines) if frame]
    unread = [line for line in lines if line and not line.startswith("***") and not busmaster_frame(line)]
    if unread:
        sys.exit(f"{len(unread)} lines are no frames, the first: {unread[0]}")
    start_us = rows[0][0]
    kept = [(t - start_us, i, d) for t, i, d in rows if t - start_us < float(seconds) * 1e6]
    notes = [
        f"conversion: data/convert.py frames, first {seconds} s, {len(kept)} of {len(rows)} frames, order kept",
        "time: as recorded; the recorder read its interface every 10 ms, so frames of one batch share a time",
    ]
    write_table(source, licence, notes, "time_us,can_id,data", kept)


def log(path: str) -> None:
    """All frames of a recording in the form of `candump -l`; remarks first, which candump's readers skip."""
    recording = pathlib.Path(path).read_bytes()
    source, licence = provenance(recording)
    if recording.startswith((b"MDF", b"UnFinMF")):
        rows = mf4_frames(path)
        note = "time: as recorded, in steps of 50 us"
    else:
        rows = [(t, "can0", i, d) for t, i, d in filter(None, map(busmaster_frame, recording.decode("ascii").splitlines()))]
        note = "time: of the day, as recorded; the recorder read its interface every 10 ms, so frames of a batch share a time"
    for remark in (f"source: {source}", f"licence: {licence}", f"conversion: data/convert.py log, {len(rows)} frames", note):
        print(f"# {remark}")
    for time_us, channel, can_id, data in rows:
        print(f"({time_us // 1_000_000}.{time_us % 1_000_000:06}) {channel} {can_id}#{data}")


def mf4_frames(path: str) -> list[tuple[int, str, str, str]]:
    """(time since 1970 [us], channel, identifier, data) of every data frame."""
    import asammdf

    mdf = asammdf.MDF(path)
    start_us = mdf.header.abs_time // 1000
    column = {name: mdf.get(f"CAN_DataFrame.{name}") for name in ("ID", "IDE", "BusChannel", "DataBytes", "DataLength", "EDL")}
    assert not column["EDL"].samples.any()
    names = ("BusChannel", "ID", "IDE", "DataBytes", "DataLength")
    rows = []
    for time_s, channel, can_id, extended, data, length in zip(
            column["ID"].timestamps, *(column[name].samples for name in names), strict=True):
        text = f"{int(can_id):0{8 if extended else 3}X}"
        rows.append((start_us + round(time_s * 1e6), f"can{channel}", text, bytes(data[:length]).hex().upper()))
    return rows


CANDUMP_LINE = re.compile(r"\((\d+)\.(\d{6})\) \w+ ([0-9A-F]{3}|[0-9A-F]{8})#([0-9A-F]*)$")


def periods(path: str) -> None:
    recording = pathlib.Path(path).read_bytes()
    source = FACTS_ONLY.get(hashlib.sha256(recording).hexdigest())
    if source is None:
        sys.exit("unknown recording: add its source to FACTS_ONLY first")
    times: dict[str, list[int]] = {}
    lengths: dict[str, set[int]] = {}
    for line in recording.decode("ascii").splitlines():
        seconds, microseconds, can_id, data = CANDUMP_LINE.match(line).groups()
        times.setdefault(can_id, []).append(int(seconds) * 1_000_000 + int(microseconds))
        lengths.setdefault(can_id, set()).add(len(data) // 2)
    start_us = min(first for first, *_ in times.values())
    rows = []
    for can_id in sorted(times):
        (length,) = lengths[can_id]
        gaps = sorted(b - a for a, b in zip(times[can_id], times[can_id][1:]))
        rows.append((can_id, length, gaps[(len(gaps) - 1) // 2], times[can_id][0] - start_us))
    count = sum(map(len, times.values()))
    notes = [f"facts: of {count} frames the identifiers, lengths, median periods and first times; no content is kept"]
    write_table(source, "none needed: facts only", notes, "can_id,length,period_us,first_us", rows)


def synthetic(path: str, seconds: str) -> None:
    table = [line for line in pathlib.Path(path).read_text().splitlines() if line[0] != "#"]
    assert table.pop(0) == "can_id,length,period_us,first_us"
    frames = []
    for can_id, *fields in (line.split(",") for line in table):
        length, period_us, first_us = map(int, fields)
        for count, time_us in enumerate(range(first_us, int(seconds) * 1_000_000, period_us)):
            frames.append((time_us, can_id, (count % 256 ** length).to_bytes(length, "big").hex().upper()))
    frames.sort()
    print(f"# synthetic: made from {pathlib.Path(path).name}, strictly periodic, with a counter for data; recorded nowhere")
    print(f"# conversion: data/convert.py synthetic, {len(frames)} frames in {seconds} s")
    for time_us, can_id, data in frames:
        print(f"({time_us // 1_000_000}.{time_us % 1_000_000:06}) can0 {can_id}#{data}")


def self_test() -> None:
    """Known answers, then samples of the kept files against frames decoded by hand."""
    assert parameter_group(0x09F11223) == 127250 == parameter_group(0x89F112FE & 0x1FFFFFFF)
    assert parameter_group(0x18EAFF05) == 59904  # addressed to 0xFF, which is no part of the number
    assert not is_available(0xFFFF, 16, False) and not is_available(0x7FFF, 16, True)
    assert is_available(0x7FFF, 16, False) and is_available(-1, 16, True)
    line = "22:20:15:2 Rx 0 00000116 s 6 00 10 F4 11 8E BA "
    assert busmaster_frame(line) == (80_415_002_000, "116", "0010F4118EBA")
    assert busmaster_frame("***HEX***") is None

    here = pathlib.Path(__file__).parent / "can"
    table = [line.split(",") for line in (here / "vessel_nmea2000.csv").read_text().splitlines() if line[0] != "#"]
    assert table.pop(0) == ["time_us", "name", "value"]
    column = {}
    for time_us, name, value in table:
        column.setdefault(name, []).append((int(time_us), float(value)))
    # First and last frames of the recording, bytes written down from it; layouts: canboat (see SOURCES.md).
    heading = column["heading"]
    assert heading[0][1] == round(struct.unpack_from("<H", bytes.fromhex("14844d0000eff9fd"), 1)[0] * 1e-4, 4)
    assert heading[-1][1] == round(struct.unpack_from("<H", bytes.fromhex("9f844d0000eff9fd"), 1)[0] * 1e-4, 4)
    rate = column["rate_of_turn"]
    assert math.isclose(rate[0][1], struct.unpack_from("<i", bytes.fromhex("72d2fdffffffffff"), 1)[0] / 32e6)
    assert math.isclose(rate[-1][1], struct.unpack_from("<i", bytes.fromhex("d230baffffffffff"), 1)[0] / 32e6)
    speed, angle = column["wind_speed"], column["wind_angle"]
    assert speed[0][1] == 0.82 and math.isclose(angle[0][1], 0xECE9 * 1e-4)

    # A vessel at its berth: it hardly turns, and the wind is weak.
    assert all(1.97 < value < 2.0 for _, value in heading)
    assert all(abs(value) < 0.01 for _, value in rate)
    assert all(0 <= value < 2 for _, value in speed) and all(0 <= value < 2 * math.pi for _, value in angle)
    for name, samples in column.items():
        values = [value for _, value in samples]
        print(f"{name:12} n {len(values):5} from {min(values):.6g} to {max(values):.6g} in {samples[-1][0] / 1e6:.1f} s")

    kept = [line.split(",") for line in (here / "car_frames.csv").read_text().splitlines() if line[0] != "#"]
    assert kept.pop(0) == ["time_us", "can_id", "data"]
    assert kept[0] == ["0", "21A", "FE3612FE690507AD"]
    assert all(int(a[0]) <= int(b[0]) for a, b in zip(kept, kept[1:]))
    assert all(int(can_id, 16) < 0x800 and len(data) <= 16 for _, can_id, data in kept)
    print(f"car_frames   n {len(kept):5} of {len({can_id for _, can_id, _ in kept})} identifiers")

    for name, count, first, last in (
            ("car_busmaster", 12974, "(80414.992000) can0 21A#FE3612FE690507AD", "(80423.552000) can0 102#0C96D0FFC1FF"),
            ("vessel_bus", 9600, "(1616685539.963050) can1 09F11223#14844D0000EFF9FD",
             "(1616685599.920450) can1 09F11202#FF3F51FF7FFF7FFD"),
            ("car_synthetic", 5686, "(0.000000) can0 166#00000000", None)):
        lines = [line for line in (here / f"{name}.log").read_text().splitlines() if line[0] != "#"]
        assert all(map(CANDUMP_LINE.match, lines)) and len(lines) == count, (name, len(lines))
        assert lines[0] == first and lines[-1] == (last or lines[-1]), (name, lines[0], lines[-1])
        print(f"{name:13} n {count:5} of {len({line.split()[2].split('#')[0] for line in lines})} identifiers")
    for path in sorted(here.glob("*.csv")):
        assert path.stat().st_size < 200_000, path
    print("ok")


if __name__ == "__main__":
    commands = {"signals": signals, "frames": frames, "log": log, "periods": periods, "synthetic": synthetic,
                "self-test": self_test}
    if len(sys.argv) < 2 or sys.argv[1] not in commands:
        sys.exit(__doc__)
    commands[sys.argv[1]](*sys.argv[2:])
