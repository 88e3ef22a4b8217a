#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Makes data sets for searching documents, for answering questions from them, and for long contexts, from the paragraphs
of SQuAD 1.1.

    python3 tests/bench/squad_documents.py draw $ENCORE_DATA/squad -o squad
    ENCORE_SQUAD=$PWD/squad ./exp run experiments/apps/squad_find.toml
    ./exp predict squad_find --file squad/train.jsonl --format jsonl -o squad/found.jsonl
    python3 tests/bench/squad_documents.py examples squad squad/found.jsonl --data $ENCORE_DATA/squad

    python3 tests/bench/squad_documents.py join $ENCORE_DATA/squad/dev.json --words 350 -o joined.json

Called by hand; docs/guides/answer_from_documents.md has results of `draw` and `examples`, and squad_documents_test.py
tests it.

`draw` divides the paragraphs of all files at random into three groups, so that no group has a question about a paragraph
of another one. It writes:
  documents.jsonl   all paragraphs
  train.jsonl       a question in each line, with the id of its paragraph and its answers; likewise
  dev.jsonl, test.jsonl   --questions questions each
  pairs.jsonl       train.jsonl as pairs of question and paragraph, for a model of vectors
  known.jsonl       all paragraphs but --missing (a share) of those with questions of dev.jsonl and test.jsonl
  open_dev.jsonl, open_test.jsonl   the questions of dev and test; those whose paragraph is missing have no answer

`examples` reads the answers of a search to train.jsonl, and writes examples for models that read a question together with
a paragraph. Wrong paragraphs are the best --negatives hits of the search that are not the paragraph of the question:
  judged.jsonl      pairs with the label "relevant" or "other", the latter with each wrong paragraph
  answers.json      SQuAD 2.0: each question with its paragraph, and without an answer with its best wrong paragraph

