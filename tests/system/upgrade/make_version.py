#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes version_N.tar.gz: a small store as the Encore of schema version N has written it, for upgrade_test.py beside it.

    make_version.py PREFIX OUT.tar.gz [SCHEMA.sql]        PREFIX/bin/exp is the program that writes

Call it once for each version of the schema, with a build of the last commit of that version, and add the file to git.
Such a file never changes: it stands for the stores of users. In it: a complete run, a run that was interrupted in its
second epoch, a bundle and an exported folder of the complete run, the answers that its model gave, and, where that
Encore has them, an application with its review queue. With SCHEMA.sql, an older schema, the rows of the database and of
the bundle are copied into its tables; version_9.tar.gz was made so, from a build of version 10. All other files have
kept their format between the two.
"""
import hashlib
import json
import os
import pathlib
import sqlite3
import subprocess
import sys
import tarfile
import tempfile

EXPERIMENT = """\
name = "tiny"
seed = 1

[task]
type = "classify"

[data]
type = "tsv"
train = "train.tsv"
dev = "dev.tsv"
test = "test.tsv"
text_column = "1"
label_column = "2"
max_length = 12

[tokenizer]
type = "word"
vocab_size = 40

[model]
width = 8
layers = 1
dropout = 0.0
positions = "sinusoidal"
norm = "layer_norm"
norm_position = "post"
block = ["attention", "feed_forward"]

[model.layer.attention]
type = "self_attention"
heads = 2

[model.layer.feed_forward]
type = "feed_forward"
hidden = 16

[model.head]
type = "linear"

[optimizer]
type = "adamw"
learning_rate = 0.03

[schedule]
type = "linear"
warmup_steps = 4

[train]
batch_size = 16
epochs = 12
select = "max dev/accuracy"
"""
APPLICATION = """\
name = "desk"
seed = 1

[app]
steps = ["department", "decide"]

[app.step.department]
type = "predict"
model = { experiment = "tiny.toml" }

[app.step.decide]
type = "decide"
error = 0.3

