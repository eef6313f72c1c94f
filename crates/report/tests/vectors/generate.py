"""Makes statistics.json: vectors for crates/report/src/statistics, computed with scipy. Run: python3 generate.py"""

import json
import pathlib

import numpy as np
import scipy
from scipy import stats

rng = np.random.default_rng(20240611)


def hodges_lehmann(a, b, confidence):
    """Shift of b against a and its distribution-free interval (Hollander & Wolfe, section 4.3, large samples)."""
    differences = np.sort((b[:, None] - a[None, :]).ravel())
    m, n = len(a), len(b)
    z = stats.norm.ppf(0.5 + confidence / 2)
    rank = max(1, int(np.floor(m * n / 2 - z * np.sqrt(m * n * (m + n + 1) / 12))))
    return {"shift": float(np.median(differences)), "low": float(differences[rank - 1]), "high": float(differences[-rank])}


def mann_whitney(kind, a, b, method):
    result = stats.mannwhitneyu(a, b, alternative="two-sided", method=method, use_continuity=True)
    return {
        "kind": kind, "method": method, "a": a.tolist(), "b": b.tolist(), "u": float(result.statistic),
        "p": float(result.pvalue), "hodges_lehmann": hodges_lehmann(a, b, 0.95),
    }


cases = []
for m, n in [(3, 4), (5, 5), (8, 6), (10, 10), (12, 15), (20, 20)]:
    for shift in [0.0, 0.7, 3.0]:
        a, b = rng.normal(10, 1, m), rng.normal(10 + shift, 1, n)
        cases.append(mann_whitney("no ties", a, b, "exact"))
for m, n in [(10, 10), (30, 40), (100, 80)]:
    for shift in [0, 1]:
        a, b = rng.integers(0, 8, m).astype(float), rng.integers(shift, 8 + shift, n).astype(float)
        cases.append(mann_whitney("ties", a, b, "asymptotic"))
        a, b = rng.normal(0, 1, m * 3), rng.normal(shift / 3, 1, n * 3)
        cases.append(mann_whitney("no ties", a, b, "asymptotic"))

intervals = []
for n in [5, 8, 29, 60, 300, 368, 1000, 4000, 20000]:
    for q in [0.5, 0.9, 0.99]:
        # Ranks r <= s, counted from 1, whose tails below and above hold at most 2.5 % each; none if there are no such.
        low = int(stats.binom.ppf(0.025, n, q))
        high = int(stats.binom.ppf(0.975, n, q)) + 1
        intervals.append({"n": n, "quantile": q, "low": low if low >= 1 else None, "high": high if high <= n else None})

normal = [{"z": z, "two_sided": float(2 * stats.norm.sf(z))} for z in [0, 0.1, 0.5, 1, 1.96, 2.5, 3, 4, 6, 8, 12]]
wilson = []
for k, n in [(0, 10), (1, 10), (5, 10), (10, 10), (3, 100000), (1, 1)]:
    ci = stats.binomtest(k, n).proportion_ci(confidence_level=0.95, method="wilson")
    wilson.append({"k": k, "n": n, "low": float(ci.low), "high": float(ci.high)})
holm = []
for p in [[0.01, 0.04, 0.03], [0.5], [0.001, 0.2, 0.03, 0.03, 0.9]]:
    order = np.argsort(p, kind="stable")
    adjusted, top = [0.0] * len(p), 0.0
    for i, k in enumerate(order):
        top = max(top, min(1.0, (len(p) - i) * p[k]))
        adjusted[k] = top
    holm.append({"p": p, "adjusted": adjusted})

out = {
    "note": "Made by us with generate.py of this folder; no public vectors exist for these functions together.",
    "scipy": scipy.__version__,
    "mann_whitney": cases, "percentile_interval": intervals, "normal": normal, "wilson": wilson, "holm": holm,
}
pathlib.Path(__file__).with_name("statistics.json").write_text(json.dumps(out, indent=1) + "\n")
