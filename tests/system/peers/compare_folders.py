#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares imports of folders with one changed field with `transformers`: the same numbers, or a message that
names the field.

    compare_folders.py build/openmp/bin/exp [--only WORD] [-v]

CTest runs it as changed_folders_equal_transformers (framework/pretrained is tested). folder_bases.py makes
the folders, and folder_changes.py has the changes. Each folder is imported, gets odd inputs, and must give
what `transformers` (or sentence-transformers) computes from the same folder, within 1e-4, or be rejected by a
message that names the file or the field. There is no third outcome: the script prints for each kind of folder
how many were equal, rejected and wrong, and exits with 1 if one is wrong. The models are small, with weights
drawn at random. Compared are: of encoders the vectors, the probabilities of masked words, the labels of
sentences and words; of a GPT-2, a BART, a MarianMT and a T5 the text that is written, the best token each
time, and its log-probability. Settings of generation other than the markers are not taken over: the output is
the same with and without them, and the import must name them in a notice. Without sentencepiece the MarianMT
and the T5 are skipped; without transformers and torch the script exits with 77 (skipped).
"""
import argparse
import collections
import json
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

from folder_bases import CODES, GAPS, LIMIT, MLM, TEXTS, Bases
from folder_changes import Change, changes, prepare, walked

TOLERANCE = 1e-4
# A RoBERTa there counts no position for a token <pad> within a text (docs/reference/pretrained_families.md).
LINES = {"roberta": [text for text in TEXTS if "<pad>" not in text], "marian": TEXTS + CODES}
# T5Tokenizer of version 5 drops all but the first of several marks on a letter; SentencePiece, which trained the models, does
# not. And "000" has two tokenizations with the same score, of which its versions choose either.
T5 = ("t5", "t5_gated", "t5_file")
LINES |= dict.fromkeys(T5, [text for text in TEXTS if "e\u0301\u0323" not in text and "000" not in text] + GAPS)
PIECES = 8  # that are written
KINDS = {**dict.fromkeys(MLM, "masked"), **dict.fromkeys(("bert_class", "bert_one", "bert_multi"), "labels"), "bert_tags": "tags",
         "sentence": "sentences", **dict.fromkeys(("gpt2", "bart", "marian", *T5), "written")}
TASKS = {"gpt2": "lm", "bart": "summarize", **dict.fromkeys(("marian", *T5), "translate"), "bert_tags": "tag"}
MASKED = ["Anna lives in [MASK] .", "[MASK]", "the [MASK] is [MASK]", "[MASK] Mara"] + [text[:30] + " [MASK]" for text in TEXTS]


class Bench:
    def __init__(self, exp, folder):
        self.exp, self.folder = os.path.abspath(exp), folder
        self.environment = {**os.environ, "ENCORE_CACHE": os.path.join(folder, "cache"), "OMP_NUM_THREADS": "1"}
        self.number = 0

    def call(self, *arguments):
        return subprocess.run([self.exp, *arguments], cwd=self.folder, env=self.environment, text=True, stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE)

    def ask(self, place, texts, task, writes):
        """Returns the answers of an import and its notices, or None and the message that rejects it."""
        self.number += 1
        name, database = f"run{self.number}", f"db{self.number}.db"
        done = self.call("import", place, "--name", name, "--db", database, "-q", *(("--task", task) if task else ()))
        if done.returncode != 0:
            return None, (done.stderr or done.stdout).strip()
        notices = done.stderr
        file = os.path.join(self.folder, "texts.txt")
        pathlib.Path(file).write_text("".join(text + "\n" for text in texts), encoding="utf-8")
        if writes:
            done = self.call("generate", name, "--db", database, "--file", file, "--json", "--max-tokens", str(PIECES), "--length-penalty", "0")
            if done.returncode != 0:
                return None, done.stderr.strip()
            return [prompt["texts"][0] for prompt in json.loads(done.stdout)["prompts"]], notices
        done = self.call("predict", name, "--db", database, "--file", file, "--format", "jsonl")
        if done.returncode != 0:
            return None, done.stderr.strip()
        return [json.loads(line) for line in done.stdout.splitlines()], notices


class Theirs:
    def __init__(self, torch, transformers):
        self.torch, self.transformers = torch, transformers

    def vectors(self, place, texts):
        t = self.transformers
        tokenizer = t.AutoTokenizer.from_pretrained(place)
        model = t.AutoModel.from_pretrained(place, dtype=self.torch.float32).eval()
        limit = min(LIMIT, tokenizer.model_max_length)
        rows = []
        for text in texts:
            encoded = tokenizer(text, truncation=True, max_length=limit, return_tensors="pt")
            with self.torch.no_grad():
                rows.append(model(**encoded).last_hidden_state[0].mean(0).tolist())
        return rows

    def sentences(self, place, texts):
        import sentence_transformers
        model = sentence_transformers.SentenceTransformer(place, device="cpu")
        return [model.encode(text).tolist() for text in texts]

    def masked(self, place, texts):
        t = self.transformers
        tokenizer = t.AutoTokenizer.from_pretrained(place)
        model = t.AutoModelForMaskedLM.from_pretrained(place, dtype=self.torch.float32).eval()
        rows = []
        for text in texts:
            encoded = tokenizer(text, return_tensors="pt")
            with self.torch.no_grad():
                shares = model(**encoded).logits[0].softmax(-1)
            for place_of, number in enumerate(encoded["input_ids"][0].tolist()):
                if number == tokenizer.mask_token_id:
                    rows.append({token: shares[place_of, at].item() for token, at in tokenizer.get_vocab().items()})
        return rows

    def labels(self, place, texts):
        t = self.transformers
        tokenizer = t.AutoTokenizer.from_pretrained(place)
        model = t.AutoModelForSequenceClassification.from_pretrained(place, dtype=self.torch.float32).eval()
        names = model.config.id2label
        rows = []
        for text in texts:
            with self.torch.no_grad():
                logits = model(**tokenizer(text, truncation=True, max_length=LIMIT, return_tensors="pt")).logits[0]
            if model.config.problem_type == "multi_label_classification":
                rows.append([names[i] for i in range(len(names)) if logits[i] > 0])
            else:
                rows.append(names[int(logits.argmax())])
        return rows

    def tags(self, place, sentences):
        """Of each word that has a token."""
        t = self.transformers
        tokenizer = t.AutoTokenizer.from_pretrained(place)
        model = t.AutoModelForTokenClassification.from_pretrained(place, dtype=self.torch.float32).eval()
        rows = []
        for words in sentences:
            encoded = tokenizer(words, is_split_into_words=True, truncation=True, max_length=LIMIT, return_tensors="pt")
            with self.torch.no_grad():
                best = model(**encoded).logits[0].argmax(-1).tolist()
            tags = {}
            for place_of, word in enumerate(encoded.word_ids()):
                if word is not None:
                    tags.setdefault(word, model.config.id2label[best[place_of]])
            rows.append(tags)
        return rows

    def written(self, place, texts):
        """The text that is written behind each, and its log-probability. What generation_config.json says beside the first token
        of a text is not taken over here (docs/reference/pretrained_fields.md), and does not count there either."""
        t, torch = self.transformers, self.torch
        tokenizer = t.AutoTokenizer.from_pretrained(place)
        config = t.AutoConfig.from_pretrained(place)
        decodes = config.is_encoder_decoder
        model = (t.AutoModelForSeq2SeqLM if decodes else t.AutoModelForCausalLM).from_pretrained(place, dtype=torch.float32).eval()
        # The first input of the decoder: for a BART also <s>, which begins each output here; for a GPT-2 the marker and the prompt.
        first = [config.decoder_start_token_id] + [0] * (config.model_type == "bart") if decodes else [tokenizer.bos_token_id]
        rows = []
        for text in texts:
            prompt = tokenizer(text)["input_ids"]
            begin = first if decodes else first + prompt
            tokens, total = [], 0.0
            with torch.no_grad():
                states = model.get_encoder()(input_ids=torch.tensor([prompt])) if decodes else None
                while len(tokens) < PIECES and (not tokens or tokens[-1] != tokenizer.eos_token_id):
                    given = torch.tensor([begin + tokens])
                    logits = (model(encoder_outputs=states, decoder_input_ids=given) if decodes else model(given)).logits[0, -1]
                    shares = logits.log_softmax(-1)
                    if decodes:  # padding is never written here
                        logits[tokenizer.pad_token_id] = -float("inf")
                    tokens.append(int(logits.argmax()))
                    total += shares[tokens[-1]].item()
            rows.append((tokenizer.decode(tokens, skip_special_tokens=True, clean_up_tokenization_spaces=False), total))
        return rows


def guesses(answers):
    """{"piece": share}, with three decimals, for the best tokens of each mask."""
    rows = []
    for answer in answers:
        for text in answer["candidates"]:
            parts = text.split(" ")
            rows.append({token: float(share) for token, share in zip(parts[::2], parts[1::2])})
    return rows


def largest_of_guesses(ours, theirs):
    if len(ours) != len(theirs):
        return float("inf")
    rounding = 5e-4
    return max(max(0.0, abs(share - other[token]) - rounding) for row, other in zip(ours, theirs) for token, share in row.items())


def largest(a, b):
    if [len(row) for row in a] != [len(row) for row in b]:
        return float("inf")
    return max((abs(x - y) for one, other in zip(a, b) for x, y in zip(one, other)), default=0.0)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("exp")
    parser.add_argument("--only", default="")
    parser.add_argument("-v", action="store_true")
    wanted = parser.parse_args()
    try:
        import torch
        import transformers
    except ImportError as missing:
        print(f"skipped: {missing}")
        return 77
    transformers.utils.logging.set_verbosity_error()
    transformers.utils.logging.disable_progress_bar()
    torch.set_num_threads(1)
    counts = collections.defaultdict(collections.Counter)
    with tempfile.TemporaryDirectory() as root:
        (pathlib.Path(root) / "bases").mkdir()
        bases = Bases(torch, transformers, pathlib.Path(root) / "bases")
        bench, theirs = Bench(wanted.exp, root), Theirs(torch, transformers)
        unchanged = [Change(base, "config.json", "transformers_version", "0") for base in bases.names()]
        for change in unchanged + [change for change in changes() + walked(transformers) if change.base in bases.names()]:
            if wanted.only not in change.name:
                continue
            place = os.path.join(root, "folder")
            shutil.rmtree(place, ignore_errors=True)
            shutil.copytree(bases.root / change.base, place)
            prepare(change, place)
            change.apply(place)
            kind = KINDS.get(change.base, "vectors")
            shorter = kind == "written" and change.path[0] in ("model_max_length", "n_positions", "max_position_embeddings")
            texts = masked_texts(change.base) if kind == "masked" else LINES.get(change.base, TEXTS)
            texts = [text for text in texts if len(text) < 9] if shorter else texts
            answers, said = bench.ask(place, texts, TASKS.get(change.base, ""), kind == "written")
            outcome, detail = judge(theirs, change, kind, place, texts, answers, said)
            counts[change.base][outcome] += 1
            if wanted.v or outcome == "wrong":
                print(f"{outcome}: {change.name}: {detail}", flush=True)
    for base, outcomes in counts.items():
        print(f"{base}: " + ", ".join(f"{outcomes[outcome]} {outcome}" for outcome in OUTCOMES))
    total = sum(counts.values(), collections.Counter())
    print("all: " + ", ".join(f"{total[outcome]} {outcome}" for outcome in OUTCOMES))
    return 1 if total["wrong"] else 0


def masked_texts(base):
    """Uses the mask of a RoBERTa if it is one, which counts no position for <pad>."""
    if not base.startswith("roberta"):
        return MASKED
    return [text.replace("[MASK]", "<mask>") for text in MASKED if "<pad>" not in text]


OUTCOMES = ("equal", "refused", "wrong", "not loaded there")


def is_named(change, said):
    """Whether a message names one of the files that were changed, or a field."""
    names = {change.file, *(str(key) for key in change.path)}
    for file, path, _ in change.also:
        names |= {file, *(str(key) for key in path)}
    return any(len(name) > 2 and name in said for name in names | {"model.safetensors"})


def is_only_named(change):
    """Whether the field is ignored and named in a notice."""
    if change.path[0] == "clean_up_tokenization_spaces":
        return True
    return change.file == "generation_config.json" and not change.path[0].endswith("token_id")


def judge(theirs, change, kind, place, texts, answers, said):
    if answers is None:
        problem = said.splitlines()[-1] if said else "no message"
        return "refused" if is_named(change, problem) else "wrong", problem.replace(place + "/", "")[-300:]
    if kind == "written" and is_only_named(change) and change.path[0] not in said:
        return "wrong", "no notice names it"
    try:
        if kind == "tags":
            expected = theirs.tags(place, [answer["words"] for answer in answers])
        else:
            expected = getattr(theirs, kind)(place, texts)
    except Exception as error:  # whatever a folder makes of it
        return "not loaded there", f"{type(error).__name__}: {str(error)[:200]}"
    if kind == "masked":
        difference = largest_of_guesses(guesses(answers), expected)
        return ("equal" if difference <= TOLERANCE else "wrong"), f"{difference:.1e}"
    if kind in ("written", "labels", "tags"):
        wrong = [triple for triple in zip(texts, answers, expected) if not is_same(kind, *triple[1:])]
        return ("wrong", f"{len(wrong)} of {len(texts)}: {wrong[:4]}") if wrong else ("equal", "")
    ours = [answer["embedding"] for answer in answers]
    difference = largest(ours, expected)
    if difference <= TOLERANCE:
        return "equal", f"{difference:.1e}"
    worst = [text for text, a, b in zip(texts, ours, expected)
             if len(a) != len(b) or max(abs(x - y) for x, y in zip(a, b)) > TOLERANCE]
    return "wrong", f"{difference:.1e} {worst[:6]} {said[-200:]}"


def is_same(kind, answer, expected):
    if kind == "written":
        return answer["text"] == expected[0] and abs(answer["score"] - expected[1]) <= TOLERANCE
    if kind == "tags":
        return all(answer["tags"][word] == tag for word, tag in expected.items())
    return answer.get("label", answer.get("labels")) == expected


if __name__ == "__main__":
    sys.exit(main())
