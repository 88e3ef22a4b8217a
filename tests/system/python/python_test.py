#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the Python package python/encore with the programs of a build.

    python_test.py . build/openmp package           answers, runs, curves and tables against exp; errors; threads
    python_test.py . build/openmp pandas            the same numbers in pandas
    python_test.py . build/openmp types             mypy --strict
    python_test.py . build/openmp many --runs 100000    by hand: the seconds until that many runs are in pandas

CTest runs the first three as python_package, python_pandas and python_types. Tiny models of one layer are trained in
seconds. Each part exits with 77 (skipped) if a library that it needs is missing, or if the worker of the build does not
run. After a change of encore_infer.h or of a view, read python/encore/_model.py or _store.py next.
"""
import argparse
import array
import contextlib
import hashlib
import importlib.util
import json
import os
import pathlib
import shutil
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time

arguments = argparse.ArgumentParser()
arguments.add_argument("source", type=pathlib.Path)
arguments.add_argument("build", type=pathlib.Path)
arguments.add_argument("part", choices=["package", "pandas", "types", "many"])
arguments.add_argument("--runs", type=int, default=100000)
GIVEN = arguments.parse_args()
PACKAGE = GIVEN.source.resolve() / "python"
BUILD = GIVEN.build.resolve()
EXP = BUILD / "bin" / "exp"
LIBRARY = BUILD / "lib" / "libencore_infer.so"

os.environ.pop("ENCORE_DB", None)
os.environ.update(OMP_NUM_THREADS="2", OMP_WAIT_POLICY="passive", ENCORE_LIBRARY=str(LIBRARY))
sys.dont_write_bytecode = True
sys.path.insert(0, str(PACKAGE))
import encore  # noqa: E402

MODEL = """name = "{name}"
{seeds}
[task]
type = "{task}"
[data]
type = "{reader}"
train = "{file}"
dev = "{file}"
test = "{file}"
max_length = 24
{data}
[tokenizer]
type = "wordpiece"
vocab_size = 120
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
type = "{head}"
[optimizer]
type = "adamw"
learning_rate = 1e-2
[schedule]
type = "constant"
[train]
epochs = 2
{more}
"""
CONLL = "".join(f"{who} B-PER\nlives O\nin O\n{place} B-LOC\n. O\n\n" for who in ("Anna", "Bo", "Zoë", "Eva") for place in ("Lund", "Kiel", "Malmö"))
KINDS = "Where is Lund ?\tplace\nWho is Anna ?\tperson\nWhere is Kiel ?\tplace\nWho was Bo ?\tperson\n" * 6
PAIRS = "a man plays\ta man is playing\t4.5\na dog runs\tthe sea is calm\t0.5\na man runs\ta man is running\t5.0\n" * 8
FILES = {"names.conll": CONLL, "kinds.tsv": KINDS, "pairs.tsv": PAIRS}
PAIR = 'text2_column = "2"\nlabel_column = "3"\nlabel_type = "number"'
EXPERIMENTS = [
    dict(name="names", task="ner", reader="conll", file="names.conll", head="linear"),
    dict(name="words", task="tag", reader="conll", file="names.conll", head="linear"),
    dict(name="kinds", task="classify", reader="tsv", file="kinds.tsv", head="linear"),
    dict(name="similar", task="embed", reader="tsv", file="pairs.tsv", head="embedding", data=PAIR, more="select = 'max dev/spearman'"),
    dict(name="rated", task="regress", reader="tsv", file="pairs.tsv", head="regression", data=PAIR),
    dict(name="swept", task="ner", reader="conll", file="names.conll", head="linear", seeds="seeds = [1, 2, 3]",
         more='[sweep.grid]\n"model.dropout" = [0.0, 0.3]\n"model.head" = [{ type = "linear" }, { type = "crf" }]'),
]
INPUTS = ["Anna lives in Lund .", "", "Zoë lives in Malmö . \"quoted\" \\ é \U0001f600", "where is Kiel ?", "\tx", "a\u2028b"]


def exp(*words, code=0):
    done = subprocess.run([str(EXP), *words], stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    assert done.returncode == code, f"exp {' '.join(words)}: {done.returncode}\n{done.stdout!r}\n{done.stderr.decode()}"
    return done.stdout


def answer_of_exp(*words):
    return json.loads(exp(*words, "--json"))


def skip(reason):
    print("skipped:", reason)
    sys.exit(77)


def train(names):
    for name, content in FILES.items():
        pathlib.Path(name).write_text(content)
    for one in EXPERIMENTS:
        if one["name"] in names:
            text = MODEL.format(**{"seeds": "seed = 1", "data": "", "more": "", **one})
            pathlib.Path(one["name"] + ".toml").write_text(text)
            exp("run", one["name"] + ".toml", "-q")


def equal(seen, wanted, what):
    assert seen == wanted, f"{what}:\nseen   {seen!r}\nwanted {wanted!r}"


@contextlib.contextmanager
def refused(*parts, kind=encore.Error):
    try:
        yield
    except kind as error:
        assert all(part in str(error) for part in parts), f"expected {parts} in: {error}"
    else:
        raise AssertionError(f"expected an error with {parts}")


def answers_equal_those_of_exp():
    with open("inputs.txt", "w", encoding="utf-8") as file:
        file.write("\n".join(INPUTS) + "\n")
    for run in ("names", "words", "kinds", "similar", "rated"):
        inputs = ["a man\ta dog", "the sea is\tcalm"] if run in ("similar", "rated") else INPUTS
        pathlib.Path("inputs.txt").write_text("\n".join(inputs) + "\n", encoding="utf-8")
        with encore.load(run) as model:
            wanted = exp("predict", run, "--json", "--file", "inputs.txt")
            equal(model.raw(inputs), wanted, run)
            equal(model(inputs), [json.loads(line) for line in wanted.splitlines()], run)
            equal(model(inputs[0]), model(iter(inputs))[0], run)
            equal((model.raw([]), model([]), model.embed([])), (b"", [], []), run)
            if run in ("similar", "rated"):
                with refused("gives no scores"):
                    model(inputs, scores=True)
            else:
                wanted = exp("predict", run, "--json", "--scores", "--file", "inputs.txt")
                assert b'"score"' in wanted or b'"scores"' in wanted, wanted
                equal(model.raw(inputs, scores=True), wanted, run + " with scores")
                equal(model(inputs, scores=True), [json.loads(line) for line in wanted.splitlines()], run)
            pathlib.Path("inputs.txt").write_text("\n".join(inputs[:1]) + "\n", encoding="utf-8")
            vectors = answer_of_exp("embed", run, "--texts", "inputs.txt")
            seen = model.embed(inputs[:1])
            equal(seen[0], array.array("f", vectors["vectors"][0]["vector"]).tolist(), run)  # the same bits in single precision
            equal(model.embed(inputs[0]), seen[0], run)
            facts = model.describe()
            equal((facts["vector_width"], facts["max_length"]), (16, 24), run)


def models_load_from_every_place():
    exp("export", "names", "--format", "encore", "-o", "exported")
    exp("bundle", "names", "-o", "names.tar.zst")
    (run,) = [run for run in encore.runs() if run.name == "names"]
    wanted = exp("predict", "names", "--json", INPUTS[0])
    for place in ("names", "name", run.id, run.id[:6], run, run.folder, pathlib.Path("exported"), "exported", "names.tar.zst"):
        with encore.load(place) as model:
            equal(model.raw(INPUTS[0]), wanted, str(place))
    with encore.load("exported", db="absent.db") as model:
        equal(model.raw(INPUTS[0]), wanted, "a folder without a database")
    with encore.load("names", truncate=True) as model:
        assert model("Anna lives in Lund . " * 40)["entities"] is not None
    exp("quantize", "names")
    with encore.load("names", integer_bits=8) as model:
        equal(model.raw(INPUTS), exp("predict", "names", "--json", "--int8", *INPUTS), "8 bits")
    os.environ["ENCORE_DB"] = os.path.abspath("encore.db")
    with contextlib.closing(encore.load("names", bundled=None)) as model:
        equal(model.raw(INPUTS[0]), wanted, "$ENCORE_DB")
    del os.environ["ENCORE_DB"]


def errors_say_what_to_do():
    model = encore.load("names")
    with refused("text 2 has a line break"):
        model(["a", "b\nc"])
    with refused("text 1", "zero byte"):
        model("a\0b")
    with refused("longer than data.max_length = 24"):
        model("Anna lives in Lund . " * 40)
    with refused("expected str, not int", kind=TypeError):
        model(["a", 3])
    with refused("surrogates", kind=UnicodeEncodeError):
        model("\ud800")
    model.close()
    model.close()
    for ask in (model, model.raw, model.embed, lambda text: model.describe()):
        with refused("is closed"):
            ask("a")
    with refused('there is no run "nmes"', 'did you mean "names"?'):
        encore.load("nmes")
    with refused('there is no run ""'):
        encore.load("")
    with refused("begins the names or ids of several runs", "swept-"):
        encore.load("swept-")
    with refused("there is no such folder"):
        encore.load("./nowhere")
    with refused("there is no database", "absent.db", "exp run"):
        encore.runs("absent.db")
    with refused("not a database"):
        encore.runs("names.toml")
    sqlite3.connect("other.db").executescript("CREATE TABLE a (b)")
    with refused("is not a database of Encore"):
        encore.runs("other.db")
    with refused('sweep "swep"', "exp ls"):
        encore.runs(sweep="swep")
    with refused('has no metric "dev/f2"', "exp show"):
        encore.curve("names", "dev/f2")
    with refused('has the score "test/f2"', "test/f1"):
        encore.table("swept", "test/f2")
    with refused("invalid encore_options.threads"):
        encore.load("names", threads=-1)
    with refused("invalid encore_options.integer_bits"):
        encore.load("names", integer_bits=5)


def library_is_found_or_missing():
    """Run a program with another place of the package or of the library."""
    def said(folder, library=None):
        environment = {name: value for name, value in os.environ.items() if name != "ENCORE_LIBRARY"}
        if library is not None:
            environment["ENCORE_LIBRARY"] = library
        program = ("import sys; sys.dont_write_bytecode = True\nsys.path.insert(0, sys.argv[1])\nimport encore\n"
                   "print(len(encore.runs()))\n"
                   "try: sys.stdout.buffer.write(encore.load('names').raw('Anna lives in Lund .'))\n"
                   "except encore.Error as error: print(error)\n")
        return subprocess.run([sys.executable, "-c", program, str(folder)], env=environment, stdout=subprocess.PIPE,
                              stderr=subprocess.STDOUT, check=True).stdout.decode()

    wanted = exp("predict", "names", "--json", "Anna lives in Lund .").decode()
    for folder in ("prefix/lib/encore/python", "site/python", "tree/python"):  # installation, wheel, source tree
        shutil.copytree(PACKAGE / "encore", pathlib.Path(folder) / "encore")
    assert "unreachable library" in said("site/python") and "$ENCORE_LIBRARY" in said("site/python"), said("site/python")
    assert "absent.so, which is not a file" in said("site/python", "absent.so")
    assert "cannot be used as libencore_infer.so" in said("site/python", os.path.abspath("names.toml"))
    for place in ("prefix/lib", "site/python/encore/_native/lib", "tree/build/openmp/lib"):
        pathlib.Path(place).mkdir(parents=True, exist_ok=True)
        os.symlink(LIBRARY, pathlib.Path(place) / "libencore_infer.so.1")
    for folder in ("prefix/lib/encore/python", "site/python", "tree/python"):
        assert said(folder).endswith(wanted), said(folder)


def threads_may_ask_and_close():
    model = encore.load("names")
    wanted = [model.raw(text, scores=True) for text in INPUTS]
    wrong = []

    def ask(first):
        for i in range(first, first + 60):
            text = INPUTS[i % len(INPUTS)]
            with encore.load("kinds") if i % 20 == 0 else contextlib.nullcontext():
                if model.raw(text, scores=True) != wanted[i % len(INPUTS)]:
                    wrong.append(text)
            try:
                model("a\nb")
                wrong.append("a line break was accepted")
            except encore.Error as error:
                if "line break" not in str(error):
                    wrong.append(str(error))

    workers = [threading.Thread(target=ask, args=(i,)) for i in range(4)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    equal(wrong, [], "answers of four threads")
    outcomes = []

    def ask_until_closed():
        try:
            while True:
                if model.raw(INPUTS[0], scores=True) != wanted[0]:
                    outcomes.append("wrong")
        except encore.Error as error:
            outcomes.append("closed" if "is closed" in str(error) else str(error))

    workers = [threading.Thread(target=ask_until_closed) for _ in range(3)]
    for worker in workers:
        worker.start()
    time.sleep(0.2)
    model.close()
    for worker in workers:
        worker.join()
    equal(outcomes, ["closed"] * 3, "a model that is closed while threads ask it")


def forked_children_get_an_error():
    """Fork before the library is loaded, and after. The child may ask in the first case only."""
    program = """if True:
        import os, sys
        sys.dont_write_bytecode = True
        sys.path.insert(0, sys.argv[1])
        import encore
        def child(ask):
            process = os.fork()
            if process == 0:
                try: print(ask(), flush=True)
                except encore.Error as error: print(error, flush=True)
                sys.exit(0)  # with the destructors of the parent's models
            assert os.waitpid(process, 0)[1] == 0
        child(lambda: encore.load("names")("Anna")["text"])
        model = encore.load("names")
        child(lambda: model("Bo")["text"])
        child(lambda: encore.load("names"))
        child(lambda: len(encore.runs()) > 0)
        print(model("Eva")["text"])
    """
    done = subprocess.run([sys.executable, "-c", program, str(PACKAGE)], stdout=subprocess.PIPE, check=True, timeout=600)
    lines = done.stdout.decode().splitlines()
    equal(lines[0::3], ["Anna", "True"], "forked before loading; the database after it")
    assert all("forked" in line and "spawn" in line for line in lines[1:3]), lines
    equal(lines[4], "Eva", "the parent")


def runs_equal_those_of_exp():
    for sweep in (None, "swept"):
        wanted = answer_of_exp("ls", "--reverse", *(["--sweep", sweep] if sweep else []))
        runs = encore.runs(sweep=sweep)
        equal([run.id for run in runs], [run["id"] for run in wanted], "order")
        for run, one in zip(runs, wanted):
            shown = answer_of_exp("show", run.id)
            for name in ("id", "name", "state", "reason", "seed", "repeat", "group", "backend"):
                equal(getattr(run, name), one[name], name)
            equal((run.kind, run.folder), (shown["kind"], shown["folder"]), run.name)
            equal(int(run.created.timestamp()), int(shown["created"]), run.name)
            equal(run.finished and int(run.finished.timestamp()), shown["finished"] and int(shown["finished"]), run.name)
            equal(dict(run.scores), (shown["result"] or {"measures": {}})["measures"], run.name)
            equal(dict(run.settings), {key: value["value"] for key, value in shown["params"].items()}, run.name)
    runs = encore.runs()
    equal((runs[-1], list(runs[1:3]), len(runs[:0])), (list(runs)[-1], list(runs)[1:3], 0), "as a sequence")
    with refused(kind=IndexError):
        runs[len(runs)]
    exp("rm", "rated", "-y")
    equal([run.name for run in encore.runs()], [run.name for run in runs if run.name != "rated"], "a hidden run")
    exp("undelete", "rated")


def curves_equal_those_of_exp():
    for name in ("train/loss", "dev/f1", "test/f1"):
        wanted = answer_of_exp("query", f"SELECT step, value FROM curve WHERE run = 'names' AND metric = '{name}' ORDER BY step")
        equal(list(encore.curve("names", name)), [(row["step"], row["value"]) for row in wanted], name)
        equal(encore.curve(encore.runs()[0], name), encore.curve("names", name), name)
    shutil.copy("encore.db", "special.db")
    with contextlib.closing(sqlite3.connect("special.db")) as database:
        database.execute("UPDATE point SET value = NULL, special = '-inf' WHERE step = 1")
        database.execute("UPDATE run SET seed = -1, state = 'lost', reason = 'why' WHERE name = 'names'")
        database.commit()
    equal(encore.curve("names", "train/loss", "special.db")[0], (1, float("-inf")), "a value that is not finite")
    run = encore.runs("special.db")[0]
    equal((run.seed, run.state, run.reason), (2**64 - 1, "lost", "why"), "changed by SQL")


def tables_equal_those_of_exp():
    for metric in (None, "dev/loss"):
        wanted = answer_of_exp("compare", "swept", *(["--metric", metric] if metric else []))
        table = encore.table("swept", metric)
        equal({row.metric for row in table}, {wanted["metric"]}, "metric")
        candidates = {one["group"]: one for one in wanted["candidates"]}
        equal(len(table), len(candidates), "candidates")
        for row in table:
            one = candidates[row.runs[0].group]
            equal((row.seeds, [run.id for run in row.runs]), (one["n"], [run["id"] for run in one["runs"]]), "seeds")
            assert abs(row.mean - one["mean"]) <= 1e-12 and abs(row.deviation - one["deviation"]) <= 1e-12, (row, one)
            equal({key: str(row.settings[key]) for key in ("model.dropout", "model.head.type")},
                  {"model.dropout": str(float(one["options"]["dropout"])), "model.head.type": one["options"]["head"]}, "settings")
            equal(len(row.settings), 2, "settings of which candidates have different values")
    exp("run", "swept.toml", "-q", "--fresh")
    after = encore.table("swept", "dev/loss")
    equal([(row.seeds, row.mean) for row in after], [(row.seeds, row.mean) for row in table], "repeats have equal bits")
    equal({run.repeat for row in after for run in row.runs}, {2}, "of repeats the newest counts")


def digest_of(file):
    return hashlib.sha256(pathlib.Path(file).read_bytes()).hexdigest()


def database_stays_as_it_is():
    def state():
        """Return the digest of the database and the files beside it. Readers of SQLite may leave an empty log and its index."""
        if os.path.exists("encore.db-wal"):
            equal(os.path.getsize("encore.db-wal"), 0, "the write-ahead log")
        return digest_of("encore.db"), sorted(set(os.listdir(".")) - {"encore.db-wal", "encore.db-shm"})

    before = state()
    encore.runs()[0].settings, encore.runs(sweep="swept")[0].scores
    encore.curve("names", "train/loss"), encore.table("swept")
    encore.load("names").close()
    equal(state(), before, "the database and its folder")
    from encore import _store
    with _store._reading(os.path.abspath("encore.db")) as connection:
        try:
            connection.execute("DELETE FROM run")
            raise AssertionError("the database can be written")
        except sqlite3.OperationalError as error:
            assert "readonly" in str(error), error
    with contextlib.closing(sqlite3.connect("encore.db")) as writer:  # a writer disturbs no reader in WAL mode
        writer.execute("BEGIN IMMEDIATE")
        writer.execute("UPDATE run SET note = 'x'")
        assert len(encore.runs()) > 0
        writer.rollback()
    with contextlib.closing(sqlite3.connect("encore.db")) as writer:
        writer.execute("PRAGMA user_version = 9")
    with refused("exp db upgrade"):
        encore.runs()
    with contextlib.closing(sqlite3.connect("encore.db")) as writer:
        writer.execute("PRAGMA user_version = 10")


def package():
    lines = sum(len(file.read_text().splitlines()) for file in (PACKAGE / "encore").glob("*.py"))
    assert lines <= 500, f"the package has {lines} lines"
    train([one["name"] for one in EXPERIMENTS])
    for test in (answers_equal_those_of_exp, models_load_from_every_place, errors_say_what_to_do, library_is_found_or_missing,
                 threads_may_ask_and_close, forked_children_get_an_error, runs_equal_those_of_exp, curves_equal_those_of_exp,
                 tables_equal_those_of_exp, database_stays_as_it_is):
        began = time.monotonic()
        test()
        print(f"ok  {test.__name__}  {time.monotonic() - began:.1f} s", flush=True)


def multiply(count):
    """Copy the first run of the database by SQL until there are `count` runs, each with other scores."""
    with contextlib.closing(sqlite3.connect("encore.db")) as database:
        run = dict(zip(("number", "result"), database.execute("SELECT number, result FROM run").fetchone()))
        columns = {table: [row[1] for row in database.execute(f"PRAGMA table_info({table})")] for table in ("run", "attempt", "param")}

        def copy(table, changed):
            values = ", ".join(changed.get(name, "old." + name) for name in columns[table])
            database.execute(f"WITH RECURSIVE n (i) AS (SELECT 1000 UNION ALL SELECT i + 1 FROM n WHERE i < ?) INSERT INTO {table} "
                             f"SELECT {values} FROM n CROSS JOIN {table} AS old ON old.{'number' if table == 'run' else 'run'} = ?",
                             (998 + count, run["number"]))

        result = "'" + run["result"].replace("'", "''") + "'"
        for name in json.loads(run["result"])["measures"]:
            result = f"json_set({result}, '$.measures.\"{name}\"', abs(random() % 1000000) / 1e6)"
        copy("run", {"number": "i", "id": "printf('%010x', i)", "name": "'copy-' || i", "question": "'q' || i", "group_id": "'g' || i / 5",
                     "seed": "i % 5", "result": result, "created": "old.created + i"})
        copy("attempt", {"number": "i", "run": "i", "token": "'t' || i"})
        copy("param", {"run": "i"})
        database.commit()


def pandas_part(count=2000, timed=False):
    import pandas
    train(["names", "swept"])
    table = encore.table("swept").to_pandas()
    equal(list(table.columns), ["model.dropout", "model.head.type", "metric", "mean", "deviation", "seeds"], "columns")
    equal(list(table["mean"]), [row.mean for row in encore.table("swept")], "means")
    curve = encore.curve("names", "train/loss")
    equal([tuple(row) for row in curve.to_pandas().itertuples(index=False)], list(curve), "curve")
    frame = encore.runs(sweep="swept").to_pandas(scores=["test/f1/PER", "absent/x"], settings=["model.dropout", "model.block", "model.head.constrained"])
    for run, (_, row) in zip(encore.runs(sweep="swept"), frame.iterrows()):
        equal((row["test/f1/PER"], row["model.dropout"]), (run.scores["test/f1/PER"], run.settings["model.dropout"]), run.name)
        equal((row["model.block"], row["model.head.constrained"] is True), (run.settings["model.block"], "crf" in run.name), run.name)
        assert pandas.isna(row["absent/x"])
    with refused("absent"):
        encore.runs("absent.db")
    with refused("quotation mark"):
        encore.runs().to_pandas(scores=['test/"'])
    equal(len(encore.runs()[:0].to_pandas()), 0, "no run")
    with contextlib.closing(sqlite3.connect("encore.db")) as database:
        database.execute("UPDATE run SET result = NULL, seed = -1, finished = NULL, state = 'failed' WHERE name = 'swept-crf-dropout=0.3-s3'")
        database.commit()
    multiply(count)
    encore.runs().to_pandas()
    began, used = time.perf_counter(), time.process_time()
    runs = encore.runs()
    frame = runs.to_pandas()
    seconds, used = time.perf_counter() - began, time.process_time() - used
    equal(len(frame), len(runs), "rows")
    print(f"{len(frame)} runs, {len(frame.columns)} columns: {seconds:.2f} s, {used:.2f} s of processor time", flush=True)
    if timed:
        return
    assert not any(name.count("/") > 1 for name in frame.columns) and "test/f1" in frame.columns, list(frame.columns)
    for run, (_, row) in zip(runs, frame.iterrows()):
        for name in ("id", "name", "state", "reason", "seed", "repeat", "group", "backend", "kind", "folder", "created"):
            equal(row[name], getattr(run, name), name)
        assert pandas.isna(row["finished"]) if run.finished is None else row["finished"] == run.finished
        for name in frame.columns:
            if "/" in name:
                value = run.scores.get(name)
                assert pandas.isna(row[name]) if value is None else row[name] == value, (run, name)


def types_part():
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "mypy-cache", str(PACKAGE / "encore")])
    assert done.returncode == 0, "mypy --strict has complaints"
    # What a user's program gets: the types of the package are part of it (py.typed).
    pathlib.Path("user.py").write_text("import encore\nfor run in encore.runs('a.db', sweep='b'):\n    reveal_type(run.scores)\n"
                                       "with encore.load('x') as model:\n    reveal_type(model)\nreveal_type(encore.table('s')[0].mean)\n")
    done = subprocess.run([sys.executable, "-m", "mypy", "--strict", "--cache-dir", "mypy-cache", "user.py"], stdout=subprocess.PIPE,
                          env={**os.environ, "MYPYPATH": str(PACKAGE)})
    for part in (b"Mapping[", b"encore._model.Model", b"float"):
        assert part in done.stdout, done.stdout.decode()


def main():
    needed = {"pandas": "pandas", "many": "pandas", "types": "mypy"}.get(GIVEN.part)
    if needed and importlib.util.find_spec(needed) is None:
        skip(f"the Python package {needed} is not installed")
    if sqlite3.sqlite_version_info < (3, 38):
        skip(f"the sqlite3 module has SQLite {sqlite3.sqlite_version}, which cannot read the database")
    if GIVEN.part == "package" and not LIBRARY.is_file():
        skip(f"{LIBRARY} is not built (cmake --build {BUILD} --target encore_infer_library)")
    if GIVEN.part != "types" and subprocess.run([str(BUILD / "bin" / "encore-worker"), "version"], stdout=subprocess.PIPE,
                                                stderr=subprocess.PIPE).returncode:
        skip("the worker of this build does not run here")
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        if GIVEN.part == "many":
            pandas_part(GIVEN.runs, timed=True)
        else:
            {"package": package, "pandas": pandas_part, "types": types_part}[GIVEN.part]()
        os.chdir("/")


main()
