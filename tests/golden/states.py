#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the results of two states of the project for the experiments in experiments/, or records those of
one.

    states.py compare BEFORE [AFTER]   builds two commits (AFTER: the files as they are), trains the experiments with both
                                       on this machine and compares identities and every digest of parameters and
                                       optimizer; one run is stopped by BEFORE in mid-epoch and resumed by AFTER
    states.py write [PROGRAM]          writes identities.json by the exp of a build (build/openmp/bin/exp)

Run it by hand before a change that must keep all bits. identity_test.cpp reads identities.json; its hashes
must never change. Exit code 0: equal; 1: a difference, which is named.
"""
import json
import pathlib
import signal
import sqlite3
import subprocess
import sys
import tempfile
import time

folder = pathlib.Path(__file__).resolve().parent
root = folder.parent.parent
experiments = sorted((folder / "experiments").glob("*.toml"))
# Losses that other CPUs must reach within a tolerance need an activation without a corner (identity_test.cpp).
smooth = "model.layer.feed_forward.activation=gelu"


def run(*command, **options):
    return subprocess.run([str(word) for word in command], check=True, **options)


def plan(exp, file, *options):
    text = run(exp, "plan", file, *options, "--json", capture_output=True, text=True).stdout
    only = json.loads(text)["runs"][0]
    return {"question": only["question"], "group": only["group"]}


def rows(database, sql):
    with sqlite3.connect(database) as connection:
        return connection.execute(sql).fetchall()


def losses(database, question):
    found = {}
    for metric, value in rows(database, f"""
            SELECT m.name, p.value FROM point p JOIN metric m ON m.number = p.metric JOIN run r ON r.number = p.run
            WHERE r.question = '{question}' AND m.name IN ('train/loss', 'dev/loss') AND p.step IN
              (SELECT step FROM point JOIN metric ON metric.number = metric
               WHERE run = r.number AND name = 'dev/loss') ORDER BY m.name, p.step"""):
        found.setdefault(metric, []).append(float(f"{value:.8g}"))
    return found


def write(exp):
    identities, seen = {}, set()
    with tempfile.TemporaryDirectory() as scratch:
        database = pathlib.Path(scratch) / "encore.db"
        for file in experiments:
            entry = plan(exp, file)
            if entry["question"] not in seen:
                seen.add(entry["question"])
                run(exp, "run", file, "--set", smooth, "--db", database, "-q", stdout=subprocess.DEVNULL)
                # Products in bfloat16 are rounded after sums whose order the CPU decides.
                entry["tolerance"] = 5e-3 if "bfloat16" in file.stem else 1e-6
                entry["losses"] = losses(database, plan(exp, file, "--set", smooth)["question"])
            identities[file.stem] = entry
    (folder / "identities.json").write_text(json.dumps(identities, indent=1) + "\n")


def build(revision, scratch):
    """A checkout of the commit with its build; the program exp."""
    place = root
    if revision:
        place = scratch / revision
        run("git", "-C", root, "worktree", "add", "--detach", place, revision, stdout=subprocess.DEVNULL)
    run(place / "exp", "-y", "build")
    return place / "build" / "openmp" / "bin" / "exp"


def digests(database):
    return {(question, step, scope): value for question, step, scope, value in rows(database, """
        SELECT r.question, d.step, d.scope, d.value FROM digest d JOIN run r ON r.number = d.run""")}


def interrupt(exp, file, database):
    """Starts the run and stops it at a checkpoint within the first epochs."""
    process = subprocess.Popen([str(exp), "run", str(file), "--db", str(database), "-q"], stdout=subprocess.DEVNULL)
    while process.poll() is None:
        if database.exists() and rows(database, "SELECT count(*) FROM sqlite_schema WHERE name = 'checkpoint'")[0][0] \
                and rows(database, "SELECT count(*) FROM checkpoint")[0][0]:
            process.send_signal(signal.SIGINT)
            break
        time.sleep(0.002)
    if process.wait() != 75:
        sys.exit(f"{file.stem} ended before it could be stopped, so that nothing was resumed; call this again")
    return rows(database, "SELECT max(step) FROM checkpoint")[0][0]


def compare(before, after):
    failures = []
    with tempfile.TemporaryDirectory() as name:
        scratch = pathlib.Path(name)
        try:
            programs = [build(before, scratch), build(after, scratch)]
            found = []
            for number, exp in enumerate(programs):
                database = scratch / f"{number}.db"
                for file in experiments:
                    run(exp, "run", file, "--db", database, "-q", stdout=subprocess.DEVNULL)
                found.append(digests(database))
            handed = scratch / "handed.db"
            file = folder / "experiments" / "resumed.toml"
            step = interrupt(programs[0], file, handed)
            run(programs[1], "db", "upgrade", "--db", handed, stdout=subprocess.DEVNULL)
            # Another build has other plugin files, which is the purpose of the comparison.
            run(programs[1], "run", file, "--db", handed, "-q", "--accept-plugin-change", stdout=subprocess.DEVNULL)
            resumed = digests(handed)
            for file in experiments:
                if plan(programs[0], file) != plan(programs[1], file):
                    failures.append(f"{file.stem}: another identity")
        finally:
            for revision in filter(None, (before, after)):
                subprocess.run(["git", "-C", root, "worktree", "remove", "--force", scratch / revision], check=False)
    if found[0].keys() != found[1].keys():
        failures.append("the two states digest other steps or tensors")
    for key in sorted(found[0].keys() & found[1].keys()):
        if found[0][key] != found[1][key]:
            failures.append("question {:.10} step {} {}: another digest".format(*key))
    for key in sorted(resumed):
        if resumed[key] != found[0].get(key):
            failures.append("resumed at step {}: question {:.10} step {} {}: another digest".format(step, *key))
    print("\n".join(failures[:20]) if failures else
          f"equal: {len(found[0])} digests of {len(experiments)} experiments, "
          f"{len(resumed)} of a run stopped at step {step} and resumed")
    return 1 if failures else 0


if __name__ == "__main__":
    words = sys.argv[1:]
    if words[:1] == ["write"]:
        write(words[1] if len(words) > 1 else root / "build/openmp/bin/exp")
    elif words[:1] == ["compare"] and len(words) > 1:
        sys.exit(compare(words[1], words[2] if len(words) > 2 else ""))
    else:
        sys.exit(__doc__)
