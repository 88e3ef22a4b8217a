#!/usr/bin/env python3
"""What a run costs beyond its worker inside a job of Slurm that works on many runs one after the other.

    python3 tests/bench/job_overhead.py [--runs 200] [--build build/openmp] [--out samples.json]

No Slurm is needed: commands of its names that only answer have `exp run --launcher slurm --detach` write the orders of one job, and this
program then works on them as the job would (`exp job ORDER...`). The worker is the scripted one of the tests; the same worker is started alone on
copies of some of the run folders, and the median of that is the worker's own time. Both wait for the disk most of the time (fsync), so a third
figure, with a worker that does nothing, says what the job itself takes. Wall times mean something on a quiet machine only.
"""
import argparse, glob, json, os, shutil, statistics, subprocess, sys, tempfile, time

sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from sweep_overhead import EXPERIMENT, worker_alone


def stand_in(folder, name, text):
    path = os.path.join(folder, name)
    with open(path, "w") as file:
        file.write("#!/bin/sh\n" + text + "\n")
    os.chmod(path, 0o755)


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--runs", type=int, default=200); p.add_argument("--build", default="build/openmp"); p.add_argument("--out")
    a = p.parse_args()
    build = os.path.abspath(a.build)
    exp, worker = os.path.join(build, "bin", "exp"), os.path.join(build, "bin", "tests", "fake-worker")
    folder = tempfile.mkdtemp()
    commands = os.path.join(folder, "commands")
    os.makedirs(commands)
    stand_in(commands, "scontrol", "echo 'MaxArraySize            = 1001'")
    stand_in(commands, "sbatch", "echo 1")
    stand_in(commands, "squeue", "exit 0")
    environment = {**os.environ, "ENCORE_WORKER": worker, "FAKE_STEP_MS": "0", "ENCORE_DB": "encore.db", "OMP_NUM_THREADS": "1",
                   "PATH": commands + ":" + os.environ["PATH"]}
    with open(os.path.join(folder, "train.conll"), "w") as data:
        data.write("Anna\tB-PER\nlives\tO\nin\tO\nLund\tB-LOC\n.\tO\n\n" * 20)
    with open(os.path.join(folder, "sweep.toml"), "w") as file:
        file.write(f"seeds = {list(range(1, a.runs + 1))}\n" + EXPERIMENT)
    with open(os.path.join(folder, "site.toml"), "w") as file:
        file.write(f"[slurm]\nruns_per_job = {a.runs}\n")
    subprocess.run([exp, "run", "sweep.toml", "-q", "--launcher", "slurm", "--site", "site.toml", "--detach"], cwd=folder, env=environment,
                   check=True, stdout=subprocess.DEVNULL)
    (orders,) = glob.glob(os.path.join(folder, "encore.db.runs", "jobs", "*", "0.orders"))
    with open(orders) as file:
        words = file.read().split()
    def work():
        begin = time.perf_counter()
        subprocess.run([exp, "job", *words], cwd=folder, env=environment, check=True)
        wall = time.perf_counter() - begin
        for report in glob.glob(os.path.join(folder, "encore.db.runs", "*", "*.job")):
            os.remove(report)
        return wall

    def set_program(program):
        for word in words:
            with open(word) as file:
                order = json.load(file)
            order["program"] = program
            with open(word, "w") as file:
                json.dump(order, file)

    set_program("/bin/true")
    empty = work()
    begin = time.perf_counter()
    for word in words:
        subprocess.run(["/bin/true"])
    empty_alone = time.perf_counter() - begin
    set_program(worker)
    wall = work()
    shutil.rmtree(os.path.join(folder, "encore.db.runs", "jobs"))
    alone = worker_alone(worker, folder, environment)
    median = statistics.median(alone)
    print(f"{a.runs} runs in one job; ms a run:")
    print(f"  wall                              {1e3 * wall / a.runs:8.2f}")
    print(f"  a worker alone, wall              {1e3 * median:8.2f}   ({1e3 * min(alone):.2f} to {1e3 * max(alone):.2f}, n = {len(alone)})")
    print(f"  wall beyond the worker            {1e3 * (wall / a.runs - median):8.2f}")
    print(f"  wall with a worker that is `true` {1e3 * empty / a.runs:8.2f}   ({1e3 * empty_alone / a.runs:.2f} started from this program)")
    if a.out:
        json.dump({"arguments": vars(a), "wall": wall, "empty": empty, "empty_alone": empty_alone, "alone": alone}, open(a.out, "w"), indent=1)
    shutil.rmtree(folder)


if __name__ == "__main__":
    main()
