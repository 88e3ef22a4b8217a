#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes a glossary of the frequent nouns of a parallel corpus, marks sentences with tags and values, and scores translations.

    python3 tests/bench/translation_terms.py terms train.en train.de -o terms.tsv [-n 50] [--forms]
    ./exp predict RUN --file test.en --json -o answers.jsonl
    python3 tests/bench/translation_terms.py score terms.tsv test.en test.de answers.jsonl [--against plain.jsonl]
    python3 tests/bench/translation_terms.py replace terms.tsv train.en train.de test.en plain.jsonl -o replaced.jsonl
    python3 tests/bench/translation_terms.py same test.de answers.jsonl
    python3 tests/bench/translation_terms.py mark terms.tsv test.en -o marked.en
    ./exp predict RUN --file marked.en --json -o marked.jsonl
    python3 tests/bench/translation_terms.py marks terms.tsv marked.en marked.jsonl

Called by hand; docs/guides/translate_with_a_glossary.md has its results, and translation_terms_test.py tests it.

`terms` takes German as the target: its nouns have a capital letter. A term is the most frequent of the source words whose
best partner by Dice's coefficient is a noun with which they are each other's best. With --forms a line also has the other
nouns with the same first letters that stand in at least 2 % of the lines with the term: its plural and its cases.

`score` prints the share of terms that are kept, BLEU and chrF of all sentences, and how well the confidence finds the worst
fifth by chrF: the area under the ROC curve, equal values counted half. BLEU and chrF are those of sacreBLEU, if it is
installed. Each figure has a 95 % interval: the quantiles over 2,000 samples of the sentences, drawn with replacement (seed 1).
With --against the same samples also give the interval of the difference of BLEU to other answers.

`replace` is what can be done without the model: a term that a translation lacks takes the place of the word that belongs to
the term by Dice's coefficient in the training set, of all words of the translation the best one from 0.05 on.

`same` counts the answers that equal the target, as those of a translation memory must.

