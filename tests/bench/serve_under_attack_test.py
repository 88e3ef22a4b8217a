#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests that all honest clients of a server under attack get answers: a short run of serve_under_attack.py,
whose times are not judged.

    tests/bench/serve_under_attack_test.py build/openmp

CTest runs it as serve_under_attack_script.
"""
import json
import pathlib
import subprocess
import sys
import tempfile

BUILD = pathlib.Path(sys.argv[1]).resolve()
HERE = pathlib.Path(__file__).resolve().parent
EXPERIMENTS = HERE.parent.parent / "experiments"
SHORT = ["--rounds", "1", "--quiet", "0.3", "--attack", "2", "--clients", "2", "--pause", "0.02", "--json"]

with tempfile.TemporaryDirectory() as folder:
    database = f"{folder}/encore.db"
    subprocess.run([str(BUILD / "bin/exp"), "run", str(EXPERIMENTS / "quickstart.toml"), "-q", "--db", database, "-S", "train.epochs=1",
                    "-S", "tokenizer.lowercase=true"], check=True)
    for token in ([], ["--token"]):
        done = subprocess.run([sys.executable, str(HERE / "serve_under_attack.py"), "--exp", str(BUILD / "bin/exp"), "--db", database, "--run",
                               "quickstart", "--texts", str(EXPERIMENTS / "corpus/dev.conll"), "--samples", f"{folder}/samples.csv", *SHORT, *token],
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        assert done.returncode == 0, done.stdout + done.stderr
        report = json.loads(done.stdout)
        for phase in ("quiet", "attacked"):
            assert set(report[phase]["answers"]) == {"200"}, report
        attacks = report["attacks"]
        assert attacks.get("marks 401" if token else "marks 200", 0) > 0, report
        assert attacks["promises"] > 0 and attacks["garbage"] > 0, report
        rows = pathlib.Path(f"{folder}/samples.csv").read_text().splitlines()
        assert rows[0] == "phase,time_s,ms,answer" and len(rows) == 1 + report["quiet"]["requests"] + report["attacked"]["requests"], rows[:2]
print("every honest request was answered")
