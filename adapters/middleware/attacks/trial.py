#!/usr/bin/env python3
"""Runs attacks of a node `stranger` on configurations of an adapter, and prints what became of the messages.

trial.py ADAPTER [CONFIGURATION] [--attack ATTACK] [--keys insider]. Everything stays in the network namespaces of the run. The environment
variable CHRONOSEAL names the program of that name.
"""

import argparse
import pathlib
import sys
import tempfile
import tomllib

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent))
import conformance  # noqa: E402

DURATION = "5s"
SAID_MAX = 200
STREAM = conformance.LASER
PYTHON = "/usr/bin/python3"


def attacks_of(bench, configuration, keys):
    """Each attack that there is on a configuration, with its program."""
    adapter = bench.program(configuration, "program", "stranger", keys)
    folder = str(bench.folder / "keys" / configuration["name"] / keys) if "keys" in configuration else None
    own_keys = [folder] if folder else []
    outsider = [PYTHON, str(HERE / "outsider.py")]
    attacks = {
        what: [*outsider, what, STREAM.name, str(STREAM.lengths[0]), "{station}", *adapter] for what in ("listen", "forge")
    }
    if bench.adapter.name == "ros1":
        for what in ("read", "stand-between", "unregister", "shutdown"):
            attacks[what] = [PYTHON, str(HERE / "ros1.py"), what, f"/{STREAM.name}", "{broker}", "{stranger}"]
    if bench.adapter.name in ("fastdds", "cyclonedds"):
        for what in ("forge", "forge-ahead", "skip"):
            attacks[f"rtps-{what}"] = [PYTHON, str(HERE / "rtps.py"), what, "{robot}", "{station}", "{stranger}"]
    if bench.adapter.name == "ice":
        attacks["destroy"] = [str(HERE / "ice.sh"), "{broker}", STREAM.name, *own_keys]
    if bench.adapter.name == "mqtt":
        attacks["take-over"] = [PYTHON, str(HERE / "mqtt.py"), "{broker}", f"{{robot}} {STREAM.name}", *own_keys]
    return attacks


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("adapter", help="folder of the adapter")
    parser.add_argument("configuration", nargs="?", help="one of its configurations; all of them without")
    parser.add_argument("--attack", help="one attack; all there are without")
    parser.add_argument("--keys", default="stranger", help="whose keys the stranger has, such as insider")
    options = parser.parse_args()
    description = tomllib.loads((HERE.parent / options.adapter / "adapter.toml").read_text())
    with tempfile.TemporaryDirectory(prefix="trial") as folder:
        bench = conformance.Bench(pathlib.Path(folder), HERE.parent / options.adapter, conformance.Checks())
        bench.build()
        for configuration in description["configurations"]:
            if options.configuration not in (None, configuration["name"]):
                continue
            bench.make_keys(configuration)
            for name, program in attacks_of(bench, configuration, options.keys).items():
                if options.attack in (None, name):
                    try_one(bench, configuration, name, program)


def try_one(bench, configuration, name, program):
    manifest = bench.run(configuration, [STREAM], DURATION, stranger=program)
    programs = dict(zip([node["name"] for node in manifest["run"]["nodes"]], manifest["run"]["programs"]))
    print(f"{configuration['name']}: {name}: {conformance.account(manifest['summary']['streams'][0])}")
    for warning in manifest["run"]["warnings"]:
        print(f"    {warning}")
    said = programs["stranger"]["printed"].strip() or programs["stranger"]["how"]
    print(f"    the stranger: {said[-SAID_MAX:]}", flush=True)


if __name__ == "__main__":
    main()
