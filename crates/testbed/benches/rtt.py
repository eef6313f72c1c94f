#!/usr/bin/env python3
"""Round trips over one emulated link, by a stream with its answers and by irtt and sockperf, in turns.

    rtt.py PROGRAM [ROUNDS]

PROGRAM is `chronoseal`. irtt and sockperf (Debian packages of these names) run as the programs of the two nodes, so
that their packets cross the same emulated link: profile gigabit-ethernet, 64 B, a message each 10 ms (sockperf: when
the one before is back), 4 s a round. Ends with 1 unless the median of each is within 10 % and 10 us of ours.
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


def own(program):
    text = NODES.format(robot="", station="") + STREAMS.format(period="10ms") + ANSWERS
    trips = run(program, text, "--set", "duration=4s")["summary"]["round_trips"][0]
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


def other(program, tool):
    client, server = TOOLS[tool]
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
    found = {"own": [], "irtt": [], "sockperf": []}
    for number in range(rounds):
        found["own"].append(own(program))
        for tool in TOOLS:
            found[tool].append(other(program, tool))
        print(f"round {number + 1}:", ", ".join(f"{name} {values[-1]:.1f} us" for name, values in found.items()))
    median = {name: statistics.median(values) for name, values in found.items()}
    agree = True
    for tool in TOOLS:
        limit = 0.1 * median["own"] + 10
        agree &= abs(median[tool] - median["own"]) <= limit
        print(f"{tool}: {median[tool]:.1f} us beside {median['own']:.1f} us of ours, {limit:.1f} us apart at most")
    print("they agree" if agree else "they do not agree")
    sys.exit(0 if agree else 1)


if __name__ == "__main__":
    main()
