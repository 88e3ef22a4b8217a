# SPDX-License-Identifier: BSD-3-Clause
"""The database of runs, opened only for reading. Programs of users call runs(), curve() and table().

All numbers come from the views run_status, curve, setting and score, whose columns later versions keep
(docs/reference/store.md). The tables `sweep`, `sweep_run` and `run` say which runs a sweep has, and `metric` which
scores there may be. Databases have 100,000 runs, so no function asks a query for each run.
"""
from __future__ import annotations

import contextlib
import dataclasses
import datetime
import difflib
import importlib
import json
import os
import pathlib
import sqlite3
import statistics
from typing import Any, Dict, Iterator, List, Mapping, NamedTuple, Optional, Sequence, Tuple, Union, overload

from ._model import Error

_Path = Union[str, "os.PathLike[str]"]
Value = Union[bool, int, float, str, List[Any], None]
# The head of the file ("ENCR"), the first schema with promised views, and the runs whose settings are read together.
_APPLICATION, _OLDEST, _BLOCK = 1162756946, 10, 500


@contextlib.contextmanager
def _reading(path: str) -> Iterator[sqlite3.Connection]:
    """Open the database at this path for a few queries. Errors of SQLite become Error."""
    if sqlite3.sqlite_version_info < (3, 38):
        raise Error(f"this Python uses SQLite {sqlite3.sqlite_version}: expected 3.38 or newer; use a newer Python")
    if not os.path.isfile(path):
        raise Error(f"there is no database {path}; \"exp run\" makes one; name another one as db, or in $ENCORE_DB")
    # A reader of a file in WAL mode writes to files beside it. If the folder forbids this, no process writes to them.
    fixed = not os.access(os.path.dirname(path), os.W_OK) and not os.path.exists(path + "-wal")
    uri = pathlib.Path(path).as_uri() + ("?immutable=1" if fixed else "?mode=ro")
    try:
        with contextlib.closing(sqlite3.connect(uri, uri=True, timeout=10)) as connection:
            connection.execute("PRAGMA trusted_schema = OFF")
            if connection.execute("PRAGMA application_id").fetchone()[0] != _APPLICATION:
                raise Error(f"{path} is not a database of Encore; name another file as db, or in $ENCORE_DB")
            if connection.execute("PRAGMA user_version").fetchone()[0] < _OLDEST:
                raise Error(f"database {path} has a schema before version {_OLDEST}; run \"exp db upgrade\"")
            yield connection
    except sqlite3.Error as error:
        raise Error(f"database {path}: {error}") from error


def _database_path(db: Optional[_Path]) -> str:
    return os.path.abspath(db if db is not None else os.environ.get("ENCORE_DB") or "encore.db")


def _value(value: Any, kind: str) -> Any:
    return bool(value) if kind == "boolean" else json.loads(value) if kind == "list" else value


class _Block:
    """Settings and scores of neighbouring runs. One query reads each when one of these runs first needs them."""

    def __init__(self, db: str, ids: List[str]) -> None:
        self.db, self._ids = db, ids
        self._kept: Dict[str, Dict[str, Dict[str, Any]]] = {}

    def read(self, what: str) -> Dict[str, Dict[str, Any]]:
        if what not in self._kept:
            read: Dict[str, Dict[str, Any]] = {run: {} for run in self._ids}
            with _reading(self.db) as connection:
                for run, key, value, kind in connection.execute(
                        f"SELECT id, {what} WHERE id IN (SELECT value FROM json_each(?))", (json.dumps(self._ids),)):
                    read[run][key] = _value(value, kind)
            self._kept[what] = read
        return self._kept[what]


