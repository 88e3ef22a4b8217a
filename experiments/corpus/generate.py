#!/usr/bin/env python3
"""Writes the corpus of experiments/quickstart.toml: train.conll, dev.conll and test.conll beside this file, or in the given
folder.

    python3 experiments/corpus/generate.py [FOLDER]

Small invented English sentences with people (PER), places (LOC), organisations (ORG) and products (PRODUCT). Every name can be
any of the four, and many are ordinary words too, so the class of a name must be read from the words around it: "Porter
signed the lease", "the mayor of Porter", "shares of Porter", "the battery of the Porter". One mention in four of dev and
test uses a name that the training set lacks. No sentence is in two sets, or twice in one.

It writes the same bytes on every machine: it has its own generator of integers and does not use Python's random numbers.
"""
import pathlib
import sys

SEED = 20250
SIZES = {"train": 2000, "dev": 400, "test": 400}

# Well-known names of more than one of the four classes, and coined ones: any head with any tail.
KNOWN_NAMES = """Jordan Paris Washington Amazon Florence Lincoln Chelsea Austin Sydney Hudson Georgia Marshall Victoria Phoenix
Orange Delta Mercury Falcon Dallas Madison Jackson Bentley Denver Milan Sienna Devon Shannon Atlas Titan Orion""".split()
HEADS = "Ash Bel Cal Dar East Fen Glen Har Ing Kirk Lan Mar New Oak Pem Quin Rad Sel Til Up Van Wex Yar Zel".split()
TAILS = "bury combe dale field ford ham ley low mont ridge shaw stead ton wick wood worth hurst".split()
COINED_NAMES = [head + tail for head in HEADS for tail in TAILS]
# Names that are words as well: at the head of a sentence only the rest of the sentence distinguishes them.
WORD_NAMES = "Stone Baker Hunter Mason Summer Amber Ruby Pearl Robin Forest Frost Marsh Reed Rush Sterling Winter".split()

WORDS = {
    "job": "doctor teacher lawyer singer painter pilot nurse farmer builder goalkeeper novelist cook".split(),
    "kin": "sister brother daughter son neighbour cousin aunt friend".split(),
    "day": "Monday Tuesday Wednesday Thursday Friday Saturday Sunday".split(),
    "part": "battery screen engine handle lens keyboard brake cable".split(),
    "thing": "letter garden window bicycle violin suitcase ladder coat piano basket".split(),
    "adj": "old small quiet heavy bright narrow famous cheap broken new".split(),
    "place": "harbour market library stadium airport bridge cathedral museum".split(),
    "goods": "bread furniture shoes medicine tractors paper glass".split(),
    "number": "two three four five six seven nine twelve forty".split(),
    "year": "1912 1947 1968 1983 1999 2004 2011 2018".split(),
    "when": ["in the morning", "last year", "after the war", "before noon", "on <day>", "in <year>", "for <number> weeks",
             "without a word", "as expected"],
}

# Clauses, each with what makes up its subject. A cue may stand before or behind the name, near or some words away.
CLAUSES = """
<PER> signed the lease
<PER> , a <job> , moved into the <adj> house
<PER> was born to a <job> and a <job>
<PER> , who sings well , forgot the <thing>
<PER> broke an arm <when>
<PER> and <PER> were married <when>
the <job> thanked <PER> for the <thing>
her <kin> <PER> found the <thing>
my <kin> <PER> hates <goods>
the letter from <PER> was read aloud
a <job> named <PER> painted the <place>
<PER> told <PER> about the <thing>
the biography of <PER> won a prize
the <job> slept while <PER> was talking
they drove from <LOC> to <LOC> <when>
the mayor of <LOC> opened the <place>
the <adj> streets of <LOC> were flooded
it rained in <LOC> <when>
<LOC> , a town of forty thousand , has a <adj> <place>
<LOC> lies north of <LOC>
the train to <LOC> was late
the <place> in <LOC> is closed
farmers near <LOC> sell <goods>
<LOC> was flooded <when>
the road between <LOC> and <LOC> is <adj>
people who live in <LOC> need a <place>
visitors reach <LOC> by boat
shares of <ORG> fell <when>
<ORG> hired <number> hundred workers
<ORG> , which makes <goods> , was sold <when>
the board of <ORG> met <when>
the profits of <ORG> rose <when>
<ORG> merged with <ORG> <when>
<ORG> reported losses <when>
a spokesman for <ORG> declined to comment
the shareholders of <ORG> sued <ORG>
<ORG> , founded in <year> , exports <goods>
the strike at <ORG> ended <when>
<ORG> has <number> factories
the <part> of the <PRODUCT> is <adj>
the new <PRODUCT> costs <number> hundred dollars
<PRODUCT> owners complained about the <part>
he charged his <PRODUCT> <when>
she repaired the <part> of her <PRODUCT>
reviewers compared the <PRODUCT> with the <PRODUCT>
the <PRODUCT> , which has a <adj> <part> , sold well
they unpacked a <PRODUCT> <when>
every <PRODUCT> comes with a <part>
the software of the <PRODUCT> crashed
<PER> works for <ORG> in <LOC>
<ORG> unveiled the <PRODUCT> in <LOC>
<PER> left <LOC> <when>
<PER> bought a used <PRODUCT>
<ORG> sued <PER> over the <PRODUCT>
<PER> , the founder of <ORG> , lives near <LOC>
<PER> met the <job> in <LOC>
the <job> from <LOC> dropped her <PRODUCT>
<ORG> closed its office in <LOC>
<PER> resigned from <ORG> <when>
<PER> sold <ORG> to <ORG>
the <job> bought <goods>
the <adj> <thing> stood near the <place>
nobody saw the <adj> <thing> <when>
the <kin> of the <job> lost a <thing>
""".strip().split("\n")
# <WORD> is one of the words that are also names, here as a word.
WORD_CLAUSES = """
<WORD> is hard to find here
<WORD> was used for the <adj> <place>
<WORD> is cheaper than <goods>
<WORD> brings many visitors to the <place>
<WORD> is what the <job> wanted
""".strip().split("\n")
JOINS = [", and", ", but", "because", "while", "after", ";"]


