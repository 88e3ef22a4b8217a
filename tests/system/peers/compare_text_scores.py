#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares BLEU and chrF with the Python package sacreBLEU, and ROUGE with rouge-score; a difference above
1e-12 fails.

    compare_text_scores.py build/openmp/bin/tests/peer_tool

CTest runs it as text_scores_equal_sacrebleu; peer_tool.cpp computes Encore's scores (plugins/tasks/ngrams).
The corpora are random ones as in tests/unit/plugins/make_text_scores.py, lines with odd code points, and, if
$ENCORE_DATA has Multi30k, its translations with words changed. Exits with 77 (skipped) if a package is
missing.
"""
import json
import os
import pathlib
import random
import subprocess
import sys

SKIPPED = 77
CORPORA = 2000
UNIT_TESTS = pathlib.Path(__file__).resolve().parents[2] / "unit" / "plugins"

sys.dont_write_bytecode = True
sys.path.insert(0, str(UNIT_TESTS))
try:
    import make_text_scores as made
except ImportError as error:
    print(f"skipped: the Python packages sacrebleu and rouge-score are not installed ({error})")
    sys.exit(SKIPPED)


def code_point_corpora():
    """Returns each code point that may be white space or have a lower case in ASCII, and some of the others, between letters, a digit
    and a full stop, 64 in each text, together with a text in which every other one is left out."""
    points = [chr(c) for c in [*range(1, 0x3100), *range(0x3100, 0x110000, 97)] if not 0xD800 <= c < 0xE000]
    for first in range(0, len(points), 64):
        few = points[first:first + 64]
        yield ["".join(f"a{c}b {c}. 1{c}" for c in few)], ["".join(f"a{c}b {c}. 1{c}" for c in few[::2])]


def multi30k_corpora(rng):
    folder = pathlib.Path(os.environ.get("ENCORE_DATA", "")) / "multi30k"
    if not os.environ.get("ENCORE_DATA") or not folder.is_dir():
        print("without Multi30k: $ENCORE_DATA does not have it")
        return
    for name in ("val.de", "test_2016_flickr.en"):
        references = (folder / name).read_text(encoding="utf-8").split("\n")[:-1]
        yield [made.changed(rng, reference) for reference in references], references


def main():
    rng = random.Random(7)
    corpora = made.CHOSEN + list(made.random_corpora(rng, CORPORA)) + list(code_point_corpora()) + list(multi30k_corpora(rng))
    text = "".join(json.dumps({"written": written, "references": references}) + "\n" for written, references in corpora)
    done = subprocess.run([sys.argv[1], "text_scores"], input=text.encode(), stdout=subprocess.PIPE, check=True)
    differences = 0
    for (written, references), line in zip(corpora, done.stdout.decode().splitlines(), strict=True):
        ours, theirs = json.loads(line), made.scores(written, references)
        pairs = [(ours[name], theirs[name]) for name in ("bleu", "chrf")]
        pairs += [pair for a, b in zip(ours["rouge"], theirs["rouge"], strict=True) for pair in zip(a, b, strict=True)]
        if max(abs(a - b) for a, b in pairs) > 1e-12:
            differences += 1
            if differences <= 5:
                print(f"{written!r:.300}\n{references!r:.300}\n  ours   {ours!r:.300}\n  theirs {theirs!r:.300}")
    print(f"{len(corpora)} corpora, {differences} differences")
    sys.exit(1 if differences else 0)


if __name__ == "__main__":
    main()
