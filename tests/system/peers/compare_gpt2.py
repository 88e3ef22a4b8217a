#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares GPT-2 folders with `transformers`: the probability of lines, the output, and the bits of an
export.

    compare_gpt2.py build/openmp/bin/exp

CTest runs it as exported_gpt2s_equal_transformers (framework/pretrained/gpt2_family.cpp is tested). It
imports a small folder that it makes with random weights. In both programs the model gives lines the same
probability and writes the same output (greedy), and its export has the same bits. Trained by Encore and
exported, it gives the same results. Exits with 77 (skipped) as compare_export.py does.
"""
import json
import os
import random
import sys
import tempfile

import compare_export as common

END = "<|endoftext|>"
TOLERANCE = 1e-4  # of the log-probability of a text, a sum over its tokens
TUNED = """
name = "tuned"
[task]
type = "lm"
[data]
type = "text_file"
train = "train.txt"
dev = "train.txt"
max_length = 96
[model]
from = "gpt2"
[model.head]
type = "language_model"
transform = false
bias = false
[optimizer]
type = "adamw"
learning_rate = 1e-3
[schedule]
type = "constant"
[train]
epochs = 2
"""


def make_folder(torch, transformers, place, texts):
    """Writes a folder of GPT2LMHeadModel with tokenizer.json."""
    tokens, merges = common.byte_level_bpe(texts, 320)
    vocab = tokens | {END: len(tokens)}
    transformers.GPT2Tokenizer(vocab=vocab, merges=merges).save_pretrained(place)
    torch.manual_seed(5)
    config = transformers.GPT2Config(vocab_size=len(vocab), n_embd=32, n_layer=2, n_head=4, n_positions=96, initializer_range=0.3,
                                     bos_token_id=vocab[END], eos_token_id=vocab[END])
    transformers.GPT2LMHeadModel(config).save_pretrained(place)


def rows_of(torch, tokenizer, text):
    """Returns a row of ids: the marker, then the text, as in the task lm."""
    return torch.tensor([[tokenizer.eos_token_id] + tokenizer(text)["input_ids"]])


def same_probabilities(torch, bench, run, folder, texts):
    from transformers import AutoModelForCausalLM, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).double().eval()
    answers = [json.loads(line) for line in bench.call("predict", run, "--format", "jsonl", text="\n".join(texts)).splitlines()]
    worst = 0.0
    for text, answer in zip(texts, answers, strict=True):
        ids = rows_of(torch, tokenizer, text)
        with torch.no_grad():
            scores = model(ids).logits[0, :-1].log_softmax(-1)
        theirs = scores.gather(1, ids[0, 1:, None]).sum().item()
        worst = max(worst, abs(theirs - answer["log_probability"]))
    print(f"{run}: {len(texts)} log-probabilities, largest difference {worst:.1e}")
    return worst <= TOLERANCE


def same_texts(torch, bench, run, folder, prompts):
    """Compares greedy continuations."""
    from transformers import AutoModelForCausalLM, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForCausalLM.from_pretrained(folder).eval()
    wrong = 0
    for prompt in prompts:
        ids = rows_of(torch, tokenizer, prompt)
        with torch.no_grad():
            written = model.generate(ids, attention_mask=torch.ones_like(ids), do_sample=False, max_new_tokens=24,
                                     pad_token_id=tokenizer.eos_token_id)[0, ids.shape[1]:]
        theirs = tokenizer.decode(written, skip_special_tokens=True, clean_up_tokenization_spaces=False)
        answer = json.loads(bench.call("generate", run, prompt, "--max-tokens", "24", "--json"))
        ours = answer["prompts"][0]["texts"][0]["text"]
        if ours != theirs:
            wrong += 1
            print(f"{prompt!r}\n  ours   {ours!r}\n  theirs {theirs!r}")
    print(f"{run}: {len(prompts)} greedy outputs, {wrong} differences")
    return wrong == 0


def main():
    torch, exp = common.start()
    import transformers
    rng = random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        bench = common.Bench(exp, folder)
        texts = [" ".join(word for word, _ in example) for example in common.sentences(rng, 60)]
        original, exported, tuned = (os.path.join(folder, name) for name in ("gpt2", "exported", "tuned-folder"))
        make_folder(torch, transformers, original, texts)
        bench.call("import", "gpt2", "--name", "taken", "-q")
        odd = ["I", "🙂 ok  twice", "Zürich's  they'll go"]
        equal = same_probabilities(torch, bench, "taken", original, texts[:20] + odd)
        equal &= same_texts(torch, bench, "taken", original, ["Anna lives", "in Lund ,", "no", "met"])
        bench.call("export", "taken", "-o", "exported")
        equal &= common.same_tensors(torch, exported, original)
        equal &= same_probabilities(torch, bench, "taken", exported, texts[:5] + odd)
        bench.write("train.txt", "\n".join(texts))
        bench.write("tuned.toml", TUNED)
        bench.call("run", "tuned.toml", "-q")
        bench.call("export", "tuned", "-o", "tuned-folder")
        equal &= same_probabilities(torch, bench, "tuned", tuned, texts[:10] + odd)
        equal &= same_texts(torch, bench, "tuned", tuned, ["Anna lives", "in Lund ,", "no"])
        equal &= bench.comes_back("tuned", ("vocab.json", "merges.txt"))
    print("equal" if equal else "different")
    sys.exit(0 if equal else 1)


main()
