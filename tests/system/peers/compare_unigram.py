#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares the tokenizer unigram with the Python package `sentencepiece`: tokens, their bytes, and the
decoded text of every line.

    compare_unigram.py build/openmp/bin/tests/peer_tool

CTest runs it as unigram_equals_sentencepiece; peer_tool.cpp computes Encore's tokens
(plugins/tokenizers/unigram.cpp). With models that the package trains on both sides of Multi30k, with
differing normalisations, with byte fallback and without a mark in front of a text, the lines of every text
below $ENCORE_DATA must be cut alike, each token must come from the same bytes, and the tokens must give the
same text; a difference fails. The same holds with a model that Encore trains. Only the model nmt_nfkc reads
all lines; the others read every tenth line of a text with more than 3000. Lines are cut at 2000 characters.
Only where two ways to cut a text are equally probable but for rounding (versions of the library add up
differently: "lllll") either is accepted; such lines are counted. Exits with 77 (skipped) when the package or
the data is missing.
"""
import base64
import collections
import gzip
import io
import os
import pathlib
import random
import sys
import tempfile

from compare_byte_bpe import run_tool, skip, text_lines

MODELS = {  # options of the package beside those that all have
    "nmt_nfkc": {},
    "bytes": dict(byte_fallback=True),
    "identity": dict(normalization_rule_name="identity", remove_extra_whitespaces=False),
    "no_mark": dict(add_dummy_prefix=False, normalization_rule_name="nmt_nfkc_cf"),
}
TRAINED_HERE = "trained here"
ODD = ["", " ", "  ", "\t x", "it's they'LL  'tis", "a" * 1000, "<s> </s> <unk> <pad>", "\u00a0x \u3000 y\u0085", "x  ", "日本語123 ²½",
       "don't\u200b stop", "▁a ▁ b", "ﬁne Ⅷ ｱ", "e\u0301 é", "\u00adsoft", "🙂👩‍👩‍👧", "½ \ufeff", ">>de<< Guten Tag", "<0x0A>"]


def code_point_lines():
    return ["a" + chr(c) + "b" for c in range(0x110000) if c != 0x0A and not 0xD800 <= c < 0xE000]


def random_lines(rng, lines):
    """Returns parts of lines put together, with rare characters between them."""
    made = []
    for _ in range(3000):
        parts = []
        for _ in range(rng.randrange(1, 5)):
            line = rng.choice(lines)
            at = rng.randrange(len(line) + 1)
            parts.append(line[at:at + rng.randrange(30)])
            parts.append(chr(rng.choice([32, 9, 0x2581, 0xDF, 0x1F600, rng.randrange(0x20, 0xD800)])))
        made.append("".join(parts))
    return made


def train(package, lines, path, options):
    model = io.BytesIO()
    package.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=2000, pad_id=3, model_type="unigram",
                                       minloglevel=2, **options)
    path.write_bytes(model.getvalue())


def train_here(tool, lines, path):
    vocabulary = run_tool(tool, "train_unigram", "2000", text="\n".join(lines) + "\n")
    name, encoded = vocabulary[-1].split(" ")
    assert name == "model" and len(vocabulary) == 2002, (name, len(vocabulary))
    path.write_bytes(base64.b64decode(encoded))


def theirs(model, line):
    tokens = model.encode(line, return_type="proto").pieces
    return [(token.id, token.begin, token.end) for token in tokens]


def equally_probable(model, one, other):
    """Whether two tokenizations have the same float32 sum and the same unknown bytes."""
    def score(tokens):
        return sum(model.get_score(number) for number, _, _ in tokens if not model.is_unknown(number))

    def unknown(tokens):
        return [(begin, end) for number, begin, end in tokens if model.is_unknown(number)]
    return unknown(one) == unknown(other) and abs(score(one) - score(other)) <= 1e-6 * abs(score(other))


def ours(answer):
    return [tuple(map(int, token.split(":"))) for token in answer.split(" ") if token]


def main():
    tool = sys.argv[1]
    try:
        import sentencepiece
    except ImportError:
        skip("the Python package `sentencepiece` is not installed")
    if not os.environ.get("ENCORE_DATA"):
        skip("ENCORE_DATA does not name the folder of data sets")
    data = pathlib.Path(os.environ["ENCORE_DATA"])
    both = [line for side in ("en", "de") for line in gzip.open(data / "multi30k" / f"train.{side}.gz", "rt").read().split("\n")[:8000]]
    both = [line for line in both if line]
    sources = [*text_lines(data), ("every code point", code_point_lines()), ("odd lines", ODD),
               ("random lines", random_lines(random.Random(5), both))]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        for name in [*MODELS, TRAINED_HERE]:
            path = pathlib.Path(folder) / (name.replace(" ", "_") + ".model")
            if name == TRAINED_HERE:
                train_here(tool, both, path)
            else:
                train(sentencepiece, both, path, MODELS[name])
            model = sentencepiece.SentencePieceProcessor(model_file=str(path))
            before = counts.copy()
            for source, lines in sources:
                if name != "nmt_nfkc" and len(lines) > 3000:  # which sees all of them
                    lines = lines[::10]
                lines = [line[:2000] for line in lines]  # a data set may be one line
                answers = run_tool(tool, "unigram", str(path), "source", text="\n".join(lines) + "\n")
                expected = [theirs(model, line) for line in lines]
                for line, answer, right in zip(lines, answers, expected, strict=True):
                    counts["lines"] += 1
                    if ours(answer) != right and equally_probable(model, ours(answer), right):
                        counts["ties"] += 1
                    elif ours(answer) != right:
                        counts["differences"] += 1
                        if counts["differences"] < 10:
                            print(f"{name}, {source}: {line!r}\n  ours   {ours(answer)}\n  theirs {right}")
                known = [[number for number, _, _ in right if not model.is_unknown(number)] for right in expected]
                texts = run_tool(tool, "unigram_text", str(path), text="\n".join(" ".join(map(str, ids)) for ids in known) + "\n")
                for ids, text in zip(known, texts, strict=True):
                    if text != model.decode(ids):
                        counts["other text"] += 1
                        if counts["other text"] < 10:
                            print(f"{name}, {source}: {ids}\n  ours   {text!r}\n  theirs {model.decode(ids)!r}")
            print(name, dict(counts - before))
    print(f"{counts['lines']} lines, {counts['ties']} ties, {counts['differences']} differences, {counts['other text']} lines with other text")
    sys.exit(1 if counts["differences"] or counts["other text"] else 0)


main()
