#!/usr/bin/env python3
"""What the emulator of a lossy link carries at 1 Gbit/s, and where what is lost is lost.

    rate.py PROGRAM [ROUNDS [SECONDS]]

PROGRAM is `chronoseal`. iperf3 (the Debian package of this name) runs as the programs of the two nodes of a link of
1 Gbit/s with a normal delay in strict order and the loss of bursts, of which none loses: UDP of 1472 B at 80,000
packets/s, and TCP. The kernel counts at both interfaces and at the receiver's socket, and the emulator at its queue, so
each lost packet has a place. iperf3 makes up for time in which it was held up by sending faster than the link. It
asks for a buffer of 4 MB (`net.core.rmem_max`); one of the 200 kB that a socket has otherwise holds 1 ms of this, and programs are held
up for longer. Ends with 1 unless the median round of UDP loses nothing and that of TCP has 900 Mbit/s. Root only.
"""

import json
import re
import statistics
import subprocess
import sys
import tempfile

# What comes at once when iperf3 was held up for 100 ms finds room in the queue.
SCENARIO = """schema_version = 2
name = "rate"
duration = "{seconds}s"

[segments.air.link]
rate = "1Gbit/s"
queue = "8000 frames"
delay = {{ normal = {{ mean = "300us", deviation = "30us" }} }}
order = "strict"
loss = {{ gilbert_elliott = {{ to_bad = "1%", to_good = "25%", good = "0%", bad = "0%" }} }}

[[nodes]]
name = "robot"
program = {{ run = {client}, from = "500ms" }}

[[nodes]]
name = "station"
program = {{ run = {server} }}

[[streams]]
name = "heartbeat"
from = "robot"
to = ["station"]
period = "1s"
length = "64B"
"""

# A little more than 80,000 a second, since iperf3 sends a little less than it is asked to.
PACKETS = 80_200
LEN = 1472
COUNTERS = "echo; grep ^Udp: /proc/net/snmp; grep p0: /proc/net/dev"


def run(program, kind, seconds):
    """Runs iperf3 over the link, and returns what it and the kernels counted, and what the emulator said of stalls."""
    udp = f"-u -b {PACKETS * LEN * 8} -l {LEN} -w 4M" if kind == "udp" else ""
    client = f"nice -n -19 iperf3 -c {{station}} -t {seconds} {udp} --json > iperf.json; {COUNTERS}; tr -d '\\n\\t' < iperf.json | tail -c 1600"
    server = f"nice -n -19 iperf3 -s -1 > /dev/null; {COUNTERS}; sleep {seconds}"
    with tempfile.TemporaryDirectory() as folder:
        scenario, out = f"{folder}/scenario.toml", f"{folder}/run"
        shell = {name: json.dumps(["sh", "-c", f"cd {folder}; {command}"]) for name, command in [("client", client), ("server", server)]}
        with open(scenario, "w", encoding="utf-8") as file:
            file.write(SCENARIO.format(seconds=seconds + 3, **shell))
        done = subprocess.run(
            [program, "run", scenario, "--engine", "live", "--out", out, "--programs"],
            capture_output=True,
            text=True,
            check=False,
        )
        try:
            with open(f"{out}/manifest.json", encoding="utf-8") as file:
                manifest = json.load(file)
                programs = manifest["run"]["programs"]
            with open(f"{folder}/iperf.json", encoding="utf-8") as file:
                told = json.load(file)["end"]
        except (FileNotFoundError, KeyError, json.JSONDecodeError):
            sys.exit(f"iperf3 did not run:\n{done.stderr}")
    sender, receiver = (counters(one["printed"]) for one in programs)
    stalls = re.search(r"Stalls: (.*)", done.stdout)
    queue = next(one for one in manifest["summary"]["segments"][0]["series"] if one["name"] == "refused by a full queue")
    return told, (sender, queue["total"], receiver), stalls.group(1) if stalls else "no stalls seen"


def counters(printed):
    """What one kernel counted: packets in and out of the interface, dropped on the way out, and for want of room in a socket."""
    interface = re.search(r"p0:\s*((?:\d+\s+)+)", printed)
    refused = re.search(r"^Udp: (\d.*)$", printed, re.MULTILINE)
    if interface is None or refused is None:
        sys.exit(f"the kernel's counters are not there:\n{printed}")
    number = [int(word) for word in interface.group(1).split()]
    return {"in": number[1], "out": number[9], "dropped": number[11], "refused": int(refused.group(1).split()[4])}


def main():
    if len(sys.argv) < 2:
        sys.exit(__doc__)
    program = sys.argv[1]
    rounds, seconds = (int(sys.argv[place]) if len(sys.argv) > place else 5 for place in [2, 3])
    lost, rates = [], []
    for number in range(rounds):
        told, (sender, queue, receiver), stalls = run(program, "udp", seconds)
        sent, between = told["sum_sent"]["packets"], sender["out"] - receiver["in"]
        # By the kernels: iperf3 counts what is under way when it ends as lost.
        lost.append(sender["dropped"] + between + receiver["refused"])
        print(
            f"round {number + 1}: UDP {sent / seconds:.0f} packets/s, {lost[-1]} of {sent} lost: {sender['dropped']} at the sender's"
            f" interface, {between} in the emulator, {queue} of them by a full queue, {receiver['refused']} for want of room in the"
            f" receiver's buffer; stalls: {stalls}"
        )
        told, _, stalls = run(program, "tcp", seconds)
        rates.append(told["sum_received"]["bits_per_second"] / 1e6)
        print(f"round {number + 1}: TCP {rates[-1]:.0f} Mbit/s; stalls: {stalls}", flush=True)
    print(f"medians: {statistics.median(lost):.0f} packets lost, TCP {statistics.median(rates):.0f} Mbit/s")
    sys.exit(0 if statistics.median(lost) == 0 and statistics.median(rates) >= 900 else 1)


if __name__ == "__main__":
    main()
