#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests receipts.py on a few receipts: words are cut as Encore cuts them, values get tags where they stand, right answers
score 100 and wrong ones less, and expressions find what is easy to find.

    tests/bench/receipts_test.py

CTest runs it as receipts_script. It needs neither a build nor data.
"""
import json, pathlib, subprocess, sys, tempfile

SCRIPT = pathlib.Path(__file__).with_name("receipts.py")
ROWS = [{"id": "1", "lines": ["OAK STORE SDN BHD (12-X)", "NO.7, JALAN 3,", "81100 JOHOR.", "DATE: 25/12/2018 10:00", "PEN 3.50", "TOTAL RM3.50",
                             "CASH 3.50"], "company": "OAK STORE SDN BHD", "date": "25/12/2018", "address": "NO.7, JALAN 3, 81100 JOHOR.",
         "total": "3.50"},
        {"id": "2", "lines": ["[NAME]", "ELM TRADING", "LOT 9 TAMAN KUP,", "ON 3 MAR 18", "SUB TOTAL 9.00", "NETT", "8.95"],
         "company": "ELM TRADING", "date": "3 MAR 18", "address": "LOT 9 TAMAN KIP", "total": "8.95"}]


def run(*arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for part in ("train", "dev", "test"):
        (folder / f"{part}.jsonl").write_text("".join(json.dumps(row) + "\n" for row in ROWS))
    code, said = run("words", folder, "-o", folder / "out")
    assert code == 0 and "test: 2 receipts; values without a place: company 0, date 0, address 0, total 0" in said, said
    receipts = [[row.split("\t") for row in part.splitlines()]
                for part in (folder / "out/test.conll").read_text().strip().split("\n\n")]
    lines = (folder / "out/test.txt").read_text().splitlines()
    assert [" ".join(word for word, _ in receipt) for receipt in receipts] == lines
    assert lines[0].startswith("OAK STORE SDN BHD ( 12-X ) | NO.7 , JALAN 3 , | 81100 JOHOR . | DATE : 25/12/2018"), lines[0]

    def spans(receipt):
        found, start = [], 0
        for word, tag in receipt:
            if tag[0] == "B":
                found.append([tag[2:], word, start, start + len(word)])
            elif tag[0] == "I":
                found[-1][1] += " " + word
                found[-1][3] = start + len(word)
            start += len(word) + 1
        return found

    first, second = map(spans, receipts)
    assert [each[:2] for each in first] == [["company", "OAK STORE SDN BHD"], ["address", "NO.7 , JALAN 3 , | 81100 JOHOR ."],
                                            ["date", "25/12/2018"], ["total", "RM3.50"]], first
    assert [each[:2] for each in second] == [["company", "ELM TRADING"], ["address", "LOT 9 TAMAN KUP ,"], ["date", "3 MAR 18"],
                                             ["total", "8.95"]], second

    def answers(all_spans):
        rows = []
        for some in all_spans:
            fields = {label: {"text": text, "start": start, "end": end} for label, text, start, end in some}
            rows.append(json.dumps({"extract.json": json.dumps({"fields": fields})}) + "\n")
        (folder / "answers.jsonl").write_text("".join(rows))
        return run("score", folder / "test.jsonl", folder / "answers.jsonl")

    code, said = answers([first, second])
    exact, apart = said.split("apart from")
    assert code == 0 and "company  precision 100.00  recall 100.00  F1 100.00" in exact, said
    assert "address  precision  50.00" in exact and "address  precision  50.00" in apart, "TAMAN KUP is not TAMAN KIP"
    assert "total    precision  50.00" in exact and "total    precision 100.00" in apart, "RM3.50 is the amount 3.50"
    assert "date     precision 100.00" in exact, said
    code, said = answers([first[:1], second])
    assert "date     precision 100.00  recall  50.00" in said, said
    code, said = answers([first])
    assert code == 1 and "has 1 answers, but" in said, said
    (folder / "answers.jsonl").write_text('{"text": "a"}\n{"text": "b"}\n')
    code, said = run("score", folder / "test.jsonl", folder / "answers.jsonl")
    assert code == 1 and "has no field STEP.json" in said, said
    code, said = run("rules", folder / "test.jsonl")
    assert code == 0 and "date     precision 100.00" in said and "total    precision 100.00" in said, said
print("receipts.py: passed")
