#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes unigram_cases.json: small models of the Python package `sentencepiece`, and the tokens of inputs by
each of them.

    pip install sentencepiece
    python tests/unit/plugins/make_unigram_cases.py

unigram_test.cpp compares. Run it by hand; the result is committed.
"""
import base64
import io
import json
import pathlib

import sentencepiece

TEXT = ["the low lower lowest new newer newest wide wider widest", "Der neue Turm ist hoch, höher als der alte.",
        "A new tower is high, higher than the old one.", "naïve Zürich 2026", "don't stop. it's low!"] * 3
MODELS = {  # none normalises: its table alone has 240 KB
    "plain": dict(vocab_size=100),
    "bytes": dict(vocab_size=400, byte_fallback=True),
    "no_mark": dict(vocab_size=100, add_dummy_prefix=False, remove_extra_whitespaces=False),
}
CASES = ["", " ", "the lowest", "  the  low ", "unseen", "Zürich naïve", "日本", "🙂 wide", "x日y", "<s> </s> <pad>", "new\tnewest",
         "▁the ▁", "Der Turm ist neu.", "it's 2026!", "low" * 6, "a-b", ">>de<< the tower", "e\u0301"]


def main():
    result = {}
    for name, options in MODELS.items():
        written = io.BytesIO()
        sentencepiece.SentencePieceTrainer.train(sentence_iterator=iter(TEXT), model_writer=written, pad_id=0, unk_id=1, bos_id=2, eos_id=3,
                                                 normalization_rule_name="identity",
                                                 hard_vocab_limit=False, minloglevel=2, **options)
        model = sentencepiece.SentencePieceProcessor(model_proto=written.getvalue())
        cases = []
        for text in CASES:
            tokens = model.encode(text, return_type="proto").pieces
            known = [token.id for token in tokens if not model.is_unknown(token.id)]
            cases.append(dict(text=text, ids=[token.id for token in tokens], begins=[token.begin for token in tokens],
                              ends=[token.end for token in tokens], known=known, decoded=model.decode(known)))
        result[name] = dict(model=base64.b64encode(written.getvalue()).decode(), cases=cases,
                            tokens=[model.id_to_piece(i) for i in range(model.get_piece_size())])
    place = pathlib.Path(__file__).resolve().parent / "unigram_cases.json"
    place.write_text(json.dumps(result, separators=(",", ":"), ensure_ascii=False).replace("},{", "},\n{") + "\n")


main()
