#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures a model of ordered classes, such as ratings from 0 to 4, beside two rivals: one class for all, and naive Bayes
over words.

    python3 tests/bench/ratings.py RUN/predictions/test.jsonl --train $ENCORE_DATA/sst5/train.tsv

Called by hand; docs/guides/alerts.md has its results. Prints for each side the accuracy and the share of answers within
one class of the truth, with intervals of Wilson (95 %), and the difference of the model to naive Bayes on the same
examples (Agresti and Min 2005). Naive Bayes counts words and pairs of neighbours, with add-one smoothing; of its classes the one
is answered that is likeliest within one class (--within) or the likeliest one.
"""
import argparse, json, math, re, sys

Z = 1.959964
WORD = re.compile(r"\w+|[^\w\s]")


def wilson(hits, cases):
    share = hits / cases
    middle, half = share + Z * Z / (2 * cases), Z * (share * (1 - share) / cases + Z * Z / (4 * cases * cases)) ** 0.5
    return (middle - half) / (1 + Z * Z / cases), (middle + half) / (1 + Z * Z / cases)


def text_of(right):
    low, high = wilson(sum(right), len(right))
    return f"{100 * sum(right) / len(right):6.2f} % ({100 * low:.2f} to {100 * high:.2f})"


def features(text):
    words = WORD.findall(text.lower())
    return words + [" ".join(pair) for pair in zip(words, words[1:])]


def naive_bayes(train, texts, classes, within):
    """Returns an answer to each text: the class whose neighbourhood (itself if not `within`) has the most probability."""
    counts = {name: {} for name in classes}
    documents = dict.fromkeys(classes, 0)
    for text, label in train:
        documents[label] += 1
        for one in features(text):
            counts[label][one] = counts[label].get(one, 0) + 1
    known = {one for of_class in counts.values() for one in of_class}
    totals = {name: sum(of_class.values()) + len(known) for name, of_class in counts.items()}
    answers = []
    for text in texts:
        logs = [math.log(documents[name] / len(train)) + sum(math.log((counts[name].get(one, 0) + 1) / totals[name])
                                                             for one in features(text) if one in known) for name in classes]
        top = max(logs)
        shares = [math.exp(value - top) for value in logs]
        near = [sum(shares[max(0, i - 1):i + 2]) if within else shares[i] for i in range(len(classes))]
        answers.append(classes[near.index(max(near))])
    return answers


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("predictions", help="predictions/test.jsonl of a run")
    parser.add_argument("--train", required=True, help="its training set: lines of text, tab, class")
    a = parser.parse_args()
    with open(a.predictions, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    with open(a.train, encoding="utf-8") as file:
        train = [line.rstrip("\n").split("\t")[:2] for line in file if "\t" in line]
    truth = [line["truth"] for line in lines]
    classes = sorted({label for _, label in train}, key=float)
    place = {name: i for i, name in enumerate(classes)}
    if missing := set(truth) - set(classes):
        sys.exit(f"{a.predictions}: {a.train} has no example of the classes {', '.join(sorted(missing))}")
    texts = [line["text"] for line in lines]
    middle = max(classes, key=lambda name: sum(abs(place[name] - place[label]) <= 1 for _, label in train))
    most = max(classes, key=lambda name: sum(label == name for _, label in train))
    sides = [("one class for all", [most] * len(lines), [middle] * len(lines)),
             ("naive Bayes", naive_bayes(train, texts, classes, False), naive_bayes(train, texts, classes, True)),
             ("the run", *[[line["predicted"] for line in lines]] * 2)]
    near = lambda answers: [abs(place[given] - place[label]) <= 1 for given, label in zip(answers, truth)]
    for name, exact, within in sides:
        print(f"{name:18} right {text_of([x == y for x, y in zip(exact, truth)])}, within one class {text_of(near(within))}")
    ours, theirs = near(sides[2][2]), near(sides[1][2])
    more, less = sum(x and not y for x, y in zip(ours, theirs)) + 0.5, sum(y and not x for x, y in zip(ours, theirs)) + 0.5
    cases = len(lines) + 2
    half = Z * (more + less - (more - less) ** 2 / cases) ** 0.5 / cases
    print(f"within one class, the run less naive Bayes: {100 * (more - less) / len(lines):+.2f} points "
          f"({100 * ((more - less) / cases - half):+.2f} to {100 * ((more - less) / cases + half):+.2f})")


main()
