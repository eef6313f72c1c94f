#!/usr/bin/env python3
"""What the bench itself adds to the latency of a message: own_part.py [--rounds N] [--length B] [NAME].

    sudo adapters/middleware/own_part.py raw-udp

Twice: by its steps alone (common/own_part.c), and by the same adapter with its records and without, in turns over a plain pair of virtual interfaces
(veth.py). Without means that they are kept in the adapter's memory and written when the run is over. Adapters in C and C++ only.
"""

import argparse
import math
import os
import pathlib
import shutil
import statistics
import subprocess
import tempfile

import veth

COMMON = veth.HERE / "common"
# Student's t for 95 %, by degrees of freedom; the next smaller one is taken.
T = {1: 12.71, 2: 4.30, 3: 3.18, 4: 2.78, 5: 2.57, 7: 2.36, 9: 2.26, 14: 2.14, 19: 2.09, 29: 2.05, 59: 2.00}


def build(adapter, to, compiler):
    environment = os.environ | {"CC": compiler}
    built = subprocess.run([adapter / "build.sh", to], env=environment, capture_output=True, text=True)
    if built.returncode != 0:
        raise SystemExit(f"{adapter.name} cannot be built: {built.stderr[-2000:]}")


def steps(folder, length):
    program = folder / "own_part"
    sources = [COMMON / "own_part.c", COMMON / "bodies.c", COMMON / "buffers.c", COMMON / "keys.c"]
    subprocess.run(["cc", "-O2", *sources, "-lz", "-lpthread", "-o", program], check=True)
    print(f"Steps, {length} B      p50 [ns]  p99 [ns]", flush=True)
    subprocess.run([program, str(length)], check=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", nargs="?", default="raw-udp", help="a configuration whose adapter is in C or C++")
    parser.add_argument("--length", type=int, default=9_000, help="of a message [byte]")
    parser.add_argument("--period", type=float, default=0.005, help="from one message to the next [s]")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--mtu", type=int, default=65_521)
    arguments = parser.parse_args()
    if arguments.rounds < 2:
        parser.error("an interval needs two rounds at least")
    adapter, _ = veth.configuration(arguments.name)
    if (adapter / "Cargo.toml").exists():
        parser.error(f"{arguments.name} is in Rust: name a configuration whose adapter is in C or C++")
    # In memory, as the bench keeps its records.
    folder = pathlib.Path(tempfile.mkdtemp(dir="/dev/shm"))
    holders = {}
    try:
        steps(folder, arguments.length)
        for kind, compiler in [("with", "cc"), ("without", "cc -DRECORDS_AT_END")]:
            wrapper = folder / f"{kind}-cc"
            wrapper.write_text(f'#!/bin/sh\nexec {compiler} "$@"\n')
            wrapper.chmod(0o755)
            build(adapter, folder / kind / adapter.name, str(wrapper))
        holders = veth.namespaces(arguments.mtu)
        medians = {"with": [], "without": []}
        for _ in range(arguments.rounds):
            for kind, found in medians.items():
                veth.BUILT = folder / kind
                median, _ = veth.one_run(holders, arguments.name, arguments, folder)
                if median is None:
                    raise SystemExit(f"nothing came of {arguments.name} {kind} its records")
                found.append(median)
    finally:
        for holder in holders.values():
            holder.terminate()
        shutil.rmtree(folder)
    differences = [one - other for one, other in zip(medians["with"], medians["without"])]
    t = T[max(known for known in T if known <= len(differences) - 1)]
    half = t * statistics.stdev(differences) / math.sqrt(len(differences))
    for kind, found in medians.items():
        print(f"{arguments.name}, {kind} records: {statistics.median(found):.1f} us, {min(found):.1f} to {max(found):.1f}")
    print(f"with, less without: {statistics.mean(differences):.2f} us, 95 % interval {half:.2f} to each side, n = {len(differences)} rounds; ", end="")
    print(f"median of the differences {statistics.median(differences):.2f} us")


if __name__ == "__main__":
    main()
