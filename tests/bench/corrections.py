#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Puts errors into correct sentences, for a model that learns to correct them, and scores corrections.

    python3 tests/bench/corrections.py make train.en -o FOLDER/train [--copies 3]
    python3 tests/bench/corrections.py make test.en -o FOLDER/test --seed 2
    ./exp predict RUN --file FOLDER/test.wrong --json -o answers.jsonl
    python3 tests/bench/corrections.py score FOLDER/test.wrong FOLDER/test.right answers.jsonl

Called by hand; docs/guides/correct_sentences.md has its results, and corrections_test.py tests it.

`make` writes FILE.wrong and FILE.right, line by line. It reads sentences of English and gives each word an error with the
probability --noise (default 0.15). Of the errors that fit a word one is drawn: two neighbouring letters change places; a letter
is lost, doubled or replaced by its neighbour on the keyboard (words of at least four letters); an article or "to" is lost, or
another article stands there; a verb of a short list has another form ("is" for "are"); a word of a short list is taken for one
that sounds like it ("their" for "there"). With --copies N each sentence stands there N times, with other errors.

`score` prints four figures of the corrections, and the same of the input as it is, the rival that corrects nothing. All have 95 %
intervals: quantiles over 2,000 samples of the sentences, drawn with replacement (seed 1).
  GLEU      of Napoles et al. (2015), as corrected in 2016: n-grams that the correction shares with the reference, less those of
            the input that it should have changed. Not the GLEU of Wu et al. (2016), which nltk has.
  F0.5      of edits: words of the input that are replaced, lost or new, by an alignment with the fewest edits. An edit is right if
            the reference has the same one. Precision counts twice as much as recall (Ng et al. 2014).
  exact     the share of sentences that equal the reference
  harmed    the share of correct sentences that are changed
