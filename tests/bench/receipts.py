#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes words with tags from the receipts of SROIE, and scores answers as SROIE does.

    python3 tests/bench/receipts.py words $ENCORE_DATA/sroie -o receipts
    ENCORE_RECEIPTS=$PWD/receipts ./exp run experiments/apps/receipts.toml
    ./exp predict receipts --file receipts/test.txt --json -o answers.jsonl
    python3 tests/bench/receipts.py score $ENCORE_DATA/sroie/test.jsonl answers.jsonl
    python3 tests/bench/receipts.py rules $ENCORE_DATA/sroie/test.jsonl

Called by hand; docs/guides/extract.md has its results, and receipts_test.py tests it.

`words` writes train.conll, dev.conll and test.conll: one receipt after the other, one word and its tag (IOB2) in each
row; and the same words as train.txt, dev.txt and test.txt with one receipt in each line. Words are cut as Encore cuts text that a user types, and the word "|" stands between two lines of a receipt. SROIE
has values without places, so this script looks for each value in the words: it compares letters and digits only. A
company or address that is not there letter for letter is the run of lines that is most like it. A total that stands
several times is tagged in lines that speak of a total.

`score` compares answers with the values: exact strings, and strings apart from case, blanks and punctuation. Precision,
recall and F1 are over all fields of all receipts, as in SROIE. The text of a field is cut out of the lines of the
receipt by its offsets, so that blanks around punctuation are those of the receipt.