@dataclasses.dataclass(frozen=True)
class Run:
    """A run as the database had it when it was read."""
    id: str
    name: str
    state: str  #: pending, running, completed, failed, interrupted, lost, stopped or pruned
    reason: str  #: why it is failed, interrupted, lost, stopped or pruned; else empty
    seed: int
    repeat: int  #: 2, 3 ... if the same settings and seed were trained again with --fresh
    group: str  #: equal for runs that differ only in the seed
    backend: str  #: openmp, serial, cuda or hip
    kind: str  #: training, application or foreign
    created: datetime.datetime  #: UTC, in whole seconds
    finished: Optional[datetime.datetime]  #: the same; None: it is not completed
    folder: str  #: absolute path of its folder, encore.db.runs/ID
    _block: _Block = dataclasses.field(repr=False, compare=False)

    @property
    def settings(self) -> Mapping[str, Value]:
        """All settings by their path, such as "model.width", also those at their default."""
        return self._block.read("key, value, type FROM setting")[self.id]

    @property
    def scores(self) -> Mapping[str, Optional[float]]:
        """The scores of the best checkpoint, such as "test/f1", without percent. None: the value is not finite."""
        return self._block.read("split || '/' || metric, value, NULL FROM score")[self.id]


_COLUMNS = ("id", "name", "state", "reason", "seed", "repeat", "group", "backend", "kind", "created", "finished")
_STATUS = ("SELECT run_status.id, run_status.name, status, run_status.reason, run_status.seed, run_status.repeat, "
           "run_status.group_id, run_status.backend, run_status.kind, created_utc, finished_utc FROM run_status")


class Runs(Sequence[Run]):
    """Runs, the oldest first: a sequence of Run, and a table for pandas. `db` is the path of the database."""

    def __init__(self, db: str, rows: List[Tuple[Any, ...]]) -> None:
        self.db, self._rows = db, rows
        self._newest: Tuple[int, _Block] = (-1, _Block(db, []))

    def __len__(self) -> int:
        return len(self._rows)

    @overload
    def __getitem__(self, place: int) -> Run: ...
    @overload
    def __getitem__(self, place: slice) -> Runs: ...
    def __getitem__(self, place: Union[int, slice]) -> Union[Run, Runs]:
        if isinstance(place, slice):
            return Runs(self.db, self._rows[place])
        row, begin = self._rows[place], place % len(self) // _BLOCK * _BLOCK
        number, block = self._newest  # copied, because another thread may replace it
        if number != begin:
            block = _Block(self.db, [row[0] for row in self._rows[begin:begin + _BLOCK]])
            self._newest = (begin, block)
        created, finished = (datetime.datetime.fromisoformat(text + "+00:00") if text else None for text in row[9:])
        known = dict(zip(_COLUMNS, row), seed=row[4] % 2**64, created=created, finished=finished)
        return Run(folder=f"{self.db}.runs/{row[0]}", _block=block, **known)

    def to_pandas(self, scores: Optional[Sequence[str]] = None, settings: Sequence[str] = ()) -> Any:
        """Return a pandas.DataFrame with one row for each run: the members of Run, then scores, then settings.

        scores: their names, such as ["test/f1", "test/f1/PER"]. Default: every score but those of a single label.
        settings: paths of settings, such as ["model.width"]. Where a run has no such score or setting is NaN or None.
        Raises ImportError without pandas, and Error if the name of a score has a quotation mark.
        """
        pandas: Any = importlib.import_module("pandas")
        frame = pandas.DataFrame(self._rows, columns=list(_COLUMNS))
        frame["seed"] = frame["seed"].astype("uint64")
        for name in ("created", "finished"):
            frame[name] = pandas.to_datetime(frame[name], format="%Y-%m-%d %H:%M:%S", utc=True)
        frame["folder"] = f"{self.db}.runs/" + frame["id"]
        with _reading(self.db) as connection:
            names = list(scores) if scores is not None else [name for name, in connection.execute(
                "SELECT name FROM metric WHERE name NOT LIKE '%/%/%' AND instr(name, '\"') = 0 ORDER BY name")]
            for begin in range(0, len(names), 64):  # a function of SQLite has at most 100 arguments
                frame = frame.join(_scores(connection, pandas, names[begin:begin + 64]), on="id")
            for key in settings:
                rows = connection.execute("SELECT id, value, type FROM setting WHERE key = ?", (key,))
                frame[key] = list(map({run: _value(*value) for run, *value in rows}.get, frame["id"]))
        return frame if scores is not None else frame.drop(columns=[n for n in names if frame[n].isna().all()])


