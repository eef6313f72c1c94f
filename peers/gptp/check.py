#!/usr/bin/env python3
"""IEEE 802.1AS against linuxptp's ptp4l, over veth pairs between network namespaces. See README.md."""

import argparse
import os
import re
import select
import shutil
import socket
import statistics
import struct
import subprocess
import sys
import tempfile
import time

ETHERTYPE = 0x88F7
PTP_ADDRESS = bytes.fromhex("0180c200000e")
SO_TIMESTAMPING = 37
SCM_TIMESTAMPING = 37
MSG_ERRQUEUE = 0x2000
# SOF_TIMESTAMPING_: TX_SOFTWARE, RX_SOFTWARE, SOFTWARE
TIMESTAMPING_FLAGS = (1 << 1) | (1 << 3) | (1 << 4)
PREFIX = f"gptp{os.getpid()}"
# Nothing may set this host's clock: ptp4l only says how far it is off.
CONFIG = """[global]
gmCapable 1
priority1 {priority1}
priority2 248
logAnnounceInterval 0
logSyncInterval -3
syncReceiptTimeout 3
neighborPropDelayThresh 20000000
min_neighbor_prop_delay -20000000
assume_two_step 1
path_trace_enabled 1
follow_up_info 1
transportSpecific 0x1
ptp_dst_mac 01:80:C2:00:00:0E
network_transport L2
delay_mechanism P2P
time_stamping software
freq_est_interval 0
free_running 1
summary_interval -4
uds_address {folder}/{name}.sock
"""


def ip(*arguments):
    subprocess.run(["ip", *arguments], check=True)


