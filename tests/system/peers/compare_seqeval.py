#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares scores of random taggings with the Python package `seqeval`; a difference above 1e-12 fails.

    compare_seqeval.py build/openmp/bin/tests/peer_tool

CTest runs it as ner_score_equals_seqeval; peer_tool.cpp computes Encore's scores (plugins/tasks/ner). The
taggings are thousands of small corpora, half of them malformed (I- after O or after another type, E- and S-
among them). Exits with 77 (skipped) without seqeval.
"""
import json
import random
import subprocess
import sys
import warnings

CORPORA = 4000
TYPES = ["PER", "LOC", "creative-work"]


def random_tags(rng, length, marks):
    tags = []
    for _ in range(length):
        mark = rng.choice(marks)
        tags.append("O" if mark == "O" else mark + "-" + rng.choice(TYPES))
    return tags


def disturbed(rng, tags, marks):
    """Returns a prediction that is partly right."""
    return [tag if rng.random() < 0.7 else random_tags(rng, 1, marks)[0] for tag in tags]


def corpus(rng):
    marks = rng.choice(["OBI", "OOOBBII", "OI", "OOBIES"])
    truths = [random_tags(rng, rng.randint(1, 12), marks) for _ in range(rng.randint(1, 6))]
    return [(truth, disturbed(rng, truth, marks)) for truth in truths]


def expected(pairs):
    from seqeval.metrics import accuracy_score
    from seqeval.metrics.sequence_labeling import precision_recall_fscore_support as score
    truth, predicted = [t for t, _ in pairs], [p for _, p in pairs]
    types = sorted({tag[2:] for sentence in truth + predicted for tag in sentence if tag != "O"})
    result = {"accuracy": accuracy_score(truth, predicted), "micro": score(truth, predicted, average="micro")[:3],
              "macro_f1": score(truth, predicted, average="macro")[2], "types": {}}
    for name, *values in zip(types, *score(truth, predicted, average=None)):
        result["types"][name] = values
    return result


def close(a, b):
    return len(a) == len(b) and all(abs(x - y) <= 1e-12 for x, y in zip(a, b))


def main():
    try:
        import seqeval.metrics  # noqa: F401
    except ImportError:
        print("skipped: the Python package `seqeval` is not installed")
        sys.exit(77)
    warnings.simplefilter("ignore")
    rng = random.Random(20)
    corpora = [corpus(rng) for _ in range(CORPORA)]
    # A corpus without any entity has no types to average over: seqeval has no number for it.
    corpora = [c for c in corpora if any(tag != "O" for pair in c for tags in pair for tag in tags)]
    text = "\n".join("\n".join(" ".join(t) + "\n" + " ".join(p) for t, p in pairs) + "\n" for pairs in corpora)
    done = subprocess.run([sys.argv[1], "ner"], input=text.encode() + b"\n", stdout=subprocess.PIPE, check=True)
    ours = [json.loads(line) for line in done.stdout.decode().splitlines()]
    assert len(ours) == len(corpora), (len(ours), len(corpora))
    differences = 0
    for pairs, mine in zip(corpora, ours):
        theirs = expected(pairs)
        same = (close(mine["micro"], theirs["micro"]) and close([mine["macro_f1"]], [theirs["macro_f1"]])
                and close([mine["accuracy"]], [theirs["accuracy"]]) and mine["types"].keys() == theirs["types"].keys()
                and all(close(mine["types"][t], theirs["types"][t]) for t in mine["types"]))
        if not same:
            differences += 1
            if differences <= 3:
                print(f"{pairs}\n  ours   {mine}\n  theirs {theirs}")
    print(f"{len(corpora)} corpora, {differences} differences")
    sys.exit(1 if differences else 0)


main()
