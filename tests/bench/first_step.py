#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the wall time from starting `exp run` to the end of step 1, with an empty and a warm token cache,
in turn.

    ENCORE_DATA=DIR python3 tests/bench/first_step.py --exp build/openmp/bin/exp \\
        --experiment experiments/wikineural.toml --rounds 5 --out samples.json

Called by hand, and by compare.py, which reads the JSON of --out. Every turn starts a new database in a folder
of its own. The times are those that the worker writes into its spool: `started` when data, tokenizer and
model are loaded, `step_0` when the digests of the initial parameters are recorded, `step_1` when the first
step has ended; then the whole group of processes is killed. Prints each turn and the medians; --out keeps
every sample. Files are in the page cache from the second turn on: `cold` is about the token cache, not about
the disk. It is not a test: a machine's speed is not the code's correctness.
"""
import argparse, glob, json, os, re, shutil, signal, statistics, subprocess, tempfile, time

MARKS = {
    "started": rb'"time":([0-9.]+),"type":"started"',
    "step_0": rb'"scope":"parameters","step":0.*?"time":([0-9.]+)',
    "step_1": rb'"step":1,[^{}]*"time":([0-9.]+)[^{}]*"type":"progress"',
}


def marks_in(spools):
    """Returns the time of each mark (started, step_0, step_1) that the spools hold so far."""
    text = b"".join(open(name, "rb").read() for name in spools)
    found = {name: re.search(pattern, text, re.DOTALL) for name, pattern in MARKS.items()}
    return {name: float(match.group(1)) for name, match in found.items() if match}


def turn(arguments, cache, patience=120.0):
    """Starts one run and returns the seconds from its start to each mark."""
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        database = os.path.join(folder, "encore.db")
        begin = time.time()
        command = [arguments.exp, "run", arguments.experiment, "--seed", "1", "--db", database]
        process = subprocess.Popen(
            command, env={**os.environ, "ENCORE_CACHE": cache}, stdout=subprocess.DEVNULL, start_new_session=True
        )
        marks = {}
        while len(marks) < len(MARKS) and process.poll() is None and time.time() - begin < patience:
            time.sleep(0.01)
            marks = marks_in(glob.glob(database + ".runs/*/attempt-0001.spool"))
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
        process.wait()
        if len(marks) < len(MARKS):
            raise SystemExit(f"no first step within {patience:.0f} s; try the command by hand: {' '.join(command)}")
        time.sleep(1.0)  # a worker outside the group notices that its parent is gone, and ends
        return {name: at - begin for name, at in marks.items()}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exp", required=True)
    parser.add_argument("--experiment", required=True)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--out")
    arguments = parser.parse_args()
    samples = {"cold": [], "warm": []}
    with tempfile.TemporaryDirectory() as cache:
        for _ in range(arguments.rounds):
            shutil.rmtree(os.path.join(cache, "tokens"), ignore_errors=True)
            for kind in samples:
                samples[kind].append(turn(arguments, cache))
                print(kind, "  ".join(f"{name} {at:.3f} s" for name, at in samples[kind][-1].items()), flush=True)
    for kind, turns in samples.items():
        print("median", kind, "  ".join(f"{name} {statistics.median(each[name] for each in turns):.3f} s" for name in MARKS))
    if arguments.out:
        with open(arguments.out, "w") as out:
            json.dump(samples, out, indent=1)


main()
