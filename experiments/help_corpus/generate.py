#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the corpus of experiments/help.toml, experiments/help_rank.toml and their applications, experiments/apps/find.toml and
find_and_rank.toml: articles.jsonl, pairs.tsv, judged.tsv, dev.jsonl and test.jsonl beside this file, or in the folder that is named.

    python3 experiments/help_corpus/generate.py [FOLDER]

Articles of an invented help page: 15 things, and for each of them 14 articles about what a user may want to do. Questions name the
thing and the action either in the words of the article or in other words, so that a search by words finds only some of the
articles. pairs.tsv has questions with the title of their article, from which a model learns which words mean the same. judged.tsv has
questions with a title and a label: relevant, or other, where most titles share the thing or the action with the question. A pair of
thing and action that occurs in dev.jsonl or test.jsonl occurs in neither of them. The label of a question in these two files is the id
of its article.

It writes the same bytes on every machine: it has its own generator of integers and does not use Python's random numbers.
"""
import json
import pathlib
import sys

SEED, SEED_OF_JUDGED = 71, 72
PAIRS, JUDGED, QUESTIONS = 2400, 3000, 300

# The word of the articles first, then other words for the same.
THINGS = [("router", "wifi box"), ("printer", "inkjet"), ("invoice", "bill"), ("password", "secret code"), ("screen", "display"),
          ("battery", "power pack"), ("mailbox", "inbox"), ("camera", "lens"), ("keyboard", "keys"), ("speaker", "sound bar"),
          ("contract", "agreement"), ("phone", "handset"), ("calendar", "schedule"), ("backup", "safety copy"),
          ("alarm", "wake-up call")]
ACTIONS = [("reset", "start over with"), ("install", "set up"), ("cancel", "call off"), ("repair", "fix"), ("replace", "swap"),
           ("share", "let others use"), ("delete", "get rid of"), ("find", "locate"), ("rename", "give another name to"),
           ("order", "buy"), ("move", "take elsewhere"), ("lock", "keep others out of"), ("test", "try out"),
           ("connect", "link up")]
QUESTION = ["how do I {action} my {thing} ?", "I want to {action} the {thing}", "can you help me to {action} a {thing} ?",
            "please explain how to {action} this {thing}", "what must I do to {action} my {thing} ?", "{action} {thing}",
            "is there a way to {action} the {thing} ?"]
STEPS = ["Open the settings and choose the entry {thing}.", "You need the number of your {thing} and five minutes.",
         "Only the owner of the account can do this.", "The change takes effect on the next day.",
         "Write to us if the {thing} does not appear in the list.", "Nothing else in your account changes."]


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


def article_id(thing, action):
    return f"{action[0]}-{thing[0]}"


def title(thing, action):
    return f"How to {action[0]} your {thing[0]}"


def article(numbers, thing, action):
    sentences = [numbers.one_of(STEPS).format(thing=thing[0]) for _ in range(2)]
    text = f"This page says how to {action[0]} a {thing[0]}. " + " ".join(dict.fromkeys(sentences))
    return {"id": article_id(thing, action), "title": title(thing, action), "text": text}


def question(numbers, thing, action):
    return numbers.one_of(QUESTION).format(thing=numbers.one_of(thing), action=numbers.one_of(action))


def other_topic(numbers, topic, learned):
    """Returns a learned topic that is not this one: two in three share its thing or its action."""
    while True:
        other = numbers.one_of(learned)
        if numbers.below(3):
            other = (topic[0], other[1]) if numbers.below(2) else (other[0], topic[1])
        if other != topic and other in learned:
            return other


def judged(numbers, learned):
    lines = []
    for _ in range(JUDGED):
        topic = numbers.one_of(learned)
        asked = question(numbers, *topic)
        is_relevant = numbers.below(2) == 0
        about = topic if is_relevant else other_topic(numbers, topic, learned)
        lines.append(f"{asked}\t{title(*about)}\t{'relevant' if is_relevant else 'other'}")
    return lines


def write(path, lines):
    path.write_text("".join(line + "\n" for line in lines), encoding="utf-8")


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    numbers = Numbers(SEED)
    topics = [(thing, action) for thing in THINGS for action in ACTIONS]
    write(folder / "articles.jsonl", [json.dumps(article(numbers, *topic)) for topic in topics])
    held_out = {topic for topic in topics if numbers.below(3) == 0}
    learned = [topic for topic in topics if topic not in held_out]
    pairs = []
    for _ in range(PAIRS):
        topic = numbers.one_of(learned)
        pairs.append(f"{question(numbers, *topic)}\t{title(*topic)}")
    write(folder / "pairs.tsv", pairs)
    write(folder / "judged.tsv", judged(Numbers(SEED_OF_JUDGED), learned))
    asked, seen = sorted(held_out), set()
    for name in ("dev", "test"):
        lines = []
        while len(lines) < QUESTIONS:
            topic = numbers.one_of(asked)
            text = question(numbers, *topic)
            if text not in seen:
                seen.add(text)
                lines.append(json.dumps({"text": text, "labels": [article_id(*topic)]}))
        write(folder / f"{name}.jsonl", lines)


if __name__ == "__main__":
    main()