`rules` scores the rival that needs no training: regular expressions alone.
"""
import argparse, difflib, json, os, re, sys, unicodedata

FIELDS = ("company", "date", "address", "total")
LINE_END = "|"
LIKE = 0.8    # least similarity of a run of lines to a company or address
TOTAL_WORDS = re.compile(r"TOTAL|AMOUNT|NETT?\b|PAYABLE|DUE|BALANCE", re.I)
OTHER_TOTALS = re.compile(r"SUB|QTY|QUANTITY|ITEM|DISC|CHANGE|EXCL|TAX AM|GST AM|BEFORE", re.I)


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file if line.strip()]


def is_punctuation(letter):
    return unicodedata.category(letter).startswith("P")


def words_of(text):
    """Returns the words as (begin, end): cut at blanks; punctuation at the ends of a word is a word of its own."""
    words = []
    for found in re.finditer(r"\S+", text):
        begin, end = found.span()
        first, last = begin, end
        while first < end and is_punctuation(text[first]):
            first += 1
        while last > first and is_punctuation(text[last - 1]):
            last -= 1
        own = text[last - 2] in "'\u2019" and text[last - 1] in "sS" if last >= first + 3 else False
        words += [(i, i + 1) for i in range(begin, first)]
        words += [(first, last - 2), (last - 2, last)] if own else [(first, last)] * (first < last)
        words += [(i, i + 1) for i in range(last, end)]
    return words


class Receipt:
    """The words of the lines; the word "|" ends each line but the last."""

    def __init__(self, lines):
        self.text = f" {LINE_END} ".join(lines)
        self.places = words_of(self.text)
        self.words = [self.text[begin:end] for begin, end in self.places]
        self.line_of, line, at = [], 0, 0
        ends = []
        for each in lines[:-1]:
            at += len(each) + 1
            ends.append(at)    # the place of the mark behind this line
            at += 2
        for begin, _ in self.places:
            while line < len(ends) and begin > ends[line]:
                line += 1
            self.line_of.append(line)
        self.marks = {i for i, (begin, _) in enumerate(self.places) if begin in set(ends)}

    def part(self, begin, end):
        """Returns the text from one word to another, as the lines have it, for places in the joined words."""
        starts, at = [], 0
        for word in self.words:
            starts.append(at)
            at += len(word) + 1
        inside = [i for i, start in enumerate(starts) if begin <= start < end and i not in self.marks]
        if not inside:
            return ""
        text = self.text[self.places[inside[0]][0]:self.places[inside[-1]][1]]
        return " ".join(text.replace(f" {LINE_END} ", " ").split())


def bare(text):
    return "".join(letter for letter in text.upper() if letter.isalnum())


def exact_places(receipt, value):
    """Returns the runs of words, (first, end), that have the letters and digits of the value."""
    wanted, found = bare(value), []
    if not wanted:
        return found
    for first, word in enumerate(receipt.words):
        if first in receipt.marks or not bare(word):
            continue
        have, end = "", first
        while end < len(receipt.words) and len(have) < len(wanted):
            have += "" if end in receipt.marks else bare(receipt.words[end])
            end += 1
        if have == wanted and (not found or first >= found[-1][1]):
            found.append(with_punctuation(receipt, value, first, end))
    return found


def with_punctuation(receipt, value, first, end):
    """Returns the run of words with the punctuation at both ends that the value has too."""
    front = re.match(r"[^\w]*", value).group().replace(" ", "")
    back = re.search(r"[^\w]*$", value).group().replace(" ", "")
    while front and first > 0 and receipt.words[first - 1] == front[-1]:
        first, front = first - 1, front[:-1]
    while back and end < len(receipt.words) and receipt.words[end] == back[0]:
        end, back = end + 1, back[1:]
    return first, end


def like_place(receipt, value):
    """Returns the run of lines that is most like the value, or nothing."""
    best, place = LIKE, None
    count = max(receipt.line_of, default=-1) + 1
    for first in range(count):
        for last in range(first, min(count, first + 7)):
            inside = [i for i, line in enumerate(receipt.line_of) if first <= line <= last and i not in receipt.marks]
            if not inside:
                continue
            similar = difflib.SequenceMatcher(None, bare("".join(receipt.words[i] for i in inside)), bare(value), False).ratio()
            if similar > best:
                best, place = similar, (inside[0], inside[-1] + 1)
    return [place] if place else []


def amount_of(text):
    found = re.fullmatch(r"(?:RM|MYR|\$)?\s*(\d[\d,]*(?:\.\d+)?)", text.strip(), re.I)
    return float(found.group(1).replace(",", "")) if found else None


def total_places(receipt, value):
    """Returns the words with this amount: in lines that speak of a total, or else all of them."""
    amount = amount_of(value)
    if amount is None:
        return []
    places = [(i, i + 1) for i, word in enumerate(receipt.words) if "." in word and amount_of(word) == amount]

    def line(place, back=0):
        number = receipt.line_of[place[0]] - back
        return " ".join(word for word, at in zip(receipt.words, receipt.line_of) if at == number)

    def speaks(text):
        return TOTAL_WORDS.search(text) and not OTHER_TOTALS.search(text)

    for choice in (lambda place: speaks(line(place)), lambda place: speaks(line(place, 1)),
                   lambda place: TOTAL_WORDS.search(line(place)), lambda place: True):
        chosen = [place for place in places if choice(place)]
        if chosen:
            return chosen
    return []


def tagged(row):
    """Returns the receipt, the tag of each word, and the fields that were not found."""
    receipt = Receipt(row["lines"])
    tags, missing = ["O"] * len(receipt.words), []
    for field in FIELDS:
        value = row[field].strip()
        if not value:
            continue
        if field == "total":
            places = total_places(receipt, value)
        else:
            places = exact_places(receipt, value)
            if field != "date":
                places = places[:1] or like_place(receipt, value)
        if not places:
            missing.append(field)
        for first, end in places:
            if all(tag == "O" for tag in tags[first:end]):
                tags[first:end] = [f"B-{field}"] + [f"I-{field}"] * (end - first - 1)
    return receipt, tags, missing


def words(a):
    os.makedirs(a.out, exist_ok=True)
    for name in ("train", "dev", "test"):
        rows, count = read_lines(f"{a.data}/{name}.jsonl"), dict.fromkeys(FIELDS, 0)
        with open(f"{a.out}/{name}.conll", "w", encoding="utf-8") as file, \
                open(f"{a.out}/{name}.txt", "w", encoding="utf-8") as lines:
            for row in rows:
                receipt, tags, missing = tagged(row)
                for field in missing:
                    count[field] += 1
                file.writelines(f"{word}\t{tag}\n" for word, tag in zip(receipt.words, tags))
                file.write("\n")
                lines.write(" ".join(receipt.words) + "\n")
        print(f"{name}: {len(rows)} receipts; values without a place: " +
              ", ".join(f"{field} {number}" for field, number in count.items()))


def scores_of(rows, answers, same):
    """Returns right, given and true values for each field."""
    counts = {field: [0, 0, 0] for field in FIELDS}
    for row, answer in zip(rows, answers):
        for field in FIELDS:
            true, given = row[field].strip(), answer.get(field, "").strip()
            counts[field][0] += bool(true and given and same(field, true) == same(field, given))
            counts[field][1] += bool(given)
            counts[field][2] += bool(true)
    return counts


def exactly(field, text):
    return " ".join(text.split())


def nearly(field, text):
    amount = amount_of(text) if field == "total" else None
    return amount if amount is not None else bare(text)


def show(rows, answers):
    for title, same in ("exact strings", exactly), ("apart from case, blanks, punctuation and currency", nearly):
        counts = scores_of(rows, answers, same)
        counts["all"] = [sum(each[i] for each in counts.values()) for i in range(3)]
        print(title)
        for field, (right, given, true) in counts.items():
            precision, recall = right / max(1, given), right / max(1, true)
            f1 = 2 * precision * recall / (precision + recall) if right else 0.0
            print(f"  {field:8} precision {100 * precision:6.2f}  recall {100 * recall:6.2f}  F1 {100 * f1:6.2f}")


def score(a):
    rows, lines = read_lines(a.data), read_lines(a.answers)
    if len(rows) != len(lines):
        sys.exit(f"receipts: {a.answers} has {len(lines)} answers, but {a.data} has {len(rows)} receipts: "
                 "expected the answers to all receipts of this file")
    answers = []
    for row, line in zip(rows, lines):
        key = next((key for key in line if key.endswith(".json")), None)
        if key is None:
            sys.exit(f"receipts: an answer in {a.answers} has no field STEP.json: expected the answers of an application "
                     "with the step extract")
        fields, receipt = json.loads(line[key])["fields"], Receipt(row["lines"])
        answers.append({field: receipt.part(value["start"], value["end"]) for field, value in fields.items() if value})
    show(rows, answers)


DATE = re.compile(r"\b(\d{1,2}[/.-]\d{1,2}[/.-]\d{2,4}|\d{4}[/.-]\d{1,2}[/.-]\d{1,2}|"
                  r"\d{1,2}[ -]?(?:JAN|FEB|MAR|APR|MAY|JUN|JUL|AUG|SEP|OCT|NOV|DEC)[A-Z]*[ -]?,? ?\d{2,4})\b", re.I)
COMPANY = re.compile(r"\b(SDN|BHD|ENTERPRISE|TRADING|RESTAURANT|STORE|SHOP|PLT|MARKET)\b", re.I)
NO_ADDRESS = re.compile(r"\b(TEL|FAX|GST|ROC|INVOICE|RECEIPT|DATE|CO\.?\s?REG|REG|EMAIL|WWW|PHONE|CASH|BILL)\b|^\(?[\dA-Z-]+\)?$", re.I)


def by_rules(lines):
    """Returns the values that expressions find: the best rules that the training receipts suggest at first sight. The
    address is the run of lines behind the company, up to a line with a telephone or tax number or a title."""
    answer = {}
    head = [line for line in lines[:10] if line != "[NAME]"]
    company = next((line for line in head[:4] if COMPANY.search(line)), head[0] if head else "")
    answer["company"] = re.sub(r"\s*\([^)]*\d[^)]*\)\s*$", "", company)
    address = []
    for line in head[head.index(company) + 1:] if head else []:
        if NO_ADDRESS.search(line):
            if address:
                break
        elif address or re.search(r"\d", line):
            address.append(line)
    answer["address"] = " ".join(address)
    date = next((found for found in map(DATE.search, lines) if found), None)
    answer["date"] = date.group(1) if date else ""
    totals = []
    for line, following in zip(lines, lines[1:] + [""]):
        if TOTAL_WORDS.search(line) and not OTHER_TOTALS.search(line):
            amounts = re.findall(r"\d[\d,]*\.\d\d\b", line) or re.findall(r"^(?:RM)?\s*(\d[\d,]*\.\d\d)$", following)
            totals += amounts[-1:]
    answer["total"] = max(totals, key=lambda text: float(text.replace(",", "")), default="")
    return answer


def rules(a):
    rows = read_lines(a.data)
    show(rows, [by_rules(row["lines"]) for row in rows])


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("words", help="write words with tags")
    verb.add_argument("data", help="the folder with train.jsonl, dev.jsonl and test.jsonl")
    verb.add_argument("-o", "--out", required=True, help="the folder to write")
    verb.set_defaults(run=words)
    verb = verbs.add_parser("score", help="score answers of an application")
    verb.add_argument("data", help="the receipts, a .jsonl file")
    verb.add_argument("answers", help="the answers of exp predict, a .jsonl file")
    verb.set_defaults(run=score)
    verb = verbs.add_parser("rules", help="score regular expressions")
    verb.add_argument("data", help="the receipts, a .jsonl file")
    verb.set_defaults(run=rules)
    a = parser.parse_args()
    a.run(a)


if __name__ == "__main__":
    main()
