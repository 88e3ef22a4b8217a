#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares `exp predict --scores` of imported folders with the probabilities of `transformers`, which must
agree within 1e-5.

    compare_scores.py build/openmp/bin/exp

CTest runs it as imported_scores_equal_transformers. The folders are small and have random weights: classes,
several labels, pairs, tags, entities in IOB2 and BIOES, and answers to questions in one window and in
several. A folder without probabilities is refused by a message that names the field and a remedy. Exits with
77 (skipped) without transformers and torch. Read next: docs/guides/scores.md and folder_bases.py, which makes
the folders.
"""
import json
import os
import pathlib
import subprocess
import sys
import tempfile

from folder_bases import Bases, wordpieces

TOLERANCE = 1e-5
LIMIT = 320  # room for the default question and stride of the task qa
TEXTS = ["Anna lives in Oslo .", "Mara took the drug today and met Anna in Lund", "covid", "the film is good", "naïve café 中国 20 %",
         "a bad film and a good film", "Oslo Lund Oslo Lund Oslo Lund", "Zoe , Uber & strasse !"]
PAIRS = [(text, TEXTS[(i + 3) % len(TEXTS)]) for i, text in enumerate(TEXTS)]
LONG = " ".join(TEXTS[i % 7] for i in range(60))
QUESTIONS = [("lives in Oslo ?", "the film is good Anna lives in Oslo ."), ("Mara ?", TEXTS[1]), ("where ?", "Oslo"), ("the drug ?", LONG)]
BYTES = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
OUTPUT_SCALE = 4.0
LONGEST_ANSWER, STRIDE = 30, 128  # the defaults of the task qa
failures = []


class Folders(Bases):
    """Only the folders whose scores are compared. Their classes have large weights and equal shares, so that the answers vary."""

    def __init__(self, torch, transformers, root):
        self.torch, self.transformers, self.root = torch, transformers, pathlib.Path(root)
        t, tokens = transformers, wordpieces()
        shape = dict(hidden_size=16, num_hidden_layers=2, num_attention_heads=2, intermediate_size=24)
        bert = shape | dict(vocab_size=len(tokens), type_vocab_size=2, max_position_embeddings=LIMIT)
        roberta = shape | dict(type_vocab_size=1, max_position_embeddings=LIMIT + 2, layer_norm_eps=1e-5, pad_token_id=1, bos_token_id=0,
                               eos_token_id=2)
        names = lambda *labels: dict(id2label=dict(enumerate(labels)), label2id={label: i for i, label in enumerate(labels)})
        abc, iob, bioes = names("a", "b", "c"), names("O", "B-PER", "I-PER", "B-LOC", "I-LOC"), names("O", "B-PER", "I-PER", "E-PER", "S-PER")
        several, one_of = dict(problem_type="multi_label_classification"), dict(problem_type="single_label_classification")
        for name, kind, values in (("one", "SequenceClassification", abc), ("one_named", "SequenceClassification", abc | one_of),
                                   ("several", "SequenceClassification", abc | several), ("speech", "TokenClassification", names("N", "V", "A")),
                                   ("entities", "TokenClassification", iob), ("bioes", "TokenClassification", bioes),
                                   ("answers", "QuestionAnswering", {}), ("number", "SequenceClassification", names("a")),
                                   ("numbers", "SequenceClassification", abc | dict(problem_type="regression"))):
            self.wordpiece_folder(name, tokens, self.enlarged(getattr(t, "BertFor" + kind)(t.BertConfig(**bert, **values))))
        self.wordpiece_folder("distilbert", tokens, t.DistilBertForSequenceClassification(t.DistilBertConfig(
            dim=16, n_layers=2, n_heads=2, hidden_dim=24, vocab_size=len(tokens), max_position_embeddings=LIMIT, **abc)))
        for name, kind, values in (("roberta_one", "SequenceClassification", abc), ("roberta_entities", "TokenClassification", iob)):
            self.byte_folder(name, t.RobertaTokenizer, BYTES, lambda size: self.enlarged(
                getattr(t, "RobertaFor" + kind)(t.RobertaConfig(**roberta, vocab_size=size, **values))))

    def enlarged(self, model):
        """spread() of Bases fills the parameters afterwards, so the saved weights are scaled as they are written."""
        save = model.save_pretrained

        def scaled(place):
            with self.torch.no_grad():
                if hasattr(model, "classifier"):
                    last = getattr(model.classifier, "out_proj", model.classifier)
                    last.weight.mul_(OUTPUT_SCALE)
                    ids = self.torch.randint(5, model.config.vocab_size, (16, 12), generator=self.torch.Generator().manual_seed(1))
                    last.bias.sub_(model(input_ids=ids).logits.reshape(-1, len(last.bias)).mean(0))
            save(place)

        model.save_pretrained = scaled
        return model


class Bench:
    def __init__(self, exp, folder):
        self.exp, self.folder = os.path.abspath(exp), folder
        self.said = {}
        self.environment = {**os.environ, "ENCORE_CACHE": os.path.join(folder, "cache"), "OMP_NUM_THREADS": "1"}

    def call(self, *arguments, text=None):
        return subprocess.run([self.exp, *arguments], cwd=self.folder, env=self.environment, input=text, text=True, capture_output=True)

    def scored(self, folder, lines, *settings, name=None):
        """Imports the folder and returns the answers with their scores."""
        name = name or folder
        done = self.call("import", "folders/" + folder, "--name", name, "-q", *settings)
        self.said[name] = done.stderr
        if done.returncode == 0:
            done = self.call("predict", name, "--scores", "--json", text="\n".join(lines) + "\n")
        if done.returncode != 0:
            raise SystemExit(f"{name}: {done.stderr}")
        return [json.loads(line) for line in done.stdout.splitlines()]

    def refused(self, folder, *words, settings=()):
        done = self.call("import", "folders/" + folder, "--name", "refused-" + folder, "-q", *settings)
        check(f"{folder} is refused, with {', '.join(words)}", done.returncode != 0 and all(word in done.stderr for word in words), done.stderr)


def check(what, holds, *seen):
    print(("ok    " if holds else "FAIL  ") + what, *(() if holds else seen), flush=True)
    if not holds:
        failures.append(what)


def compare(name, pairs, *extra):
    """Compares pairs (a score of Encore, a probability of transformers)."""
    pairs = list(pairs)
    worst = max(abs(a - b) for a, b in pairs)
    check(f"{name}: {len(pairs)} scores, largest difference {worst:.1e}", worst <= TOLERANCE and all(extra), extra)


class Theirs:
    """One folder in `transformers`."""

    def __init__(self, torch, transformers, place, kind):
        self.torch = torch
        self.tokenizer = transformers.AutoTokenizer.from_pretrained(place)
        self.model = getattr(transformers, "AutoModelFor" + kind).from_pretrained(place).eval()
        self.names = self.model.config.id2label

    def logits(self, *texts, **options):
        with self.torch.no_grad():
            encoded = self.tokenizer(*texts, truncation=True, max_length=LIMIT, return_tensors="pt", **options)
            return encoded, self.model(**encoded).logits[0].double()

    def named(self, row):
        return {self.names[i]: share for i, share in enumerate(row.tolist())}

    def classes(self, *texts):
        return self.shares(self.logits(*texts)[1])

    def classes_of_joined(self, *texts):
        """With one separator between the texts, where the tokenizer of a RoBERTa writes two."""
        ids = self.tokenizer(*texts)["input_ids"]
        ids.pop(ids.index(self.tokenizer.sep_token_id))
        with self.torch.no_grad():
            return self.shares(self.model(input_ids=self.torch.tensor([ids])).logits[0].double())

    def shares(self, logits):
        several = self.model.config.problem_type == "multi_label_classification"
        return self.named(logits.sigmoid() if several else logits.softmax(-1))

    def words(self, words):
        """For each word the probabilities of its first token."""
        encoded, logits = self.logits(words, is_split_into_words=True)
        firsts = {}
        for row, word in enumerate(encoded.word_ids()):
            if word is not None:
                firsts.setdefault(word, row)
        return [self.named(logits[firsts[word]].softmax(-1)) for word in range(len(words))]

    def answers(self, question, context):
        """The sum of the scores of each part of the context, of a part in several windows the largest; and the number of windows."""
        encoded = self.tokenizer(question, context, truncation="only_second", max_length=LIMIT, stride=STRIDE, return_overflowing_tokens=True,
                                 return_offsets_mapping=True)
        sums = {}
        for window, offsets in enumerate(encoded["offset_mapping"]):
            inputs = {name: self.torch.tensor([encoded[name][window]]) for name in ("input_ids", "token_type_ids", "attention_mask")}
            with self.torch.no_grad():
                result = self.model(**inputs)
            starts, ends = result.start_logits[0].double().tolist(), result.end_logits[0].double().tolist()
            rows = [row for row, part in enumerate(encoded.sequence_ids(window)) if part == 1]
            for first in rows:
                for last in range(first, min(rows[-1] + 1, first + LONGEST_ANSWER)):
                    at = (offsets[first][0], offsets[last][1])
                    sums[at] = max(sums.get(at, -float("inf")), starts[first] + ends[last])
        return sums, len(encoded["offset_mapping"])


def same_classes(name, answers, expected, several=False):
    pairs, chosen = [], []
    for answer, shares in zip(answers, expected, strict=True):
        assert answer["scores"].keys() == shares.keys()
        pairs += [(answer["scores"][label], share) for label, share in shares.items()]
        labels = [label for label, share in shares.items() if share > 0.5] if several else [max(shares, key=shares.get)]
        chosen += [(answer["labels"] if several else [answer["label"]]) == labels]
        pairs += zip(answer["score"] if several else [answer["score"]], [shares[label] for label in labels])
    compare(name, pairs, *chosen)


def same_entities(name, answers, theirs):
    """Each entity against the words it covers: the mean and the least of the probabilities of their most probable labels."""
    pairs, marked, longest = [], [], 0
    for text, answer in zip(TEXTS, answers, strict=True):
        words, begins, covered = text.split(" "), [], []
        for word in words:
            begins.append(begins[-1] + len(words[len(begins) - 1]) + 1 if begins else 0)
        shares = theirs.words(words)
        for entity in answer["entities"]:
            inside = [i for i, begin in enumerate(begins) if entity["start"] <= begin < entity["end"]]
            best = [max(shares[i].values()) for i in inside]
            types = {max(shares[i], key=shares[i].get).partition("-")[2] for i in inside}
            pairs += [(entity["score"], sum(best) / len(best)), (entity["least_score"], min(best))]
            marked.append(types == {entity["type"]})
            covered += inside
            longest = max(longest, len(inside))
        marked.append(sorted(covered) == [i for i, row in enumerate(shares) if max(row, key=row.get) != "O"])
    compare(name, pairs, *marked)
    outside = any(len(answer["entities"]) < len(answer["text"].split()) for answer in answers)
    check(f"{name}: an entity has several words, and a word has none", longest > 1 and outside)


def main():
    try:
        import torch
        import transformers
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    with tempfile.TemporaryDirectory() as root:
        os.mkdir(os.path.join(root, "folders"))
        Folders(torch, transformers, os.path.join(root, "folders"))
        bench = Bench(sys.argv[1], root)
        theirs = lambda name, kind: Theirs(torch, transformers, os.path.join(root, "folders", name), kind)
        for name in ("one", "one_named", "roberta_one"):
            model = theirs(name, "SequenceClassification")
            same_classes(name, bench.scored(name, TEXTS), [model.classes(text) for text in TEXTS])
        model = theirs("several", "SequenceClassification")
        same_classes("several", bench.scored("several", TEXTS), [model.classes(text) for text in TEXTS], several=True)
        columns = ("-S", 'data.text2_column="2"', "-S", 'data.label_column="3"')
        lines = ["\t".join(pair) for pair in PAIRS]
        for name in ("one", "several", "roberta_one"):
            model = theirs(name, "SequenceClassification")
            expected = [(model.classes_of_joined if name == "roberta_one" else model.classes)(*pair) for pair in PAIRS]
            same_classes(name + " of pairs", bench.scored(name, lines, *columns, name=name + "-pairs"), expected, several=name == "several")
        noted = [name for name in ("one-pairs", "roberta_one", "roberta_one-pairs") if "two in transformers" in bench.said[name]]
        check("only a RoBERTa of pairs is imported with a note", noted == ["roberta_one-pairs"], noted)

        model, pairs, chosen = theirs("speech", "TokenClassification"), [], []
        for text, answer in zip(TEXTS, bench.scored("speech", TEXTS), strict=True):
            for word, tag in enumerate(model.words(text.split(" "))):
                pairs += [(answer["scores"][word][label], share) for label, share in tag.items()] + [(answer["score"][word], max(tag.values()))]
                chosen.append(answer["tags"][word] == max(tag, key=tag.get))
        compare("speech", pairs, *chosen)
        for name in ("entities", "bioes", "roberta_entities"):
            same_entities(name, bench.scored(name, TEXTS), theirs(name, "TokenClassification"))

        model, pairs, chosen, windows = theirs("answers", "QuestionAnswering"), [], [], []
        for (question, context), answer in zip(QUESTIONS, bench.scored("answers", ["\t".join(pair) for pair in QUESTIONS]), strict=True):
            sums, count = model.answers(question, context)
            shares = torch.tensor(list(sums.values()), dtype=torch.double).softmax(-1)
            begin, end = list(sums)[int(shares.argmax())]
            pairs += [(answer["score"], shares.max().item()), (answer["answers"][0]["score"], shares.max().item())]
            chosen.append((answer["answers"][0]["start"], answer["answers"][0]["end"]) == (begin, end))
            windows.append(count)
        compare("answers", pairs, *chosen)
        check("answers: one context has several windows", min(windows) == 1 and max(windows) > 1, windows)

        bench.refused("number", "1 class", "id2label", "--task embed")
        bench.refused("numbers", "problem_type", "--task embed")
        bench.refused("distilbert", "head.pooler", "--task")
        bench.refused("one", "label_column", "second text and label need a column each", settings=columns[:2])
    print(f"{len(failures)} failures")
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
