#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes statistics.json with numpy and scipy; run it by hand when a case is added:

    python3 make_statistics.py > statistics.json

statistics_test.cpp, sweep_statistics_test.cpp and report/report_test.cpp of tests/unit compare Encore with these numbers
through scipy_numbers.hpp, so members keep their names.

Intervals, tests and power are scipy's own functions. The bootstrap is scipy's formula (BCa, `scipy.stats.bootstrap`) on
resamples drawn from the counter that framework/analysis/statistics.cpp uses, so that the ends can be equal and not just near;
scipy's own interval from its own draws is stored as `bootstrap_scipy`.
"""
import itertools
import json
import sys

import numpy as np
import scipy
from scipy import special, stats

MASK = (1 << 64) - 1


def mix(bits):
    """The mixing step of SplitMix64. It and word() must equal the generator of statistics.cpp."""
    bits = (bits + 0x9E3779B97F4A7C15) & MASK
    bits = ((bits ^ (bits >> 30)) * 0xBF58476D1CE4E5B9) & MASK
    bits = ((bits ^ (bits >> 27)) * 0x94D049BB133111EB) & MASK
    return bits ^ (bits >> 31)


def word(seed, number):
    """The random word with this number in the sequence of the seed."""
    return mix((mix(seed) + number) & MASK)


def bootstrap(values, level, resamples, seed):
    n = len(values)
    means = []
    for resample in range(resamples):
        total = 0.0
        for draw in range(n):
            total += values[((word(seed, resample * n + draw) >> 32) * n) >> 32]
        means.append(total / n)
    means = np.sort(np.array(means))
    total = 0.0
    for value in values:
        total += value
    mean = total / n
    share = (np.sum(means < mean) + np.sum(means <= mean)) / (2 * resamples)
    bias = special.ndtri(share)
    left_out = np.array([(np.sum(values) - value) / (n - 1) for value in values])
    spread = left_out.mean() - left_out
    acceleration = np.sum(spread**3) / (6 * np.sum(spread**2) ** 1.5)
    ends = []
    for probability in ((1 - level) / 2, (1 + level) / 2):
        z = bias + special.ndtri(probability)
        ends.append(np.percentile(means, 100 * special.ndtr(bias + z / (1 - acceleration * z))))
    return [float(end) for end in ends]


def sample(values):
    values = [float(value) for value in values]
    n = len(values)
    out = {"values": values, "mean": float(np.mean(values)), "deviation": float(np.std(values, ddof=1))}
    out["t_interval"] = [float(x) for x in stats.t.interval(0.95, n - 1, loc=np.mean(values), scale=stats.sem(values))]
    out["bootstrap"] = bootstrap(values, 0.95, 2000, 1)
    if n > 2:
        own = stats.bootstrap((np.array(values),), np.mean, n_resamples=200000, method="BCa", rng=np.random.default_rng(1))
        out["bootstrap_scipy"] = [float(own.confidence_interval.low), float(own.confidence_interval.high)]
    return out


def test(result):
    interval = result.confidence_interval(0.95)
    return {"t": float(result.statistic), "freedom": float(result.df), "p": float(result.pvalue),
            "interval": [float(interval.low), float(interval.high)]}


def power(noncentrality, freedom, alpha):
    """The power of a two-sided t test."""
    critical = stats.t.isf(alpha / 2, freedom)
    return stats.nct.sf(critical, freedom, noncentrality) + stats.nct.cdf(-critical, freedom, noncentrality)


def seeds_paired(deviation, difference, alpha, wanted):
    """The least number of shared seeds with which a paired test has the wanted power."""
    n = 2
    while power(difference / deviation * np.sqrt(n), n - 1, alpha) < wanted:
        n += 1
    return n


def seeds_welch(a, b, difference, alpha, wanted):
    """The same for Welch's test; a and b are the deviations of both candidates."""
    n = 2
    while True:
        va, vb = a * a / n, b * b / n
        freedom = (va + vb) ** 2 / (va**2 / (n - 1) + vb**2 / (n - 1))
        if power(difference / np.sqrt(va + vb), freedom, alpha) >= wanted:
            return n
        n += 1


def holm(p):
    order = np.argsort(p, kind="stable")
    out, highest = np.empty(len(p)), 0.0
    for rank, index in enumerate(order):
        highest = max(highest, (len(p) - rank) * p[index])
        out[index] = min(highest, 1.0)
    return [float(x) for x in out]


def main_effect(values, level):
    values, level = np.array(values, dtype=float), np.array(level)
    groups = [values[level == number] for number in np.unique(level)]
    total = float(np.sum((values - values.mean()) ** 2))
    between = float(sum(len(group) * (group.mean() - values.mean()) ** 2 for group in groups))
    within = (total - between) / (len(values) - len(groups))
    test = stats.f_oneway(*groups)
    return {"values": [float(x) for x in values], "level": [int(x) for x in level], "share": between / total,
            "adjusted": (between - (len(groups) - 1) * within) / total, "f": float(test.statistic), "p": float(test.pvalue)}