def driver(program, interfaces, seconds, arguments):
    """Runs in its namespace: carries messages and time stamps between the interfaces and the program."""
    sockets = []
    for interface in interfaces:
        sock = socket.socket(socket.AF_PACKET, socket.SOCK_RAW, socket.htons(ETHERTYPE))
        sock.bind((interface, ETHERTYPE))
        # PACKET_ADD_MEMBERSHIP of the group address.
        index = socket.if_nametoindex(interface)
        sock.setsockopt(263, 1, struct.pack("iHH8s", index, 0, 6, PTP_ADDRESS))
        sock.setsockopt(socket.SOL_SOCKET, SO_TIMESTAMPING, TIMESTAMPING_FLAGS)
        sock.setblocking(False)
        sockets.append((sock, sock.getsockname()[4]))
    child = subprocess.Popen([program, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    waiting = {}
    wake = 0

    def say(line):
        nonlocal wake
        child.stdin.write(line + "\n")
        child.stdin.flush()
        while True:
            words = child.stdout.readline().split()
            if not words:
                sys.exit("the program has ended")
            if words[0] == "wake":
                wake = int(words[1])
                return
            if words[0] == "send":
                port, payload = int(words[1]), bytes.fromhex(words[4])
                sock, address = sockets[port - 1]
                frame = (PTP_ADDRESS + address + struct.pack(">H", ETHERTYPE) + payload).ljust(60, b"\0")
                if words[2] != "-":
                    waiting[(port, frame[14:])] = words[2:4]
                sock.send(frame)
            else:
                print(" ".join(words), flush=True)

    def receive(sock, flags):
        try:
            data, ancillary, _, _ = sock.recvmsg(2048, 512, flags)
        except BlockingIOError:
            return None
        for level, kind, value in ancillary:
            if (level, kind) == (socket.SOL_SOCKET, SCM_TIMESTAMPING):
                seconds_of, nanoseconds = struct.unpack("qq", value[:16])
                return data, seconds_of * 10**9 + nanoseconds
        return data, None

    say(f"start {time.time_ns()}")
    end = time.time_ns() + seconds * 10**9
    while (now := time.time_ns()) < end:
        if wake <= now:
            say(f"tick {now}")
            continue
        timeout = min(wake - now, end - now) / 1e9
        poll = select.poll()
        for sock, _ in sockets:
            poll.register(sock, select.POLLIN | select.POLLERR)
        poll.poll(timeout * 1000)
        for port, (sock, _) in enumerate(sockets, 1):
            while (sent := receive(sock, MSG_ERRQUEUE)) is not None:
                data, stamp = sent
                key = (port, data[14:])
                if key in waiting and stamp is not None:
                    kind, number = waiting.pop(key)
                    say(f"tx {time.time_ns()} {port} {kind} {number} {stamp}")
            while (came := receive(sock, 0)) is not None:
                data, stamp = came
                if stamp is not None:
                    say(f"rx {time.time_ns()} {port} {stamp} {data[14:].hex()}")
    child.stdin.close()
    child.wait()


class Network:
    """Namespaces in a row, a link between neighbours; gone at the end."""

    def __init__(self, names):
        self.names = [f"{PREFIX}{name}" for name in names]

    def __enter__(self):
        try:
            for name in self.names:
                ip("netns", "add", name)
            for number, (left, right) in enumerate(zip(self.names, self.names[1:])):
                down, up = f"v{number}d", f"v{number}u"
                ip("link", "add", down, "netns", left, "type", "veth", "peer", "name", up, "netns", right)
                for name, interface in ((left, down), (right, up)):
                    ip("-n", name, "link", "set", interface, "up")
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_):
        for name in self.names:
            subprocess.run(["ip", "netns", "del", name], check=False)

    def start(self, number, *command, **options):
        return subprocess.Popen(["ip", "netns", "exec", self.names[number], *command], **options)


def describe(name, values, unit="ns"):
    values = sorted(values)
    mean, deviation = statistics.fmean(values), statistics.pstdev(values)
    middle = statistics.median(values)
    print(f"  {name}: n {len(values)}, median {middle:.0f}, mean {mean:.0f}, s.d. {deviation:.0f}, "
          f"from {values[0]} to {values[-1]} {unit}")
    return middle


def run(program, roles, seconds, arguments, folder):
    """Runs a row of systems, `ours` or a ptp4l by its priority; what each printed, and the capture of the first link."""
    with Network([str(number) for number in range(len(roles))]) as network:
        capture = os.path.join(folder, "link.pcap")
        sniffer = network.start(0, "tshark", "-q", "-i", "v0d", "-w", capture, "-F", "pcap", "-f", "ether proto 0x88f7",
                                stderr=subprocess.DEVNULL)
        time.sleep(2)
        processes = []
        for number, role in enumerate(roles):
            interfaces = ([f"v{number - 1}u"] if number else []) + ([f"v{number}d"] if number + 1 < len(roles) else [])
            if role == "ours":
                command = [sys.executable, os.path.abspath(__file__), "--drive", program, "--seconds", str(seconds),
                           "--interfaces", ",".join(interfaces), "--", *map(str, arguments)]
            else:
                config = os.path.join(folder, f"{number}.cfg")
                with open(config, "w") as file:
                    file.write(CONFIG.format(priority1=role, folder=folder, name=number))
                command = ["timeout", str(seconds), "ptp4l", "-m", "-q", "-f", config]
                for interface in interfaces:
                    command += ["-i", interface]
            output = open(os.path.join(folder, f"{number}.txt"), "w+")
            processes.append((network.start(number, *command, stdout=output, stderr=subprocess.STDOUT), output))
        for process, _ in processes:
            process.wait()
        sniffer.terminate()
        sniffer.wait()
        texts = []
        for _, output in processes:
            output.seek(0)
            texts.append(output.read())
    return texts, capture


def offsets(text, settle):
    """How far ptp4l says that it is from its master, and the delay of its link, without the first ones."""
    found = [(int(a), int(b)) for a, b in re.findall(r"master offset\s+(-?\d+) .*path delay\s+(-?\d+)", text)]
    if len(found) <= settle:
        sys.exit(f"ptp4l followed no master for long enough:\n{text}")
    return [a for a, _ in found[settle:]], [b for _, b in found[settle:]]


def dissect(capture, ours):
    """Wireshark's opinion of every message that we sent."""
    fields = ["frame.number", "eth.src", "ptp.v2.messagetype", "_ws.malformed", "_ws.expert.message"]
    command = ["tshark", "-r", capture, "-T", "fields", "-E", "separator=|"]
    for field in fields:
        command += ["-e", field]
    rows = [line.split("|") for line in subprocess.run(
        command, capture_output=True, text=True, check=True).stdout.splitlines()]
    identity = subprocess.run(["tshark", "-r", capture, "-Y", f"ptp.v2.clockidentity == {ours}", "-T", "fields", "-e",
                               "frame.number"], capture_output=True, text=True, check=True).stdout.split()
    sent = [row for row in rows if row[0] in identity]
    kinds = {}
    for row in sent:
        kinds[row[2]] = kinds.get(row[2], 0) + 1
    complaints = [row for row in sent if row[3] or row[4]]
    print(f"  tshark read {len(sent)} of our messages, by type {dict(sorted(kinds.items()))}, with {len(complaints)} complaints")
    for row in complaints[:3]:
        print(f"    {row}")
    return bool(sent) and not complaints


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("program", nargs="?", default="target/debug/chronoseal-gptp-peer")
    parser.add_argument("--seconds", type=int, default=30)
    parser.add_argument("--drive")
    parser.add_argument("--interfaces")
    options, rest = parser.parse_known_args()
    if options.drive:
        rest = sys.argv[sys.argv.index("--") + 1:]
        return driver(options.drive, options.interfaces.split(","), options.seconds, rest)
    for tool in ("ptp4l", "tshark", "ip"):
        if shutil.which(tool) is None:
            sys.exit(f"{tool} is missing; apt-get install linuxptp tshark iproute2")
    program, seconds, good = os.path.abspath(options.program), options.seconds, True
    clock = "0x020000fffe00c501"

    def check(what, holds):
        nonlocal good
        good &= holds
        print(f"  {'holds' if holds else 'FAILS'}: {what}")

    with tempfile.TemporaryDirectory() as folder:
        print("two ptp4l, for comparison")
        texts, _ = run(program, [100, 248], seconds, [], folder)
        offset, delay = offsets(texts[1], 3)
        describe("what the second ptp4l says it is off", offset)
        describe("the delay of the link, by ptp4l", delay)

        # The protocol counts in TAI, 37 s ahead of the host's UTC, and ptp4l takes that into account.
        shift = 250_000_000
        print("our grandmaster, 250 ms ahead of the host; ptp4l follows")
        texts, capture = run(program, ["ours", 248], seconds, [100, 1, 0, 37 * 10**9 + shift], folder)
        offset, delay = offsets(texts[1], 3)
        middle = describe("what ptp4l says it is off, without the 250 ms", [value + shift for value in offset])
        describe("the delay of the link, by ptp4l", delay)
        check("ptp4l is 250 ms behind, to 50 us", abs(middle) < 50_000)
        check("Wireshark has no complaint", dissect(capture, clock))

        print("ptp4l as grandmaster; ours follows, with an oscillator that is 50 ppm fast and began at zero")
        texts, capture = run(program, [100, "ours"], seconds, [248, 1, 50_000, 0], folder)
        found = [tuple(map(int, row)) for row in re.findall(r"^sync (\d+) (\d+) (-?\d+)$", texts[1], re.M)][40:]
        middle = describe("how far our time is off", [there - at for at, there, _ in found])
        rate = describe("the rate of the grandmaster", [rate for _, _, rate in found], "ppb")
        check("our time is the host's, to 50 us", abs(middle) < 50_000)
        check("the rate is -50 ppm, to 5 ppm", abs(rate + 50_000) < 5_000)
        check("Wireshark has no complaint", dissect(capture, clock))

        print("ptp4l, our bridge with an oscillator that is 50 ppm fast, ptp4l")
        texts, capture = run(program, [100, "ours", 248], seconds, [246, 2, 50_000, 0], folder)
        middle = describe("what the second ptp4l says it is off", offsets(texts[2], 3)[0])
        check("both share the host's clock, to 50 us", abs(middle) < 50_000)
        check("Wireshark has no complaint", dissect(capture, clock))
    sys.exit(0 if good else 1)


if __name__ == "__main__":
    main()
