#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests what docs/guides/upgrade.md says, on stores that earlier versions have written (version_N.tar.gz).

    upgrade_test.py TREE PREFIX [version_9 ...]        PREFIX/bin/exp is tested

CTest runs it as upgrade_test. A store of an older schema is refused and unchanged until `exp db upgrade`; then its runs,
models, bundles and exported folders give what they gave, an interrupted run resumes, and the runs of an experiment file
are found and not trained again. Going back restores every row, and a second upgrade brings back what was trained in
between. A store of the newest schema goes through the same, except for the upgrade. make_version.py writes such a store;
when the schema changes, add that of the last commit with the old one. Exits with 77 (skipped) if the worker does not run.
"""
import hashlib
import json
import os
import pathlib
import re
import shutil
import signal
import sqlite3
import subprocess
import sys
import tarfile
import tempfile
import time
import urllib.request

problems = []
NEVER = 253402300799.0   # the lease of a run that waits in Slurm or trains on another machine


def expect(condition, what):
    if not condition:
        problems.append(f"{Store.name}: {what}")


def sha256(path):
    return hashlib.sha256(path.read_bytes()).hexdigest()


def rows_of(path):
    """All of a database as SQL, with its version."""
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return [f"PRAGMA user_version = {database.execute('PRAGMA user_version').fetchone()[0]}", *database.iterdump()]
    finally:
        database.close()


def change(path, *statements):
    database = sqlite3.connect(path)
    for statement in statements:
        database.execute(statement)
    database.commit()
    database.close()


class Store:
    """A folder with an unpacked store, in which exp is called as a user does."""
    name = ""

    def __init__(self, exp, archive, folder):
        Store.name = archive.name.split(".")[0]
        with tarfile.open(archive) as file:
            file.extractall(folder)   # of this repository
        self.exp, self.folder = exp, folder / "store"
        self.facts = json.loads((self.folder / "about.json").read_text(encoding="utf-8"))
        self.schema = self.facts["schema"]
        self.rows_before, self.files_before = rows_of(self.folder / "encore.db"), files_of(self.folder / "encore.db.runs")

    def call(self, *words, code=0, database="encore.db"):
        environment = {**os.environ, "ENCORE_DB": database, "ENCORE_CACHE": str(self.folder.parent / "cache"), "OMP_NUM_THREADS": "1"}
        done = subprocess.run([self.exp, *words], cwd=self.folder, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, env=environment)
        if code is not None:
            expect(done.returncode == code, f"exp {' '.join(words)}: exit code {done.returncode}, not {code}\n{done.stdout}{done.stderr}")
        return done.stdout + done.stderr

    def json(self, *words, database="encore.db"):
        return json.loads(self.call(*words, "--json", database=database))

    def says(self, part, *words, code=0, database="encore.db"):
        text = self.call(*words, code=code, database=database)
        expect(part in text, f"exp {' '.join(words)} does not say \"{part}\":\n{text}")

    def query(self, sql, database="encore.db"):
        connection = sqlite3.connect(f"file:{self.folder / database}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()


def check_refusal(store, newest):
    """An older database is refused by every verb that reads or writes it, and no byte of it changes."""
    before = sha256(store.folder / "encore.db")
    message = f"is of version {store.schema}, this Encore needs {newest}; run exp db upgrade, which keeps a copy"
    for words in (["ls"], ["run", "tiny.toml"], ["predict", "tiny", "x"], ["serve", "tiny", "--port", "0"], ["db", "backup", "copy.db"],
                  ["bundle", "tiny", "-o", "again.tar.zst"], ["status"], ["gc", "--dry-run"]):
        store.says(message, *words, code=2)
    store.says(message, "db", "merge", "encore.db", code=2, database="other.db")
    expect(sha256(store.folder / "encore.db") == before, "a refused command has changed the database")


def check_upgrade(store, newest):
    """The upgrade waits for runs, keeps a copy of every row, and is done once."""
    shutil.copytree(store.folder / "encore.db.runs", store.folder / "runs-of-before")
    waiting = store.folder / "waiting.db"
    shutil.copy(store.folder / "encore.db", waiting)
    change(waiting, f"UPDATE attempt SET state = 'running', expires = {NEVER} WHERE number = (SELECT max(number) FROM attempt)")
    store.says('is training: run "exp stop', "db", "upgrade", code=2, database="waiting.db")
    expect(store.query("PRAGMA user_version", "waiting.db") == [(store.schema,)], "a refused upgrade has changed the database")
    backup = f"encore.db.version-{store.schema}.backup"
    store.says(f"encore.db now has version {newest}; the copy of version {store.schema} is {backup}", "db", "upgrade")
    expect(rows_of(store.folder / backup) == store.rows_before, "the copy has other rows than the database had")
    store.says(f"encore.db already has version {newest}, nothing to do", "db", "upgrade")


def check_contents(store):
    """Runs, models and bundles are what they were."""
    expect(states_of(store).items() >= {"tiny": "completed", "halted": "interrupted"}.items(), f"the runs are {states_of(store)}")
    store.call("db", "check")
    for text, answer in store.facts["answers"].items():
        expect(store.json("predict", "tiny", text) == answer, f"the model answers \"{text}\" by {store.call('predict', 'tiny', text, '--json')}")
    attempts = store.query("SELECT count(*) FROM attempt")
    store.says("tiny", "run", "tiny.toml", "-q")
    expect(store.query("SELECT count(*) FROM attempt") == attempts, "a complete run was trained again")
    verdict = store.call("verify", "tiny.tar.zst", "-q", code=None)
    expect(re.search(r"^tiny (equal|not comparable): ", verdict, re.M), f"the verdict about a run of the other version is {verdict}")
    store.call("bundle", "show", "tiny.tar.zst")
    store.call("db", "merge", "tiny.tar.zst", database="of_bundle.db")
    expect(store.query("SELECT run.name, origin.kind FROM run JOIN origin ON origin.number = run.origin", "of_bundle.db") == [("tiny", "bundle")],
           "the bundle has the run tiny")


def check_service(store, newest):
    """A server answers from the run, the folder and the bundle as before, and keeps its models when the database becomes newer."""
    for what in ("tiny", "./tiny-model", "tiny.tar.zst"):
        out = store.folder / "serve.txt"
        with open(out, "w", encoding="utf-8") as file:
            server = subprocess.Popen([store.exp, "serve", what, "--port", "0"], cwd=store.folder, stdin=subprocess.DEVNULL, stdout=file, stderr=file,
                                      env={**os.environ, "ENCORE_DB": "encore.db", "OMP_NUM_THREADS": "1"})
        try:
            wait_for(lambda: "serving tiny" in out.read_text() or server.poll() is not None)
            address = re.search(r"listening on (\S+)", out.read_text())
            expect(address is not None, f"exp serve {what}: {out.read_text()}")
            if address is None:
                continue

            def ask(address=address.group(1)):
                request = urllib.request.Request(f"{address}/v1/predict", json.dumps({"inputs": list(store.facts["answers"])}).encode(),
                                                 {"Content-Type": "application/json"})
                return json.loads(urllib.request.urlopen(request, timeout=60).read())

            answers = ask()
            expect(answers["results"] == list(store.facts["answers"].values()), f"exp serve {what} answers {answers}")
            if what == "tiny":
                change(store.folder / "encore.db", f"PRAGMA user_version = {newest + 1}")
                store.says(f"encore.db was made by a newer Encore (version {newest + 1}, this one knows {newest}); update Encore, or name another file "
                           "with --db", "ls", code=2)
                store.says("was made by a newer Encore", "db", "upgrade", code=2)
                server.send_signal(signal.SIGHUP)
                wait_for(lambda: "newer Encore" in out.read_text())
                expect(ask() == answers, "after SIGHUP with a newer database the server answers otherwise")
                change(store.folder / "encore.db", f"PRAGMA user_version = {newest}")
        finally:
            server.terminate()
            server.wait()


def wait_for(condition):
    end = time.monotonic() + 300   # ends only a test that hangs
    while not condition() and time.monotonic() < end:
        time.sleep(0.05)


def check_resuming(store, newest):
    """An interrupted run resumes from its checkpoint of the older version, once the user has accepted the new plugins."""
    def attempts():
        return store.query("SELECT first_step FROM attempt JOIN run ON run.number = attempt.run WHERE run.name = 'halted' ORDER BY ordinal")

    before = attempts()
    # Two builds of one commit have equal plugins, so this makes sure that they are those of another version.
    change(store.folder / "encore.db", "UPDATE plugin SET sha256 = substr(sha256, 2) || substr(sha256, 1, 1)")
    # A new version of the SDK adds a line about the build.
    kept = [line for line in store.call("plan", "tiny.toml").splitlines() if "is kept" in line and "another build" not in line]
    expect(len(kept) == 1 and ' of its plugins have changed: "' in kept[0], f"one line names all changed plugins: {kept}")
    for part in ('cannot be resumed: plugin "', "pass --accept-plugin-change"):
        store.says(part, "run", "halted.toml", "-q", code=2)
    expect(attempts() == before, "a refused run has a new attempt")
    store.call("run", "halted.toml", "-q", "--accept-plugin-change")
    expect(len(before) == 1 and len(attempts()) == 2 and attempts()[1][0] > 1, f"the attempts begin at steps {attempts()}")
    expect(store.query("SELECT state FROM run WHERE name = 'halted'") == [("completed",)], "the interrupted run is complete")


def files_of(folder):
    return {str(path.relative_to(folder)): sha256(path) for path in sorted(folder.rglob("*")) if path.is_file()}


def states_of(store):
    return {row["name"]: row["state"] for row in store.json("ls")}


def check_going_back(store, newest):
    """The commands of the page: keep the newer store under another name, restore the copies; later upgrade again and merge."""
    folder = store.folder
    store.call("run", "tiny.toml", "-q", "-S", "seed=3", "-S", "name=since")
    store.call("db", "backup", "newer.db")
    (folder / "encore.db.runs").rename(folder / "newer.db.runs")
    for ending in ("", "-wal", "-shm"):
        (folder / f"encore.db{ending}").unlink(missing_ok=True)
    shutil.copy(folder / f"encore.db.version-{store.schema}.backup", folder / "encore.db")
    shutil.copytree(folder / "runs-of-before", folder / "encore.db.runs")
    expect(rows_of(folder / "encore.db") == store.rows_before and files_of(folder / "encore.db.runs") == store.files_before,
           "the restored store is not what it was before the upgrade")
    store.says(f"now has version {newest}", "db", "upgrade")
    expect("since" not in states_of(store) and states_of(store)["halted"] == "interrupted", f"the restored runs are {states_of(store)}")
    store.says("since", "db", "merge", "newer.db")
    expect(states_of(store).items() >= {"tiny": "completed", "halted": "completed", "since": "completed"}.items(),
           f"after the second upgrade the runs are {states_of(store)}")
    store.call("db", "check")
    for text, answer in store.facts["answers"].items():
        expect(store.json("predict", "tiny", text) == answer, "the merged run answers as before")


def check_queue(store):
    if (store.folder / "desk.queue").exists():
        store.call("review", "ls", "desk.queue")
        change(store.folder / "desk.queue", "PRAGMA user_version = 2")
        store.says("review queue desk.queue is of version 2, this Encore needs 1; use the Encore that made it, or make a new queue with exp review new",
                   "review", "ls", "desk.queue", code=2)


def main():
    tree, prefix = (pathlib.Path(path).resolve() for path in sys.argv[1:3])
    exp = prefix / "bin" / "exp"
    if subprocess.run([prefix / "bin" / "encore-worker", "version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: this worker does not run here")
        return 77
    newest = int(re.search(r"schema_version = (\d+);", (tree / "framework/store/encore_database.hpp").read_text(encoding="utf-8")).group(1))
    archives = sorted((tree / "tests/system/upgrade").glob("version_*.tar.gz"))
    wanted = sys.argv[3:]
    seen = set()
    for archive in archives:
        if wanted and archive.name.split(".")[0] not in wanted:
            continue
        with tempfile.TemporaryDirectory(prefix="encore-upgrade-") as work:
            store = Store(exp, archive, pathlib.Path(work))
            seen.add(store.schema)
            if store.schema < newest:
                check_refusal(store, newest)
                check_upgrade(store, newest)
            check_contents(store)
            check_service(store, newest)
            check_resuming(store, newest)
            if store.schema < newest:
                check_going_back(store, newest)
            check_queue(store)
        print(f"{archive.name}: schema {store.schema}")
    Store.name = "all"
    expect(wanted or {newest - 1, newest} <= seen, f"there must be stores of the schemas {newest - 1} and {newest}: make_version.py writes one")
    for problem in problems:
        print("FAILED  " + problem)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
