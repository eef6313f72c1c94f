#!/usr/bin/env python3
"""Kills a publisher, a subscriber or a broker with SIGKILL in the middle of a comparison: kills.py [NAMES].

    sudo CHRONOSEAL=target/release/chronoseal adapters/middleware/kills.py fast-dds-reliable-encrypted ros-1

For each configuration and each of its programs it runs `chronoseal middleware run NAME raw-tcp`, waits until the program has run for a while, kills it, and
checks that the report names what died, that the other configuration is measured all the same, and that neither processes, shared memory nor keys are left.
Only descendants of the run that it started are killed. Exits with 1 if a check failed.
"""

import argparse
import json
import os
import pathlib
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib

CHRONOSEAL = os.environ.get("CHRONOSEAL", "chronoseal")
HERE = pathlib.Path(__file__).resolve().parent
OTHER = "raw-tcp"
ADDRESSES = {"publisher": "10.0.0.1", "subscriber": "10.0.0.2", "broker": "10.0.0.3"}
# From when the program is there, which is before the messages begin.
LIVES_S = 2.0


def configurations():
    found = {}
    for file in sorted(HERE.glob("*/adapter.toml")):
        for one in tomllib.loads(file.read_text())["configurations"]:
            found[one["name"]] = (file.parent.name, one)
    return found


def processes():
    """Each with its parent and its words."""
    found = {}
    for folder in pathlib.Path("/proc").glob("[0-9]*"):
        try:
            parent = int((folder / "stat").read_text().rsplit(")", 1)[1].split()[1])
            words = (folder / "cmdline").read_bytes().decode(errors="replace").split("\0")[:-1]
        except (OSError, IndexError):
            continue
        found[int(folder.name)] = (parent, words)
    return found


def below(known, root):
    """All that a process started, and what those did."""
    found, added = {root}, True
    while added:
        more = {one for one, (parent, _) in known.items() if parent in found} - found
        found |= more
        added = bool(more)
    return found - {root}


def victim(run, adapter, role):
    """The program of this role, if it is there: of a broker, what its script started last."""
    known = processes()
    own = below(known, run.pid)
    for one in own:
        words = known[one][1]
        is_broker = any(word.endswith(f"{adapter}/broker.sh") for word in words)
        is_end = any(word.endswith(f"{adapter}/adapter") for word in words) and ADDRESSES[role] in words
        if is_broker and role == "broker":
            started = sorted(below(known, one) & own)
            return started[-1] if started else one
        if is_end and role != "broker":
            return one
    return None


def left(keys):
    found = {f"/dev/shm/{name}" for name in os.listdir("/dev/shm")}
    return found | ({str(path) for path in keys.iterdir()} if keys.is_dir() else set())


def texts(value):
    """Every text of a report."""
    if isinstance(value, str):
        yield value
    for one in value.values() if isinstance(value, dict) else value if isinstance(value, list) else ():
        yield from texts(one)


class Checks:
    failed = 0

    def check(self, is_met, what, detail=""):
        self.failed += not is_met
        print(f"{'ok    ' if is_met else 'FAILED'} {what}{f': {detail}' if detail and not is_met else ''}", flush=True)


def kill_one(checks, name, adapter, role, duration):
    runtime = pathlib.Path(os.environ.get("XDG_RUNTIME_DIR", ""))
    keys = runtime / "chronoseal-keys" if runtime.is_absolute() and runtime.is_dir() else pathlib.Path(tempfile.gettempdir()) / f"chronoseal-keys-{os.getuid()}"
    before = left(keys)
    with tempfile.TemporaryDirectory(prefix="kills") as folder:
        out = pathlib.Path(folder) / "out"
        command = [CHRONOSEAL, "middleware", "run", name, OTHER, "--network", "localhost", "--duration", duration]
        command += ["--adapters", HERE, "--out", out, "--format", "json"]
        run = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        killed = None
        try:
            while run.poll() is None and killed is None:
                if victim(run, adapter, role) is not None:
                    time.sleep(LIVES_S)
                    killed = victim(run, adapter, role)
                    if killed is not None:
                        os.kill(killed, signal.SIGKILL)
                time.sleep(0.05)
            printed, errors = run.communicate(timeout=600)
        finally:
            run.kill() if run.poll() is None else None
        what = f"{name}, {role}"
        checks.check(killed is not None, f"{what}: killed in the middle", errors[-500:])
        try:
            report = json.loads(printed)
        except ValueError:
            checks.check(False, f"{what}: there is a report", (printed + errors)[-500:])
            return
        said = [text for text in texts(report) if "failed" in text and ("signal" in text or "status" in text)]
        lost = [row for row in rows(report) if row and row[0].startswith(name) and row[1:]]
        checks.check(bool(said), f"{what}: the report names it ({' | '.join(sorted(set(said)))[:160]})", str(lost)[:500])
        measured = [row for row in rows(report) if row and row[0].startswith(OTHER)]
        checks.check(any(any(cell not in ("", "n/a") for cell in row[2:]) for row in measured), f"{what}: {OTHER} is measured all the same", str(measured)[:500])
        known = processes()
        alive = [words for _, words in known.values() if str(out) in " ".join(words)]
        checks.check(killed not in known and not alive, f"{what}: no process is left", str(alive))
    after = left(keys) - before
    checks.check(not after, f"{what}: neither shared memory nor keys are left", ", ".join(after))


def rows(report):
    """Every row of every table, as texts."""
    if isinstance(report, dict):
        for row in report.get("rows", []) if isinstance(report.get("rows"), list) else []:
            if isinstance(row, list):
                yield [cell.get("text", "") if isinstance(cell, dict) else str(cell) for cell in row]
        for one in report.values():
            yield from rows(one)
    elif isinstance(report, list):
        for one in report:
            yield from rows(one)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("names", nargs="*", default=["raw-udp", "ros-1", "ice-ssl", "mqtt-tls", "fast-dds-reliable-encrypted"], metavar="NAMES")
    parser.add_argument("--duration", default="6s", help="of each run")
    arguments = parser.parse_args()
    if shutil.which(CHRONOSEAL) is None:
        parser.error(f"there is no {CHRONOSEAL}: let the environment variable CHRONOSEAL name it")
    known = configurations()
    unknown = [name for name in arguments.names if name not in known or name == OTHER]
    if unknown:
        parser.error(f"{', '.join(unknown)}: write configurations of `chronoseal middleware list`, but {OTHER}, which each is run with")
    checks = Checks()
    for name in arguments.names:
        adapter, one = known[name]
        for role in ["publisher", "subscriber"] + (["broker"] if "broker" in one else []):
            kill_one(checks, name, adapter, role, arguments.duration)
    return 1 if checks.failed else 0


if __name__ == "__main__":
    sys.exit(main())
