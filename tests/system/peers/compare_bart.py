#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares BART folders with `transformers`: the tokens that are written, the bits of an export, and the
perplexity of targets.

    compare_bart.py build/openmp/bin/exp

CTest runs it as exported_barts_equal_transformers (framework/pretrained/bart_family.cpp is tested);
compare_marian.py and compare_t5.py call its functions. It imports a small folder that it makes with random
weights. In both programs the model writes the same output, greedy and by beam search, and its export has the
same bits. Trained by Encore and exported, it writes the same output and gives targets the same perplexity.
Exits with 77 (skipped) as compare_export.py does.
"""
import json
import math
import os
import random
import sys
import tempfile

import compare_export as common

SPECIALS = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
MOST = 24  # tokens that a text may have
BEGINS = dict(forced_bos_token_id=0, early_stopping="never")
TOLERANCE = 1e-5  # of the perplexity of all targets, relative
TUNED = """
name = "tuned"
[task]
type = "translate"
decode = true
max_pieces = 23
beyond_source = -1
[data]
type = "parallel"
train = ["source.txt", "target.txt"]
dev = ["source.txt", "target.txt"]
max_length = 96
[model]
from = "bart"
[model.head]
type = "language_model"
transform = false
[optimizer]
type = "adamw"
learning_rate = 3e-3
[schedule]
type = "constant"
[train]
epochs = 15
"""


def make_folder(torch, transformers, place, texts):
    vocab, merges = common.byte_level_bpe(texts, 320, SPECIALS)
    transformers.BartTokenizer(vocab=vocab, merges=merges).save_pretrained(place)
    torch.manual_seed(5)
    config = transformers.BartConfig(vocab_size=len(vocab), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                     decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=96,
                                     init_std=0.3, bos_token_id=0, pad_token_id=1, eos_token_id=2, decoder_start_token_id=2)
    made = transformers.BartForConditionalGeneration(config)
    with torch.no_grad():  # such that what it writes can be read: letters, and an end now and then
        letters = [token for text, token in vocab.items() if text.strip("Ġ").isascii() and text.strip("Ġ").isalpha()]
        made.final_logits_bias.fill_(-12.0)
        made.final_logits_bias[0, letters] = torch.randn(len(letters))
        made.final_logits_bias[0, 2] = 2.0
    made.save_pretrained(place)


def loaded(folder):
    from transformers import AutoModelForSeq2SeqLM, AutoTokenizer
    return AutoTokenizer.from_pretrained(folder), AutoModelForSeq2SeqLM.from_pretrained(folder).eval()


def same_texts(torch, bench, run, folder, sources, beam, options, given=1):
    """`options`: of generate() there; `given`: tokens of a text that the model does not choose."""
    tokenizer, model = loaded(folder)
    wrong, endless = 0, 0
    for source in sources:
        answer = json.loads(bench.call("generate", run, source, "--beam", str(beam), "--max-tokens", str(MOST - given), "--json"))
        ours = answer["prompts"][0]["texts"][0]["text"].strip()
        with torch.no_grad():
            written = model.generate(**tokenizer(source, return_tensors="pt"), num_beams=beam, do_sample=False, max_new_tokens=MOST,
                                     forced_eos_token_id=None, length_penalty=1.0, **options)
        theirs = tokenizer.decode(written[0], skip_special_tokens=True, clean_up_tokenization_spaces=False).strip()
        if written[0, -1] != tokenizer.eos_token_id and ours != theirs:
            endless += 1  # here a text that has ended comes before one that was cut
        elif ours != theirs:
            wrong += 1
            print(f"{source!r}\n  ours   {ours!r}\n  theirs {theirs!r}")
    print(f"{run}: {len(sources)} sources with beam {beam}, {wrong} differences, {endless} without an end there")
    return wrong == 0 and endless < len(sources) // 4


def same_perplexity(torch, bench, run, folder, sources, targets, tolerance=TOLERANCE):
    tokenizer, model = loaded(folder)
    model = model.double()
    loss, tokens = 0.0, 0
    for source, target in zip(sources, targets, strict=True):
        labels = tokenizer(text_target=target, return_tensors="pt")["input_ids"]
        with torch.no_grad():
            loss += model(**tokenizer(source, return_tensors="pt"), labels=labels).loss.item() * labels.numel()
        tokens += labels.numel()
    theirs = math.exp(loss / tokens)
    ours = json.loads(bench.call("evaluate", run, "source.txt", "--with", "target.txt", "--json"))["measures"]["perplexity"]
    print(f"{run}: perplexity {ours:.6f} here, {theirs:.6f} there, {abs(ours / theirs - 1):.1e} apart, of {tokens} tokens")
    return abs(ours / theirs - 1) <= tolerance


def holds_when_tuned(torch, bench, experiment, sources, targets, asked, options, given=1):
    """Trained here and exported, the model gives the same answers there; `asked`: the number of sources whose output is compared."""
    bench.write("tuned.toml", experiment)
    bench.call("run", "tuned.toml", "-q")
    bench.call("export", "tuned", "-o", "tuned-folder")
    folder, equal = os.path.join(bench.folder, "tuned-folder"), True
    for beam in (1, 4):
        equal &= same_texts(torch, bench, "tuned", folder, sources[:asked], beam, options, given)
    equal &= same_perplexity(torch, bench, "tuned", folder, sources, targets)
    bench.call("import", "tuned-folder", "--name", "again", "--task", "translate", "-S", "task.max_pieces=23", "-S",
               "task.beyond_source=-1", "-q")
    ours, again = (bench.call("predict", run, "--format", "jsonl", text="\n".join(sources)) for run in ("tuned", "again"))
    print("imported again:", "equal" if ours == again else "different")
    return equal and ours == again


def used_rows(name, tensor):
    """Leaves out rows 0 and 1 of positions, which no position uses."""
    return tensor[2:] if name.endswith("embed_positions.weight") else tensor


def main():
    torch, exp = common.start()
    import transformers
    rng = random.Random(11)
    with tempfile.TemporaryDirectory() as folder:
        bench = common.Bench(exp, folder)
        sources = [" ".join(word for word, _ in example)[:60].strip() for example in common.sentences(rng, 40)]
        targets = [" ".join(reversed(source.split())) for source in sources]
        original, exported = (os.path.join(folder, name) for name in ("bart", "exported"))
        make_folder(torch, transformers, original, sources + targets)
        bench.write("source.txt", "\n".join(sources) + "\n")
        bench.write("target.txt", "\n".join(targets) + "\n")
        bench.call("import", "bart", "--name", "taken", "--task", "translate", "-q")
        equal = True
        for beam in (1, 4):
            equal &= same_texts(torch, bench, "taken", original, sources[:20], beam, BEGINS)
        equal &= same_perplexity(torch, bench, "taken", original, sources, targets)
        bench.call("export", "taken", "-o", "exported")
        equal &= common.same_tensors(torch, exported, original, used_rows)
        equal &= same_texts(torch, bench, "taken", exported, sources[:5], 1, BEGINS)
        equal &= holds_when_tuned(torch, bench, TUNED, sources, targets, 20, BEGINS)
    print("equal" if equal else "different")
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()
