#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests dialogsum.py on three dialogues: all summaries of a dialogue are in one list, in their order, and a file of another
form is refused with its line.

    tests/bench/dialogsum_test.py

CTest runs it as dialogsum_script. It needs neither a build nor data.
"""
import json, pathlib, subprocess, sys, tempfile

SCRIPT = pathlib.Path(__file__).with_name("dialogsum.py")


def run(*arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    dialogue = "#Person1#: Zürich?\n#Person2#: Yes."
    one = {"id": "d1", "dialogue": dialogue, "summary": "A town."}
    three = {"id": "t1", "dialogue": dialogue, "summary": "A town.", "summary2": "A place.", "summary3": "A trip."}
    (folder / "dev.jsonl").write_text(json.dumps(one) + "\n\n" + json.dumps(one) + "\n")
    (folder / "test.jsonl").write_text(json.dumps(three, ensure_ascii=False) + "\n", encoding="utf-8")
    code, said = run(folder, "-o", folder / "out")
    assert code == 0, said
    dev = [json.loads(line) for line in (folder / "out/dev.jsonl").read_text().splitlines()]
    assert dev == [{"text": dialogue, "summaries": ["A town."]}] * 2, dev
    test = (folder / "out/test.jsonl").read_text(encoding="utf-8")
    assert json.loads(test) == {"text": dialogue, "summaries": ["A town.", "A place.", "A trip."]}, test
    assert "Zürich" in test
    (folder / "test.jsonl").write_text('{"text": "a"}\n')
    code, said = run(folder, "-o", folder / "out")
    assert code != 0 and "test.jsonl:1: expected the members dialogue and summary" in said, said
