# SPDX-License-Identifier: BSD-3-Clause
"""The model of a run, computed by libencore_infer.so through ctypes. encore.load() makes it.

The calls are those of framework/library/encore_infer.h with ENCORE_INFER_ABI 1; read that header first.
"""
from __future__ import annotations

import contextlib
import ctypes
import json
import os
import pathlib
import subprocess
import threading
from typing import Any, Dict, Iterable, Iterator, List, Optional, Sequence, Union

_ABI, _NAME = 1, "libencore_infer.so.1"
_Inputs = Union[str, Iterable[str]]
_lock = threading.Lock()
_loaded: Optional[ctypes.CDLL] = None
_process: Optional[int] = None  # the process that loaded the library


class Error(Exception):
    """What is wrong, where, and what to do. The library and the database report their errors as this exception."""


class _Options(ctypes.Structure):  # encore_options of the header; new members go to the end
    _fields_ = [("size", ctypes.c_size_t), ("plugin_path", ctypes.c_char_p), ("threads", ctypes.c_int),
                ("integer_bits", ctypes.c_int), ("truncate", ctypes.c_int), ("run", ctypes.c_char_p)]


def _library_path() -> pathlib.Path:
    """Return the library: $ENCORE_LIBRARY, that of the wheel for the processor of exp, or that of the installation."""
    named, package = os.environ.get("ENCORE_LIBRARY"), pathlib.Path(__file__).resolve().parent
    roots = [package / "_native", *list(package.parents)[:4]]  # of PREFIX/lib/encore/python/encore the fourth: PREFIX
    roots += [root / "build" / os.environ.get("ENCORE_BACKEND", "openmp") for root in roots]
    for root in [root for root in roots if not named and (root / "lib" / "encore" / "cpu").is_dir()]:
        version = subprocess.run([root / "bin" / "exp", "version", "--json"], stdout=subprocess.PIPE, check=True).stdout
        roots.insert(0, root / "lib" / "encore" / "cpu" / (json.loads(version)["processor"] or "none"))
    for place in [pathlib.Path(named)] if named else [root / "lib" / _NAME for root in roots]:
        if place.is_file():
            return place.resolve()  # its own libraries lie beside the file that a link names
    where = f"$ENCORE_LIBRARY names {named}, which is not a file" if named else f"it is not near the package {package}"
    raise Error(f"unreachable library {_NAME}: {where}; build it in the source tree of Encore (cmake --build "
                "build/openmp --target encore_infer_library), or set $ENCORE_LIBRARY to its path")


def _library() -> ctypes.CDLL:
    """Return the library, which a process loads once. Raise Error in a forked child of the process that loaded it."""
    global _loaded, _process
    with _lock if _process is None else contextlib.nullcontext():  # the fork is found without a lock of the parent
        if _process is None:
            path = _library_path()
            try:
                library = ctypes.CDLL(str(path))
                abi = library.encore_infer_abi()
            except (OSError, AttributeError) as error:
                raise Error(f"{path}: cannot be used as {_NAME}: {error}; install Encore completely, or set "
                            "$ENCORE_LIBRARY to the library of an installation") from None
            if abi != _ABI:
                raise Error(f"{path}: invalid ABI {abi}: expected {_ABI}; use the Python package of its installation")
            library.encore_close.restype = library.encore_free.restype = None
            library.encore_vector_width.restype, library.encore_last_error.restype = ctypes.c_size_t, ctypes.c_char_p
            _loaded, _process = library, os.getpid()
    if _loaded is None or _process != os.getpid():
        raise Error("this process was forked from one that uses the library of Encore, whose threads do not exist "
                    "here; load models after the fork, or start processes with multiprocessing's method \"spawn\"")
    return _loaded


def _check(status: int) -> None:
    if status != 0:
        raise Error(_library().encore_last_error().decode("utf-8", "replace"))


def _c_strings(inputs: _Inputs) -> Any:
    listed = [inputs] if isinstance(inputs, str) else list(inputs)
    for i, text in enumerate(listed):
        if not isinstance(text, str):
            raise TypeError(f"text {i + 1}: expected str, not {type(text).__name__}")
        if "\0" in text:  # it would end the input in C
            raise Error(f"text {i + 1}: invalid text: it has a zero byte; remove the byte")
    return (ctypes.c_char_p * len(listed))(*[text.encode() for text in listed])


