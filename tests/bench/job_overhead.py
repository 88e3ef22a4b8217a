#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the time that `exp job` adds to each run beyond its worker, in a Slurm job that does many runs one
after the other.

    python3 tests/bench/job_overhead.py [--runs 100] [--rounds 5] [--folder /dev/shm] [--build build/openmp] \\
        [--out samples.json]

Called by hand; docs/guides/sites.md has its results. No Slurm is needed:
stand-ins for sbatch, squeue and scontrol let `exp run --launcher slurm --detach` write the orders (one file
for each run) of one job, and this program then works on them as the job would (`exp job ORDER...`). The
worker is the scripted one of the tests. A round works on all runs as the job does, and starts the same
workers from this program on copies of the same run folders; the two take turns at being first. The difference
of a round, divided by its runs, is one sample. Both wait for the disk most of the time (fsync), so a second
figure, with a worker that does nothing, is the time of the job itself. --folder chooses the file system. Wall
times mean something on a quiet machine only.
"""
import argparse, glob, json, os, random, shutil, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sweep_overhead import EXPERIMENT, worker_alone


def stand_in(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)


def median_interval(samples):
    """Returns the median and its 95 % percentile interval over 10,000 resamples."""
    source = random.Random(1)
    medians = sorted(statistics.median(source.choices(samples, k=len(samples))) for _ in range(10000))
    return statistics.median(samples), medians[250], medians[9749]


def write_orders(exp, folder, runs, environment):
    """Lets `exp run` write the orders of one job that has all runs, and returns their paths."""
    with open(os.path.join(folder, "train.conll"), "w") as data:
        data.write("Anna\tB-PER\nlives\tO\nin\tO\nLund\tB-LOC\n.\tO\n\n" * 20)
    with open(os.path.join(folder, "sweep.toml"), "w") as file:
        file.write(f"seeds = {list(range(1, runs + 1))}\n" + EXPERIMENT)
    with open(os.path.join(folder, "site.toml"), "w") as file:
        file.write(f"[slurm]\nruns_per_job = {runs}\n")
    subprocess.run([exp, "run", "sweep.toml", "-q", "--launcher", "slurm", "--site", "site.toml", "--detach"], cwd=folder, env=environment,
                   check=True, stdout=subprocess.DEVNULL)
    (orders,) = glob.glob(os.path.join(folder, "encore.db.runs", "jobs", "*", "0.orders"))
    with open(orders) as file:
        words = file.read().split()
    shutil.rmtree(os.path.join(folder, "encore.db.runs", "jobs"))
    return words


def set_program(orders, program):
    for order in orders:
        with open(order) as file:
            content = json.load(file)
        content["program"] = program
        with open(order, "w") as file:
            json.dump(content, file)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--runs", type=int, default=100); p.add_argument("--rounds", type=int, default=5); p.add_argument("--folder")
    p.add_argument("--build", default="build/openmp"); p.add_argument("--out")
    a = p.parse_args()
    build = os.path.abspath(a.build)
    exp, worker = os.path.join(build, "bin", "exp"), os.path.join(build, "bin", "tests", "fake-worker")
    folder = tempfile.mkdtemp(dir=a.folder)
    commands = os.path.join(folder, "commands")
    os.makedirs(commands)
    stand_in(commands, "scontrol", "echo 'MaxArraySize            = 1001'")
    stand_in(commands, "sbatch", "echo 1")
    stand_in(commands, "squeue", "exit 0")
    environment = {**os.environ, "ENCORE_WORKER": worker, "FAKE_STEP_MS": "0", "ENCORE_DB": "encore.db", "OMP_NUM_THREADS": "1",
                   "PATH": commands + ":" + os.environ["PATH"]}
    orders = write_orders(exp, folder, a.runs, environment)
    runs = os.path.join(folder, "encore.db.runs")
    kept = os.path.join(folder, "kept")
    samples = {"job": [], "alone": [], "beyond": [], "empty": [], "empty_alone": []}
    try:
        set_program(orders, worker)
        shutil.copytree(runs, kept)

        def fresh():
            """Restores the folders as exp left them, and waits until all writes are on the disk."""
            shutil.rmtree(runs); shutil.rmtree(os.path.join(folder, "alone"), ignore_errors=True)
            shutil.copytree(kept, runs)
            os.sync()

        def job(program):
            fresh()
            set_program(orders, program)
            os.sync()
            begin = time.perf_counter()
            subprocess.run([exp, "job", *orders], cwd=folder, env=environment, check=True)
            return 1e3 * (time.perf_counter() - begin) / a.runs

        def alone():
            fresh()
            return 1e3 * statistics.mean(worker_alone(worker, folder, environment, a.runs))

        def true_alone():
            begin = time.perf_counter()
            for _ in orders:
                subprocess.run(["/bin/true"], env=environment)
            return 1e3 * (time.perf_counter() - begin) / a.runs

        for number in range(a.rounds):
            first = number % 2 == 0
            if first: samples["alone"].append(alone())
            samples["job"].append(job(worker))
            if not first: samples["alone"].append(alone())
            samples["beyond"].append(samples["job"][-1] - samples["alone"][-1])
            samples["empty"].append(job("/bin/true"))
            samples["empty_alone"].append(true_alone())
    finally:
        shutil.rmtree(folder)
    print(f"{a.rounds} rounds of {a.runs} runs in one job, in {a.folder or tempfile.gettempdir()}; ms a run, median (95 %):")
    for name, text in (("job", "wall of the job"), ("alone", "the same workers alone"), ("beyond", "wall beyond the worker"),
                       ("empty", "wall with a worker that is `true`"), ("empty_alone", "`true` started from this program")):
        print("  {:36}{:8.2f}  ({:.2f} to {:.2f})".format(text, *median_interval(samples[name])))
    if a.out:
        with open(a.out, "w") as file:
            json.dump({"arguments": vars(a), **samples}, file, indent=1)


if __name__ == "__main__":
    main()
