#!/usr/bin/env python3
"""Success of `chronoseal schedule make` beside the heuristics of tsnkit, on sets of streams made by tsnkit's own generator.

    python3 -m venv venv && venv/bin/pip install tsnkit==0.3.0
    venv/bin/python peers/tsnkit/compare.py target/release/chronoseal --sets 256 --seed 1

Every set is drawn from a seed: its topology (line, ring, tree, mesh), its number of streams, periods, sizes and deadlines.
Each method has --limit seconds for a set. What another method schedules and chronoseal does not is named, and makes the
command end with 1. A schedule in which tsnkit itself finds frames that overlap is none, and is counted apart. tsnkit's methods
that need a solver with a licence are left out.
"""

import argparse
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
import warnings
from contextlib import redirect_stderr, redirect_stdout

import networkx as nx
import numpy as np
from tsnkit import core as utils
from tsnkit.algorithms.dt import dt
from tsnkit.algorithms.ls import ls
from tsnkit.algorithms.ls_pl import ls_pl
from tsnkit.algorithms.ls_tb import ls_tb
from tsnkit.data.dataset_spec import TOPO_FUNC, generate_flowset

METHODS = {"ls": ls, "ls_tb": ls_tb, "ls_pl": ls_pl, "dt": dt}
TOPOLOGIES = ["line", "ring", "tree", "mesh"]


class Late(Exception):
    """A method took longer than it may."""


def alarm(_signal, _frame):
    raise Late


def generate(folder, choice):
    """One set of streams on its network, as tsnkit writes them."""
    switches = choice["switches"]
    net = TOPO_FUNC[choice["topology"]](switches, num_queue=8, data_rate=1, header=f"{folder}/topo")
    generate_flowset(
        nx.DiGraph(net), choice["size"], choice["period"], choice["deadline"], choice["streams"], switches, switches,
        f"{folder}/task",
    )
    return f"{folder}/task.csv", f"{folder}/topo.csv"


def tsnkit_finds(method, task, topology, folder, limit):
    """Whether a method of tsnkit schedules the set in time, how long it took, and whether frames overlap in what it found."""
    began = time.process_time()
    overlaps = False
    signal.setitimer(signal.ITIMER_REAL, limit)
    try:
        with open(os.devnull, "w") as null, redirect_stdout(null), redirect_stderr(null):
            one = METHODS[method](1)
            one.init(task, topology)
            one.prepare()
            found = one.solve().result == utils.Result.schedulable
            if found:
                with warnings.catch_warnings(record=True) as told:
                    warnings.simplefilter("always")
                    one.output().to_csv(method, f"{folder}/")
                overlaps = any("Overlap" in str(warning.message) for warning in told)
    except Late:
        found = False
    except Exception:  # noqa: BLE001  A method that stops on a set has not scheduled it.
        found = False
    finally:
        signal.setitimer(signal.ITIMER_REAL, 0)
    return found and not overlaps, time.process_time() - began, overlaps


def chronoseal_finds(binary, task, topology, folder, limit):
    """The same for chronoseal, whose schedule has been replayed when it says that it has one."""
    out = f"{folder}/schedule"
    began = time.perf_counter()
    command = [binary, "schedule", "make", "--network", topology, "--streams", task, "--out", out, "--quiet"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, timeout=limit, check=False)
    except subprocess.TimeoutExpired:
        return False, time.perf_counter() - began, "too late"
    if done.returncode not in (0, 1):
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
    return done.returncode == 0, time.perf_counter() - began, done.stderr.strip()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("binary")
    parser.add_argument("--sets", type=int, default=256)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--limit", type=float, default=10.0, help="seconds for one method and one set")
    parser.add_argument("--keep", help="folder for sets that another method schedules and chronoseal does not")
    arguments = parser.parse_args()
    signal.signal(signal.SIGALRM, alarm)
    found = {name: 0 for name in [*METHODS, "chronoseal"]}
    took = {name: 0.0 for name in found}
    wrong = {name: 0 for name in found}
    behind = []
    by_topology = {name: {topology: 0 for topology in TOPOLOGIES} for name in found}
    total = {topology: 0 for topology in TOPOLOGIES}
    for number in range(arguments.sets):
        seed = arguments.seed + number
        random.seed(seed)
        np.random.seed(seed)
        choice = {
            "topology": number % 4,
            "switches": random.choice([4, 8, 8, 12]),
            "streams": random.choice([10, 20, 40, 60, 100]),
            "period": random.choice([1, 2, 3, 4, 5, 6]),
            "size": random.choice([1, 2, 3, 4, 5]),
            "deadline": random.choice([2, 3, 4, 5]),
        }
        topology = TOPOLOGIES[choice["topology"]]
        with tempfile.TemporaryDirectory() as folder:
            try:
                with open(os.devnull, "w") as null, redirect_stdout(null), redirect_stderr(null):
                    task, net = generate(folder, choice)
            except Exception as because:  # noqa: BLE001
                print(f"seed {seed}: the generator gives no set: {because}")
                continue
            total[topology] += 1
            others = []
            for name in METHODS:
                is_found, seconds, is_wrong = tsnkit_finds(name, task, net, folder, arguments.limit)
                wrong[name] += is_wrong
                took[name] += seconds
                if is_found:
                    others.append(name)
                    found[name] += 1
                    by_topology[name][topology] += 1
            is_found, seconds, said = chronoseal_finds(arguments.binary, task, net, folder, arguments.limit)
            took["chronoseal"] += seconds
            found["chronoseal"] += is_found
            by_topology["chronoseal"][topology] += is_found
            if others and not is_found:
                behind.append((seed, choice, others))
                print(f"seed {seed} {choice}: {', '.join(others)} and not chronoseal: {said[:300]}", flush=True)
                if arguments.keep:
                    os.makedirs(arguments.keep, exist_ok=True)
                    for file in (task, net):
                        os.system(f"cp {file} {arguments.keep}/{seed}_{os.path.basename(file)}")
        if (number + 1) % 16 == 0:
            print(f"{number + 1} of {arguments.sets}", file=sys.stderr, flush=True)
    whole = sum(total.values())
    print(f"{'method':12} {'sets':>5} {'share':>7}  " + "  ".join(f"{name:>9}" for name in TOPOLOGIES) + "    seconds  overlap")
    for name, count in found.items():
        shares = "  ".join(f"{by_topology[name][topology]:4}/{total[topology]:<4}" for topology in TOPOLOGIES)
        print(f"{name:12} {count:5} {100 * count / max(whole, 1):6.1f}%  {shares}  {took[name]:9.1f}  {wrong[name]:7}")
    print(f"scheduled by another method and not by chronoseal: {len(behind)}")
    return 1 if behind else 0


if __name__ == "__main__":
    sys.exit(main())
