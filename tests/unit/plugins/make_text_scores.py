#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes text_scores.json: small corpora with their BLEU and chrF of sacreBLEU and their ROUGE of rouge-score,
for text_scores_test.cpp. Run it by hand; the result is committed. tests/system/peers/compare_text_scores.py
uses its corpora too.

    pip install sacrebleu rouge-score
    python3 make_text_scores.py > text_scores.json

Cases: chosen ones (nothing in common, an empty text, one word, numbers, quotation marks, entities, Unicode),
and random mixtures of words, punctuation and white space, where the output is the reference with some of its
words changed.
"""
import json
import random

from sacrebleu.metrics import BLEU, CHRF

PARTS = ["a", "the", "man", "Mann", "läuft", "Straße", "naïve", "don't", "\"quoted\"", "“fine”", "1,234.5", "3.14", "2-3", "ten-year", "U.S.A.", "end.",
         "end,", "(in", "brackets)", "50%", "$5", "a/b", "&quot;", "&amp;", "&lt;b&gt;", "<skipped>", "...", "--", "-", ".5", "5.", ",", "'s", "日本語",
         "日本", "。", "Привет", "мир", "é", "e\u0301", "\U0001F642", "İstanbul", "\u212A", "x_y", "^", "~", "@you", "#tag", "\\", "[1]", "{2}", "`", "|", "=", "+",
         "*", "Word", "word", "WORD", "12", "3"]
BLANKS = [" ", " ", " ", " ", "  ", "\t", "\u00a0", "\u2009", "\u3000", "-\n", "\n", ""]
CHOSEN = [
    (["the cat sat on the mat"], ["the cat sat on the mat"]),
    (["the cat sat on the mat"], ["eine Katze saß auf der Matte"]),
    ([""], ["the cat sat on the mat"]),
    (["the cat sat on the mat"], [""]),
    ([""], [""]),
    (["word"], ["word"]),
    (["word"], ["other"]),
    (["the"], ["the the the the the"]),
    (["the the the the the the the"], ["the cat is on the mat"]),
    (["two words"], ["two words"]),
    (["one two three"], ["one two three"]),
    (["one two three four", "", "x"], ["one two three four", "a b c", "x y"]),
    (["He said \"yes\", then 'no'."], ["He said 'yes', then \"no\"."]),
    (["It cost $1,234.50 - or 1.234,50 in 1999-2001."], ["It cost 1234.5 dollars; or 1,234.50 in 1999-2001"]),
    (["Ein Mann läuft über die Straße ."], ["Ein Mann geht über die Straße."]),
    (["日本語のテキスト。"], ["日本語の文章。"]),
    ([" ein  Mann \n"], ["ein\u00a0Mann"]),
    (["-"], ["-"]),
    (["..."], ["."]),
    (["a b c d e f g h", "b b"], ["a b c d e f g h i j k", "b"]),
]


def changed(rng, reference):
    """The reference with words left out, added and exchanged; now and then another text or none."""
    if rng.random() < 0.05:
        return rng.choice(["", random_text(rng)])
    words = []
    for word in reference.split(" "):
        draw = rng.random()
        if draw < 0.1:
            continue
        words.append(rng.choice(PARTS) if draw < 0.2 else word)
        if draw > 0.95:
            words.append(rng.choice(PARTS))
    return " ".join(words)


def random_text(rng):
    text = "".join(rng.choice(PARTS) + rng.choice(BLANKS) for _ in range(rng.randrange(0, 16)))
    return rng.choice(["", "", " "]) + text


def random_corpora(rng, count):
    for _ in range(count):
        references = [random_text(rng) for _ in range(rng.randrange(1, 5))]
        yield [changed(rng, reference) for reference in references], references


def scores(written, references):
    """Returns the scores of a corpus, with ROUGE of each of its examples."""
    import rouge_score.rouge_scorer  # make_bleu_tokenizers.py does without

    scorer = rouge_score.rouge_scorer.RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=False)
    rouge = [scorer.score(reference, text) for text, reference in zip(written, references)]
    return {"bleu": BLEU().corpus_score(written, [references]).score / 100, "chrf": CHRF().corpus_score(written, [references]).score / 100,
            "rouge": [[one[name].fmeasure for name in ("rouge1", "rouge2", "rougeL")] for one in rouge]}


def main():
    corpora = [{"written": written, "references": references, **scores(written, references)}
               for written, references in CHOSEN + list(random_corpora(random.Random(1), 120))]
    bleu, chrf = BLEU(), CHRF()
    bleu.corpus_score(["a"], [["a"]]), chrf.corpus_score(["a"], [["a"]])
    print('{"bleu": %s, "chrf": %s,\n"corpora": [' % (json.dumps(str(bleu.get_signature())), json.dumps(str(chrf.get_signature())))
          + ",\n".join(json.dumps(corpus) for corpus in corpora) + "]}")


if __name__ == "__main__":
    main()
