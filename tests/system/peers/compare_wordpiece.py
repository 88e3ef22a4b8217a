#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares WordPiece with the Python package `tokenizers`: every line of every text below $ENCORE_DATA and
every code point.

    compare_wordpiece.py build/openmp/bin/tests/peer_tool

CTest runs it as wordpiece_equals_tokenizers; peer_tool.cpp computes Encore's tokens
(plugins/tokenizers/wordpiece.cpp). A difference, cased or uncased, fails. Exits with 77 (skipped) if the
package or the data is missing.
"""
import gzip
import os
import pathlib
import subprocess
import sys
import unicodedata

SKIPPED = 77
# Code points that depend on the libraries' Unicode versions: U+11938 decomposes since Unicode 13; capitals assigned since Unicode 16.
VERSION_DEPENDENT = {0x11938, 0x1C89, 0xA7CB, 0xA7CC, 0xA7CE, 0xA7D2, 0xA7D4, 0xA7DA, 0xA7DC,
                     *range(0x10D50, 0x10D66), *range(0x16EA0, 0x16EB9)}


def skip(reason):
    print("skipped:", reason)
    sys.exit(SKIPPED)


def text_lines(folder):
    """Returns the lines of all text files, also JSON and compressed ones, split at line feeds only, as the tool does."""
    for path in sorted(folder.rglob("*")):
        if path.name == "SHA256SUMS" or not path.is_file():
            continue
        data = gzip.open(path).read() if path.suffix == ".gz" else path.read_bytes()
        yield path, data.decode("utf-8").split("\n")


def code_point_lines():
    """Returns each code point between two letters, except the line feed and those that Python does not know as assigned."""
    return ["a" + chr(c) + "b" for c in range(0x110000) if c != 0x0A and c not in VERSION_DEPENDENT
            and not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) != "Cn"]


def ours(tool, vocabulary, casing, lines):
    done = subprocess.run([tool, "wordpiece", vocabulary, casing], input="\n".join(lines).encode() + b"\n",
                          stdout=subprocess.PIPE, check=True)
    return [[int(n) for n in line.split()] for line in done.stdout.decode().split("\n")[:-1]]


def theirs(tokenizer, lines):
    return [e.ids for e in tokenizer.encode_batch(lines, add_special_tokens=False)]


def main():
    tool = sys.argv[1]
    try:
        from tokenizers import BertWordPieceTokenizer
    except ImportError:
        skip("the Python package `tokenizers` is not installed")
    if not os.environ.get("ENCORE_DATA"):
        skip("ENCORE_DATA does not name the folder of data sets")
    data = pathlib.Path(os.environ["ENCORE_DATA"])
    sources = [(str(path), lines) for path, lines in text_lines(data)]
    sources.append(("every code point", code_point_lines()))
    sources.append(("special pieces", ["a[SEP]b", "[CLS] x [UNK]", "[MASK][PAD]", "[sep]", "[[SEP]]", "[CLS", "x" * 100, "x" * 101,
                                       "é" * 100, "é" * 101, "", " ", "\u200b", "a\u0301\u0323b", "한국어", "ﬁne İstanbul ΣΑΣ"]))
    lines_seen = differences = 0
    for casing in ("cased", "uncased"):
        vocabulary = str(data / "bert_vocab" / f"bert-base-{casing}-vocab.txt")
        tokenizer = BertWordPieceTokenizer(vocabulary, lowercase=casing == "uncased")
        for name, lines in sources:
            pairs = zip(lines, ours(tool, vocabulary, casing, lines), theirs(tokenizer, lines), strict=True)
            wrong = [(line, a, b) for line, a, b in pairs if a != b]
            lines_seen += len(lines)
            differences += len(wrong)
            for line, a, b in wrong[:5]:
                print(f"{casing} {name}: {line!r}\n  ours   {a}\n  theirs {b}")
    print(f"{lines_seen} lines, {differences} differences")
    sys.exit(1 if differences else 0)


main()
