#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time that `exp run` adds to each run of a sweep beyond its worker: 1,000 tiny runs with a
worker that does almost nothing.

    python3 tests/bench/sweep_overhead.py [--runs 1000] [--jobs 1] [--build build/openmp] [--out samples.json]

Called by hand; docs/internals/testing.md names it. job_overhead.py imports EXPERIMENT and
worker_alone(). The worker is the scripted one of the tests (20 steps, 4 checkpoints, digests; no Kokkos), so
that only the time of the control program is left. The same worker is then started alone on copies of some of
the run folders; the median of that is the worker's own time. Prints, per run: wall time of the sweep (times
--jobs), wall beyond the worker, CPU of the control program alone (of its zombie, in /proc), CPU of the
workers. Wall times mean something on a quiet machine only. --keep FOLDER leaves the database there for
strace, perf or valgrind to look at.
"""
import argparse, json, os, shutil, statistics, subprocess, sys, tempfile, time

EXPERIMENT = """name = "tiny"
[task]
type = "ner"
[data]
type = "conll"
train = "train.conll"
dev = "train.conll"
max_length = 32
[tokenizer]
type = "wordpiece"
vocab_size = 60
[model]
width = 16
layers = 1
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 32
[model.head]
type = "linear"
[optimizer]
type = "adamw"
learning_rate = 1e-2
[schedule]
type = "constant"
[train]
batch_size = 4
epochs = 4
"""
TICK = os.sysconf("SC_CLK_TCK")


def timed(command, folder, environment):
    """Returns the command's wall time, own CPU time, and (read before it is reaped) the CPU time of its children, in seconds."""
    begin = time.perf_counter()
    process = subprocess.Popen(command, cwd=folder, env=environment, stdout=subprocess.DEVNULL)
    os.waitid(os.P_PID, process.pid, os.WEXITED | os.WNOWAIT)
    wall = time.perf_counter() - begin
    with open(f"/proc/{process.pid}/stat") as stat:
        fields = stat.read().rsplit(")", 1)[1].split()
    if process.wait() != 0:
        sys.exit(f"{' '.join(command)} ended with {process.returncode}")
    user, system, user_children, system_children = (int(f) / TICK for f in fields[11:15])
    return wall, user + system, user_children + system_children


def worker_alone(worker, folder, environment, samples=20):
    """Returns the seconds of each of `samples` workers that are started alone on copies of run folders."""
    runs = os.path.join(folder, "encore.db.runs")
    times = []
    for name in sorted(os.listdir(runs))[:samples]:
        copy = os.path.join(folder, "alone", name)
        os.makedirs(copy)
        shutil.copy(os.path.join(runs, name, "specification.json"), copy)
        reading, writing = os.pipe()
        begin = time.perf_counter()
        done = subprocess.run([worker, "train", "--run-folder", copy, "--attempt", "1", "--control-fd", str(reading)], env=environment,
                              pass_fds=[reading], stderr=subprocess.DEVNULL)
        times.append(time.perf_counter() - begin)
        os.close(reading); os.close(writing)
        if done.returncode != 0:
            sys.exit(f"the worker alone ended with {done.returncode}")
    return times


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--runs", type=int, default=1000); p.add_argument("--jobs", type=int, default=1)
    p.add_argument("--build", default="build/openmp"); p.add_argument("--out"); p.add_argument("--keep")
    a = p.parse_args()
    build = os.path.abspath(a.build)
    worker = os.path.join(build, "bin", "tests", "fake-worker")
    environment = {**os.environ, "ENCORE_WORKER": worker, "FAKE_STEP_MS": "0", "ENCORE_DB": "encore.db", "OMP_NUM_THREADS": "1"}
    folder = a.keep or tempfile.mkdtemp()
    os.makedirs(folder, exist_ok=True)
    with open(os.path.join(folder, "train.conll"), "w") as data:
        data.write("Anna\tB-PER\nlives\tO\nin\tO\nLund\tB-LOC\n.\tO\n\n" * 20)
    with open(os.path.join(folder, "sweep.toml"), "w") as file:
        file.write(f"seeds = {list(range(1, a.runs + 1))}\n" + EXPERIMENT)
    wall, own, workers = timed([os.path.join(build, "bin", "exp"), "run", "sweep.toml", "-q", "-j", str(a.jobs)], folder, environment)
    nothing = timed([os.path.join(build, "bin", "exp"), "run", "sweep.toml", "-q"], folder, environment)
    alone = worker_alone(worker, folder, environment)
    median = statistics.median(alone)
    milliseconds = lambda seconds: 1e3 * seconds / a.runs
    print(f"{a.runs} runs, {a.jobs} at once; ms a run:")
    print(f"  wall                              {milliseconds(wall) * a.jobs:8.2f}")
    print(f"  a worker alone, wall              {1e3 * median:8.2f}   ({1e3 * min(alone):.2f} to {1e3 * max(alone):.2f}, n = {len(alone)})")
    print(f"  wall beyond the worker            {milliseconds(wall) * a.jobs - 1e3 * median:8.2f}")
    print(f"  CPU of the control program        {milliseconds(own):8.2f}")
    print(f"  CPU of the workers                {milliseconds(workers):8.2f}")
    print(f"the same command again, nothing to do: {1e3 * nothing[0]:.0f} ms, {1e3 * nothing[1]:.0f} ms CPU in all")
    if a.out:
        json.dump({"arguments": vars(a), "wall": wall, "control_cpu": own, "worker_cpu": workers, "alone": alone}, open(a.out, "w"), indent=1)
    if not a.keep:
        shutil.rmtree(folder)


if __name__ == "__main__":
    main()
