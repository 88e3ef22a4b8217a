#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the generator of the quickstart's corpus again and compares its bytes with those in the repository.

    compare_corpus.py experiments/corpus

CTest runs it as corpus_is_reproducible. After a change of generate.py, commit the train.conll that it writes.
"""
import pathlib
import subprocess
import sys
import tempfile

corpus = pathlib.Path(sys.argv[1])
with tempfile.TemporaryDirectory() as folder:
    subprocess.run([sys.executable, str(corpus / "generate.py"), folder], check=True)
    parts = ["train.conll", "dev.conll", "test.conll"]
    changed = [part for part in parts if (corpus / part).read_bytes() != (pathlib.Path(folder) / part).read_bytes()]
if changed:
    sys.exit(f"generate.py writes another {', '.join(changed)} than {corpus} holds; run it and commit what it writes")
print("equal bytes")
