#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests corrections.py on a few sentences: errors are those that its head lists and equal seeds give equal ones; GLEU and edits
are those of cases computed by hand and of a second way to compute them.

    tests/bench/corrections_test.py

CTest runs it as corrections_script. It needs neither a build nor data.
"""
import importlib.util, itertools, json, math, pathlib, random, subprocess, sys, tempfile

SCRIPT = pathlib.Path(__file__).with_name("corrections.py")
spec = importlib.util.spec_from_file_location("corrections", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)
SENTENCES = ["The dogs are here .", "She has a camera , doesn't she ?", "Their house is near the station .", "I know .", "Go !"]


def run(*arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


# --- errors ---
draw = random.Random(5)
assert {script.with_error("the", draw) for _ in range(60)} == {"", "a", "an"}
assert {script.with_error("Is", draw) for _ in range(30)} == {"Are"}
assert script.with_error("7", draw) == "7" and script.with_error("sun", draw) == "sun"
for _ in range(200):  # one letter is lost, doubled or replaced, or two change places
    wrong = script.misspelt("station", draw)
    assert abs(len(wrong) - 7) <= 1 and wrong[0] == "s", wrong
    assert len(wrong) != 7 or sum(a != b for a, b in zip(wrong, "station")) in (0, 1, 2), wrong
assert script.with_errors("The dogs are here .", 0.0, draw) == "The dogs are here ."

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    (folder / "text").write_text("".join(line + "\n" for line in SENTENCES))
    for file in ("one", "two"):
        code, said = run("make", folder / "text", "-o", folder / file, "--copies", 2, "--noise", 0.5)
        assert code == 0, said
    wrong, right = ((folder / f"one.{end}").read_text().splitlines() for end in ("wrong", "right"))
    assert right == SENTENCES * 2 and len(wrong) == len(right) and wrong != right and wrong[:5] != wrong[5:], wrong
    assert wrong == (folder / "two.wrong").read_text().splitlines(), "equal seeds give equal errors"

    # A program that corrects everything, and one that corrects nothing.
    (folder / "all.jsonl").write_text("".join(json.dumps({"text": a, "translation": b}) + "\n" for a, b in zip(wrong, right)))
    code, said = run("score", folder / "one.wrong", folder / "one.right", folder / "all.jsonl")
    parts = said.split("input as it is")
    assert code == 0 and "GLEU      100.00 [100.00, 100.00]" in parts[0] and "F0.5      100.00" in parts[0], said
    assert "F0.5        0.00" in parts[1] and "harmed      0.00" in parts[1], said
    code, said = run("score", folder / "one.wrong", folder / "text", folder / "all.jsonl")
    assert code != 0 and "do not belong together" in said, said

# --- GLEU: one word of five is corrected; "a" of the input stays wrong in the second output ---
source, reference = "a b c d e".split(), "a x c d e".split()
assert script.gleu_statistics(source, reference, reference) == [5, 5, 5, 5, 4, 4, 3, 3, 2, 2]
# Kept: a, c, d, e of four words that count, less the wrong b; c d and d e less a b and b c; c d e less a b c and b c d.
assert script.gleu_statistics(source, source, reference) == [5, 5, 3, 5, 0, 4, 0, 3, 0, 2]
assert script.gleu([4, 5, 4, 4, 3, 3, 2, 2, 1, 1]) == 100 * math.exp(1 - 5 / 4)
assert abs(script.gleu([5, 5, 4, 5, 3, 4, 2, 3, 1, 2]) - 100 * (4 / 5 * 3 / 4 * 2 / 3 * 1 / 2) ** 0.25) < 1e-9

# --- edits ---
assert script.edits("a b c".split(), "a x c d".split()) == {(1, 2, ("x",)), (3, 3, ("d",))}
assert script.edits("a b c d".split(), "a d".split()) == {(1, 3, ())}
assert script.edits("a b".split(), "a b".split()) == set()


def distance(a, b):
    """The number of words in the edits of the best alignment, by trying all common subsequences."""
    return min(max(len(a), len(b)) if not kept else sum(
        max(x, y) for x, y in zip(gaps(kept[0], len(a)), gaps(kept[1], len(b)))) for kept in common(a, b))


def gaps(places, length):
    places = [-1, *places, length]
    return [after - before - 1 for before, after in zip(places, places[1:])]


def common(a, b):
    yield ()
    for n in range(1, min(len(a), len(b)) + 1):
        for i in itertools.combinations(range(len(a)), n):
            for k in itertools.combinations(range(len(b)), n):
                if all(a[x] == b[y] for x, y in zip(i, k)):
                    yield i, k


for _ in range(200):
    a, b = ([draw.choice("pqr") for _ in range(draw.randrange(5))] for _ in range(2))
    found = sorted(script.edits(a, b))
    assert sum(max(last - first, len(words)) for first, last, words in found) == distance(a, b), (a, b, found)
    rebuilt, at = [], 0
    for first, last, words in found:
        rebuilt += a[at:first] + list(words)
        at = last
    assert rebuilt + a[at:] == b, (a, b, found)
