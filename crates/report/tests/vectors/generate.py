"""Makes statistics.json: vectors for crates/report/src/statistics, computed with scipy. Run: python3 generate.py"""

import json
import pathlib

import numpy as np
import scipy
from scipy import stats



intervals = []
for n in [5, 8, 29, 60, 300, 368, 1000, 4000, 20000]:
    for q in [0.5, 0.9, 0.99]:
        # Ranks r <= s, counted from 1, whose tails below and above hold at most 2.5 % each; none if there are no such.
        low = int(stats.binom.ppf(0.025, n, q))
        high = int(stats.binom.ppf(0.975, n, q)) + 1
        intervals.append({"n": n, "quantile": q, "low": low if low >= 1 else None, "high": high if high <= n else None})

wilson = []
for k, n in [(0, 10), (1, 10), (5, 10), (10, 10), (3, 100000), (1, 1)]:
    ci = stats.binomtest(k, n).proportion_ci(confidence_level=0.95, method="wilson")
    wilson.append({"k": k, "n": n, "low": float(ci.low), "high": float(ci.high)})

out = {
    "note": "Made by us with generate.py of this folder; no public vectors exist for these functions together.",
    "scipy": scipy.__version__,
    "percentile_interval": intervals, "wilson": wilson,
}
pathlib.Path(__file__).with_name("statistics.json").write_text(json.dumps(out, indent=1) + "\n")
