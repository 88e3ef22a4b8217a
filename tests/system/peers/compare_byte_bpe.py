#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares byte-level byte-pair encoding with the Python package `tokenizers`: a vocabulary trained by both,
and every line cut with it.

    compare_byte_bpe.py build/openmp/bin/tests/peer_tool

CTest runs it as byte_bpe_equals_tokenizers; peer_tool.cpp computes Encore's tokens
(plugins/tokenizers/byte_bpe.cpp). A vocabulary trained on the words of WNUT-17 must be the same, and with it
every line of every text below $ENCORE_DATA must be cut alike, with a blank in front and without; a difference
fails. The same holds with merges that are given, in a tokenizer.json whose tokens are numbered in another
order than they are merged, as RoBERTa's. Exits with 77 (skipped) when the package or the data is missing.
"""
import collections
import gzip
import json
import os
import pathlib
import random
import subprocess
import sys
import tempfile
import unicodedata

SKIPPED = 77
VOCABULARY_SIZE = 4000
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]"]


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
    """Returns each code point between two letters, except the line feed and those that Python does not know as assigned: its Unicode
    version decides what a letter is."""
    return ["a" + chr(c) + "b" for c in range(0x110000)
            if c != 0x0A and not 0xD800 <= c < 0xE000 and unicodedata.category(chr(c)) != "Cn"]


def run_tool(tool, *arguments, text):
    done = subprocess.run([tool, *arguments], input=text.encode(), stdout=subprocess.PIPE, check=True)
    return done.stdout.decode().split("\n")[:-1]


def their_vocabulary(words):
    """Returns the tokens in the order of their numbers."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=True)
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY_SIZE, min_frequency=2, special_tokens=SPECIAL, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(words, trainer)
    numbers = tokenizer.get_vocab()
    return sorted(numbers, key=numbers.get)


def their_tokenizer(vocabulary, add_prefix_space):
    """Merges as the vocabulary alone implies them: every way to put a token together, tokens in the order of their numbers."""
    from tokenizers import Tokenizer, models, pre_tokenizers
    numbers = {token: number for number, token in enumerate(vocabulary)}
    merges = [(token[:cut], token[cut:]) for token in vocabulary if token not in SPECIAL for cut in range(1, len(token))
              if token[:cut] in numbers and token[cut:] in numbers]
    tokenizer = Tokenizer(models.BPE(vocab=numbers, merges=merges))
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    return tokenizer


def with_given_merges(words, path, add_prefix_space):
    """A tokenizer with the special tokens of RoBERTa, saved as `path`."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    special = ["<s>", "<pad>", "</s>", "<unk>"]
    tokenizer = Tokenizer(models.BPE())
    tokenizer.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=add_prefix_space)
    trainer = trainers.BpeTrainer(vocab_size=VOCABULARY_SIZE, min_frequency=2, special_tokens=special, show_progress=False,
                                  initial_alphabet=pre_tokenizers.ByteLevel.alphabet())
    tokenizer.train_from_iterator(words, trainer)
    model = json.loads(tokenizer.to_str())["model"]
    tokens = sorted(set(model["vocab"]) - set(special))
    random.Random(1).shuffle(tokens)
    numbers = {token: number for number, token in enumerate(special + tokens)}
    # Leaves out the added tokens of the trainer, which would be found in lines that spell them ("<unk>" in WikiText).
    plain = Tokenizer(models.BPE(vocab=numbers, merges=[tuple(pair) for pair in model["merges"]]))
    plain.pre_tokenizer = tokenizer.pre_tokenizer
    plain.save(path)
    return plain


def main():
    tool = sys.argv[1]
    try:
        import tokenizers  # noqa: F401
    except ImportError:
        skip("the Python package `tokenizers` is not installed")
    if not os.environ.get("ENCORE_DATA"):
        skip("ENCORE_DATA does not name the folder of data sets")
    data = pathlib.Path(os.environ["ENCORE_DATA"])
    words = [line.split()[0] for line in (data / "wnut17" / "train.conll").read_text().split("\n") if line.strip()]
    vocabulary = run_tool(tool, "train_byte_bpe", str(VOCABULARY_SIZE), text="\n".join(words) + "\n")
    theirs = their_vocabulary(words)
    first = next((i for i, (a, b) in enumerate(zip(vocabulary, theirs)) if a != b), None)
    print(f"trained: {len(vocabulary)} tokens, theirs {len(theirs)}, {len(set(theirs) - set(vocabulary))} of theirs missing, "
          f"first difference {first}")
    sources = [*text_lines(data), ("every code point", code_point_lines()),
               ("cases", ["", " ", "  ", "\t x", "it's they'LL  'tis", "a" * 1000, "[CLS] [UNK]", "\u00a0x \u3000 y\u0085", "x  ",
                          "日本語123 ²½", "don't\u200b stop"])]
    counts = collections.Counter()
    with tempfile.TemporaryDirectory() as folder:
        implied, given = pathlib.Path(folder) / "vocab.txt", pathlib.Path(folder) / "tokenizer.json"
        implied.write_text("\n".join(vocabulary) + "\n")
        for prefix, path in ((True, implied), (False, implied), (True, given), (False, given)):
            tokenizer = their_tokenizer(vocabulary, prefix) if path == implied else with_given_merges(words, str(given), prefix)
            for name, lines in sources:
                ours = run_tool(tool, "byte_bpe", str(path), str(int(prefix)), text="\n".join(lines) + "\n")
                expected = [" ".join(map(str, e.ids)) for e in tokenizer.encode_batch(lines)]
                wrong = [(line, a, b) for line, a, b in zip(lines, ours, expected, strict=True) if a != b]
                counts["lines"] += len(lines)
                counts["differences"] += len(wrong)
                for line, a, b in wrong[:3]:
                    print(f"{name}: {line!r}\n  ours   {a}\n  theirs {b}")
    print(f"{counts['lines']} lines, {counts['differences']} differences")
    sys.exit(1 if counts["differences"] or first is not None or len(vocabulary) != len(theirs) else 0)


if __name__ == "__main__":
    main()