def _taken(text: ctypes.c_void_p) -> bytes:  # the content of a string of the library, which is freed
    content = ctypes.string_at(text)
    _library().encore_free(text)
    return content


class Model(contextlib.AbstractContextManager["Model"]):
    """A loaded model. encore.load() makes it; close(), or the end of a `with` block, frees its memory.

    Any thread may call any method at any time. The library computes for one call after the other, so calls from several
    threads are not faster. A forked child process cannot use a model of its parent. Every method but close() raises
    Error if the model is closed, TypeError if an input is not a str, and UnicodeEncodeError if it is not Unicode.
    """

    def __init__(self, path: str, threads: int, truncate: bool, integer_bits: int,
                 plugins: Sequence[Union[str, os.PathLike[str]]], bundled: Optional[str]) -> None:
        """Load the model at a path. encore.load() describes the arguments and calls this."""
        self.path, self._handle = path, ctypes.c_void_p()
        self._lock = threading.Lock()  # encore_close() must be the last call with a model
        folders, run = os.fsencode(":".join(os.fspath(folder) for folder in plugins)) or None, (bundled or "").encode()
        options = _Options(ctypes.sizeof(_Options), folders, threads, integer_bits, truncate, run or None)
        _check(_library().encore_open(os.fsencode(path), ctypes.byref(options), ctypes.byref(self._handle)))

    def __call__(self, inputs: _Inputs, scores: bool = False) -> Any:
        """Return the answer to an input (str), or the list of the answers to several inputs (any iterable of str).

        An answer is a line of `exp predict --json` as Python objects: a dict whose members depend on the task.
        scores: add probabilities, between 0 and 1, as `exp predict --scores --json` does.
        Raises Error if an input has a line break or is too long, or if the task has no probabilities.
        """
        answers = [json.loads(line) for line in self.raw(inputs, scores).split(b"\n")[:-1]]
        return answers[0] if isinstance(inputs, str) else answers

    def raw(self, inputs: _Inputs, scores: bool = False) -> bytes:
        """Return the bytes that `exp predict --json` prints. Arguments and errors are those of a call of the model."""
        strings, lines = _c_strings(inputs), ctypes.c_void_p()
        with self._turn() as library:
            ask = library.encore_predict_scores if scores else library.encore_predict
            _check(ask(self._handle, strings, ctypes.c_size_t(len(strings)), ctypes.byref(lines)))
        return _taken(lines)

    def embed(self, inputs: _Inputs) -> List[Any]:
        """Return the vector of an input (str) as a list of float, or the list of the vectors of several inputs.

        They are those of `exp embed`. Raises Error if the model has no encoder, or if an input is too long.
        """
        strings = _c_strings(inputs)
        with self._turn() as library:
            width = library.encore_vector_width(self._handle)  # 0: the model has none, and encore_embed() says why
            numbers = (ctypes.c_float * max(len(strings) * width, 1))()
            _check(library.encore_embed(self._handle, strings, ctypes.c_size_t(len(strings)), numbers))
        vectors = [numbers[i * width:(i + 1) * width] for i in range(len(strings))]
        return vectors[0] if isinstance(inputs, str) else vectors

    def describe(self) -> Dict[str, Any]:
        """Return facts: task, labels, max_length (in tokens), step, digest (SHA-256), vector_width (0: none), notes."""
        facts = ctypes.c_void_p()
        with self._turn() as library:
            _check(library.encore_describe(self._handle, ctypes.byref(facts)))
        return dict(json.loads(_taken(facts)))

    def close(self) -> None:
        """Free the model. The call waits for calls of other threads; closing again does nothing."""
        if _process == os.getpid():  # in a forked child the model is the parent's
            with self._lock:
                _library().encore_close(self._handle)
                self._handle = ctypes.c_void_p()

    @contextlib.contextmanager
    def _turn(self) -> Iterator[ctypes.CDLL]:
        """Keep the model open during a call of the library. Raise Error if it is closed or this process was forked."""
        library = _library()
        with self._lock:
            if not self._handle:
                raise Error(f"the model {self.path} is closed; load it again with encore.load()")
            yield library

    def __exit__(self, *error: object) -> None:
        self.close()

    __del__ = close
