#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes the corpus of experiments/tickets*.toml and of their applications, experiments/apps/support.toml and desk.toml:
train.tsv, dev.tsv and test.tsv beside this file, or in the folder that is named.

    python3 experiments/ticket_corpus/generate.py [FOLDER]

Invented requests to a shop, with the department that answers them: billing, delivery, account or returns. Some requests are about
two departments at once and have the label of the first, so no model is always right. In the development and the test set, one
request in eight is about something else, with the label out_of_scope, which the training set does not have. No request is in two
sets, or twice in one. The columns are: text, department, sentiment (negative, neutral, positive), priority (high, normal).

It writes the same bytes on every machine: it has its own generator of integers and does not use Python's random numbers.
"""
import pathlib
import sys

SEED = 53
SIZES = {"train": 900, "dev": 1200, "test": 1200}

TOPICS = {
    "billing": ["the invoice of {month}", "my card payment", "the price on my bill", "the tax on my order", "the monthly fee",
                "a payment that I made twice"],
    "delivery": ["my parcel", "the courier", "the tracking page", "the box with the {thing}", "the address on my parcel",
                 "the delivery of the {thing}"],
    "account": ["my password", "the login page", "the email address of my account", "my user name", "the app on my phone",
                "the code that you sent by text message"],
    "returns": ["the {thing} that I want to send back", "my refund for the {thing}", "the return label", "the broken {thing}",
                "the exchange of my {thing}", "the warranty of the {thing}"],
}
ELSEWHERE = ["the weather in {place}", "a recipe with {thing} and rice", "the match of last {day}", "the history of {place}",
             "a song about the {thing}", "the train to {place}", "the opening hours of the museum in {place}"]
PLACES = "Lund Calbury Oslo Porto Graz Leith Arles Delft".split()
MONTHS = "January March April May July August October December".split()
DAYS = "Monday Tuesday Friday Saturday Sunday".split()
THINGS = "lamp kettle chair carpet mirror clock radio basket jacket tent ladder camera".split()
ASKS = ["there is a problem with {topic}", "I have a question about {topic}", "please help me with {topic}",
        "what happened to {topic} ?", "I cannot understand {topic}", "I need more details about {topic}", "{topic} is wrong",
        "who can help me with {topic} ?", "{topic} does not work", "I wrote last {day} about {topic}"]
BOTH = ["there is a problem with {topic} , and also with {other}", "first {topic} , then {other} : what can I do ?",
        "I have a question about {topic} and about {other}"]
BEGINS = ["", "", "", "hello , ", "good morning , ", "sorry , ", "once more : "]
ENDS = ["", "", "", " , thanks", " , please answer soon", " , this is urgent"]
# What the words say about sentiment and priority.
COMPLAINTS = ("problem", "happened", "cannot", "wrong", "not work")
PLEASED, URGENT, AGAIN = " , thanks", (" , please answer soon", " , this is urgent"), "once more : "
# One request in eight is about two departments, and in dev and test one in eight about none of them.
SHARE = 8


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


def filled(numbers, text):
    return text.format(month=numbers.one_of(MONTHS), day=numbers.one_of(DAYS), thing=numbers.one_of(THINGS),
                       place=numbers.one_of(PLACES))


def request(numbers, name):
    outside = name != "train" and numbers.below(SHARE) == 0
    label = "out_of_scope" if outside else numbers.one_of(list(TOPICS))
    topic = filled(numbers, numbers.one_of(ELSEWHERE if outside else TOPICS[label]))
    if not outside and numbers.below(SHARE) == 0:
        other = filled(numbers, numbers.one_of(TOPICS[numbers.one_of([one for one in TOPICS if one != label])]))
        ask = numbers.one_of(BOTH)
        if numbers.below(4) == 0:  # some are named the other way round, so the order does not always decide
            topic, other = other, topic
    else:
        ask, other = numbers.one_of(ASKS), ""
    text = ask.format(topic=topic, other=other, day=numbers.one_of(DAYS))
    begin, end = numbers.one_of(BEGINS), numbers.one_of(ENDS)
    complains = any(word in ask for word in COMPLAINTS)
    sentiment = "negative" if complains else "positive" if end == PLEASED else "neutral"
    priority = "high" if end in URGENT or begin == AGAIN else "normal"
    return f"{begin}{text}{end}\t{label}\t{sentiment}\t{priority}\n"


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    numbers, seen = Numbers(SEED), set()
    for name, size in SIZES.items():
        rows = []
        while len(rows) < size:
            row = request(numbers, name)
            text = row.split("\t")[0]
            if text not in seen:
                seen.add(text)
                rows.append(row)
        (folder / f"{name}.tsv").write_text("".join(rows), encoding="utf-8")


if __name__ == "__main__":
    main()
