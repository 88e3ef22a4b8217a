#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes disentangled.json: what the disentangled attention of transformers (DeBERTa v2) computes in double
precision.

    pip install torch transformers
    python tests/golden/make_disentangled.py > tests/golden/disentangled.json

Inputs are made by the integer formula of class Numbers in tests/support/tiny_model.hpp, in the order in which
they are drawn below, so only results are stored: the context and every gradient of its product with one more
tensor. disentangled_test.cpp draws the same inputs and compares; the result is committed.
"""
import json

import torch
from transformers import DebertaV2Config
from transformers.models.deberta_v2.modeling_deberta_v2 import DisentangledSelfAttention

torch.set_default_dtype(torch.float64)
WIDTH, HEADS, LENGTH, REACH = 6, 2, 9, 3


class Numbers:
    def __init__(self, seed):
        self.state = (seed * 2654435761 + 12345) % 2**64
        self.next()

    def next(self):
        self.state = (self.state * 1103515245 + 12345) % 2147483648
        return self.state

    def tensor(self, *shape):
        count = 1
        for extent in shape:
            count *= extent
        return torch.tensor([self.next() / 1073741824.0 - 1.0 for _ in range(count)]).reshape(shape)


def main():
    config = DebertaV2Config(hidden_size=WIDTH, num_attention_heads=HEADS, relative_attention=True,
                             max_relative_positions=REACH, position_buckets=-1, share_att_key=False,
                             pos_att_type=["c2p", "p2c"], hidden_dropout_prob=0.0, attention_probs_dropout_prob=0.0)
    attention = DisentangledSelfAttention(config)
    numbers = Numbers(5)
    x = numbers.tensor(LENGTH, WIDTH).requires_grad_()
    qkv_weight, qkv_bias = numbers.tensor(3 * WIDTH, WIDTH), numbers.tensor(3 * WIDTH)
    distances = numbers.tensor(2 * REACH, WIDTH).requires_grad_()
    weights = {"query": (numbers.tensor(WIDTH, WIDTH), numbers.tensor(WIDTH)),
               "key": (numbers.tensor(WIDTH, WIDTH), numbers.tensor(WIDTH))}
    dcontext = numbers.tensor(LENGTH, WIDTH)
    with torch.no_grad():
        for part, linear in enumerate([attention.query_proj, attention.key_proj, attention.value_proj]):
            linear.weight.copy_(qkv_weight[part * WIDTH:(part + 1) * WIDTH])
            linear.bias.copy_(qkv_bias[part * WIDTH:(part + 1) * WIDTH])
        for linear, (weight, bias) in [(attention.pos_query_proj, weights["query"]),
                                       (attention.pos_key_proj, weights["key"])]:
            linear.weight.copy_(weight)
            linear.bias.copy_(bias)
    mask = torch.ones(1, 1, LENGTH, LENGTH, dtype=torch.bool)
    context, _ = attention(x.unsqueeze(0), mask, rel_embeddings=distances)
    (context[0] * dcontext).sum().backward()
    projections = [attention.query_proj, attention.key_proj, attention.value_proj]
    results = {
        "context": context[0], "x": x.grad, "distances": distances.grad,
        "qkv.weight": torch.cat([p.weight.grad for p in projections]),
        "qkv.bias": torch.cat([p.bias.grad for p in projections]),
        "distance_query.weight": attention.pos_query_proj.weight.grad,
        "distance_query.bias": attention.pos_query_proj.bias.grad,
        "distance_key.weight": attention.pos_key_proj.weight.grad,
        "distance_key.bias": attention.pos_key_proj.bias.grad,
    }
    print("{")
    lines = [json.dumps(name) + ":" + json.dumps(value.detach().reshape(-1).tolist(), separators=(",", ":"))
             for name, value in results.items()]
    print(",\n".join(lines))
    print("}")


if __name__ == "__main__":
    main()
