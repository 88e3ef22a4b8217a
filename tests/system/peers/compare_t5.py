#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Compares T5 folders with `transformers`, as compare_bart.py does for BART, whose functions it calls.

    compare_t5.py build/openmp/bin/exp

CTest runs it as exported_t5s_equal_transformers (framework/pretrained/t5_family.cpp is tested). The folders
are small ones that `transformers` makes with weights drawn at random, one like the first T5 and one like
version 1.1, with a SentencePiece model trained on Multi30k below $ENCORE_DATA. The second learns to fill
gaps. Exits with 77 (skipped) if a package or the data is missing.
"""
import io
import pathlib
import random
import sys
import tempfile

import compare_bart
import compare_export as common
import compare_marian

TUNED = compare_bart.TUNED.replace('from = "bart"', 'from = "t5"').replace("transform = false\n", "")
GAPS = 100
EXACT = 1e-7  # of the perplexity in double, relative: losses come out in float32


def norm_in_double(transformers):
    """Makes T5LayerNorm sum rows of float64 in float64; by itself it always sums in float32."""
    norm = transformers.models.t5.modeling_t5.T5LayerNorm
    own = norm.forward

    def forward(self, states):
        if states.dtype.itemsize < 8:
            return own(self, states)
        return self.weight * (states * (states.pow(2).mean(-1, keepdim=True) + self.variance_epsilon).rsqrt())
    norm.forward = forward


def train(sentencepiece, lines, path):
    """Trains a SentencePiece model and returns the number of its tokens."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(lines), model_writer=model, vocab_size=700, minloglevel=2,
                                             pad_id=0, eos_id=1, unk_id=2, bos_id=-1, pad_token="<pad>")
    path.write_bytes(model.getvalue())
    return sentencepiece.SentencePieceProcessor(model_proto=model.getvalue()).get_piece_size()


def make_folder(torch, transformers, sentencepiece, place, texts, gated):
    place.mkdir()
    tokens = train(sentencepiece, texts, place / "spiece.model")
    torch.manual_seed(8)
    config = transformers.T5Config(vocab_size=tokens + GAPS + 12, d_model=32, d_kv=12, d_ff=48, num_layers=3, num_decoder_layers=2, num_heads=4,
                                   relative_attention_num_buckets=16, relative_attention_max_distance=24, decoder_start_token_id=0,
                                   feed_forward_proj="gated-gelu" if gated else "relu", tie_word_embeddings=not gated)
    made = transformers.T5ForConditionalGeneration(config)
    with torch.no_grad():
        table = made.shared.weight
        table *= 0.2  # or each token would call for itself
        if gated:
            made.lm_head.weight = table = torch.nn.Parameter(0.3 * torch.randn_like(table))
        table[[0, 2]] = 0.0  # padding and the unknown token are never the most probable; the end now and then is
        table[tokens:] = 0.0
        table[1] *= 3.0
        if gated:
            made.shared.weight[tokens:] = torch.randn(GAPS + 12, 32)
    made.save_pretrained(place)


def with_gaps(rng, text):
    """Returns a source with one or two gaps, and the text that fills them."""
    words, source, target, at = text.split(), [], [], 0
    for gap in range(min(2, len(words) // 4)):
        start = at + rng.randrange(1, 3)
        end = start + rng.randrange(1, 3)
        source += words[at:start] + [f"<extra_id_{gap}>"]
        target += [f"<extra_id_{gap}>"] + words[start:end]
        at = end
    return " ".join(source + words[at:]), " ".join(target)


def compare(torch, transformers, sentencepiece, exp, english, german, gated):
    rng = random.Random(3)
    pairs = [with_gaps(rng, line) for line in english[:40]] if gated else list(zip(english[:40], german[:40]))
    sources, targets = [source for source, _ in pairs], [target for _, target in pairs]
    with tempfile.TemporaryDirectory() as folder:
        bench = common.Bench(exp, folder)
        original, exported = (pathlib.Path(folder) / name for name in ("t5", "exported"))
        make_folder(torch, transformers, sentencepiece, original, english + german, gated)
        bench.write("source.txt", "\n".join(sources) + "\n")
        bench.write("target.txt", "\n".join(targets) + "\n")
        bench.call("import", "t5", "--name", "taken", "--task", "translate", "-q")
        options = dict(bad_words_ids=[[0]], early_stopping=True)  # returns as many outputs as the beam is wide, as Encore does
        equal = True
        for beam in (1, 4):
            equal &= compare_bart.same_texts(torch, bench, "taken", original, sources, beam, options, 0)
        equal &= compare_bart.same_perplexity(torch, bench, "taken", original, sources, targets)
        bench.call("import", "t5", "--name", "exact", "--task", "translate", "-q", "-S", 'train.precision="float64"')
        equal &= compare_bart.same_perplexity(torch, bench, "exact", original, sources, targets, EXACT)
        bench.call("export", "taken", "-o", "exported")
        equal &= common.same_tensors(torch, exported, original)
        same = (exported / "spiece.model").read_bytes() == (original / "spiece.model").read_bytes()
        print("spiece.model", "equal" if same else "different")
        equal &= same
        equal &= compare_bart.same_texts(torch, bench, "taken", exported, sources, 4, options, 0)
        equal &= compare_bart.same_perplexity(torch, bench, "taken", exported, sources, targets)
        equal &= compare_bart.holds_when_tuned(torch, bench, TUNED, sources, targets, len(sources), options, 0)
    return equal


def main():
    torch, transformers, sentencepiece, exp, english, german = compare_marian.start()
    norm_in_double(transformers)
    equal = True
    for gated in (False, True):
        print("like version 1.1" if gated else "like the first T5")
        equal &= compare(torch, transformers, sentencepiece, exp, english, german, gated)
    print("equal" if equal else "different")
    sys.exit(0 if equal else 1)


if __name__ == "__main__":
    main()
