#!/usr/bin/env python3
"""What `chronoseal scenario from` makes of DBC databases and logs, against what cantools and python-can read of them.

    python compare.py FOLDER CHRONOSEAL

FOLDER holds checked-out repositories. Needs `cantools` and `python-can` (tried: 45.1.0 and 4.6.1), Python 3.11 or later.
A database that cantools reads with messages agrees if every message that fits a frame has the same identifier, length,
cycle time and format; where the database gives no cycle time, ours says that it assumes one. A log that python-can reads
agrees if as many data frames are counted. What differs is printed, with why.
"""

import pathlib
import re
import subprocess
import sys
import tomllib

import can
import cantools

FRAME_LEN_MAX = 64
J1939_LEN = 8
LOGS = {".asc", ".blf", ".csv", ".db", ".log", ".mf4", ".trc"}


def imported(chronoseal, path):
    run = subprocess.run([chronoseal, "scenario", "from", path], capture_output=True, text=True, check=False)
    return run.stdout if run.returncode == 0 else None, " ".join(run.stderr.split())


def streams(text):
    """(identifier, extended) -> length, period in ms, format."""
    found = {}
    for stream in tomllib.loads(text).get("streams", []):
        bus = stream["bus"]
        period = re.fullmatch(r"([\d.]+)(us|ms|s)", stream["period"])
        ms = float(period[1]) * {"us": 1e-3, "ms": 1, "s": 1000}[period[2]]
        length = int(stream["length"].removesuffix("B"))
        found[int(bus["id"], 16), bus.get("extended", False)] = (length, ms, bus.get("format", "classical"))
    return found


def database(chronoseal, path):
    """None if cantools reads no message; otherwise what differs."""
    try:
        theirs = cantools.database.load_file(path, strict=False, cache_dir=None)
        messages = list(theirs.messages)
    except Exception:  # whatever it raises, it does not read it
        return None
    if not messages:
        return None
    text, refusal = imported(chronoseal, path)
    if text is None:
        return [f"refused: {refusal[:200]}"]
    ours, differences = streams(text), []
    for message in messages:
        is_long = message.length > FRAME_LEN_MAX or (message.length > J1939_LEN and message.protocol == "j1939")
        if is_long or message.name == "VECTOR__INDEPENDENT_SIG_MSG":
            continue
        cycle = message.cycle_time
        if cycle is not None and cycle > 10_000:
            continue  # no scenario takes it; it is said in a comment
        key = (message.frame_id, message.is_extended_frame)
        found = ours.get(key)
        if found is None:
            differences.append(f"{message.name} ({key[0]:#x}) is not there")
            continue
        is_fd = message.is_fd or message.length > J1939_LEN
        theirs_now = (message.length, cycle or None, is_fd)
        ours_now = (found[0], found[1] if cycle else None, found[2] != "classical")
        if theirs_now != ours_now:
            differences.append(f"{message.name} ({key[0]:#x}): {ours_now}, cantools has {theirs_now}")
    return differences


def log(chronoseal, path):
    """None if python-can reads no frame; otherwise what differs."""
    try:
        with can.LogReader(path) as reader:
            frames = sum(not message.is_error_frame for message in reader)
    except Exception:
        return None
    if frames == 0:
        return None
    text, refusal = imported(chronoseal, path)
    if text is None:
        return [f"{frames} frames, refused: {refusal[:200]}"]
    read = re.search(r"# (\d+) frames of", text)
    ours = int(read[1]) if read else -1
    return [] if ours == frames else [f"{ours} frames, python-can has {frames}"]


def main():
    folder, chronoseal = pathlib.Path(sys.argv[1]), sys.argv[2]
    for what, endings, compare in [("databases", {".dbc"}, database), ("logs", LOGS, log)]:
        compared, agreed = 0, 0
        for path in sorted(path for path in folder.rglob("*") if path.suffix.lower() in endings):
            differences = compare(chronoseal, path)
            if differences is None:
                continue
            compared += 1
            agreed += not differences
            for difference in differences[:5]:
                print(f"{path.relative_to(folder)}: {difference}")
        print(f"{agreed} of {compared} {what} agree")


if __name__ == "__main__":
    main()
