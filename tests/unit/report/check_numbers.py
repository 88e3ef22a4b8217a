# SPDX-License-Identifier: BSD-3-Clause
"""Checks an HTML report: reads the numbers in its tables and compares them with those of scipy
(statistics.json). report_test.cpp calls it: check_numbers.py statistics.json report.html. It finds tables by
their ids, such as "results-test-f1". Exit code 1 if a number differs or is missing."""
import json
import sys
from html.parser import HTMLParser


class Tables(HTMLParser):
    """id of the table -> rows of strings, the header first."""

    def __init__(self):
        super().__init__(convert_charrefs=True)
        self.tables, self.rows, self.cell, self.id = {}, None, None, ""

    def handle_starttag(self, tag, attributes):
        self.id = dict(attributes).get("id", self.id)
        if tag == "table":
            self.rows = self.tables.setdefault(self.id, [])
        if tag == "tr" and self.rows is not None:
            self.rows.append([])
        if tag in ("td", "th") and self.rows:
            self.cell = ""

    def handle_data(self, data):
        if self.cell is not None:
            self.cell += data

    def handle_endtag(self, tag):
        if tag in ("td", "th") and self.cell is not None:
            self.rows[-1].append(" ".join(self.cell.split()))
            self.cell = None
        if tag == "table":
            self.rows = None


def number(text):
    return float(text.replace("\u2212", "-").replace(",", "").replace("best", "").replace("*", ""))


def same(shown, wanted, digits):
    return abs(number(shown) - wanted) <= 0.5 * 10 ** -digits + 1e-9


scipy = json.load(open(sys.argv[1]))["report"]
tables = Tables()
tables.feed(open(sys.argv[2], encoding="utf-8").read())
problems, checked = [], 0


def check(where, shown, wanted, digits=2):
    global checked
    checked += 1
    if not same(shown, wanted, digits):
        problems.append("%s: %s shown, %r computed" % (where, shown, wanted))


letters = {row[1]: row[0] for row in tables.tables["answer-test-f1"]}
rows = {row[0]: row for row in tables.tables["results-test-f1"]}
for wanted in scipy["candidates"]:
    row = rows[letters[wanted["name"]]]
    check(wanted["name"] + " mean", row[3], wanted["mean"])
    if wanted["n"] == 1:
        if any(any(letter.isdigit() for letter in text) for text in row[4:9]):
            problems.append("%s: an interval with n = 1: %s" % (wanted["name"], row))
        continue
    values = [wanted["deviation"], *wanted["t"], *wanted["bootstrap"]]
    for text, value in zip(row[4:9], values):
        check(wanted["name"], text, value)
for wanted in scipy["pairs"]:
    for row in tables.tables["pairs-test-f1"]:
        if {row[0], row[1]} != {letters[wanted["a"]], letters[wanted["b"]]}:
            continue
        sign = 1 if row[0] == letters[wanted["a"]] else -1
        low, high = (wanted["low"], wanted["high"]) if sign == 1 else (-wanted["high"], -wanted["low"])
        for text, value in zip(row[2:5], [sign * wanted["difference"], low, high]):
            check(str(row[:2]), text, value)
        check(str(row[:2]), row[9], wanted["p"], 3)
        check(str(row[:2]), row[5], wanted["corrected"], 3)
if checked != 4 + 3 * 5 + 3 * 5:
    problems.append("%d numbers were found, not 34" % checked)
print("\n".join(problems))
sys.exit(1 if problems else 0)
