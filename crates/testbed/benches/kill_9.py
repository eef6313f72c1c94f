#!/usr/bin/env python3
"""Kills processes of live runs at random moments, and counts what is left of them.

    kill_9.py PROGRAM SCENARIO [RUNS [SEED]]

PROGRAM is a copy of `chronoseal` that nobody else runs, SCENARIO one that runs for about a second. Every second run does
without /dev/net/tun. What is killed is the controller, whose thread the emulator is, or a station. Ends with 1 if a process,
a network namespace or an interface is left, or if what was stored cannot be opened or does not say that it is incomplete.
"""

import collections
import json
import os
import random
import signal
import subprocess
import sys
import tempfile
import time

PATIENCE_S = 6


def processes(program):
    """Those that run this program."""
    found = []
    for entry in filter(str.isdigit, os.listdir("/proc")):
        try:
            if os.readlink(f"/proc/{entry}/exe").split(" ")[0] == program:
                found.append(int(entry))
        except OSError:
            pass
    return found


def namespaces(of):
    """The network namespaces in which these processes are, but for our own."""
    found = set()
    for process in of:
        try:
            found.add(os.readlink(f"/proc/{process}/ns/net"))
        except OSError:
            pass
    return found - {os.readlink("/proc/self/ns/net")}


def interfaces():
    """Those of stations, which have no business here."""
    return {name for name in os.listdir("/sys/class/net") if name.startswith("cs")}


def stored(program, folder):
    """What is kept of a run: whether it opens, and whether it says that it is incomplete."""
    manifest = os.path.join(folder, "manifest.json")
    if not os.path.exists(manifest):
        return "nothing stored"
    with open(manifest, encoding="utf-8") as file:
        meta = json.load(file)["run"]
    opened = subprocess.run([program, "report", folder], capture_output=True, text=True, check=False)
    if opened.returncode not in (0, 3):
        return f"cannot be opened: {opened.stderr.strip()[:100]}"
    is_whole = meta.get("lost") is None and not meta.get("interrupted")
    return "stored, complete" if is_whole else "stored, says it is incomplete"


def run(program, scenario, folder, is_without_tun, chance):
    """One run, of which a process is killed: which it was, and in which namespaces the run was."""
    command = [program, "run", scenario, "--engine", "live", "--out", folder]
    if is_without_tun:
        command.append("--no-tun")
    controller = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    time.sleep(chance.uniform(0, 1.3))
    victims = processes(program)
    killed, seen = "nobody", namespaces(victims)
    if victims:
        victim = chance.choice(victims)
        killed = "controller" if victim == controller.pid else "station"
        os.kill(victim, signal.SIGKILL)
    controller.wait(timeout=60)
    return killed, seen


def main():
    program, scenario = os.path.realpath(sys.argv[1]), sys.argv[2]
    runs = int(sys.argv[3]) if len(sys.argv) > 3 else 100
    chance = random.Random(int(sys.argv[4]) if len(sys.argv) > 4 else 1)
    if processes(program):
        sys.exit(f"{program} runs already; give a copy of it that nobody else runs")
    before = interfaces()
    left = collections.Counter()
    ends = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for number in range(runs):
            out = os.path.join(folder, str(number))
            killed, seen = run(program, scenario, out, number % 2 == 1, chance)
            until = time.monotonic() + PATIENCE_S
            while processes(program) and time.monotonic() < until:
                time.sleep(0.05)
            rest = processes(program)
            for process in rest:
                os.kill(process, signal.SIGKILL)
            left.update(processes=len(rest))
            everybody = filter(str.isdigit, os.listdir("/proc"))
            left.update(namespaces=len(namespaces(everybody) & seen), interfaces=len(interfaces() - before))
            ends[killed, stored(program, out)] += 1
    for (killed, kept), count in sorted(ends.items()):
        print(f"{count:4} killed {killed}: {kept}")
    print("left:", ", ".join(f"{count} {what}" for what, count in left.items()))
    # A controller may have stored all of it, and a station may be killed before there is anything to store.
    bad = sum(count for (_, kept), count in ends.items() if kept.startswith("cannot"))
    sys.exit(1 if sum(left.values()) or bad or ends["station", "stored, complete"] else 0)


if __name__ == "__main__":
    main()
