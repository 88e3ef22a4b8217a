#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests moderation.py on a few messages: the choice of the word list, the attacks, and what it counts.

    tests/bench/moderation_test.py

CTest runs it as moderation_script. It needs neither a build nor data.
"""
import json, pathlib, subprocess, sys, tempfile

SCRIPT = pathlib.Path(__file__).with_name("moderation.py")
sys.path.insert(0, str(SCRIPT.parent))
import moderation


def run(*arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


low, high = moderation.wilson(95, 100)  # Wilson (1927), as scipy.stats.binomtest(95, 100).proportion_ci(method="wilson") gives it
assert abs(low - 0.888250) < 1e-6 and abs(high - 0.978456) < 1e-6, (low, high)

with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    train = ["you utter zog\toffensive", "the word even is harmless\tneither", "a flower for you\tneither"] * 200
    dev = ["what a zog\thate"] * 60 + ["a flower even now\tneither"] * 40
    test = ["ZOG off\thate", "you zog, you\toffensive", "a harmless word\tneither", "go away\toffensive"]
    for file, lines in ("train", train), ("dev", dev), ("test", test):
        (folder / file).write_text("\n".join(lines) + "\n")

    code, said = run("list", "--train", folder / "train", "--dev", folder / "dev", "--test", folder / "test", "--demand", 0.9, "-o", folder / "list")
    assert code == 0 and "2 of 3" in said, said
    assert "zog" in json.loads((folder / "list").read_text())["words"]
    code, said = run("list", "--train", folder / "train", "--dev", folder / "dev", "--demand", 0.99)
    assert code == 0 and "the list is empty" in said, said  # 60 removals without a mistake have a lower end of 94 %

    for kind, wanted in ("digits", {"2og", "z0g", "zo9", "20g", "2o9", "z09", "209"}), ("spaces", {"z og", "zo g", "z o g"}):
        code, said = run("attack", folder / "test", "--list", folder / "list", "--words", 2, "--kind", kind, "-o", folder / "attacked")
        lines = (folder / "attacked").read_text().splitlines()
        assert code == 0 and "2 of 3" in said, said
        assert [line.split("\t")[1] for line in lines] == ["hate", "offensive", "neither", "offensive"]
        assert lines[1].split("\t")[0][4:-5] in wanted, lines
        assert lines[2:] == test[2:], lines
    run("attack", folder / "test", "--list", folder / "list", "--words", 2, "--kind", "letters", "-o", folder / "attacked")
    first = (folder / "attacked").read_text().split(" ")[0]
    assert first != "ZOG" and first[1] == "О" and len(first) == 3, first  # the Cyrillic letter, in upper case

    bands = ["answer", "review", "answer", "refuse"]
    (folder / "answers.tsv").write_text("".join(f"{line}\tviolation\t{band}\n" for line, band in zip(test, bands)))
    code, said = run("score", folder / "test", folder / "answers.tsv", "--list", folder / "list", "--json", folder / "figures")
    figures = json.loads((folder / "figures").read_text())
    assert code == 0, said
    assert figures["application"]["precision"]["hits"] == 1 and figures["application"]["precision"]["cases"] == 2, figures
    assert figures["application"]["recall"]["cases"] == 3 and figures["list"]["recall"]["hits"] == 2, figures
    assert figures["application"]["groups"]["label neither"]["harmless_removed"]["hits"] == 1, figures
    assert abs(figures["recall_difference"]["difference"] + 1 / 3) < 1e-9, figures
    (folder / "answers.tsv").write_text("another text\thate\tanswer\n" * 4)
    code, said = run("score", folder / "test", folder / "answers.tsv")
    assert code == 1 and "answer 1 is to another message" in said, said
print("moderation.py works")