"""
import argparse, collections, json, math, random, re, sys

SAMPLES = 2000
NEIGHBOURS = {letter: row[max(0, at - 1):at] + row[at + 1:at + 2]
              for row in ("qwertyuiop", "asdfghjkl", "zxcvbnm") for at, letter in enumerate(row)}
ARTICLES = ("a", "an", "the")
FORMS = [("is", "are"), ("was", "were"), ("has", "have"), ("does", "do"), ("doesn't", "don't"), ("isn't", "aren't"), ("wasn't", "weren't"),
         ("hasn't", "haven't"), ("this", "these"), ("that", "those"), ("much", "many")]
SOUNDS = [("there", "their"), ("your", "you're"), ("its", "it's"), ("to", "too"), ("then", "than"), ("here", "hear"), ("know", "no"),
          ("where", "were"), ("who's", "whose"), ("buy", "by"), ("right", "write"), ("two", "too")]
OTHERS = collections.defaultdict(list)
for pair in FORMS + SOUNDS:
    OTHERS[pair[0]].append(pair[1])
    OTHERS[pair[1]].append(pair[0])
TOKEN = re.compile(r"\w+(?:'\w+)*|[^\w\s]")


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file.read().split("\n")[:-1]]


# --- errors ---

def in_case_of(word, other):
    return other[:1].upper() + other[1:] if word[:1].isupper() else other


def misspelt(word, draw):
    at = draw.randrange(1, len(word) - 1)
    kind = draw.randrange(4)
    if kind == 0:
        return word[:at] + word[at + 1] + word[at] + word[at + 2:]
    if kind == 1:
        return word[:at] + word[at + 1:]
    if kind == 2:
        return word[:at] + word[at] + word[at:]
    near = NEIGHBOURS.get(word[at], "")
    return word[:at] + (draw.choice(near) if near else "") + word[at + 1:]


def with_error(word, draw):
    """Returns the word with an error that fits it, "" if the word is lost, or the word itself if none fits."""
    errors = []
    lower = word.lower()
    if lower in ARTICLES:
        errors += ["", in_case_of(word, draw.choice([other for other in ARTICLES if other != lower]))]
    if lower == "to":
        errors.append("")
    errors += [in_case_of(word, other) for other in OTHERS[lower]] if lower in OTHERS else []
    if len(word) >= 4 and word.isalpha():
        errors.append(misspelt(word, draw))
    return draw.choice(errors) if errors else word


def with_errors(text, noise, draw):
    parts = []
    for part in re.split(r"(\w+(?:'\w+)*)", text):
        is_word = TOKEN.fullmatch(part) and part[:1].isalnum()
        parts.append(with_error(part, draw) if is_word and draw.random() < noise else part)
    return re.sub(r"\s+", " ", "".join(parts)).strip() or text


def make(arguments):
    draw = random.Random(arguments.seed)
    sentences = lines_of(arguments.sentences)
    with open(arguments.output + ".wrong", "w", encoding="utf-8") as wrong, open(arguments.output + ".right", "w", encoding="utf-8") as right:
        for _ in range(arguments.copies):
            for text in sentences:
                wrong.write(with_errors(text, arguments.noise, draw) + "\n")
                right.write(text + "\n")


# --- scores ---

def tokens_of(text):
    return TOKEN.findall(text)


def ngrams(tokens, n):
    return collections.Counter(tuple(tokens[i:i + n]) for i in range(len(tokens) - n + 1))


def gleu_statistics(source, written, reference):
    """Returns the lengths of output and reference, and for each order the n-grams that count and all n-grams."""
    statistics = [len(written), len(reference)]
    for n in range(1, 5):
        own, wanted, of_source = (ngrams(tokens, n) for tokens in (written, reference, source))
        wrong = collections.Counter({gram: count for gram, count in of_source.items() if gram not in wanted})
        statistics.append(max(0, sum((own & wanted).values()) - sum((own & wrong).values())))
        statistics.append(max(0, len(written) - n + 1))
    return statistics


def gleu(statistics):
    written, reference, *counts = statistics
    if min(written, reference, *counts) == 0:
        return 0.0
    precision = sum(math.log(counts[2 * n] / counts[2 * n + 1]) for n in range(4)) / 4
    return 100 * math.exp(min(0.0, 1 - reference / written) + precision)


def edits(source, target):
    """Returns the edits (begin, end, words) of an alignment with the fewest; neighbouring ones are one edit."""
    costs = [[0] * (len(target) + 1) for _ in range(len(source) + 1)]
    for i in range(len(source), -1, -1):
        for k in range(len(target), -1, -1):
            if i == len(source) or k == len(target):
                costs[i][k] = len(source) - i + len(target) - k
            else:
                costs[i][k] = min(costs[i + 1][k + 1] + (source[i] != target[k]), 1 + costs[i + 1][k], 1 + costs[i][k + 1])
    found, i, k, open_edit = [], 0, 0, None
    while i < len(source) or k < len(target):
        both = i < len(source) and k < len(target)
        begin = (i, k)
        if both and costs[i][k] == costs[i + 1][k + 1] + (source[i] != target[k]):
            equal = source[i] == target[k]
            i, k = i + 1, k + 1
        elif i < len(source) and costs[i][k] == 1 + costs[i + 1][k]:
            equal, i = False, i + 1
        else:
            equal, k = False, k + 1
        if equal:
            open_edit = None
        elif open_edit is None:
            open_edit = len(found)
            found.append((begin[0], i, begin[1], k))
        else:
            found[open_edit] = (found[open_edit][0], i, found[open_edit][2], k)
    return {(first, last, tuple(target[begin:end])) for first, last, begin, end in found}


def statistics_of(source, written, reference):
    words, own, wanted = tokens_of(source), tokens_of(written), tokens_of(reference)
    made, right = edits(words, own), edits(words, wanted)
    is_correct = source == reference
    return [*gleu_statistics(words, own, wanted), len(made & right), len(made), len(right), written == reference, 1, is_correct,
            is_correct and written != reference]


def figures_of(statistics):
    """Returns the figures of summed statistics, in percent."""
    right, made, wanted, exact, all_sentences, correct, harmed = statistics[10:]
    precision, recall = right / made if made else 1.0, right / wanted if wanted else 1.0
    f = 1.25 * precision * recall / (0.25 * precision + recall) if right else 0.0
    return {"GLEU": gleu(statistics[:10]), "F0.5": 100 * f, "precision": 100 * precision, "recall": 100 * recall,
            "exact": 100 * exact / all_sentences, "harmed": 100 * harmed / max(1, correct)}


def answers_of(path):
    return [next(value for name, value in json.loads(line).items() if name == "translation") for line in lines_of(path)]


def score(arguments):
    sources, references = lines_of(arguments.wrong), lines_of(arguments.right)
    answers = answers_of(arguments.answers)
    if not len(sources) == len(references) == len(answers):
        sys.exit(f"{len(sources)} inputs, {len(references)} references and {len(answers)} answers do not belong together")
    draw = random.Random(1)
    samples = [draw.choices(range(len(sources)), k=len(sources)) for _ in range(SAMPLES)]
    for title, texts in (("corrections", answers), ("input as it is", sources)):
        statistics = [statistics_of(*each) for each in zip(sources, texts, references)]
        total = figures_of([sum(column) for column in zip(*statistics)])
        drawn = [figures_of([sum(column) for column in zip(*(statistics[i] for i in sample))]) for sample in samples]
        print(title)
        for name, value in total.items():
            values = sorted(figures[name] for figures in drawn)
            print(f"  {name:9} {value:6.2f} [{values[int(0.025 * SAMPLES)]:.2f}, {values[int(0.975 * SAMPLES)]:.2f}]")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    verb = verbs.add_parser("make")
    verb.add_argument("sentences")
    verb.add_argument("-o", dest="output", required=True)
    verb.add_argument("--noise", type=float, default=0.15)
    verb.add_argument("--copies", type=int, default=1)
    verb.add_argument("--seed", type=int, default=1)
    verb = verbs.add_parser("score")
    for file in ("wrong", "right", "answers"):
        verb.add_argument(file)
    arguments = parser.parse_args()
    {"make": make, "score": score}[arguments.verb](arguments)


if __name__ == "__main__":
    main()
