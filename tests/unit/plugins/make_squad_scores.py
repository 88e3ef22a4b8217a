#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes squad_scores.json: answers with their exact match and F1, for qa_measures_test.cpp.

    python3 make_squad_scores.py > squad_scores.json

It needs Python alone. Run it by hand; the result is committed. The two metrics are those of evaluate-v1.1.py
and evaluate-v2.0.py of SQuAD, implemented again from their definition: words of the lowered text without
string.punctuation and without the articles a, an, the; exact match of the words, F1 of their multisets, the
best over the true answers. Cases: chosen ones, and random mixtures of words, articles, punctuation, white
space and letters whose lower case or whose class is not that of ASCII.
"""
import collections
import json
import random
import re
import string


def words(text):
    text = "".join(c for c in text.lower() if c not in string.punctuation)
    return re.sub(r"\b(a|an|the)\b", " ", text).split()


def f1_of(predicted, truth, version):
    if version == 2 and (not predicted or not truth):
        return float(predicted == truth)
    same = sum((collections.Counter(predicted) & collections.Counter(truth)).values())
    if same == 0:
        return 0.0
    precision, recall = same / len(predicted), same / len(truth)
    return 2 * precision * recall / (precision + recall)


def scores(predicted, truths, version):
    if version == 2:
        truths = [truth for truth in truths if words(truth)] or [""]
    wanted = [words(truth) for truth in truths]
    found = words(predicted)
    return (max(float(found == truth) for truth in wanted), max(f1_of(found, truth, version) for truth in wanted))


PARTS = ["a", "an", "the", "The", "A", "An", "THE", "Lund", "lund", "Malmö", "MALMÖ", "St.", "O'Neill", "1,234", "12%", "-", "--", "—", "“the”",
         "'", ".", ",", "_", "a_b", "the-end", "an.", "(a)", "x", "\u00a0", "\t", "\n", "\u2003", "\u200b", "\u1680", "\x1c", "\x85",
         "İstanbul", "istanbul", "ΟΔΟΣ", "Σ", "ΑΣ.", "ΣΑΣ", "ΑΣ'Α", "straße", "STRASSE", "ẞ", "ﬁ", "Ǆ", "a\u0301", "the\u0301", "日本", "。", "²", "Ⅷ",
         "ª", "a٣", "\U0001D400", "𐐀", "e\u0301", "\u00ad", "Å", "Å", "№", "½"]
CHOSEN = [("Lund", ["Lund"]), ("the town of Lund.", ["Lund"]), ("Lund", ["in Lund", "Lund, Sweden"]), ("", ["Lund"]), ("Lund", []), ("", []),
          ("the", ["a"]), ("the", ["the"]), ("the", ["Lund"]), ("Lund", ["the", "Lund"]), ("", ["the", "Lund"]), ("Lund Lund Lund", ["Lund Lund"]),
          ("a b c d", ["d c b"]), ("St. Mary's", ["st marys"]), ("1,234", ["1234"]), ("theatre", ["the atre"])]


def main():
    rng = random.Random(1)

    def text():
        return rng.choice(["", " ", " ", " "]).join(rng.choice(PARTS) for _ in range(rng.randrange(0, 7)))

    pairs = list(CHOSEN)
    for _ in range(600):
        truths = [text() for _ in range(rng.randrange(1, 4))]
        predicted = text() if rng.random() < 0.5 else rng.choice(truths) + rng.choice(["", ".", " the", " x", "\u00a0"])
        pairs.append((rng.choice([str, str.upper, str.lower])(predicted), truths))
    cases = []
    for predicted, truths in pairs:
        case = {"predicted": predicted, "truths": truths, "words": words(predicted), "version_2": scores(predicted, truths, 2)}
        if truths:  # version 1.1 has no question without an answer
            case["version_1"] = scores(predicted, truths, 1)
        cases.append(case)
    print("[" + ",\n".join(json.dumps(case, ensure_ascii=True) for case in cases) + "]")


if __name__ == "__main__":
    main()
