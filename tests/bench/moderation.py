#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures what an application removes from a stream of short messages, compared with a list of forbidden words.

    python3 tests/bench/moderation.py list --train train.tsv --dev dev.tsv --test test.tsv -o list.json
    python3 tests/bench/moderation.py attack test.tsv --list list.json --kind digits --seed 101 -o attacked.tsv
    build/openmp/bin/exp predict moderation --file attacked.tsv --format tsv -o answered.tsv
    python3 tests/bench/moderation.py score attacked.tsv answered.tsv --list list.json

Called by hand; docs/guides/moderation.md has its results; moderation_test.py tests it. The data are lines of a
message, a tab and a label; the labels of --violation are violations, all others are harmless. Intervals are
those of Wilson, 95 %.

`list` ranks the words of the training set by how surely they reveal a violation: by the lower end of an
interval of their precision, for four widths of it. A list of the first k words removes each message that has
one of them. Width and k are chosen on the development set: the most recall among those whose precision has a
lower end of at least --demand. The test set then measures the chosen list once.

`attack` rewrites the revealing words (the first --words of the ranking by one standard error) of violations:
digits for letters, spaces inside the word, look-alike letters of other scripts, or one of the three for each
message (mixed). --share attacks that share of the violations, and --harmless rewrites a random word in that
share of the harmless messages, so that odd spelling alone does not mark a violation. Labels stay. With shares
below 1 and a seed of its own it makes the training set of a model that should withstand the attacks.

