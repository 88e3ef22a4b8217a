#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests invoices.py: one seed gives the same files, sets do not share templates, documents have the fields that the
experiment asks for, sums hold but for about one invoice in eight, and documents have up to 8 pages.

    tests/bench/invoices_test.py

CTest runs it as invoices_script. It needs neither a build nor data.
"""
import pathlib, random, subprocess, sys, tempfile

FOLDER = pathlib.Path(__file__).parent
sys.path.insert(0, str(FOLDER))
import invoices


def spans(words, tags):
    found = []
    for word, tag in zip(words, tags):
        if tag[0] == "B":
            found.append([tag[2:], word])
        elif tag[0] == "I":
            found[-1][1] += " " + word
    return found


def cents(text):
    return int("".join(letter for letter in text if letter.isdigit()))


with tempfile.TemporaryDirectory() as name:
    for out in "ab":
        subprocess.run([sys.executable, str(FOLDER / "invoices.py"), f"{name}/{out}", "--train", "30", "--dev", "20", "--test", "20", "--unseen", "5"],
                       check=True)
    for file in ("train.conll", "dev.conll", "test.conll", "unseen.conll", "test.txt"):
        assert pathlib.Path(name, "a", file).read_bytes() == pathlib.Path(name, "b", file).read_bytes(), file
    assert len(pathlib.Path(name, "a/test.txt").read_text().splitlines()) == 20
    assert pathlib.Path(name, "a/train.conll").read_text().count("\n\n") == 30
    subprocess.run([sys.executable, str(FOLDER / "invoices.py"), f"{name}/typed", "--types", "--train", "30", "--dev", "1", "--test", "1", "--unseen", "1"],
                   check=True)
    typed = pathlib.Path(name, "typed/train.conll").read_text().splitlines(keepends=True)
    types = [line for line in typed if line.startswith("# type = ")]
    assert len(types) == 30 and set(types) == {"# type = invoice\n", "# type = letter\n"}, types
    assert "".join(line for line in typed if line not in types) == pathlib.Path(name, "a/train.conll").read_text()

groups = {}
for part, count in invoices.TEMPLATES.items():
    rng = random.Random(f"1 {part}")
    groups[part] = {tuple(sorted((key, str(value)) for key, value in vars(invoices.Template(rng, invoices.CHOICES)).items())) for _ in range(count)}
assert not (groups["train"] & groups["test"] or groups["dev"] & groups["test"] or groups["train"] & groups["dev"])

for key, words in invoices.UNSEEN.items():
    assert not set(map(str, words)) & set(map(str, invoices.CHOICES[key])), key

rng, wrong, count, pages, letters = random.Random(7), 0, 0, set(), 0
for _ in range(400):
    document = invoices.Document(rng, invoices.Template(rng, invoices.CHOICES))
    kind, lines = document.lines()
    words, tags = invoices.tagged(lines)
    found, pages = spans(words, tags), pages | {document.pages}
    labels = {label for label, _ in found}
    assert {"company", "customer", "number", "date"} <= labels, labels
    assert kind == ("letter" if "claim" in labels else "invoice")
    if "claim" in labels:
        letters += 1
        assert "total" not in labels and not any(label.startswith("item") for label in labels)
        continue
    values = {label: text for label, text in found}
    amounts = [cents(text) for label, text in found if label == "item.amount"]
    for member in ("quantity", "description", "price"):
        assert sum(label == f"item.{member}" for label, _ in found) == len(amounts), member
    count += 1
    wrong += sum(amounts) != cents(values["net"]) or cents(values["net"]) + cents(values["tax"]) != cents(values["total"])
assert pages == set(range(1, 9)), pages
assert 60 < letters < 140, letters
assert 0.06 < wrong / count < 0.2, wrong / count
print("invoices.py: passed")
