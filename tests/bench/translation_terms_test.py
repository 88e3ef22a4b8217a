#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests translation_terms.py on a few sentences: it finds nouns and their translations, marks sentences, and counts kept terms
and marks; chrF of a sentence and the area under the ROC curve are those of hand-computed cases.

    tests/bench/translation_terms_test.py

CTest runs it as translation_terms_script. It needs neither a build nor data.
"""
import importlib.util, json, pathlib, subprocess, sys, tempfile

SCRIPT = pathlib.Path(__file__).with_name("translation_terms.py")
PAIRS = [("a dog runs", "ein Hund rennt"), ("the dogs run", "die Hunde rennen"), ("a cat sees a dog", "eine Katze sieht einen Hund"),
         ("a cat runs", "eine Katze rennt"), ("a dog sleeps", "ein Hund schläft"), ("dogs sleep", "viele Hunde schlafen")]
spec = importlib.util.spec_from_file_location("translation_terms", SCRIPT)
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


def run(*arguments):
    done = subprocess.run([sys.executable, str(SCRIPT), *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    return done.returncode, done.stdout


with tempfile.TemporaryDirectory() as name:
    folder = pathlib.Path(name)
    for side, file in enumerate(("s", "t")):
        (folder / file).write_text("".join(pair[side] + "\n" for pair in PAIRS), encoding="utf-8")
    code, said = run("terms", folder / "s", folder / "t", "-o", folder / "terms.tsv", "-n", 3)
    assert code == 0, said
    assert (folder / "terms.tsv").read_text() == "dog\tHund\ncat\tKatze\ndogs\tHunde\n", (folder / "terms.tsv").read_text()

    answers = ["ein Hund rennt", "die Hund rennen", "eine Katze sieht einen Hundes", "eine Katze rennt", "ein Hund schläft", "x"]
    rows = [{"german.translation": text, "german.confidence": 0.9 - 0.1 * i} for i, text in enumerate(answers)]
    (folder / "a.jsonl").write_text("".join(json.dumps(row) + "\n" for row in rows))
    code, said = run("score", folder / "terms.tsv", folder / "s", folder / "t", folder / "a.jsonl")
    assert code == 0 and "terms      4 of 7, 57.14 %" in said and "AUROC 1.0000" in said, said
    code, said = run("score", folder / "terms.tsv", folder / "s", folder / "t", folder / "a.jsonl", "--against", folder / "a.jsonl")
    assert code == 0 and ("difference +0.00 [0.00, 0.00] BLEU" in said or "sacreBLEU is not installed" in said), said
    code, said = run("same", folder / "t", folder / "a.jsonl")
    assert code == 0 and said == "same       3 of 6\n", said

    # The term "dogs" is missing in the second answer, of whose words "die" and "rennen" belong to it; the first one goes.
    code, said = run("replace", folder / "terms.tsv", folder / "s", folder / "t", folder / "s", folder / "a.jsonl", "-o", folder / "r.jsonl")
    texts = [json.loads(line)["translation"] for line in (folder / "r.jsonl").read_text(encoding="utf-8").splitlines()]
    assert code == 0 and texts[:2] == ["ein Hund rennt", "Hunde Hund rennen"], (said, texts)
    code, said = run("score", folder / "terms.tsv", folder / "s", folder / "terms.tsv", folder / "a.jsonl")
    assert code != 0 and "do not belong together" in said, said

    code, said = run("mark", folder / "terms.tsv", folder / "s", "-o", folder / "marked")
    marked = (folder / "marked").read_text().splitlines()
    assert code == 0 and marked == ["a <b>dog</b> runs", "{name} : the dogs run", "%s : a cat sees a dog", "a cat runs 103",
                                    "a dog sleeps https://example.org/4", "<b>dogs</b> sleep"], marked
    answers = ["ein <b>Hund</b> rennt", "die {name}", "%s %s", "103", "https://example.org/4", "<b>viele</b> Hunde"]
    (folder / "m.jsonl").write_text("".join(json.dumps({"translation": text, "score": 0.0}) + "\n" for text in answers))
    code, said = run("marks", folder / "terms.tsv", folder / "marked", folder / "m.jsonl")
    assert code == 0 and "tags       2 of 2" in said and "%s         0 of 1" in said and "number     1 of 1" in said, said
    assert "around     1 of 2" in said, said

# sacrebleu.sentence_chrf of sacreBLEU 2.6.0
assert abs(script.character_f("Ein Hund läuft .", "Ein Hund rennt .") - 0.45225330) < 1e-7
assert script.area_under_curve([3, 1, 2, 1], [True, False, False, True]) == 0.625
