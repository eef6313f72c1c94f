#!/usr/bin/env python3
"""Configurations over a plain pair of virtual interfaces, in turns, without the emulated link: veth.py [OPTIONS] NAMES.

    sudo adapters/middleware/veth.py --length 921600 --rounds 10 raw-udp sealed-udp raw-tls
    sudo adapters/middleware/veth.py --mtu 65521 --length 921600 raw-udp sealed-udp fast-dds-reliable-encrypted ice-ssl

What a link costs that is not there, and what is left between two configurations then. With --mtu 65521 packets are as long as those of `localhost`. It takes
adapters that were built before, by `chronoseal middleware run`, and needs root for two network namespaces; a broker runs in that of the subscriber. For each
configuration it prints the median of the rounds' median latencies [us] with the least and the greatest, and the same of each round's ratio to the first
configuration.
"""

import argparse
import json
import os
import pathlib
import shutil
import statistics
import struct
import subprocess
import tempfile
import time
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
BUILT = pathlib.Path(os.environ.get("XDG_CACHE_HOME", pathlib.Path.home() / ".cache")) / "chronoseal/adapters"
ADDRESSES = {"robot": "10.77.0.1", "station": "10.77.0.2", "broker": "10.77.0.3"}
ENDS = ("robot", "station")
RECORD = struct.Struct("<BBHIQqq")
WARM_UP_S, MEASURED_S = 1.0, 1.5
# Ends with this process, however that ends.
HOLDER = ["setpriv", "--pdeathsig", "TERM", "unshare", "--net", "sleep", "infinity"]


def configuration(name):
    for file in sorted(HERE.glob("*/adapter.toml")):
        for one in tomllib.loads(file.read_text())["configurations"]:
            if one["name"] == name:
                return file.parent, one
    raise SystemExit(f"there is no configuration named {name}: `chronoseal middleware list` shows all")


def run(*words):
    subprocess.run(words, check=True)


def namespaces(mtu):
    """Two namespaces, as processes that keep them, and a pair of interfaces between them."""
    holders = {node: subprocess.Popen(HOLDER) for node in ENDS}
    time.sleep(0.2)
    first, second = (str(holder.pid) for holder in holders.values())
    run("nsenter", "-t", first, "-n", "ip", "link", "add", "v0", "mtu", str(mtu), "type", "veth", "peer", "name", "v0", "mtu", str(mtu), "netns", second)
    for node, holder in holders.items():
        inside = ["nsenter", "-t", str(holder.pid), "-n", "ip"]
        for address in [ADDRESSES[node], ADDRESSES["broker"]] if node == "station" else [ADDRESSES[node]]:
            run(*inside, "address", "add", f"{address}/24", "dev", "v0")
        run(*inside, "link", "set", "v0", "up")
        run(*inside, "link", "set", "lo", "up")
    # The kernel brings the pair up a moment later, and Fast DDS leaves out an interface that is not.
    time.sleep(1)
    return holders


def one_run(holders, name, arguments, folder):
    adapter, one = configuration(name)
    keys = folder / "keys"
    if "keys" in one and not (keys / name).is_dir():
        subprocess.run([adapter / "keys.sh", keys / name, one["keys"]], check=True, stdout=subprocess.DEVNULL)
    words = {"built": BUILT / adapter.name, "bodies": folder, "keys": keys / name, **ADDRESSES}
    programs = {}
    try:
        start(programs, holders, one, words, arguments, folder)
        time.sleep(WARM_UP_S + MEASURED_S)
    finally:
        for program in programs.values():
            program.terminate()
        for program in programs.values():
            program.wait(timeout=5)
    sent = {number: due for kind, _, _, _, number, due, _ in read(folder / "robot.records") if kind == 1}
    came = {number: at for kind, _, _, _, number, _, at in read(folder / "station.records") if kind == 2}
    begin = min(sent.values(), default=0) + int(WARM_UP_S * 1e9 / 2)
    latencies = [came[number] - due for number, due in sent.items() if due >= begin and number in came]
    lost = sum(due >= begin and number not in came for number, due in sent.items())
    return statistics.median(latencies) / 1e3 if latencies else None, lost


def start(programs, holders, one, words, arguments, folder):
    if "broker" in one:
        programs["broker"] = inside(holders, "broker", one["broker"], words, os.environ)
    for node in reversed(ENDS):
        records = folder / f"{node}.records"
        records.write_bytes(b"")
        peer = ADDRESSES["station" if node == "robot" else "robot"]
        stream = {"number": 1, "name": "message", "sends": node == "robot", "peers": [peer], "offset_ns": 0}
        stream |= {"period_ns": int(arguments.period * 1e9), "length": arguments.length}
        environment = os.environ | {
            "CHRONOSEAL_STREAMS": json.dumps([stream], separators=(",", ":")),
            "CHRONOSEAL_EPOCH_NS": str(time.monotonic_ns()),
            "CHRONOSEAL_RECORDS": str(records),
        }
        programs[node] = inside(holders, node, one["program"], words, environment)


def inside(holders, node, program, words, environment):
    filled = [word.format(**words, node=node, self=ADDRESSES[node]) for word in program]
    command = ["nsenter", "-t", str(holders["station" if node == "broker" else node].pid), "-n", *filled]
    return subprocess.Popen(command, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def read(path):
    data = path.read_bytes() if path.exists() else b""
    return list(RECORD.iter_unpack(data[: len(data) // RECORD.size * RECORD.size]))


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="+", metavar="NAMES")
    parser.add_argument("--length", type=int, default=9_000, help="of a message [byte]")
    parser.add_argument("--period", type=float, default=0.025, help="from one message to the next [s]")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--mtu", type=int, default=1_500)
    arguments = parser.parse_args()
    missing = [name for name in arguments.names if not (BUILT / configuration(name)[0].name / "adapter").exists()]
    if missing:
        parser.error(f"not built: run `chronoseal middleware run {' '.join(missing)}` once")
    holders = namespaces(arguments.mtu)
    folder = pathlib.Path(tempfile.mkdtemp())
    found = {name: [] for name in arguments.names}
    lost = dict.fromkeys(arguments.names, 0)
    try:
        for _ in range(arguments.rounds):
            for name in arguments.names:
                median, missing = one_run(holders, name, arguments, folder)
                found[name].append(median)
                lost[name] += missing
    finally:
        for holder in holders.values():
            holder.terminate()
        shutil.rmtree(folder)
    first = found[arguments.names[0]]
    print(f"{'configuration':44} {'median [us]':>12}  of rounds from, to           to the first  of rounds from, to")
    for name, medians in found.items():
        known = [median for median in medians if median is not None]
        if not known:
            print(f"{name:44} nothing came")
            continue
        ratios = [median / other for median, other in zip(medians, first) if median is not None and other is not None]
        ratio = f"{statistics.median(ratios):12.3f}  {min(ratios):.3f} to {max(ratios):.3f}" if ratios else ""
        spread = f"{min(known):.1f} to {max(known):.1f}"
        print(f"{name:44} {statistics.median(known):12.1f}  {spread:24} {ratio}", end="")
        print(f"   {lost[name]} not there at the end, {len(medians) - len(known)} rounds with nothing")


if __name__ == "__main__":
    main()
