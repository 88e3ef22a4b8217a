#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures exp on large databases and large sweeps: wall clock and CPU time of several calls each, as JSON.

    tests/bench/scale.py [--build build/openmp] [--runs 100000] [--points 10000000] [--planned 10000] [--repeat 5]

Called by hand, and at a small size by scale_test.py (CTest: scale_script). Made in a temporary folder, from
the project's own schema (framework/store/schema.sql; a new version of it needs changes in add_runs()):
- a database of many complete runs, each with an attempt and points, for `exp ls`, `exp status` and `exp show`;
- a sweep of many runs, planned without a database, with one in which all of them are complete, and run again there;
- two more sweeps of this size, in which each run has its own learning rate, drawn at random or from a list.
The figures to compare are the smallest of each row: everything else is the noise of the machine.
"""
import argparse
import hashlib
import json
import os
import pathlib
import resource
import sqlite3
import subprocess
import sys
import tempfile
import time

ROOT = pathlib.Path(__file__).resolve().parents[2]
METRICS = ["train/loss", "train/learning_rate", "train/gradient_norm", "dev/f1"]


def make_database(path):
    database = sqlite3.connect(path, isolation_level=None)
    database.executescript((ROOT / "framework/store/schema.sql").read_text())
    database.execute("PRAGMA synchronous = OFF")
    database.execute("PRAGMA cache_size = -1000000")
    return database


def add_runs(database, runs, host, points):
    """Adds complete runs with `points` points in all; a run is (number, name, question, group, seed, parameters)."""
    now = time.time()
    steps = max(1, points // len(METRICS))
    result = json.dumps({"best_step": steps, "measures": {"dev/f1": 0.5, "test/f1": 0.49}})
    progress = json.dumps({"type": "progress", "time": now, "step": steps, "total_steps": steps, "epoch": 4, "loss": 0.1,
                           "learning_rate": 1e-3, "tokens_per_second": 1e4, "eta_seconds": 0.0})
    started = json.dumps({"type": "started", "time": now, "build": {}, "plugins": []})
    database.execute("BEGIN")
    database.execute("INSERT INTO sweep (number, name, file, content, created) VALUES (1, 'scale', 'scale.toml', '', ?)",
                     (now,))
    database.execute("INSERT INTO dataset (number, sha256) VALUES (1, ?)", ("c" * 64,))
    for number, name in enumerate(METRICS, 1):
        database.execute("INSERT INTO metric (number, name) VALUES (?, ?)", (number, name))
    for number, name, question, group, seed, params in runs:
        made = now - 1e6 + number
        database.execute(
            "INSERT INTO run (number, id, name, sweep, question, group_id, backend, seed, state, result, created, "
            "finished) VALUES (?, ?, ?, 1, ?, ?, 'openmp', ?, 'completed', ?, ?, ?)",
            (number, hashlib.sha256(name.encode()).hexdigest()[:10], name, question, group, seed, result, made,
             made + 9))
        database.execute(
            "INSERT INTO attempt (number, run, ordinal, state, started, finished, first_step, progress, token, expires,"
            " host_name, pid, process_start, boot_id, started_event) "
            "VALUES (?, ?, 1, 'completed', ?, ?, 1, ?, '', 0, ?, 1, 1, '', ?)",
            (number, number, made, made + 9, progress, host, started))
        database.execute("INSERT INTO run_dataset (run, role, dataset, path) VALUES (?, 'train', 1, '/data/train.conll')", (number,))
        database.executemany(
            "INSERT INTO param (run, key, value, type, source, at) VALUES (?, ?, ?, ?, 'file', 'scale.toml:1:1')",
            [(number, key, value, kind) for key, value, kind in params])
        database.executemany(
            "INSERT INTO point (run, metric, step, attempt, value) VALUES (?, ?, ?, ?, ?)",
            [(number, metric, step, number, 1.0 / step) for metric in range(1, len(METRICS) + 1)
             for step in range(1, steps + 1)])
        database.executemany(
            "INSERT INTO newest (run, metric, step, attempt, value, points, least, greatest) "
            "VALUES (?, ?, ?, ?, ?, ?, ?, 1.0)",
            [(number, metric, steps, number, 1.0 / steps, steps, 1.0 / steps) for metric in range(1, len(METRICS) + 1)])
    database.execute("COMMIT")
    database.close()


def many_runs(count):
    params = [("model.layers", 4, "integer"), ("model.width", 128, "integer"), ("train.epochs", 4, "integer"),
              ("optimizer.type", "adamw", "text"), ("optimizer.learning_rate", 1e-3, "number")]
    for number in range(1, count + 1):
        digest = hashlib.sha256(str(number).encode()).hexdigest()
        yield number, f"scale-{number}", digest, digest[::-1], number, params


def sweep_file(folder, planned):
    """Writes a sweep of about `planned` runs: at most ten values for each of its options except the last."""
    values = 10 if planned >= 1000 else 2
    rates = [round(1e-4 * (1 + i), 6) for i in range(max(1, planned // values**3))]
    shares = [round(0.1 * i, 1) for i in range(values)]
    seeds = list(range(1, values + 1))
    (folder / "scale.toml").write_text(
        f'name = "scale"\nbase = "{ROOT}/experiments/quickstart.toml"\nseeds = {seeds}\n[sweep.grid]\n'
        f'"model.dropout" = {shares}\n"optimizer.weight_decay" = {shares}\n"optimizer.learning_rate" = {rates}\n')
    return len(rates) * values**3


def random_file(folder, planned):
    """Writes a sweep of `planned` runs with one seed, each with its own learning rate: all configurations differ."""
    (folder / "random.toml").write_text(
        f'name = "random"\nbase = "{ROOT}/experiments/quickstart.toml"\n[sweep]\ndraws = {planned}\n'
        '[sweep.random]\n"optimizer.learning_rate" = { log_uniform = [1e-5, 1e-2] }\n')
    return str(folder / "random.toml")


def list_file(folder, planned):
    """Writes a sweep of `planned` runs whose learning rates are listed one by one."""
    rates = [round(1e-6 * (1 + i), 7) for i in range(planned)]
    (folder / "list.toml").write_text(
        f'name = "list"\nbase = "{ROOT}/experiments/quickstart.toml"\n[sweep.grid]\n"optimizer.learning_rate" = {rates}\n')
    return str(folder / "list.toml")


def measured(command, repeat):
    rows = []
    for _ in range(repeat):
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        begin = time.perf_counter()
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
        wall = time.perf_counter() - begin
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        if done.returncode != 0:
            sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr}")
        rows.append((wall, after.ru_utime - before.ru_utime + after.ru_stime - before.ru_stime))
    return {"wall_s": [round(wall, 4) for wall, _ in rows], "cpu_s": [round(cpu, 4) for _, cpu in rows],
            "best_wall_s": round(min(wall for wall, _ in rows), 4),
            "best_cpu_s": round(min(cpu for _, cpu in rows), 4),
            "last_line": (done.stdout.strip().splitlines() or [""])[-1][:200]}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--build", default="build/openmp")
    parser.add_argument("--runs", type=int, default=100_000)
    parser.add_argument("--points", type=int, default=10_000_000)
    parser.add_argument("--planned", type=int, default=10_000)
    parser.add_argument("--repeat", type=int, default=5)
    parser.add_argument("--folder", help="where to make the databases, and to keep them; default: a temporary folder")
    arguments = parser.parse_args()
    exp = str((ROOT / arguments.build / "bin/exp").resolve())
    temporary = tempfile.TemporaryDirectory()
    folder = pathlib.Path(arguments.folder or temporary.name)
    folder.mkdir(parents=True, exist_ok=True)
    os.environ["OMP_WAIT_POLICY"] = "passive"
    figures = {}

    stored = folder / "many.db"
    if arguments.runs > 0:
        if not stored.exists():
            add_runs(make_database(stored), many_runs(arguments.runs), os.uname().nodename,
                     arguments.points // arguments.runs)
        figures["database"] = {"runs": arguments.runs, "points": arguments.points, "bytes": stored.stat().st_size}
        for verb in (["ls"], ["ls", "--sweep", "scale"], ["ls", "--state", "failed"], ["ls", "--all"],
                     ["ls", "--column", "train/loss"], ["ls", "--sort", "dev/f1"], ["status"], ["show", f"scale-{arguments.runs // 2}"]):
            figures[" ".join(["exp", *verb])] = measured([exp, *verb, "--db", str(stored)], arguments.repeat)

    count = sweep_file(folder, arguments.planned)
    sweep, none, complete = str(folder / "scale.toml"), str(folder / "none.db"), folder / "complete.db"
    figures["sweep"] = {"runs": count}
    figures["exp plan, no database"] = measured([exp, "plan", sweep, "--db", none], arguments.repeat)
    for what, file in (("random draws", random_file(folder, arguments.planned)),
                       ("a long list", list_file(folder, arguments.planned))):
        figures[f"exp plan, no database, {what}"] = measured([exp, "plan", file, "--db", none], arguments.repeat)
    if not complete.exists():
        plan = json.loads(subprocess.check_output([exp, "plan", sweep, "--db", none, "--json"]))
        add_runs(make_database(complete),
                 [(number, run["name"], run["question"], run["group"], run["seed"], [("train.epochs", 4, "integer")])
                  for number, run in enumerate(plan["runs"], 1)], os.uname().nodename, len(METRICS))
    for verb in ("plan", "run"):
        figures[f"exp {verb}, all complete"] = measured([exp, verb, sweep, "--db", str(complete)], arguments.repeat)
    print(json.dumps(figures, indent=2))


if __name__ == "__main__":
    main()
