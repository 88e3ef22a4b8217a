#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Derives the table of plugins/tokenizers/lookalikes.hpp again from Unicode's confusables.txt, which the Python package
`confusable_homoglyphs` contains.

    compare_lookalikes.py plugins/tokenizers/lookalikes.hpp [--write]

CTest runs it as lookalikes_are_those_of_unicode. Prints each entry that differs, and fails then; --write prints the
whole table as C++ instead. Exits with 77 (skipped) without the package.
"""
import json
import pathlib
import re
import sys
import unicodedata

SCRIPTS = {"CYRILLIC", "GREEK", "ARMENIAN", "LATIN"}


def confusables():
    try:
        import confusable_homoglyphs
    except ImportError:
        print("skipped: the Python package `confusable_homoglyphs` is not installed")
        sys.exit(77)
    return json.loads((pathlib.Path(confusable_homoglyphs.__file__).parent / "confusables.json").read_text(encoding="utf-8"))


def derived():
    listed = confusables()

    def ascii_letter(character):
        alike = [entry["c"] for entry in listed.get(character, [])]
        return next((one for one in alike if len(one) == 1 and one.isascii() and one.isalpha()), None)

    table = {}
    for number in range(0x80, 0x10000):
        character = chr(number)
        name = unicodedata.name(character, "").split()
        if not name or name[0] not in SCRIPTS or not unicodedata.category(character).startswith("L"):
            continue
        if unicodedata.normalize("NFKD", character) != character:
            continue  # the tokenizer decomposes it
        letter, capital = ascii_letter(character), character.upper()
        if letter is None and capital != character and len(capital) == 1 and ascii_letter(capital):
            letter = ascii_letter(capital).lower()
        if letter == "l" and (character.isupper() or "PALOCHKA" in unicodedata.name(character) and "SMALL" not in name):
            letter = "I"
        if letter:
            table[number] = letter
    return table


def main():
    ours = {int(number, 16): letter for number, letter in re.findall(r"\{0x([0-9A-F]+), '(\w)'\}", pathlib.Path(sys.argv[1]).read_text(encoding="utf-8"))}
    theirs = derived()
    if "--write" in sys.argv:
        print(", ".join(f"{{0x{number:X}, '{letter}'}}" for number, letter in sorted(theirs.items())))
        return
    differences = sorted(number for number in ours.keys() | theirs.keys() if ours.get(number) != theirs.get(number))
    for number in differences:
        print(f"U+{number:04X} {unicodedata.name(chr(number), '?')}: here {ours.get(number)}, Unicode {theirs.get(number)}")
    print(f"{len(theirs)} letters, {len(differences)} differences")
    sys.exit(1 if differences or not theirs else 0)


main()
