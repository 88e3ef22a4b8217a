#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares RoBERTa folders with `transformers`: import, fine-tuning, export, and the tokens of each input.

    compare_roberta.py build/openmp/bin/exp

CTest runs it as exported_robertas_equal_transformers. A small folder that `transformers` makes, with weights
drawn at random and a tokenizer that the package `tokenizers` trained, is fine-tuned with every head that is
exported. `transformers` opens the exported folders, and the functions of compare_export.py compare them.
Exits with 77 (skipped) as that script does.
"""
import json
import os
import random
import sys
import tempfile

import compare_export as common

ROBERTA = """[tokenizer]
add_prefix_space = {prefix}
[model]
from = "roberta"
"""
SPECIAL = ["<s>", "<pad>", "</s>", "<unk>", "<mask>"]
FILES = ("vocab.json", "merges.txt")


def make_folder(torch, transformers, place, texts):
    """Writes a folder of RobertaForMaskedLM with tokenizer.json."""
    tokens, merges = common.byte_level_bpe(texts, 330, SPECIAL)
    # The numbers have another order than the merges, as in RoBERTa.
    rest = [token for token in sorted(tokens, key=tokens.get) if token not in SPECIAL]
    random.Random(3).shuffle(rest)
    vocab = {token: number for number, token in enumerate(SPECIAL + rest)}
    transformers.RobertaTokenizer(vocab=vocab, merges=merges).save_pretrained(place)
    torch.manual_seed(5)
    config = transformers.RobertaConfig(vocab_size=len(vocab), hidden_size=32, num_hidden_layers=2, num_attention_heads=4,
                                        intermediate_size=48, max_position_embeddings=258, type_vocab_size=1, layer_norm_eps=1e-5,
                                        initializer_range=0.2)
    transformers.RobertaForMaskedLM(config).save_pretrained(place)


def span_losses(torch, folder, examples):
    """Two segments are joined by one </s> here; transformers writes two, of which one is removed."""
    from transformers import AutoModelForQuestionAnswering, AutoTokenizer
    tokenizer, model = AutoTokenizer.from_pretrained(folder), AutoModelForQuestionAnswering.from_pretrained(folder).eval()
    losses = []
    for _, question, context, answer in examples:
        encoded = tokenizer(question, context)
        ids = encoded["input_ids"]
        ids.pop(ids.index(tokenizer.sep_token_id))
        begin = context.index(answer)
        ends = [encoded.char_to_token(0, place, sequence_index=1) - 1 for place in (begin, begin + len(answer) - 1)]
        with torch.no_grad():
            result = model(input_ids=torch.tensor([ids]), start_positions=torch.tensor([ends[0]]),
                           end_positions=torch.tensor([ends[1]]))
        losses.append([result.loss.item()])
    return losses


def same_body(torch, bench, texts):
    """Compares the folder without training."""
    bench.call("import", "roberta", "--name", "body", "--task", "embed", "-q")
    return common.same_vectors(torch, bench, "body", os.path.join(bench.folder, "roberta"), texts)


def main():
    torch, exp = common.start()
    import transformers
    rng = random.Random(11)
    equal = True
    with tempfile.TemporaryDirectory() as folder:
        bench = common.Bench(exp, folder)
        words = common.sentences(rng, 40)
        plain = [" ".join(word for word, _ in example) for example in words]
        make_folder(torch, transformers, os.path.join(folder, "roberta"),
                    plain + [text for text, _ in common.reviews(rng, 100)] + [c for _, _, c, _ in common.questions(rng, 50)])
        odd = ["", "I", "🙂 ok  twice", "Zürich's  they'll go", "naïve text "]
        equal &= same_body(torch, bench, plain + odd)
        settings = dict(model=ROBERTA, max_length=96, prefix="false")

        bench.write("train.conll", common.conll(common.sentences(rng, 150)))
        bench.write("test.conll", common.conll(words))
        path = bench.train_and_export("words", task="ner", reader="conll", head='type = "linear"', **settings | dict(prefix="true"))
        losses, _ = common.token_losses(torch, path, words)
        equal &= common.compare(bench, "words", words, common.conll, losses, "conll")

        texts = common.reviews(rng, 40)
        bench.write("train.tsv", common.tsv(common.reviews(rng, 150)))
        bench.write("test.tsv", common.tsv(texts))
        path = bench.train_and_export("texts", task="classify", reader="tsv", head='type = "linear"\npooler = true', **settings)
        losses, _ = common.text_losses(torch, path, texts)
        equal &= common.compare(bench, "texts", texts, common.tsv, losses, "tsv")

        asked = common.questions(rng, 40)
        bench.write("train.squad", common.squad(common.questions(rng, 150)))
        bench.write("test.squad", common.squad(asked))
        path = bench.train_and_export("spans", task="qa", reader="squad", head='type = "span"', asks="max_question = 32\nstride = 16",
                                      **settings)
        equal &= common.compare(bench, "spans", asked, common.squad, span_losses(torch, path, asked), "squad")

        bench.write("train.text_file", "\n".join(" ".join(w for w, _ in e) for e in common.sentences(rng, 150)))
        bench.write("test.text_file", "\n".join(plain))
        path = bench.train_and_export("masked", task="mlm", reader="text_file", head='type = "language_model"', **settings)
        equal &= common.same_guesses(torch, bench, "masked", path,
                                     ("<mask> lives in Lund .", "in <mask> , Anna met <mask>", "no<mask> here"))
        for name in ("words", "texts", "spans", "masked"):
            equal &= bench.comes_back(name, FILES)

        # A vocabulary that is trained here, whose merges are those that its tokens imply.
        own = common.BERT.replace('type = "wordpiece"\nvocab_size = 80\nlowercase = {lowercase}',
                                  'type = "byte_bpe"\nvocab_size = 300')
        path = bench.train_and_export("own", task="embed", reader="tsv", data='text2_column = "2"\nlabel_column = ""',
                                      head='type = "embedding"', model=own, max_length=96)
        equal &= common.same_vectors(torch, bench, "own", path, plain + odd[:-1])
        equal &= bench.comes_back("own", FILES)
    print("equal" if equal else "different")
    sys.exit(0 if equal else 1)


main()
