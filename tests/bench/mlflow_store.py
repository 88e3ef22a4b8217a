#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of a point in MLflow's local SQLite store, for comparison with logging_cost.cpp, which
measures Encore's.

    python3 tests/bench/mlflow_store.py [--points 20000] [--rounds 3] [--out samples.json]

Called by hand; docs/internals/testing.md names it. MLflow is used as it comes (tracking store sqlite:///file,
its own pragmas), through MlflowClient, so that the cost of the fluent layer is left out: log_metric one by
one, and log_batch with 1,000 points a call, its limit. CPU time of this process and wall time. Without the
package it exits with 77. Encore's side: build/openmp/bin/tests/logging_cost.
"""
import argparse, json, logging, os, statistics, sys, tempfile, time

try:
    import mlflow
    from mlflow.entities import Metric
    from mlflow.tracking import MlflowClient
except ImportError:
    print("skipped: the Python package mlflow is not there (pip install mlflow)")
    sys.exit(77)

LIMIT_OF_A_BATCH = 1000


def measured(work, points):
    """Calls `work` and returns its milliseconds per point: CPU, wall."""
    cpu, wall = time.process_time(), time.perf_counter()
    work()
    return [1e3 * (time.process_time() - cpu) / points, 1e3 * (time.perf_counter() - wall) / points]


def one_round(folder, number, points):
    client = MlflowClient(tracking_uri=f"sqlite:///{folder}/mlflow-{number}.db")
    run = client.create_run(client.create_experiment("bench")).info.run_id
    client.log_metric(run, "warm", 0.0, step=0)
    now = int(time.time() * 1000)
    single = max(50, points // 100)

    def one_by_one():
        for step in range(single):
            client.log_metric(run, "loss", 1.0 / (step + 1), timestamp=now, step=step)

    def in_batches():
        for begin in range(0, points, LIMIT_OF_A_BATCH):
            steps = range(begin // 10, (begin + LIMIT_OF_A_BATCH) // 10)
            client.log_batch(run, metrics=[Metric(f"metric_{m}", 1.0 / (s + 1), now, s) for s in steps for m in range(10)])

    return {"log_metric": measured(one_by_one, single), "log_batch": measured(in_batches, points)}


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--points", type=int, default=20000); p.add_argument("--rounds", type=int, default=3); p.add_argument("--out")
    a = p.parse_args()
    logging.disable(logging.CRITICAL)
    with tempfile.TemporaryDirectory() as folder:
        rounds = [one_round(folder, number, a.points) for number in range(a.rounds)]
    print(f"mlflow {mlflow.__version__}, {a.rounds} rounds, median ms per point (CPU, wall)")
    for call in ("log_metric", "log_batch"):
        cpu, wall = (statistics.median(r[call][i] for r in rounds) for i in (0, 1))
        print(f"  {call:10} {cpu:8.3f} {wall:8.3f}   {1e3 / wall:10.0f} points/s")
    if a.out:
        json.dump({"version": mlflow.__version__, "points": a.points, "rounds": rounds}, open(a.out, "w"), indent=1)


if __name__ == "__main__":
    main()