class Numbers:
    """SplitMix64; below(n) by the high half of a product."""

    def __init__(self, seed):
        self.state = seed

    def below(self, n):
        mask = (1 << 64) - 1
        self.state = (self.state + 0x9E3779B97F4A7C15) & mask
        x = self.state
        x = ((x ^ (x >> 30)) * 0xBF58476D1CE4E5B9) & mask
        x = ((x ^ (x >> 27)) * 0x94D049BB133111EB) & mask
        return ((x ^ (x >> 31)) * n) >> 64

    def pick(self, items):
        return items[self.below(len(items))]


def name(numbers, unseen):
    """Every third coined name is kept from the training set."""
    draw = numbers.below(8)
    if draw < 3:
        return numbers.pick(WORD_NAMES if draw == 0 else KNOWN_NAMES)
    index = numbers.below(len(COINED_NAMES))
    if not unseen and index % 3 == 0:
        index += 1 + numbers.below(2)
    return COINED_NAMES[index % len(COINED_NAMES)]


def entity(kind, numbers, unseen):
    """Words before the entity, and its own words."""
    one, form = name(numbers, unseen), numbers.below(8)
    if kind == "PER":
        if form < 3:
            return [], [one, name(numbers, unseen)]
        return ([numbers.pick(["Dr", "Mr", "Mrs", "Captain"])], [one]) if form == 3 else ([], [one])
    if kind == "LOC":
        long = [["New", one], ["Port", one], [one, "Hill"], [one, "Falls"]]
    elif kind == "ORG":
        long = [[one, "Motors"], [one, "&", "Sons"], ["Bank", "of", one], [one, "United"]]
    else:
        long = [[one, "300"], [one, "Pro"], [one, "Mark", "II"], [one, "500"]]
    return [], numbers.pick(long) if form < 2 else [one]


def expand(clause, numbers, unseen):
    """Words and tags of a clause."""
    words, tags = [], []
    for token in clause.split():
        kind = token[1:-1] if token.startswith("<") else None
        if kind in ("PER", "LOC", "ORG", "PRODUCT"):
            before, own = entity(kind, numbers, unseen)
            words += before + own
            tags += ["O"] * len(before) + ["B-" + kind] + ["I-" + kind] * (len(own) - 1)
        elif kind == "WORD":
            words.append(numbers.pick(WORD_NAMES))
            tags.append("O")
        elif kind:
            more, more_tags = expand(numbers.pick(WORDS[kind]), numbers, unseen)
            words += more
            tags += more_tags
        else:
            words.append(token)
            tags.append("O")
    return words, tags


def sentence(numbers, unseen):
    opening = WORD_CLAUSES if numbers.below(20) == 0 else CLAUSES
    words, tags = expand(numbers.pick(opening), numbers, unseen)
    for _ in range(numbers.pick([0, 1, 1, 1])):
        more, more_tags = expand(numbers.pick(JOINS) + " " + numbers.pick(CLAUSES), numbers, unseen)
        words += more
        tags += more_tags
    words[0] = words[0][0].upper() + words[0][1:]
    return words + ["."], tags + ["O"]


def main():
    folder = pathlib.Path(sys.argv[1]) if len(sys.argv) > 1 else pathlib.Path(__file__).parent
    numbers, seen = Numbers(SEED), set()
    for part, size in SIZES.items():
        lines = []
        for _ in range(size):
            while True:
                words, tags = sentence(numbers, part != "train")
                if tuple(words) not in seen:
                    break
            seen.add(tuple(words))
            lines += [f"{word}\t{tag}\n" for word, tag in zip(words, tags)] + ["\n"]
        (folder / f"{part}.conll").write_bytes("".join(lines).encode())


main()
