#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the cost of one `exp predict` of one sentence from its start to its end: wall time, CPU time,
resident memory.

    python3 tests/bench/predict_start.py --exp build/openmp/bin/exp --db encore.db --run seed_ner --rounds 20 \\
        --json samples.json
    python3 tests/bench/predict_start.py --exp NEW/bin/exp --exp OLD/bin/exp --db encore.db --run seed_ner

Called by hand. If several --exp are given, they take turns, so
that all see the same machine, and must give one answer. One round before the first is thrown away: files are
in the page cache. `exp` becomes the worker, so the times and the peak are those of both. Prints the medians;
--json writes every sample too. It is not a test: a machine's speed is not the code's correctness.
"""
import argparse, json, os, statistics, subprocess, sys, tempfile, time

FIGURES = {"wall_seconds": "{:.3f} s", "user_seconds": "{:.3f} s", "system_seconds": "{:.3f} s", "peak_bytes": "{:,.0f} bytes"}


def turn(command):
    """Starts the command once and returns its sample and its answer."""
    with tempfile.TemporaryFile() as out:
        begin = time.monotonic()
        process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=out)
        _, status, usage = os.wait4(process.pid, 0)
        wall = time.monotonic() - begin
        process.returncode = os.waitstatus_to_exitcode(status)
        if process.returncode != 0:
            raise SystemExit(f"exit code {process.returncode}: {' '.join(command)}")
        out.seek(0)
        sample = {"wall_seconds": wall, "user_seconds": usage.ru_utime, "system_seconds": usage.ru_stime, "peak_bytes": usage.ru_maxrss * 1024}
        return sample, out.read().decode()


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exp", action="append", required=True)
    parser.add_argument("--db", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--text", default="Anna Berg met the mayor of Lund .")
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument("--json", help="a file for every sample")
    arguments = parser.parse_args()
    commands = {exp: [exp, "predict", arguments.run, arguments.text, "--format", "jsonl", "--db", arguments.db] for exp in arguments.exp}
    samples, answers = {exp: [] for exp in commands}, set()
    for number in range(arguments.rounds + 1):
        for exp, command in commands.items():
            sample, answer = turn(command)
            answers.add(answer)
            if number > 0:
                samples[exp].append(sample)
    if len(answers) != 1:
        raise SystemExit(f"the answers differ: {sorted(answers)}")
    medians = {exp: {name: statistics.median(each[name] for each in turns) for name in FIGURES} for exp, turns in samples.items()}
    for exp, figures in medians.items():
        print(exp, "  ".join(f"{name} {form.format(figures[name])}" for name, form in FIGURES.items()), file=sys.stdout)
    if arguments.json:
        with open(arguments.json, "w") as out:
            json.dump({"medians": medians, "samples": samples}, out, indent=1)


main()