`join` writes the questions of one file again. The context of each is a document of at least --words words: its own
paragraph at a random place between other paragraphs of the file, drawn at random.
"""
import argparse, json, os, random, sys


def write_lines(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines(json.dumps(row, ensure_ascii=False) + "\n" for row in rows)


def read_lines(path):
    with open(path, encoding="utf-8") as file:
        return [json.loads(line) for line in file]


def paragraphs_in(folder):
    """Returns the different paragraphs of all files, in the order of files, each with its questions."""
    found = {}
    for name in sorted(os.listdir(folder)):
        if not name.endswith(".json"):
            continue
        with open(f"{folder}/{name}", encoding="utf-8") as file:
            for article in json.load(file)["data"]:
                for paragraph in article["paragraphs"]:
                    of_text = found.setdefault(paragraph["context"], {})
                    for question in paragraph["qas"]:
                        of_text.setdefault(question["question"].strip(), question["answers"])
    return found


def draw(a):
    paragraphs = paragraphs_in(a.data)
    ids = {text: f"p{number:04d}" for number, text in enumerate(paragraphs)}
    order = list(paragraphs)
    rng = random.Random(a.seed)
    rng.shuffle(order)
    groups, missing = {"test": [], "dev": [], "train": []}, set()
    for name, rows in groups.items():
        used = 0
        while order and (name == "train" or len(rows) < a.questions):
            text = order.pop()
            used += 1
            if name != "train" and used % round(1 / a.missing) == 0:
                missing.add(ids[text])
            rows += [(question, text, answers) for question, answers in paragraphs[text].items()]
        if name != "train":
            del rows[a.questions:]
            if len(rows) < a.questions:
                sys.exit(f"squad_documents: the files have only {len(rows)} questions for {name}: expected {a.questions}")
    os.makedirs(a.out, exist_ok=True)
    documents = [{"id": ids[text], "text": text} for text in paragraphs]
    write_lines(f"{a.out}/documents.jsonl", documents)
    write_lines(f"{a.out}/known.jsonl", [document for document in documents if document["id"] not in missing])
    for name, rows in groups.items():
        rng.shuffle(rows)
        lines = [{"text": question, "labels": [ids[text]], "answers": sorted({answer["text"] for answer in answers})}
                 for question, text, answers in rows]
        write_lines(f"{a.out}/{name}.jsonl", lines)
        if name == "train":
            write_lines(f"{a.out}/pairs.jsonl", [{"text": question, "text2": text} for question, text, _ in rows])
        else:
            write_lines(f"{a.out}/open_{name}.jsonl", [line | ({"labels": [], "answers": []} if line["labels"][0] in missing else {})
                                                       for line in lines])
        print(f"{name}: {len(rows)} questions about {len({text for _, text, _ in rows})} paragraphs")
    print(f"{len(documents)} paragraphs, {len(missing)} of them missing in known.jsonl")


def examples(a):
    texts = {document["id"]: document["text"] for document in read_lines(f"{a.folder}/documents.jsonl")}
    answers = {}  # of each paragraph and question, with the place in the paragraph
    for paragraph, questions in paragraphs_in(a.data).items():
        for question, given in questions.items():
            answers[paragraph, question] = given
    judged, read = [], []
    for number, (question, found) in enumerate(zip(read_lines(f"{a.folder}/train.jsonl"), read_lines(a.found), strict=True)):
        own, = question["labels"]
        wrong = [hit for hit in found["predicted_find.hits"] if hit != own][:a.negatives]
        judged.append({"text": question["text"], "text2": texts[own], "label": "relevant"})
        judged += [{"text": question["text"], "text2": texts[hit], "label": "other"} for hit in wrong]
        read.append((texts[own], {"id": f"q{number}", "question": question["text"],
                                  "answers": answers[texts[own], question["text"]]}))
        if wrong:
            read.append((texts[wrong[0]], {"id": f"w{number}", "question": question["text"], "answers": [], "is_impossible": True}))
    rng = random.Random(a.seed)
    rng.shuffle(judged)
    rng.shuffle(read)
    write_lines(f"{a.folder}/judged.jsonl", judged)
    with open(f"{a.folder}/answers.json", "w", encoding="utf-8") as file:
        json.dump({"version": "v2.0", "data": [{"title": "squad", "paragraphs": [
            {"context": text, "qas": [question]} for text, question in read]}]}, file, ensure_ascii=False)
    print(f"judged.jsonl: {len(judged)} pairs; answers.json: {len(read)} questions")


def join(a):
    with open(a.file, encoding="utf-8") as file:
        paragraphs = [paragraph for article in json.load(file)["data"] for paragraph in article["paragraphs"]]
    rng = random.Random(a.seed)
    joined, words = [], 0
    for paragraph in paragraphs:
        others = [other["context"] for other in paragraphs if other["context"] != paragraph["context"]]
        rng.shuffle(others)
        parts = [paragraph["context"]]
        while sum(len(part.split()) for part in parts) < a.words:
            if not others:
                sys.exit(f"squad_documents: all paragraphs of {a.file} together have fewer than {a.words} words")
            parts.append(others.pop())
        rng.shuffle(parts)
        own = parts.index(paragraph["context"])
        moved = sum(len(part) + 1 for part in parts[:own])
        context = "\n".join(parts)
        words += len(context.split())
        joined.append({"context": context, "qas": [
            question | {"answers": [answer | {"answer_start": answer["answer_start"] + moved} for answer in question["answers"]]}
            for question in paragraph["qas"]]})
    with open(a.out, "w", encoding="utf-8") as file:
        json.dump({"version": "1.1", "data": [{"title": "joined", "paragraphs": joined}]}, file, ensure_ascii=False)
    print(f"{sum(len(paragraph['qas']) for paragraph in joined)} questions about {len(joined)} documents of "
          f"{words / len(joined):.0f} words on average")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("draw")
    one.add_argument("data", help="folder with files of SQuAD 1.1")
    one.add_argument("--questions", type=int, default=1000, help="questions of dev.jsonl and of test.jsonl")
    one.add_argument("--missing", type=float, default=0.5, help="share of the paragraphs that known.jsonl lacks")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("-o", "--out", required=True)
    one.set_defaults(run=draw)
    one = commands.add_parser("examples")
    one.add_argument("folder", help="folder that `draw` wrote")
    one.add_argument("found", help="answers of a search to train.jsonl, written by exp predict --file")
    one.add_argument("--data", required=True, help="folder with files of SQuAD 1.1")
    one.add_argument("--negatives", type=int, default=4)
    one.add_argument("--seed", type=int, default=1)
    one.set_defaults(run=examples)
    one = commands.add_parser("join")
    one.add_argument("file", help="file of SQuAD 1.1")
    one.add_argument("--words", type=int, required=True, help="words of a document, at least")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("-o", "--out", required=True)
    one.set_defaults(run=join)
    arguments = parser.parse_args()
    arguments.run(arguments)