`score` reads the answers of an application to the same lines: the file that `exp predict --format tsv` writes,
or JSON lines such as predictions/test.jsonl in the folder of the run. The band "answer" of the step `decide` is
a removal. It prints precision, recall, the share of harmless messages removed, and the errors by group: the
labels, messages that name an identity (terms of Dixon et al. 2018), messages with emoji, and thirds by the
number of words. With --list it prints the same for the word list, and the difference in recall on the same
messages. --json FILE writes the figures as JSON.
"""
import argparse, json, random, re, sys

WORD = re.compile(r"[^\W_]+(?:'[^\W_]+)*")
EMOJI = re.compile("[\u2600-\u27bf\U0001f1e6-\U0001f1ff\U0001f300-\U0001faff]")
Z = 1.959964
WIDTHS = [0.5, 1.0, Z, 3.0]
IDENTITIES = set("""lesbian gay queer homosexual bisexual transgender trans straight male female nonbinary african black white european
hispanic latino latina latinx mexican canadian american asian indian chinese japanese christian muslim jewish buddhist catholic protestant
sikh taoist old older young younger teenage millenial elderly blind deaf paralyzed""".split())
DIGITS = dict(zip("abegiostz", "483910572")) | {"l": "1"}
LOOKALIKES = dict(zip("acehijkmnoprstuvxyd", "асеһіјκмոоргѕтυνхуԁ"))  # Cyrillic, Greek and Armenian
BANDS = {"answer", "review", "refuse"}


def wilson(hits, cases, z=Z):
    if cases == 0:
        return 0.0, 1.0
    share = hits / cases
    middle, half = share + z * z / (2 * cases), z * (share * (1 - share) / cases + z * z / (4 * cases * cases)) ** 0.5
    return max(0.0, (middle - half) / (1 + z * z / cases)), min(1.0, (middle + half) / (1 + z * z / cases))


def share_of(hits, cases):
    """A share as a dictionary with its interval."""
    low, high = wilson(hits, cases)
    return {"hits": hits, "cases": cases, "share": hits / cases if cases else None, "low": low, "high": high}


def text_of(share):
    if not share["cases"]:
        return "- (no cases)"
    return f"{100 * share['share']:.2f} % ({100 * share['low']:.2f} to {100 * share['high']:.2f}; {share['hits']} of {share['cases']})"


def words_of(text):
    return WORD.findall(text.lower().replace("\u2019", "'"))


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t") for line in file if line.strip()]


def examples_of(path, violation):
    """Returns messages, labels, and for each message whether it is a violation."""
    rows = lines_of(path)
    labels = [row[1] for row in rows]
    if not set(labels) & set(violation):
        sys.exit(f"{path}: no label is one of {', '.join(violation)}; expected those of --violation")
    return [row[0] for row in rows], labels, [label in violation for label in labels]


def ranking(texts, bad, width):
    """Returns the words that occur in at least two training examples, the most revealing first."""
    counts = {}
    for text, is_bad in zip(texts, bad):
        for word in set(words_of(text)):
            count = counts.setdefault(word, [0, 0])
            count[0] += is_bad
            count[1] += 1
    scored = [(-wilson(hits, cases, width)[0], -hits, word) for word, (hits, cases) in counts.items() if cases >= 2]
    return [word for _, _, word in sorted(scored)]


def best_size(ranked, texts, bad, demand):
    """Returns recall and size of the list with the most recall that meets the demand on these examples, or None."""
    place = {word: at for at, word in enumerate(ranked)}
    first = sorted((min((place.get(word, len(ranked)) for word in words_of(text)), default=len(ranked)), is_bad) for text, is_bad in zip(texts, bad))
    best, right = None, 0
    for removed, (at, is_bad) in enumerate(first, 1):
        if at == len(ranked):
            break
        right += is_bad
        complete = removed == len(first) or first[removed][0] > at
        if complete and wilson(right, removed)[0] >= demand and (best is None or right > best[0]):
            best = right, at + 1
    return best and (best[0] / sum(bad), best[1])


def by_list(words, texts):
    listed = set(words)
    return [not listed.isdisjoint(words_of(text)) for text in texts]


def totals(removed, bad):
    right = sum(one and is_bad for one, is_bad in zip(removed, bad))
    return {"precision": share_of(right, sum(removed)), "recall": share_of(right, sum(bad)),
            "harmless_removed": share_of(sum(removed) - right, len(bad) - sum(bad))}


def show_totals(title, figures):
    print(f"{title}: removals {figures['precision']['cases']}")
    for key in ("precision", "recall", "harmless_removed"):
        print(f"  {key.replace('_', ' '):18}{text_of(figures[key])}")


def groups_of(texts, labels):
    """Returns, for each group of messages, its name and a list of booleans."""
    sizes = sorted(len(words_of(text)) for text in texts)
    low, high = sizes[len(sizes) // 3], sizes[2 * len(sizes) // 3]
    lengths = [len(words_of(text)) for text in texts]
    return [(f"label {one}", [label == one for label in labels]) for one in sorted(set(labels))] + [
        ("names an identity", [not IDENTITIES.isdisjoint(words_of(text)) for text in texts]),
        ("with emoji", [EMOJI.search(text) is not None for text in texts]),
        (f"below {low} words", [size < low for size in lengths]),
        (f"{low} to {high - 1} words", [low <= size < high for size in lengths]),
        (f"from {high} words", [size >= high for size in lengths])]


def by_group(removed, texts, labels, bad):
    figures = {}
    for name, inside in groups_of(texts, labels):
        rows = [(one, is_bad) for one, is_bad, is_in in zip(removed, bad, inside) if is_in]
        violations = [one for one, is_bad in rows if is_bad]
        harmless = [one for one, is_bad in rows if not is_bad]
        figures[name] = {"violations_missed": share_of(violations.count(False), len(violations)),
                         "harmless_removed": share_of(harmless.count(True), len(harmless))}
    return figures


def show_groups(figures):
    print(f"  {'group':20}{'violations missed':42}harmless removed")
    for name, one in figures.items():
        print(f"  {name:20}{text_of(one['violations_missed']):42}{text_of(one['harmless_removed'])}")


def recall_difference(ours, theirs, bad):
    """Recall of one minus recall of the other on the same violations, with the interval of Agresti and Min (2005)."""
    more = sum(a and not b for a, b, is_bad in zip(ours, theirs, bad) if is_bad) + 0.5
    less = sum(b and not a for a, b, is_bad in zip(ours, theirs, bad) if is_bad) + 0.5
    cases = sum(bad) + 2
    half = Z * (more + less - (more - less) ** 2 / cases) ** 0.5 / cases
    return {"difference": (more - less) / (cases - 2), "low": (more - less) / cases - half, "high": (more - less) / cases + half}


def removals_of(path, texts):
    """Returns for each message whether the application answers, that is removes, it."""
    if path.endswith(".jsonl"):
        with open(path, encoding="utf-8") as file:
            rows = [json.loads(line) for line in file if line.strip()]
        rows = [row | row.get("predicted", {}) for row in rows]
        key = next((key for key in rows[0] if key.endswith(".band")), None)
        if key is None:
            sys.exit(f"{path}: no field ends in .band; expected answers of an application with the step decide")
        answered, bands = [row["text"] for row in rows], [row[key] for row in rows]
    else:
        rows = lines_of(path)
        column = next((at for at in range(1, len(rows[0])) if all(row[at] in BANDS for row in rows)), None)
        if column is None:
            sys.exit(f"{path}: no column has only answer, review or refuse; expected the output of exp predict --format tsv")
        answered, bands = [row[0] for row in rows], [row[column] for row in rows]
    if len(answered) != len(texts):
        sys.exit(f"{path}: {len(answered)} answers to {len(texts)} messages")
    for number, (one, other) in enumerate(zip(answered, texts), 1):
        if one != other:
            sys.exit(f"{path}: answer {number} is to another message than line {number} of the data")
    return [band == "answer" for band in bands]


def make_list(arguments):
    texts, _, bad = examples_of(arguments.train, arguments.violation)
    dev_texts, _, dev_bad = examples_of(arguments.dev, arguments.violation)
    best = None
    for width in WIDTHS:
        ranked = ranking(texts, bad, width)
        found = best_size(ranked, dev_texts, dev_bad, arguments.demand)
        if found and (best is None or found[0] > best[0]):
            best = *found, width, ranked
    recall, size, width, ranked = best or (0.0, 0, Z, [])
    made = {"demand": arguments.demand, "width": width, "size": size, "words": ranked[:size], "revealing": ranking(texts, bad, 1.0)}
    if best is None:
        print(f"no list has a precision on {arguments.dev} with a lower end of {arguments.demand}; the list is empty")
    else:
        print(f"{size} words, ranked by intervals of {width:g} standard errors")
        show_totals("dev", totals(by_list(made["words"], dev_texts), dev_bad))
    if arguments.test:
        test_texts, test_labels, test_bad = examples_of(arguments.test, arguments.violation)
        removed = by_list(made["words"], test_texts)
        show_totals("test", totals(removed, test_bad))
        show_groups(by_group(removed, test_texts, test_labels, test_bad))
    if arguments.output:
        with open(arguments.output, "w", encoding="utf-8") as file:
            json.dump(made, file, ensure_ascii=False)


def with_letters(word, table, draw):
    """Replaces each letter that the table has with probability 0.5, and at least one of them."""
    places = [at for at, letter in enumerate(word) if letter.lower() in table]
    if not places:
        return word
    chosen = [at for at in places if draw.random() < 0.5] or [draw.choice(places)]
    new = list(word)
    for at in chosen:
        new[at] = table[word[at].lower()].upper() if word[at].isupper() else table[word[at].lower()]
    return "".join(new)


def with_spaces(word, draw):
    """Puts a space between all letters, or at one place."""
    if len(word) < 2:
        return word
    at = draw.randrange(1, len(word))
    return " ".join(word) if draw.random() < 0.5 else word[:at] + " " + word[at:]


def rewritten(word, kind, draw):
    if kind == "spaces":
        return with_spaces(word, draw)
    return with_letters(word, DIGITS if kind == "digits" else LOOKALIKES, draw)


def attacked(text, kind, revealing, draw):
    kind = draw.choice(["digits", "spaces", "letters"]) if kind == "mixed" else kind
    return WORD.sub(lambda found: rewritten(found[0], kind, draw) if found[0].lower() in revealing else found[0], text.replace("\u2019", "'"))


def misspelt(text, kind, draw):
    """Rewrites one random word of at least four letters."""
    kind = draw.choice(["digits", "spaces", "letters"]) if kind == "mixed" else kind
    found = [one for one in WORD.finditer(text) if len(one[0]) >= 4 and one[0] not in ("http", "user")]
    if not found:
        return text
    one = draw.choice(found)
    return text[: one.start()] + rewritten(one[0], kind, draw) + text[one.end():]


def attack(arguments):
    with open(arguments.list, encoding="utf-8") as file:
        revealing = set(json.load(file)["revealing"][: arguments.words])
    draw, changed, bad = random.Random(arguments.seed), 0, 0
    with open(arguments.output, "w", encoding="utf-8") as out:
        for text, label, *_ in lines_of(arguments.data):
            new = text
            if label in arguments.violation:
                bad += 1
                if draw.random() < arguments.share:
                    new = attacked(text, arguments.kind, revealing, draw)
                    changed += new != text.replace("\u2019", "'")
            elif draw.random() < arguments.harmless:
                new = misspelt(text, arguments.kind, draw)
            out.write(f"{new}\t{label}\n")
    print(f"{changed} of {bad} violations changed")


def score(arguments):
    texts, labels, bad = examples_of(arguments.data, arguments.violation)
    rows = {"application": removals_of(arguments.answers, texts)}
    if arguments.list:
        with open(arguments.list, encoding="utf-8") as file:
            rows["list"] = by_list(json.load(file)["words"], texts)
    figures = {}
    for name, removed in rows.items():
        figures[name] = totals(removed, bad) | {"groups": by_group(removed, texts, labels, bad)}
        show_totals(name, figures[name])
        show_groups(figures[name]["groups"])
    if arguments.list:
        figures["recall_difference"] = gap = recall_difference(rows["application"], rows["list"], bad)
        print(f"recall less that of the list: {100 * gap['difference']:.2f} points ({100 * gap['low']:.2f} to {100 * gap['high']:.2f})")
    if arguments.json:
        with open(arguments.json, "w") as file:
            json.dump(figures, file, indent=1)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    verbs = parser.add_subparsers(required=True, metavar="list|attack|score")
    one = verbs.add_parser("list", help="learn the word list, choose its size, measure it")
    one.add_argument("--train", required=True)
    one.add_argument("--dev", required=True)
    one.add_argument("--test")
    one.add_argument("--demand", type=float, default=0.99, help="lowest lower end of the precision on dev (default 0.99)")
    one.add_argument("-o", "--output", metavar="FILE", help="write the list as JSON")
    one.set_defaults(run=make_list)
    one = verbs.add_parser("attack", help="rewrite the revealing words of violations")
    one.add_argument("data")
    one.add_argument("--list", required=True, help="a file that the verb list wrote")
    one.add_argument("--kind", choices=["digits", "spaces", "letters", "mixed"], default="mixed")
    one.add_argument("--words", type=int, default=200, help="number of revealing words (default 200)")
    one.add_argument("--share", type=float, default=1.0, help="share of violations that are attacked (default 1)")
    one.add_argument("--harmless", type=float, default=0.0, help="share of harmless messages with a random word rewritten (default 0)")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("-o", "--output", metavar="FILE", required=True)
    one.set_defaults(run=attack)
    one = verbs.add_parser("score", help="measure the answers of an application")
    one.add_argument("data")
    one.add_argument("answers", help="the output of exp predict --format tsv, or JSON lines")
    one.add_argument("--list", help="measure this word list too")
    one.add_argument("--json", metavar="FILE", help="write the figures as JSON")
    one.set_defaults(run=score)
    for one in verbs.choices.values():
        one.add_argument("--violation", type=lambda labels: labels.split(","), default=["hate", "offensive", "violation"], metavar="LABELS", help="labels of violations, separated by commas (default: hate,offensive,violation)")
    arguments = parser.parse_args()
    arguments.run(arguments)


if __name__ == "__main__":
    main()