def _scores(connection: sqlite3.Connection, pandas: Any, names: List[str]) -> Any:
    """Return a pandas.DataFrame of these scores for all runs by id. The view `score` takes seven times as long."""
    if "\"" in "".join(names):
        raise Error("invalid name of a score: a path of SQLite has no quotation mark; read it with Run.scores")
    paths = [f"$.measures.\"{name}\"" for name in names] + ["$.none"]  # two paths or more give a list
    rows = connection.execute(f"SELECT id, json_extract(result, {', '.join('?' * len(paths))}) FROM run_status "
                              "WHERE result IS NOT NULL", paths).fetchall()
    numbers = importlib.import_module("numpy").array(json.loads(f"[{','.join(row[1] for row in rows)}]"), dtype=float)
    return pandas.DataFrame(numbers.reshape(len(rows), len(paths))[:, :-1], [run for run, _ in rows], names)


def runs(db: Optional[_Path] = None, sweep: Optional[str] = None) -> Runs:
    """Return the runs of a database, the oldest first, without those that `exp rm` has hidden.

    db: default: $ENCORE_DB, else encore.db in the working folder.
    sweep: only the runs of the experiment file with this `name`, as `exp ls --sweep` lists them.
    A killed run is "running" until its lease expires, then "lost". Raises Error without such a database or sweep.
    """
    path = _database_path(db)
    with _reading(path) as connection:
        if sweep is None:
            return Runs(path, sorted(connection.execute(_STATUS), key=lambda row: str(row[9])))
        rows = connection.execute(
            f"{_STATUS} JOIN run ON run.id = run_status.id WHERE run.number IN "
            "(SELECT run.number FROM sweep JOIN run ON run.sweep = sweep.number WHERE sweep.name = ?1 UNION "
            "SELECT sweep_run.run FROM sweep JOIN sweep_run ON sweep_run.sweep = sweep.number WHERE sweep.name = ?1) "
            "ORDER BY run.number", (sweep,)).fetchall()
    if not rows:
        raise Error(f"there is no run of a sweep \"{sweep}\" in {path}; exp ls --json names the sweep of each run")
    return Runs(path, rows)


def _id_of(connection: sqlite3.Connection, path: str, run: str) -> str:
    """Return the id of the run with this name or id, or else with this beginning of its name or id."""
    for condition in ("name = ?1", "id = ?1", "?1 <> '' AND instr(name, ?1) = 1", "?1 <> '' AND instr(id, ?1) = 1"):
        rows = connection.execute(f"SELECT id, name FROM run_status WHERE {condition} LIMIT 5", (run,)).fetchall()
        if len(rows) > 1:
            raise Error(f"\"{run}\" begins the names or ids of several runs of {path}, such as "
                        f"{', '.join(f'{name} ({number})' for number, name in rows)}; give the whole name or id")
        if rows:
            return str(rows[0][0])
    names = [name for name, in connection.execute("SELECT name FROM run_status ORDER BY created_utc DESC LIMIT 9999")]
    near = [f"did you mean \"{name}\"?" for name in difflib.get_close_matches(run, names, 1)]
    raise Error(f"there is no run \"{run}\" in {path}; {(near + ['exp ls lists the runs'])[0]}")


def model_path(run: Union[_Path, Run], db: Optional[_Path]) -> str:
    """Return the path from which encore.load() loads the model. Raises Error if there is no such run."""
    if isinstance(run, Run) or not isinstance(run, str) or "/" in run or run.endswith(".tar.zst"):
        return run.folder if isinstance(run, Run) else os.fspath(run)
    try:
        with _reading(_database_path(db)) as connection:
            return f"{_database_path(db)}.runs/{_id_of(connection, _database_path(db), run)}"
    except Error:
        if not os.path.isdir(run):
            raise
        return run


