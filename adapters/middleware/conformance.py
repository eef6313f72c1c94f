#!/usr/bin/env python3
"""Checks that an adapter keeps the contract: conformance.py NAME [CONFIGURATION…] [--full].

Builds the adapter, runs each of its configurations over a link that loses nothing, and prints a line for each check. The environment
variable CHRONOSEAL names the program of that name. With --full each stream also runs alone at the rates of a robot's sensors, up to
162 MB/s; a host that is too slow for that loses messages, so these lines are notes. With --brief there are few messages and no trials of
what goes wrong but strangers, for a host that is busy. Exits with 1 if a check failed.
"""

import argparse
import collections
import json
import os
import pathlib
import shutil
import struct
import subprocess
import sys
import tempfile
import tomllib
import zlib

CHRONOSEAL = os.environ.get("CHRONOSEAL", "chronoseal")
HERE = pathlib.Path(__file__).resolve().parent
Stream = collections.namedtuple("Stream", "name period lengths")
# Some lengths that are no multiple of anything, and of different length within a stream.
LASER = Stream("laser", "25ms", [9_000, 8_999, 9_001, 9_000])
IMAGE = Stream("image", "31400us", [900_000, 899_999, 900_001])
CLOUD = Stream("cloud", "55556us", [9_000_000, 9_000_000])
BRIEF = [LASER._replace(period="100ms"), IMAGE._replace(period="700ms")]
SLOW_CLOUD = CLOUD._replace(period="500ms")
# The largest whose packets have room in the queue of a node's interface, 4,096 of them; those of a cloud have not.
HALF_CLOUD = Stream("half-cloud", "500ms", [5_000_000, 4_999_999])
STREAMS = (LASER, IMAGE, HALF_CLOUD, CLOUD)
GROUPS = [[LASER, IMAGE], [HALF_CLOUD], [SLOW_CLOUD]]
STILL_UNDER_WAY_MAX = 4
# A host that has much else to do loses packets, or is late.
ATTEMPTS = 3


class Checks:
    def __init__(self):
        self.failed = 0

    def check(self, is_met, what, detail=""):
        self.failed += not is_met
        print(f"{'ok    ' if is_met else 'FAILED'} {what}{f': {detail}' if detail and not is_met else ''}", flush=True)

    def note(self, what):
        print(f"note   {what}", flush=True)


class Bench:
    """Where an adapter is built, and how scenarios with it are run."""

    def __init__(self, folder, adapter, checks):
        self.folder = folder
        self.adapter = adapter
        self.checks = checks
        self.built = folder / "built"
        self.bodies = folder / "bodies"
        self.bodies.mkdir()
        # Whatever programs put into the user's folder or that of temporary files is seen there.
        (folder / "home").mkdir()
        self.environment = {**os.environ, "HOME": str(folder / "home"), "TMPDIR": str(folder / "home")}
        for stream in STREAMS:
            write_bodies(self.bodies / f"{stream.name}.bodies", stream.lengths)
        self.runs = 0

    def program(self, configuration, key, node, keys_of=None):
        """The program of a node, with the keys of another if it is told so."""
        keys = self.folder / "keys" / configuration["name"]
        # The names of nodes are left in their braces: a scenario has the same words for addresses.
        places = {"built": self.built, "bodies": self.bodies, "keys": keys, "node": keys_of or node, "self": f"{{{node}}}"}
        words = []
        for word in configuration[key]:
            for place, value in places.items():
                word = word.replace(f"{{{place}}}", str(value))
            words.append(word)
        return words

    def build(self):
        return subprocess.run([self.adapter / "build.sh", self.built], capture_output=True, text=True)

    def make_keys(self, configuration):
        if "keys" not in configuration:
            return None
        out = self.folder / "keys" / configuration["name"]
        return subprocess.run([self.adapter / "keys.sh", out, configuration["keys"]], capture_output=True, text=True)

    def run(self, configuration, streams, duration, robot_keys=None, station_keys=None, robot=None, station=None, stranger=None, link=()):
        """Runs a scenario, and returns its manifest."""
        programs = {
            "robot": robot or self.program(configuration, "program", "robot", robot_keys),
            "station": station or self.program(configuration, "program", "station", station_keys),
        }
        if "broker" in configuration:
            programs["broker"] = self.program(configuration, "broker", "broker")
        if stranger:
            programs["stranger"] = stranger
        self.runs += 1
        scenario = self.folder / f"run{self.runs}.toml"
        scenario.write_text(scenario_text(duration, programs, streams, link))
        results = self.folder / f"run{self.runs}"
        command = [CHRONOSEAL, "run", scenario, "--engine", "live", "--programs"]
        command += ["--out", results, "--format", "json"]
        ended = subprocess.run(command, capture_output=True, text=True, env=self.environment)
        if not (results / "manifest.json").exists():
            sys.exit(f"{' '.join(map(str, command))}: {ended.stderr}")
        return json.loads((results / "manifest.json").read_text())


