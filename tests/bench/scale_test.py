#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that scale.py works with this Encore's schema and verbs: at a small size, without checking any speed.

    tests/bench/scale_test.py build/openmp

CTest runs it as scale_script. It fails if the schema of the store changes and scale.py still writes the old
one.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()

with tempfile.TemporaryDirectory() as folder:
    done = subprocess.run([sys.executable, str(pathlib.Path(__file__).with_name("scale.py")), "--build", str(BUILD), "--runs", "30",
                           "--points", "600", "--planned", "16", "--repeat", "1", "--folder", folder],
                          stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert done.returncode == 0, done.stderr
    figures = json.loads(done.stdout)
    assert figures["database"]["runs"] == 30, figures
    assert figures["sweep"]["runs"] == 16, figures
    assert len(figures) == 2 + 8 + 5, list(figures)
    for name, row in figures.items():
        if name.startswith("exp "):
            assert row["best_wall_s"] > 0 and row["last_line"], (name, row)
    found = subprocess.run([str(BUILD / "bin/exp"), "query", "SELECT count(*) FROM run_status WHERE status = 'completed'",
                            "--csv", "--db", f"{folder}/many.db"], stdout=subprocess.PIPE, text=True, check=True)
    assert found.stdout.split() == ["count(*)", "30"], found.stdout
    checked = subprocess.run([str(BUILD / "bin/exp"), "db", "check", "--quick", "--db", f"{folder}/many.db"],
                             stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
    assert "newest" not in checked.stderr, checked.stderr
print("scale.py works")