class Curve(List[Tuple[int, float]]):
    """The values of one metric of a run, as (step, value). A value that is not finite is nan, inf or -inf."""

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame with the columns step and value. Raises ImportError without pandas."""
        return importlib.import_module("pandas").DataFrame(list(self), columns=["step", "value"])


def curve(run: Union[str, Run], metric: str, db: Optional[_Path] = None) -> Curve:
    """Return the points of a metric of a run, such as "train/loss" or "dev/f1", ordered by step.

    run: a Run, or a name, an id, or the beginning of one run's name or id.
    db: default: that of the Run, else $ENCORE_DB, else encore.db in the working folder.
    A resumed run has each step once. Raises Error if there is no such run, or if the run has no such metric.
    """
    path = run._block.db if isinstance(run, Run) and db is None else _database_path(db)
    with _reading(path) as connection:
        found = run.id if isinstance(run, Run) else _id_of(connection, path, run)
        rows = connection.execute("SELECT step, coalesce(value, special) FROM curve WHERE id = ? AND metric = ? "
                                  "ORDER BY step", (found, metric)).fetchall()
    if not rows:
        raise Error(f"run {found} has no metric \"{metric}\"; exp show {found} lists its metrics")
    return Curve((step, float(value)) for step, value in rows)


class Candidate(NamedTuple):
    """Runs that differ only in the seed."""
    settings: Mapping[str, Value]  #: those of which candidates of the sweep have different values
    metric: str
    mean: Optional[float]  #: over the seeds; None: no run has the score
    deviation: Optional[float]  #: the sample standard deviation; None: fewer than two seeds
    seeds: int  #: seeds with a score
    runs: Tuple[Run, ...]  #: the runs with a score, by seed


class Table(List[Candidate]):
    """The candidates of a sweep, in the order in which their first runs were created."""

    def to_pandas(self) -> Any:
        """Return a pandas.DataFrame: each setting, then metric, mean, deviation and seeds. Raises ImportError."""
        return importlib.import_module("pandas").DataFrame(
            [{**row.settings, **dict(zip(row._fields[1:5], row[1:5]))} for row in self])


def table(sweep: str, metric: Optional[str] = None, db: Optional[_Path] = None) -> Table:
    """Return one row for each candidate of a sweep: mean, standard deviation and number of seeds of a score.

    sweep: the `name` in the experiment file.
    metric: default: the measure by which most of the runs chose their best checkpoint, on the test set ("test/f1").
    db: default: $ENCORE_DB, else encore.db in the working folder.
    The score of a run is that of its best checkpoint, and only completed runs count; of repeats of a seed, the newest.
    Intervals, tests and rankings are left to `exp compare`. That command also reads what the views do not have: plugin
    files and numeric environments, by which it keeps runs apart, the fresh seeds of a search, and metrics that were not
    measured at the best checkpoint. Raises Error if there is no such sweep, or if no completed run has the score.
    """
    of_sweep = runs(db, sweep)
    if metric is None:
        rules = [str(run.settings.get("train.select", "")).partition("/")[2] for run in of_sweep]
        metric = "test/" + statistics.mode(list(filter(None, rules)) or ["?"])
    values = {run.id: run.scores.get(metric) for run in of_sweep if run.state == "completed"}
    if all(value is None for value in values.values()):
        known = ", ".join(sorted({score for run in of_sweep for score in run.scores})) or "none"
        raise Error(f"no completed run of the sweep \"{sweep}\" has the score \"{metric}\"; the scores are: {known}")
    members: Dict[Tuple[str, str], Dict[int, Run]] = {(run.group, run.backend): {} for run in of_sweep}
    for run in sorted(of_sweep, key=lambda run: run.repeat):
        if values.get(run.id) is not None:
            members[run.group, run.backend][run.seed] = run
    settings = {(run.group, run.backend): run.settings for run in of_sweep}
    keys = dict.fromkeys(key for one in settings.values() for key in one)
    differing = [key for key in keys if len({repr(one[key]) for one in settings.values() if key in one}) > 1]
    rows = Table()
    for candidate, by_seed in members.items():
        numbers = [number for run in by_seed.values() for number in [values[run.id]] if number is not None]
        mean, deviation = (of(numbers) if len(numbers) >= least else None
                           for of, least in ((statistics.fmean, 1), (statistics.stdev, 2)))
        rows.append(Candidate({key: settings[candidate].get(key) for key in differing}, metric, mean, deviation,
                              len(numbers), tuple(by_seed[seed] for seed in sorted(by_seed))))
    return rows