[data]
type = "tsv"
dev = "dev.tsv"
test = "test.tsv"
text_column = "1"
label_column = "2"
"""
BUNDLE = "encore-bundle"
INPUTS = ["the parcel is late again", "my card was charged twice", "where is my parcel please"]


def write_data(folder):
    """Sentences whose label follows from one word, so that a model of eight columns learns it."""
    starts, ends = ["the", "my", "where is my", "please check the"], ["is late", "is wrong", "again please", "since Monday"]
    topics = {"delivery": ["parcel", "courier", "box"], "billing": ["card", "invoice", "refund"]}
    rows = [f"{start} {word} {end}\t{label}\n" for start in starts for end in ends for label, words in topics.items() for word in words]
    for name, begin in (("train", 0), ("dev", 1), ("test", 2)):
        (folder / f"{name}.tsv").write_text("".join(rows[i] for i in range(len(rows)) if name == "train" or i % 3 == begin), encoding="utf-8")


def copy_rows(database, schema):
    """Replaces a database by one with the tables of `schema` and the rows that they have in common."""
    older = database.with_suffix(".older")
    connection = sqlite3.connect(older)
    connection.executescript(schema)
    connection.execute("ATTACH ? AS newer", [str(database)])
    for (table,) in connection.execute("SELECT name FROM main.sqlite_schema WHERE type = 'table'").fetchall():
        columns = ", ".join(f'"{name}"' for (name,) in connection.execute("SELECT name FROM pragma_table_info(?, 'main')", [table]))
        connection.execute(f"INSERT INTO main.{table} ({columns}) SELECT {columns} FROM newer.{table}")
    connection.commit()
    connection.close()
    older.replace(database)


def copy_rows_of_bundle(bundle, schema, work):
    """The same with the database in a bundle, and with what its list of files says of the database."""
    subprocess.run(["zstd", "-qd", bundle, "-o", work / "bundle.tar"], check=True)
    with tarfile.open(work / "bundle.tar") as archive:
        names = archive.getnames()
        archive.extractall(work)   # made by exp just now
    database = work / BUNDLE / "encore.db"
    copy_rows(database, schema)
    metadata = work / BUNDLE / "ro-crate-metadata.json"
    content = json.loads(metadata.read_text(encoding="utf-8"))
    entity = next(each for each in content["@graph"] if each["@id"] == "encore.db")
    entity["contentSize"], entity["sha256"] = str(database.stat().st_size), hashlib.sha256(database.read_bytes()).hexdigest()
    metadata.write_text(json.dumps(content, indent=1), encoding="utf-8")
    with tarfile.open(work / "older.tar", "w", format=tarfile.USTAR_FORMAT) as archive:
        for name in names:
            archive.add(work / name, name, recursive=False)
    os.truncate(work / "older.tar", archive.offset)   # exp refuses the blocks with which tarfile fills up its last record
    subprocess.run(["zstd", "-qf", "-19", work / "older.tar", "-o", bundle], check=True)


def main():
    prefix, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2]).resolve()
    schema = pathlib.Path(sys.argv[3]).read_text(encoding="utf-8") if len(sys.argv) > 3 else ""
    exp = prefix / "bin" / "exp"
    with tempfile.TemporaryDirectory(prefix="store-") as work:
        folder = pathlib.Path(work)

        def call(*words, code=0, **environment):
            done = subprocess.run([exp, *words], cwd=folder, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  env={**os.environ, "OMP_NUM_THREADS": "1", "ENCORE_CACHE": f"{work}/cache", **environment})
            if done.returncode != code:
                sys.exit(f"exp {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
            return done.stdout

        store = folder / "store"
        store.mkdir()
        write_data(store)
        (store / "tiny.toml").write_text(EXPERIMENT, encoding="utf-8")
        (store / "halted.toml").write_text('base = "tiny.toml"\nname = "halted"\nseed = 2\n', encoding="utf-8")
        os.environ["ENCORE_DB"] = "store/encore.db"
        call("run", "store/tiny.toml", "-q")
        (folder / "stopping-worker").write_text(f'#!/bin/sh\n[ "$1" != train ] || set -- "$@" --stop-after 9\nexec {prefix}/bin/encore-worker "$@"\n')
        (folder / "stopping-worker").chmod(0o755)
        call("run", "store/halted.toml", "-q", code=75, ENCORE_WORKER=str(folder / "stopping-worker"))
        call("bundle", "tiny", "-o", "store/tiny.tar.zst")
        call("export", "tiny", "--format", "encore", "-o", "store/tiny-model")
        answers = {text: json.loads(call("predict", "tiny", text, "--json")) for text in INPUTS}
        if " review " in call("help") and not schema:
            (store / "desk.toml").write_text(APPLICATION, encoding="utf-8")
            call("run", "store/desk.toml", "-q")
            call("review", "new", "store/desk.queue", "--app", "desk")
        if schema:
            copy_rows(store / "encore.db", schema)
            (store / "encore.db-wal").unlink(missing_ok=True)
            (store / "encore.db-shm").unlink(missing_ok=True)
            copy_rows_of_bundle(store / "tiny.tar.zst", schema, folder)
        database = sqlite3.connect(store / "encore.db")   # closing it moves all rows from encore.db-wal into the file
        facts = {"schema": database.execute("PRAGMA user_version").fetchone()[0], "answers": answers}
        database.execute("PRAGMA wal_checkpoint(TRUNCATE)")
        database.close()
        (store / "about.json").write_text(json.dumps(facts, indent=1) + "\n", encoding="utf-8")
        left = [path.name for path in store.iterdir() if path.name.startswith("encore.db-")]
        if left:
            sys.exit(f"the database is open: {left}")
        with tarfile.open(out, "w:gz") as archive:
            archive.add(store, "store", filter=lambda entry: None if entry.name.endswith("/sessions") else entry)
    print(f"{out}: schema {facts['schema']}, {out.stat().st_size} bytes")


if __name__ == "__main__":
    main()
