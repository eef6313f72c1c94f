#!/usr/bin/env python3
"""Round trips over one emulated link, by a stream with its answers and by irtt and sockperf, in turns.

    rtt.py PROGRAM [ROUNDS]

PROGRAM is `chronoseal`. irtt and sockperf (Debian packages of these names) run as the programs of the two nodes, so
that their packets cross the same emulated link: profile gigabit-ethernet, 64 B, a message each 10 ms (sockperf: when
the one before is back), 4 s a round. Stations are real-time threads where the host grants it, and programs are not, so
each is measured twice: as it is, and with both of its ends as real-time processes (`chrt`, util-linux); ours also
without. Ends with 1 unless the median of each real-time one is within 10 % and 10 us of ours. Needs root.
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile

NODES = """schema_version = 2
name = "round-trips"
duration = "8s"

[segments.air.link]
profile = "gigabit-ethernet"

[[nodes]]
name = "robot"
{robot}
[[nodes]]
name = "station"
{station}
"""

STREAMS = """
[[streams]]
name = "ask"
from = "robot"
to = ["station"]
period = "{period}"
length = "64B"
"""

ANSWERS = """
[[streams]]
name = "answer"
from = "station"
to = ["robot"]
length = "64B"
answers = "ask"
"""

# What each program's nodes run, and what it prints of its median round trip [us].
TOOLS = {
    "irtt": (
        ["irtt", "client", "-i", "10ms", "-d", "4s", "-l", "64", "10.0.0.2"],
        ["irtt", "server", "-b", "10.0.0.2:2112"],
    ),
    "sockperf": (
        ["sockperf", "ping-pong", "--full-rtt", "-i", "10.0.0.2", "-p", "11111", "-t", "4", "-m", "64"],
        ["sockperf", "server", "-i", "10.0.0.2", "-p", "11111"],
    ),
}


def run(program, text, *options):
    """Runs a scenario live, and returns the manifest of the run."""
    with tempfile.TemporaryDirectory() as folder:
        scenario, out = f"{folder}/scenario.toml", f"{folder}/run"
        with open(scenario, "w", encoding="utf-8") as file:
            file.write(text)
        done = subprocess.run(
            [program, "run", scenario, "--engine", "live", "--out", out, *options],
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            with open(f"{out}/manifest.json", encoding="utf-8") as file:
                return json.load(file)
        except FileNotFoundError:
            sys.exit(done.stderr)


# Below the emulator, which has 50 and has to read what they send.
REAL_TIME = ["chrt", "--fifo", "40"]


def own(program, is_real_time):
    text = NODES.format(robot="", station="") + STREAMS.format(period="10ms") + ANSWERS
    options = [] if is_real_time else ["--no-fifo"]
    trips = run(program, text, "--set", "duration=4s", *options)["summary"]["round_trips"][0]
    return trips["from_sent"]["all"]["p50_ns"] / 1e3


def microseconds(number, unit):
    return float(number) * {"ns": 1e-3, "µs": 1.0, "us": 1.0, "ms": 1e3, "s": 1e6}[unit]


def median_of(tool, printed):
    """What a program says its median round trip was [us]."""
    if tool == "irtt":
        # Min, mean and median.
        row = re.search(r"^\s*RTT\s+\S+\s+\S+\s+([\d.]+)(ns|µs|us|ms|s)\s", printed, re.MULTILINE)
        return microseconds(*row.groups()) if row else None
    row = re.search(r"percentile 50\.\d+\s*=\s*([\d.]+)", printed)
    return float(row.group(1)) if row else None


def other(program, tool, is_real_time):
    client, server = [(REAL_TIME if is_real_time else []) + command for command in TOOLS[tool]]
    robot = f'program = {{ run = {json.dumps(client)}, from = "500ms" }}\n'
    station = f"program = {{ run = {json.dumps(server)} }}\n"
    text = NODES.format(robot=robot, station=station) + STREAMS.format(period="1s")
    # Beside the emulator, as the stations of a stream are: to wake up another processor takes longer.
    manifest = run(program, text, "--programs", "--placement", "one")
    printed = manifest["run"]["programs"][0]["printed"]
    found = median_of(tool, printed)
    if found is None:
        sys.exit(f"{tool} printed no median:\n{printed[-1000:]}")
    return found


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program, rounds = sys.argv[1], int(sys.argv[2]) if len(sys.argv) > 2 else 5
    ways = [(tool, is_real_time) for tool in ["own", *TOOLS] for is_real_time in [True, False]]
    found = {way: [] for way in ways}
    for number in range(rounds):
        for tool, is_real_time in ways:
            measured = own(program, is_real_time) if tool == "own" else other(program, tool, is_real_time)
            found[tool, is_real_time].append(measured)
        row = [f"{tool} {values[-1]:.1f}{' real-time' if fifo else ''}" for (tool, fifo), values in found.items()]
        print(f"round {number + 1} [us]:", ", ".join(row), flush=True)
    agree = True
    for is_real_time in [True, False]:
        print("real-time:" if is_real_time else "as they are, which is not judged:")
        ours = statistics.median(found["own", is_real_time])
        for tool in TOOLS:
            theirs, limit = statistics.median(found[tool, is_real_time]), 0.1 * ours + 10
            print(f"  {tool}: {theirs:.1f} us beside {ours:.1f} us of ours, {limit:.1f} us apart at most")
            agree &= not is_real_time or abs(theirs - ours) <= limit
    print("they agree" if agree else "they do not agree")
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