def expected_best(values, maximize, most):
    """For each n up to `most`, the mean of the best over every sequence of n draws, one by one."""
    best = max if maximize else min
    return {"values": values, "maximize": maximize,
            "best": [float(np.mean([best(draw) for draw in itertools.product(values, repeat=n)])) for n in range(1, most + 1)]}


def report(candidates):
    """The numbers in the tables of a report about runs with seeds 1, 2, 3 ...; fractions in percent."""
    rows, pairs = [], []
    for name, values in candidates.items():
        row = {"name": name, "n": len(values), "mean": 100 * float(np.mean(values))}
        if len(values) > 1:
            t = stats.t.interval(0.95, len(values) - 1, loc=np.mean(values), scale=stats.sem(values))
            row.update(deviation=100 * float(np.std(values, ddof=1)), t=[100 * float(x) for x in t],
                       bootstrap=[100 * x for x in bootstrap(values, 0.95, 10000, 1)])
        rows.append(row)
    for a, b in itertools.combinations([name for name, values in candidates.items() if len(values) > 1], 2):
        test = stats.ttest_rel(candidates[a], candidates[b])
        interval = test.confidence_interval(0.95)
        pairs.append({"a": a, "b": b, "difference": 100 * float(np.mean(candidates[a]) - np.mean(candidates[b])),
                      "low": 100 * float(interval.low), "high": 100 * float(interval.high), "p": float(test.pvalue)})
    for pair, corrected in zip(pairs, holm([pair["p"] for pair in pairs])):
        pair["corrected"] = corrected
    return {"values": candidates, "candidates": rows, "pairs": pairs}


rng = np.random.default_rng(7)
five = [0.4512, 0.4601, 0.4478, 0.4659, 0.4533]
other = [0.4623, 0.4655, 0.4590, 0.4702, 0.4681]
ten = np.round(rng.gamma(2.0, 0.05, 10), 4)
seven = np.round(rng.normal(0.5, 0.01, 7), 4)
pairs = [(five, other), (other, five), ([0.1, 0.2], [0.15, 0.1]), (list(ten[:7]), list(seven))]
powers = [(0.01, 0.01, 0.05), (0.01, 0.002, 0.05), (0.004, 0.01, 0.05), (0.01, 0.005, 0.05 / 3), (1.0, 0.05, 0.05)]
grid = np.round(0.5 + 0.03 * np.repeat([0, 1, 2], 8) + 0.01 * np.tile(np.repeat([0, 1], 4), 3) + rng.normal(0, 0.01, 24), 4)
p_values = [[0.01, 0.04, 0.03, 0.005], [0.5], [0.02, 0.02, 0.9], [0.6, 0.5]]
json.dump({
    "made_with": {"numpy": np.__version__, "scipy": scipy.__version__, "python": sys.version.split()[0]},
    "samples": [sample(values) for values in (five, other, ten, seven, [0.3, 0.5], [1e6 + 1, 1e6 + 2, 1e6 + 4])],
    "paired": [dict(a=[float(x) for x in a], b=[float(x) for x in b], **test(stats.ttest_rel(a, b))) for a, b in pairs],
    "welch": [dict(a=[float(x) for x in a], b=[float(x) for x in b], **test(stats.ttest_ind(a, b, equal_var=False)))
              for a, b in pairs + [(five, [0.5, 0.52]), ([0.5, 0.5, 0.5], five)]],
    "holm": [{"p": p, "corrected": holm(p)} for p in p_values],
    "seeds_paired": [dict(deviation=s, difference=d, alpha=a, seeds=int(seeds_paired(s, d, a, 0.8))) for s, d, a in powers],
    "seeds_welch": [dict(a=s, b=b, difference=d, alpha=a, seeds=int(seeds_welch(s, b, d, a, 0.8)))
                    for (s, d, a), b in zip(powers, (0.01, 0.02, 0.001, 0.005, 1.0))],
    "main_effects": [main_effect(grid, np.repeat([0, 1, 2], 8)), main_effect(grid, np.tile(np.repeat([0, 1], 4), 3)),
                     main_effect(grid, np.tile([0, 1, 2, 3], 6)), main_effect(ten, [0, 0, 1, 1, 1, 1, 1, 1, 1, 1])],
    "expected_best": [expected_best([0.3, 0.5, 0.4, 0.5], True, 5), expected_best([2.5, 1.0, 4.0], False, 6),
                      expected_best([0.7], True, 3)],
    "report": report({"a": five, "b": other, "c": [0.4623, 0.4592, 0.4501, 0.4640, 0.4555], "d": [0.44]}),
}, sys.stdout, indent=1)
print()
