# SPDX-License-Identifier: BSD-3-Clause
"""Encore from Python: ask the models of runs, and read the database of runs.

    with encore.load("quickstart") as model:
        print(model("Anna Berg met the mayor of Lund ."))
    frame = encore.runs().to_pandas()

The package trains nothing, and opens the database only for reading. docs/guides/python.md shows all functions.
"""
from __future__ import annotations

import os
from typing import Optional, Sequence, Union

from ._model import Error, Model
from ._store import Candidate, Curve, Run, Runs, Table, Value, curve, model_path, runs, table

__all__ = ["Candidate", "Curve", "Error", "Model", "Run", "Runs", "Table", "Value", "curve", "load", "runs", "table"]


def load(run: Union[str, os.PathLike[str], Run], db: Union[str, os.PathLike[str], None] = None, *, threads: int = 0,
         truncate: bool = False, integer_bits: int = 0, plugins: Sequence[Union[str, os.PathLike[str]]] = (),
         bundled: Optional[str] = None) -> Model:
    """Load the best model of a run, and return it. Raises Error if there is no such run, model or library.

    run: a Run of encore.runs(), or the name of a run of the database, its id, or the beginning of one run's name or id.
        It may also be a path: the folder of a run (encore.db.runs/ID), a folder that `exp export --format encore`
        wrote, or a bundle. A str is a path if it has a slash, ends with .tar.zst, or names a folder but not a run.
    db: the database; default: $ENCORE_DB, else encore.db in the working folder.
    threads: for computing, at most 512; 0: one for each core. The first model of a process decides for all of them.
    truncate: use only the beginning of an input that is too long for the model. Without it such an input is an error.
    integer_bits: 8 or 4: use the weights that `exp quantize` wrote; 0: the weights of the training.
    plugins: folders with more plugins of the model. Plugins are code: name only folders that you trust.
    bundled: the id of a run of a bundle, or the beginning of its id. Default: the only run with parameters.
    """
    return Model(model_path(run, db), threads, truncate, integer_bits, plugins, bundled)
