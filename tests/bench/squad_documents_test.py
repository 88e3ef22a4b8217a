#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests squad_documents.py on a few paragraphs: no group shares a paragraph with another, missing paragraphs leave
questions without an answer, and wrong paragraphs come from the hits of the search.

    tests/bench/squad_documents_test.py

CTest runs it as squad_documents_script. It needs neither a build nor data.
"""
import json, pathlib, subprocess, sys, tempfile

SCRIPT = pathlib.Path(__file__).with_name("squad_documents.py")


def run(*arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


def lines(path):
    return [json.loads(line) for line in path.read_text().splitlines()]


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    data, out = folder / "data", folder / "out"
    data.mkdir()
    paragraphs = [{"context": f"Town {p} has {p} gates.",
                   "qas": [{"id": f"{p}-{q}", "question": f"How many gates has town {p} in year {q}?",
                            "answers": [{"text": str(p), "answer_start": 5}]} for q in range(3)]} for p in range(40)]
    for file, some in ("dev.json", paragraphs[:10]), ("train.json", paragraphs[10:] + paragraphs[:1]):
        (data / file).write_text(json.dumps({"data": [{"title": "towns", "paragraphs": some}]}))
    code, said = run("draw", data, "--questions", 20, "-o", out)
    assert code == 0, said
    sets = {name: lines(out / f"{name}.jsonl") for name in ("train", "dev", "test")}
    assert [len(sets[name]) for name in ("dev", "test")] == [20, 20], said
    used = {name: {row["labels"][0] for row in rows} for name, rows in sets.items()}
    assert not (used["train"] & used["dev"] or used["train"] & used["test"] or used["dev"] & used["test"]), used
    documents = {row["id"]: row["text"] for row in lines(out / "documents.jsonl")}
    assert len(documents) == 40, "the paragraph that stands twice counts once"
    missing = set(documents) - {row["id"] for row in lines(out / "known.jsonl")}
    assert 5 <= len(missing) <= 8 and not missing & used["train"], missing
    for name in ("dev", "test"):
        for row, closed in zip(lines(out / f"open_{name}.jsonl"), sets[name], strict=True):
            is_missing = closed["labels"][0] in missing
            assert row["text"] == closed["text"] and (row["answers"] == []) == is_missing == (row["labels"] == []), row
    pairs = lines(out / "pairs.jsonl")
    assert [pair["text2"] for pair in pairs] == [documents[row["labels"][0]] for row in sets["train"]]

    hits = [{"predicted_find.hits": [other for other in sorted(documents)[:3]] + row["labels"]} for row in sets["train"]]
    (out / "found.jsonl").write_text("".join(json.dumps(row) + "\n" for row in hits))
    code, said = run("examples", out, out / "found.jsonl", "--data", data, "--negatives", 2)
    assert code == 0, said
    judged = lines(out / "judged.jsonl")
    assert len(judged) == 3 * len(sets["train"])
    right = {(row["text"], documents[row["labels"][0]]) for row in sets["train"]}
    assert all(((row["text"], row["text2"]) in right) == (row["label"] == "relevant") for row in judged)
    questions = [(paragraph["context"], question) for article in json.loads((out / "answers.json").read_text())["data"]
                 for paragraph in article["paragraphs"] for question in paragraph["qas"]]
    assert len(questions) == 2 * len(sets["train"]) and len({question["id"] for _, question in questions}) == len(questions)
    for text, question in questions:
        answers = question["answers"]
        assert bool(answers) == ((question["question"], text) in right), question
        assert all(text[answer["answer_start"]:].startswith(answer["text"]) for answer in answers), question

    code, said = run("join", data / "dev.json", "--words", 12, "-o", out / "joined.json")
    assert code == 0 and said == "30 questions about 10 documents of 15 words on average\n", said
    joined = json.loads((out / "joined.json").read_text())["data"][0]["paragraphs"]
    own = [parts["context"].split("\n").index(before["context"]) for parts, before in zip(joined, paragraphs[:10], strict=True)]
    assert all(len(set(parts["context"].split("\n"))) == 3 for parts in joined) and set(own) == {0, 1, 2}, own
    for parts, before in zip(joined, paragraphs[:10], strict=True):
        for question, old in zip(parts["qas"], before["qas"], strict=True):
            answer, = question["answers"]
            line = parts["context"].rfind("\n", 0, answer["answer_start"]) + 1
            assert answer["answer_start"] - line == 5 and parts["context"][line:].startswith(before["context"])
            assert parts["context"][answer["answer_start"]:].startswith(answer["text"]) and question["id"] == old["id"]
    code, said = run("join", data / "dev.json", "--words", 51, "-o", out / "joined.json")
    assert code == 1 and "fewer than 51 words" in said, said

    code, said = run("draw", data, "--questions", 1000, "-o", folder / "none")
    assert code == 1 and "expected 1000" in said, said
