#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that the program promises finds the promises of an application kept, and finds a fault: with half of the
confidence a promise breaks about every fourth time.

    tests/bench/promises_test.py build/openmp

CTest runs it as promises_script. It trains experiments/tickets.toml, which takes seconds.
"""
import json
import math
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
EXPERIMENTS = pathlib.Path(__file__).resolve().parent.parent.parent / "experiments"
KEPT, BROKEN, INVALID = 0, 1, 2

with tempfile.TemporaryDirectory() as folder:
    exp = [str(BUILD / "bin/exp")]
    database = ["--db", f"{folder}/encore.db"]
    subprocess.run(exp + ["run", str(EXPERIMENTS / "apps/support.toml"), "-q", *database], check=True)
    shown = subprocess.run(exp + ["show", "support", "--json", *database], check=True, capture_output=True, text=True)
    run = json.loads(shown.stdout)["folder"]

    def measured(status, *arguments):
        """Returns the JSON that the program prints, after its exit status is checked."""
        command = [str(BUILD / "bin/tests/promises"), run, "--json", "--draws", "60", *arguments]
        done = subprocess.run(command, capture_output=True, text=True)
        assert done.returncode == status, (command, done.returncode, done.stderr)
        return json.loads(done.stdout) if status != INVALID else done.stderr

    for draw in ([], ["--replace"]):
        kept = measured(KEPT, *draw)
        assert math.isclose(kept["error"]["allowed"], 60 * 0.05 + 2), kept["error"]
        assert kept["error"]["is_kept"] and kept["missed"]["is_kept"], kept
        assert 0.5 < kept["automation"]["mean"] < 0.9, kept["automation"]
        fault = measured(BROKEN, "--set", "confidence=0.5", "--allowed", "0.05", *draw)
        assert fault["error"]["above"] > kept["error"]["above"], (kept["error"], fault["error"])
        assert fault["automation"]["mean"] > kept["automation"]["mean"], (kept["automation"], fault["automation"])

    costs = measured(KEPT, "--set", "error=", "--set", "missed=", "--set", "cost_wrong=10", "--set", "cost_review=1")
    assert costs["cost"]["above_both"] == 0 and "error" not in costs, costs
    same = measured(KEPT, "--seed", "7"), measured(KEPT, "--seed", "7"), measured(KEPT, "--seed", "8")
    assert same[0] == same[1] and same[0] != same[2], "a seed repeats its draws"
    assert "--out-of-scope: the pool has" in measured(INVALID, "--out-of-scope", "100000")
    assert "invalid --dev 2400" in measured(INVALID, "--dev", "2400")
print("promises: kept, and a fault found")