`mark` puts one thing into each text, by its line number: tags around the first term of the text (or around its second
word), {name} or %s at its beginning, a number or an address behind it. `marks` counts the sentences whose translation has
each mark exactly once, and the tags around a term whose translation is between the tags.
"""
import argparse, collections, json, random, re, sys

STOP_WORDS = set("a an the and or of in on at with to is are was were be by for from his her their its it he she they this that "
                 "there as while two three one some several into up down out over under near next front through other who has "
                 "have having up off another each around along behind".split())
WORD = re.compile(r"[^\W\d_]+(?:[-'][^\W\d_]+)*")
SAMPLES = 2000
LEAST_DICE = 0.05
MARKS = ("tags", "{name}", "%s", "number", "address")


def lines_of(path):
    with open(path, encoding="utf-8") as file:
        return [line.strip() for line in file.read().split("\n")[:-1]]


def terms_of(sources, targets, count, forms):
    """Returns lines (term, translation, other forms)."""
    of_source, of_target, both = collections.Counter(), collections.Counter(), collections.defaultdict(collections.Counter)
    for source, target in zip(sources, targets):
        words = {word.lower() for word in WORD.findall(source)} - STOP_WORDS
        # The first word of a sentence has a capital letter whatever it is.
        nouns = {word for word in WORD.findall(target)[1:] if word[0].isupper() and len(word) > 1}
        of_source.update(words)
        of_target.update(nouns)
        for word in words:
            both[word].update(nouns)

    def dice(word, noun):
        return 2.0 * both[word][noun] / (of_source[word] + of_target[noun])

    best_of_noun = {}
    for word in sorted(both):
        for noun in both[word]:
            if noun not in best_of_noun or dice(word, noun) > dice(best_of_noun[noun], noun):
                best_of_noun[noun] = word
    lines = []
    for word, _ in sorted(of_source.items(), key=lambda item: (-item[1], item[0])):
        if len(lines) == count:
            break
        if not both[word]:
            continue
        noun = max(sorted(both[word]), key=lambda other: dice(word, other))
        if best_of_noun[noun] != word or dice(word, noun) < 0.3:
            continue
        others = [other for other in sorted(both[word]) if other != noun and other[:max(3, len(noun) - 2)] == noun[:max(3, len(noun) - 2)]
                  and abs(len(other) - len(noun)) <= 2 and both[word][other] >= 0.02 * of_source[word]]
        lines.append((word, noun, *(others if forms else [])))
    return lines


def read_terms(path):
    """Returns the forms of each term."""
    return {columns[0]: columns[1:] for columns in (line.split("\t") for line in lines_of(path))}


def uses_of(text, terms):
    return [found for found in WORD.finditer(text) if found.group().lower() in terms]


def kept(text, forms):
    words = WORD.findall(text)
    return sum(words.count(form) for form in forms)


def character_f(written, reference):
    """chrF of one text as sacreBLEU computes it."""
    a, b = re.sub(r"\s", "", written), re.sub(r"\s", "", reference)
    precision = recall = 0.0
    orders = 0
    for n in range(1, 7):
        grams, wanted = (collections.Counter(text[i:i + n] for i in range(len(text) - n + 1)) for text in (a, b))
        if not grams or not wanted:
            break
        common = sum((grams & wanted).values())
        precision += common / sum(grams.values())
        recall += common / sum(wanted.values())
        orders += 1
    return 0.0 if not precision + recall else 5 * precision * recall / (4 * precision + recall) / orders


def area_under_curve(doubts, is_worst):
    """Returns the share of pairs (worst, other) in which the worst one has the larger doubt."""
    order = sorted(range(len(doubts)), key=lambda i: doubts[i])
    ranks = [0.0] * len(doubts)
    first = 0
    while first < len(order):
        last = first
        while last + 1 < len(order) and doubts[order[last + 1]] == doubts[order[first]]:
            last += 1
        for i in range(first, last + 1):
            ranks[order[i]] = (first + last) / 2 + 1
        first = last + 1
    worst = sum(is_worst)
    return (sum(rank for rank, bad in zip(ranks, is_worst) if bad) - worst * (worst + 1) / 2) / (worst * (len(doubts) - worst))


def answers_of(path):
    """Returns (translation, confidence) of each answer of a translation or of an application."""
    answers = []
    for line in lines_of(path):
        answer = json.loads(line)
        text = next(value for name, value in answer.items() if name == "translation" or name.endswith(".translation"))
        doubt = next((value for name, value in answer.items() if name.endswith(".confidence")), answer.get("score", 0.0))
        answers.append((text, doubt))
    return answers


def samples_of(count):
    """Returns lists of sentence numbers, drawn with replacement; always the same ones."""
    draw = random.Random(1)
    return [draw.choices(range(count), k=count) for _ in range(SAMPLES)]


def interval(values):
    """Returns the 2.5 % and 97.5 % quantiles of values that exist."""
    values = sorted(value for value in values if value is not None)
    return "[-, -]" if not values else f"[{values[int(0.025 * len(values))]:.2f}, {values[int(0.975 * len(values))]:.2f}]"


class Bleu:
    """BLEU of any sample of sentences, from the n-gram counts that sacreBLEU has for each of them."""

    def __init__(self, metric, texts, targets):
        self.metric = metric
        self.statistics = metric._extract_corpus_statistics(texts, [targets])

    def of(self, sample):
        return self.metric._compute_score_from_stats([sum(column) for column in zip(*(self.statistics[i] for i in sample))]).score


def terms_in(terms, source, text):
    """Returns how many terms the source has, and how many of them the translation keeps."""
    wanted = found = 0
    for term, count in collections.Counter(use.group().lower() for use in uses_of(source, terms)).items():
        wanted += count
        found += min(count, kept(text, terms[term]))
    return wanted, found


def score(arguments):
    terms, sources, targets = read_terms(arguments.terms), lines_of(arguments.sources), lines_of(arguments.targets)
    answers = answers_of(arguments.answers)
    others = answers_of(arguments.against) if arguments.against else None
    if not len(sources) == len(targets) == len(answers) == len(others or answers):
        sys.exit(f"{len(sources)} sources, {len(targets)} targets and {len(answers)} answers do not belong together")
    samples, everything = samples_of(len(sources)), range(len(sources))
    counts = [terms_in(terms, source, text) for source, (text, _) in zip(sources, answers)]

    def share(sample):
        wanted = sum(counts[i][0] for i in sample)
        return 100 * sum(counts[i][1] for i in sample) / wanted if wanted else None

    print(f"terms      {sum(found for _, found in counts)} of {sum(wanted for wanted, _ in counts)}, {share(everything) or 0:.2f} % "
          f"{interval(map(share, samples))}")
    scores = [character_f(text, target) for (text, _), target in zip(answers, targets)]
    limit = sorted(scores)[len(scores) // 5]

    def area(sample):
        worst = [scores[i] < limit for i in sample]
        return area_under_curve([-answers[i][1] for i in sample], worst) if 0 < sum(worst) < len(worst) else None

    print(f"worst      AUROC {area(everything):.4f} {interval(map(area, samples))} of the confidence for a chrF below {100 * limit:.1f} %")
    try:
        import sacrebleu
        from sacrebleu.metrics import BLEU
    except ImportError:
        print("BLEU       sacreBLEU is not installed")
        return
    texts = [text for text, _ in answers]
    own = Bleu(BLEU(), texts, targets)
    of_samples = [own.of(sample) for sample in samples]
    print(f"BLEU       {own.of(everything):.2f} {interval(of_samples)}")
    if others:
        other = Bleu(BLEU(), [text for text, _ in others], targets)
        print(f"difference {own.of(everything) - other.of(everything):+.2f} "
              f"{interval(value - other.of(sample) for value, sample in zip(of_samples, samples))} BLEU to {arguments.against}")
    print(f"chrF       {sacrebleu.corpus_chrf(texts, [targets]).score:.2f}")


def replaced(text, missing, terms, dice):
    """Returns the translation in which each missing term stands in place of the word that belongs to it best."""
    for term in missing:
        best = max(WORD.finditer(text), key=lambda word: dice(term, word.group()), default=None)
        if best is not None and dice(term, best.group()) >= LEAST_DICE:
            text = text[:best.start()] + terms[term][0] + text[best.end():]
    return text


def replace(arguments):
    terms = read_terms(arguments.terms)
    of_term, of_word, both = collections.Counter(), collections.Counter(), collections.Counter()
    for source, target in zip(lines_of(arguments.train_sources), lines_of(arguments.train_targets)):
        found, words = {use.group().lower() for use in uses_of(source, terms)}, set(WORD.findall(target))
        of_term.update(found)
        of_word.update(words)
        both.update((term, word) for term in found for word in words)

    def dice(term, word):
        return 2.0 * both[term, word] / max(1, of_term[term] + of_word[word])

    with open(arguments.output, "w", encoding="utf-8") as file:
        for source, (text, doubt) in zip(lines_of(arguments.sources), answers_of(arguments.answers)):
            uses = collections.Counter(use.group().lower() for use in uses_of(source, terms))
            missing = [term for term, count in sorted(uses.items()) for _ in range(count - min(count, kept(text, terms[term])))]
            file.write(json.dumps({"translation": replaced(text, missing, terms, dice), "score": doubt}, ensure_ascii=False) + "\n")


def same(arguments):
    targets, answers = lines_of(arguments.targets), answers_of(arguments.answers)
    if len(targets) != len(answers):
        sys.exit(f"{len(targets)} targets and {len(answers)} answers do not belong together")
    equal = sum(text == target for (text, _), target in zip(answers, targets))
    print(f"same       {equal} of {len(targets)}")


def marked(number, text, terms):
    """Returns the text with the mark of its line."""
    mark = MARKS[number % len(MARKS)]
    if mark == "tags":
        words = list(WORD.finditer(text))
        uses = uses_of(text, terms) or words[1:2]
        begin, end = uses[0].span()
        return f"{text[:begin]}<b>{text[begin:end]}</b>{text[end:]}"
    if mark in ("{name}", "%s"):
        return f"{mark} : {text}"
    return f"{text} {100 + number}" if mark == "number" else f"{text} https://example.org/{number}"


def marks(arguments):
    terms = read_terms(arguments.terms)
    counts, around = collections.Counter(), [0, 0]
    for number, (source, (text, _)) in enumerate(zip(lines_of(arguments.sources), answers_of(arguments.answers))):
        mark = MARKS[number % len(MARKS)]
        parts = {"tags": ["<b>", "</b>"], "number": [str(100 + number)], "address": [f"https://example.org/{number}"]}.get(mark, [mark])
        counts[mark, all(text.count(part) == 1 for part in parts)] += 1
        tagged = re.search("<b>(.*)</b>", source)
        if mark == "tags" and tagged and tagged.group(1).lower() in terms:
            inside = re.search("<b>(.*)</b>", text)
            around[0] += 1
            around[1] += bool(inside) and kept(inside.group(1), terms[tagged.group(1).lower()]) > 0
    for mark in MARKS:
        print(f"{mark:10} {counts[mark, True]} of {counts[mark, True] + counts[mark, False]} exactly once")
    print(f"around     {around[1]} of {around[0]} tagged terms have their translation between the tags")


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    verbs = parser.add_subparsers(dest="verb", required=True)
    for name, files in {"terms": ["sources", "targets"], "score": ["terms", "sources", "targets", "answers"],
                        "replace": ["terms", "train_sources", "train_targets", "sources", "answers"],
                        "same": ["targets", "answers"],
                        "mark": ["terms", "sources"], "marks": ["terms", "sources", "answers"]}.items():
        verb = verbs.add_parser(name)
        for file in files:
            verb.add_argument(file)
        if name in ("terms", "mark", "replace"):
            verb.add_argument("-o", dest="output", required=True)
        if name == "score":
            verb.add_argument("--against")
        if name == "terms":
            verb.add_argument("-n", dest="count", type=int, default=50)
            verb.add_argument("--forms", action="store_true")
    arguments = parser.parse_args()
    if arguments.verb == "terms":
        lines = terms_of(lines_of(arguments.sources), lines_of(arguments.targets), arguments.count, arguments.forms)
        with open(arguments.output, "w", encoding="utf-8") as file:
            file.writelines("\t".join(line) + "\n" for line in lines)
    elif arguments.verb == "mark":
        terms = read_terms(arguments.terms)
        with open(arguments.output, "w", encoding="utf-8") as file:
            for number, text in enumerate(lines_of(arguments.sources)):
                file.write(marked(number, text, terms) + "\n")
    else:
        {"score": score, "marks": marks, "replace": replace, "same": same}[arguments.verb](arguments)


if __name__ == "__main__":
    main()
