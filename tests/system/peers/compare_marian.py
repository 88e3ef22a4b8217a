#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares MarianMT folders with `transformers`, as compare_bart.py does for BART, whose functions it calls.

    compare_marian.py build/openmp/bin/exp

CTest runs it as exported_marians_equal_transformers (framework/pretrained/marian_family.cpp is tested). The
folder is a small one that `transformers` makes with weights drawn at random, and with a SentencePiece model
for each language, trained on Multi30k below $ENCORE_DATA. Exits with 77 (skipped) if a package or the data is
missing.
"""
import gzip
import io
import json
import os
import pathlib
import sys
import tempfile

import compare_bart
import compare_export as common

TUNED = compare_bart.TUNED.replace('from = "bart"', 'from = "marian"')
CODE = ">>deu<<"  # in front of some sources


def lines_of(data, side, count):
    lines = gzip.open(pathlib.Path(data) / "multi30k" / f"train.{side}.gz", "rt").read().split("\n")
    return [line.strip() for line in lines[:count]]


def train(sentencepiece, lines, path, size):
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=size, minloglevel=2)
    path.write_bytes(model.getvalue())
    loaded = sentencepiece.SentencePieceProcessor(model_proto=model.getvalue())
    return [loaded.id_to_piece(i) for i in range(loaded.get_piece_size())]


def make_folder(torch, transformers, sentencepiece, place, texts):
    place.mkdir()
    tokens = ["</s>", "<unk>"]  # and "<pad>" at the end, as the converted models have them
    for name, side in zip(("source.spm", "target.spm"), texts, strict=True):
        tokens += [token for token in train(sentencepiece, side, place / name, 700) if token not in ("<s>", *tokens)]
    tokens += [CODE, "<pad>"]
    (place / "vocab.json").write_text(json.dumps({token: number for number, token in enumerate(tokens)}))
    tokenizer = transformers.MarianTokenizer(str(place / "source.spm"), str(place / "target.spm"), str(place / "vocab.json"))
    tokenizer.save_pretrained(place)
    torch.manual_seed(6)
    padding = len(tokens) - 1
    config = transformers.MarianConfig(vocab_size=len(tokens), d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=4,
                                       decoder_attention_heads=4, encoder_ffn_dim=48, decoder_ffn_dim=48, max_position_embeddings=96,
                                       init_std=0.3, pad_token_id=padding, eos_token_id=0, decoder_start_token_id=padding,
                                       forced_eos_token_id=0, scale_embedding=True, activation_function="swish")
    made = transformers.MarianMTModel(config)
    with torch.no_grad():  # padding would often be the most probable token, and must not be written
        made.final_logits_bias.copy_(torch.randn(len(tokens)))
        made.final_logits_bias[0, padding] = 8.0
        made.final_logits_bias[0, 0] = 6.0
    made.save_pretrained(place)


def start():
    """Returns torch, transformers and sentencepiece, the program, and 3,000 lines of each side; exits if one is missing."""
    torch, exp = common.start()
    try:
        import sentencepiece
    except ImportError:
        common.skip("the Python package `sentencepiece` is not installed")
    if not os.environ.get("ENCORE_DATA"):
        common.skip("ENCORE_DATA does not name the folder of data sets")
    import transformers
    return torch, transformers, sentencepiece, exp, *(lines_of(os.environ["ENCORE_DATA"], side, 3000) for side in ("en", "de"))


def main():
    torch, transformers, sentencepiece, exp, english, german = start()
    with tempfile.TemporaryDirectory() as folder:
        bench = common.Bench(exp, folder)
        original, exported = (pathlib.Path(folder) / name for name in ("marian", "exported"))
        make_folder(torch, transformers, sentencepiece, original, (english, german))
        sources = [(CODE + " " if i % 4 == 0 else "") + line for i, line in enumerate(english[:40])]
        targets = german[:40]
        bench.write("source.txt", "\n".join(sources) + "\n")
        bench.write("target.txt", "\n".join(targets) + "\n")
        bench.call("import", "marian", "--name", "taken", "--task", "translate", "-q")
        padding = transformers.AutoTokenizer.from_pretrained(original).pad_token_id
        options = dict(bad_words_ids=[[padding]], early_stopping=True)  # returns as many outputs as the beam is wide, as Encore does
        equal = True
        for beam in (1, 4):
            equal &= compare_bart.same_texts(torch, bench, "taken", original, sources, beam, options, 0)
        equal &= compare_bart.same_perplexity(torch, bench, "taken", original, sources, targets)
        bench.call("export", "taken", "-o", "exported")
        equal &= common.same_tensors(torch, exported, original)
        for name in ("vocab.json", "source.spm", "target.spm"):
            read = json.loads if name.endswith(".json") else bytes
            same = read((exported / name).read_bytes()) == read((original / name).read_bytes())
            print(name, "equal" if same else "different")
            equal &= same
        equal &= compare_bart.same_texts(torch, bench, "taken", exported, sources[:10], 4, options, 0)
        equal &= compare_bart.holds_when_tuned(torch, bench, TUNED, sources, targets, len(sources), options, 0)
    print("equal" if equal else "different")
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()