def scenario_text(duration, programs, streams, link=()):
    lines = ["schema_version = 2", 'name = "conformance"', f'duration = "{duration}"', "[segments.air.link]"]
    lines += ['rate = "10Gbit/s"', 'queue = "100000 frames"', *link]
    for node, words in programs.items():
        lines += ["[[nodes]]", f'name = "{node}"', f"program = {{ run = {json.dumps(words)} }}"]
    for stream in streams:
        lines += ["[[streams]]", f'name = "{stream.name}"', 'from = "robot"', 'to = ["station"]']
        lines += [f'period = "{stream.period}"', f'length = "{stream.lengths[0]}B"', 'air = { transport = "program" }']
    return "\n".join(lines) + "\n"


def write_bodies(path, lengths):
    """A file of bodies of these lengths: README.md describes it."""
    bodies = [bytes(range(1 + number, 252)) * (length // 200) for number, length in enumerate(lengths)]
    bodies = [body[:length] for body, length in zip(bodies, lengths)]
    offset = 16 + 16 * len(bodies)
    table = b""
    for body in bodies:
        table += struct.pack("<QII", offset, len(body), zlib.crc32(body))
        offset += len(body)
    path.write_bytes(struct.pack("<8sII", b"CSBODIES", 1, len(bodies)) + table + b"".join(bodies))


def account(stream):
    words = ["due", "sent", "delivered", "missing", "in_flight", "not_sent", "unaccounted"]
    text = ", ".join(f"{stream[word]} {word.replace('_', ' ')}" for word in words)
    took = stream["end_to_end"]["all"]
    return text + (f", median {took['p50_ns'] / 1e6:.3f} ms" if took and took["p50_ns"] else "")


def said(manifest):
    return "; ".join(f"{program['how']}: {program['printed'].strip()[-200:]}" for program in manifest["run"]["programs"])


def check_lossless(bench, configuration, groups):
    # Apart, since the packets of the long ones take the room of others.
    for streams in groups:
        for attempt in range(1, ATTEMPTS + 1):
            manifest = bench.run(configuration, streams, "4s")
            if all(map(is_whole, manifest["summary"]["streams"])):
                break
        check_account(bench, configuration, manifest, f" at attempt {attempt}" if attempt > 1 else "")


def is_whole(stream):
    """Whether all of its messages came, but for the last, which may still be under way."""
    is_sent = stream["sent"] >= 4 and stream["sent"] == stream["due"] == stream["delivered"] + stream["in_flight"]
    return is_sent and stream["in_flight"] <= min(STILL_UNDER_WAY_MAX, stream["sent"] // 4)


def check_account(bench, configuration, manifest, when):
    checks, name = bench.checks, configuration["name"]
    may_lose = not {"udp", "best-effort"}.isdisjoint(configuration["program"])
    for stream in manifest["summary"]["streams"]:
        is_excused = stream["sent"] > 0 if stream["name"] == CLOUD.name else may_lose and stream["delivered"] > 0
        if not is_whole(stream) and is_excused:
            checks.note(f"{name}: {stream['name']}: packets found no room in a queue ({account(stream)})")
        else:
            checks.check(is_whole(stream), f"{name}: {stream['name']}: all came{when} ({account(stream)})", said(manifest))
        check_serialized(bench, configuration, manifest, stream)
        checks.check(stream["discarded"] == {}, f"{name}: {stream['name']}: none altered", str(stream["discarded"]))
    checks.check(all(p["is_well"] for p in manifest["run"]["programs"]), f"{name}: no program fails", said(manifest))
    checks.check(not manifest["run"]["warnings"], f"{name}: no warnings", str(manifest["run"]["warnings"]))
    lengths = {stream.name: min(stream.lengths) for stream in STREAMS}
    delivered = sum(stream["delivered"] * lengths[stream["name"]] for stream in manifest["summary"]["streams"])
    carried = next(row["total"] for row in manifest["summary"]["segments"][0]["series"] if row["name"] == "data")
    if configuration.get("wire") == "no":
        checks.check(carried < delivered, f"{name}: {carried} B crossed the link for {delivered} B, so they took another way, as it says")
    else:
        checks.check(carried >= delivered, f"{name}: {carried} B crossed the link for {delivered} B, so no memory was shared")


def check_serialized(bench, configuration, manifest, stream):
    """Of an adapter that says what serializing takes: both ends say it, and it is a part of the latency."""
    number = next(n for n, known in enumerate(manifest["run"]["streams"]) if known["name"] == stream["name"])
    rows = [row for p in manifest["run"]["programs"] for row in p.get("serialized", []) if row["stream"] == number]
    took = stream["end_to_end"]["all"]
    if not rows or not took:
        return
    medians = " and ".join(f"{row['median_ns'] / 1e3:.1f} us of {row['messages']}" for row in rows)
    is_part = len(rows) == 2 and sum(row["median_ns"] for row in rows) < took["max_ns"]
    what = f"{configuration['name']}: {stream['name']}: serializing and deserializing, {medians} messages, are a part of the latency"
    bench.checks.check(is_part, what, f"{took['max_ns'] / 1e3:.1f} us at most")


def check_strangers(bench, configuration):
    for ends, what in [({"station_keys": "stranger"}, "receives"), ({"robot_keys": "stranger"}, "is heard")]:
        manifest = bench.run(configuration, [LASER], "3s", **ends)
        delivered = manifest["summary"]["streams"][0]["delivered"]
        bench.checks.check(delivered == 0, f"{configuration['name']}: no stranger {what}", f"{delivered} messages")


def check_calls(bench, configuration):
    checks, name = bench.checks, bench.adapter.name
    ended = subprocess.run(bench.program(configuration, "program", "robot")[:1], capture_output=True, text=True)
    is_told = ended.returncode == 64 and "usage" in ended.stderr
    checks.check(is_told, f"{name}: a call without words is refused with the usage and status 64", str(ended.returncode))
    manifest = bench.run(configuration, [LASER], "14s", station=["sleep", "20"])
    how = manifest["run"]["programs"][0]["how"]
    checks.check(how == "exit status 75", f"{name}: nobody there to send to is status 75", how)
    station = ["timeout", "-s", "KILL", "2", *bench.program(configuration, "program", "station")]
    manifest = bench.run(configuration, [LASER], "4s", station=station)
    how, delivered = manifest["run"]["programs"][0]["how"], manifest["summary"]["streams"][0]["delivered"]
    checks.check(delivered > 0, f"{name}: a receiver that is killed leaves its records ({delivered})", said(manifest))
    checks.check("signal" not in how, f"{name}: its publisher does not crash", said(manifest))
    checks.note(f"{name}: of the killed receiver the publisher says: {manifest['run']['programs'][0]['printed'].strip()!r}")
    bad = [word.replace(str(bench.bodies), str(bench.folder / "bad")) for word in bench.program(configuration, "program", "robot")]
    (bench.folder / "bad").mkdir()
    (bench.folder / "bad" / "laser.bodies").write_bytes(b"nothing of the kind")
    how = bench.run(configuration, [LASER], "2s", robot=bad)["run"]["programs"][0]["how"]
    checks.check(how == "exit status 64", f"{name}: a file that holds no bodies is status 64", how)


def check_bodies(bench):
    """That no file of bodies, whatever is in it, ends the reader otherwise than it should."""
    common, program, folder = HERE / "common", bench.folder / "fuzz_bodies", bench.folder / "changed"
    folder.mkdir()
    write_bodies(folder / "seed.bodies", [900, 0, 899])
    sources = [common / f"{name}.c" for name in ("fuzz_bodies", "bodies", "buffers", "keys", "contract")]
    command = ["cc", "-g", "-fsanitize=address,undefined", "-fno-sanitize-recover", *sources, "-lz", "-lpthread", "-o", program]
    built = subprocess.run(command, capture_output=True, text=True)
    if built.returncode != 0:
        bench.checks.note(f"files of bodies: not tried, because the sanitizers cannot be built: {built.stderr[-300:]}")
        return
    ended = subprocess.run([program, folder, "1000"], capture_output=True, text=True)
    bench.checks.check(ended.returncode == 0, f"files of bodies: 1000 changed ones, {ended.stdout.strip()}", ended.stderr[-1000:])


def note_full(bench, configuration):
    for stream in (LASER, IMAGE, CLOUD):
        manifest = bench.run(configuration, [stream], "4s")
        bench.checks.note(f"{configuration['name']}: {stream.name} alone: {account(manifest['summary']['streams'][0])}")


def traces(folder):
    """What an adapter must not leave: its processes, shared memory, and files outside its folder."""
    left = {f"{place}/{name}" for place in ["/dev/shm", folder / "home"] for name in os.listdir(place)}
    for process in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            command = (process / "cmdline").read_bytes()
        except OSError:
            continue
        if str(folder).encode() in command:
            left.add(command.replace(b"\0", b" ").decode(errors="replace"))
    return left


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("name", help="folder of the adapter")
    parser.add_argument("configuration", nargs="*", help="some of its configurations; all of them without")
    parser.add_argument("--full", action="store_true", help="also at the rates of a robot's sensors")
    parser.add_argument("--brief", action="store_true", help="few messages, for a busy host")
    options = parser.parse_args()
    if shutil.which(CHRONOSEAL) is None:
        parser.error(f"there is no {CHRONOSEAL}: let the environment variable CHRONOSEAL name it")
    adapter = HERE / options.name
    description = tomllib.loads((adapter / "adapter.toml").read_text())
    configurations = [c for c in description["configurations"] if not options.configuration or c["name"] in options.configuration]
    if not configurations:
        parser.error(f"{options.name} has no configuration {' or '.join(options.configuration)}")
    checks = Checks()
    with tempfile.TemporaryDirectory(prefix="conformance") as folder:
        folder = pathlib.Path(folder)
        bench = Bench(folder, adapter, checks)
        version = subprocess.run(description["version"], capture_output=True, text=True, cwd=adapter)
        checks.check(version.returncode == 0, f"{options.name}: version {version.stdout.strip()}", version.stderr)
        built = bench.build()
        checks.check(built.returncode == 0 and not built.stderr, f"{options.name}: it is built, without a warning", built.stderr[-2000:])
        if built.returncode != 0:
            return 1
        before = traces(folder)
        for number, configuration in enumerate(configurations):
            keys = bench.make_keys(configuration)
            if keys is not None:
                checks.check(keys.returncode == 0, f"{configuration['name']}: keys are made", keys.stderr[-1000:])
            check_lossless(bench, configuration, [BRIEF] if options.brief else GROUPS)
            if keys is not None:
                check_strangers(bench, configuration)
            if number == 0 and not options.brief:
                check_bodies(bench)
                check_calls(bench, configuration)
            if options.full:
                note_full(bench, configuration)
        left = traces(folder) - before
        checks.check(not left, f"{options.name}: nothing is left behind", ", ".join(left))
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
