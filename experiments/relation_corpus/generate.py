#!/usr/bin/env python3
"""Writes the corpus of experiments/relations.toml: train.tsv, dev.tsv and test.tsv beside this file, or in the folder that is named.

    python3 experiments/relation_corpus/generate.py [FOLDER]

Small invented English sentences with two marked things, in the form of SemEval 2010, task 8, and the relation between the two:
causes, parts, contents, makers, or none of these. Every thing occurs in every relation, and either of the two may come first, so
neither a table of words nor the order of the marks gives the label: the model must read the words between together with the
places of the marks. No sentence is in two sets, or twice in one.

It writes the same bytes on every machine: it has its own generator of integers and does not use Python's random numbers.
"""
import pathlib
import sys

SEED = 810
SIZES = {"train": 1200, "dev": 200, "test": 300}

THINGS = """storm flood engine bottle letter bridge garden window violin basket harbour lamp factory film song storm wheel paper
stone river clock box cable mirror market carpet ladder kettle tunnel statue""".split()
ADJECTIVES = ["", "", "", "old ", "small ", "heavy ", "new ", "famous ", "cheap "]
BEGINS = ["", "", "yesterday ", "last year ", "people say that ", "the report says that "]
ENDS = ["", "", " again", " after all", " in the north", " on Monday"]
# {a} is the cause, part, content or maker, {b} the effect, whole, container or product.
TEMPLATES = {
    "Cause-Effect": ["the {a} caused the {b}", "the {b} was caused by the {a}", "the {b} came from the {a}",
                     "the {a} led to the {b}"],
    "Part-Whole": ["the {a} is a part of the {b}", "the {b} has a {a}", "the {b} consists of the {a} and more",
                   "the {a} belongs to the {b}"],
    "Content-Container": ["the {a} was in the {b}", "the {b} was full of every {a}", "somebody put the {a} into the {b}",
                          "the {b} held the {a}"],
    "Maker-Product": ["the {a} makes the {b}", "the {b} is made by the {a}", "the {a} has produced the {b}",
                      "the {b} was built by the {a}"],
    "Other": ["the {a} stood near the {b}", "the {a} and the {b} were sold", "the {b} is older than the {a}",
              "nobody saw the {a} or the {b}"],
}


class Numbers:
    """SplitMix64 (Steele et al. 2014)."""

    def __init__(self, seed):
        self.state = seed

    def below(self, limit):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        z = self.state
        z = ((z ^ (z >> 30)) * 0xBF58476D1CE4E5B9) & mask
        z = ((z ^ (z >> 27)) * 0x94D049BB133111EB) & mask
        return (z ^ (z >> 31)) % limit

    def one_of(self, choices):
        return choices[self.below(len(choices))]


def sentence(numbers):
    relation = numbers.one_of(list(TEMPLATES))
    template = numbers.one_of(TEMPLATES[relation])
    first, second = numbers.one_of(THINGS), numbers.one_of(THINGS)
    turned = numbers.below(2) == 1  # whether the first of the relation is e2
    marks = ("e2", "e1") if turned else ("e1", "e2")
    a, b = (f"<{mark}>{numbers.one_of(ADJECTIVES)}{thing}</{mark}>" for mark, thing in zip(marks, (first, second)))
    text = numbers.one_of(BEGINS) + template.format(a=a, b=b) + numbers.one_of(ENDS) + " ."
    label = relation if relation == "Other" else relation + ("(e2,e1)" if turned else "(e1,e2)")
    return f"{text}\t{label}\n"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    numbers, seen = Numbers(SEED), set()
    for name, size in SIZES.items():
        rows = []
        while len(rows) < size:
            row = sentence(numbers)
            if row not in seen:
                seen.add(row)
                rows.append(row)
        (folder / f"{name}.tsv").write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
