#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes decoders.json: what PyTorch computes for tiny models with a causal stack, in double precision.

    pip install torch
    python tests/golden/make_decoders.py > tests/golden/decoders.json

The recipe is that of make_golden.py, which gives weights, batches, losses and steps; this file has the
models: forward(m, w, ids) gives the logits of one of MODELS, shapes(m) its parameters. Attention is PyTorch's
own, F.scaled_dot_product_attention with is_causal, and the output shares the table of the embedding.
golden_test.cpp compares; the result is committed.
"""
import json
import math

import torch
import torch.nn.functional as F

import make_golden as golden
from make_golden import HEADS, HIDDEN, LAYERS, LENGTHS, MAX_LENGTH, VOCABULARY, WIDTH

MODELS = [
    dict(name="decoder_post_norm", pre=False, learned=False, gelu=False, smoothing=0.0, decay=0.0, clip=0.0),
    dict(name="decoder_pre_norm", pre=True, learned=True, gelu=True, smoothing=0.1, decay=0.1, clip=0.5),
]


def make_batch(seed):
    numbers = golden.Numbers(seed)
    ids, targets = [], []
    for length in LENGTHS:
        for _ in range(length):
            ids.append(numbers.below(VOCABULARY))
            targets.append(-1 if len(ids) % 3 == 0 else numbers.below(VOCABULARY))
    return torch.tensor(ids), torch.tensor(targets)


def shapes(m):
    c, f = WIDTH, HIDDEN
    norm = lambda path: {path + ".gain": (c,), path + ".bias": (c,)}
    s = {"embedding.tokens": (VOCABULARY, c), "head.bias": (VOCABULARY,)}
    if m["learned"]:
        s["embedding.positions"] = (MAX_LENGTH, c)
    for i in range(LAYERS):
        p = f"encoder.{i}.attention"
        s |= {p + ".qkv.weight": (3 * c, c), p + ".qkv.bias": (3 * c,), p + ".out.weight": (c, c), p + ".out.bias": (c,)}
        s |= norm(p + ".norm")
        p = f"encoder.{i}.feed_forward"
        s |= {p + ".up.weight": (f, c), p + ".up.bias": (f,), p + ".down.weight": (c, f), p + ".down.bias": (c,)}
        s |= norm(p + ".norm")
    if m["pre"]:
        s |= norm("encoder.norm")
    return dict(sorted(s.items()))


def forward(m, w, ids):
    """Returns the logits (N, V) of the packed rows, sequence after sequence."""
    norm = lambda x, path: F.layer_norm(x, (WIDTH,), w[path + ".gain"], w[path + ".bias"], 1e-5)
    linear = lambda x, path: F.linear(x, w[path + ".weight"], w[path + ".bias"])

    def attention(x, path):
        t = x.shape[0]
        q, k, v = linear(x, path + ".qkv").view(t, 3, HEADS, WIDTH // HEADS).permute(1, 2, 0, 3)
        z = F.scaled_dot_product_attention(q, k, v, is_causal=True)
        return linear(z.transpose(0, 1).reshape(t, WIDTH), path + ".out")

    def feed_forward(x, path):
        hidden = linear(x, path + ".up")
        return linear(F.gelu(hidden) if m["gelu"] else F.relu(hidden), path + ".down")

    positions = w["embedding.positions"] if m["learned"] else golden.sinusoids()
    rows = []
    for sequence in ids.split(LENGTHS):
        x = math.sqrt(WIDTH) * w["embedding.tokens"][sequence] + positions[: len(sequence)]
        for i in range(LAYERS):
            for name, layer in (("attention", attention), ("feed_forward", feed_forward)):
                path = f"encoder.{i}.{name}"
                if m["pre"]:
                    x = x + layer(norm(x, path + ".norm"), path)
                else:
                    x = norm(x + layer(x, path), path + ".norm")
        rows.append(norm(x, "encoder.norm") if m["pre"] else x)
    return F.linear(torch.cat(rows), w["embedding.tokens"], w["head.bias"])


if __name__ == "__main__":
    golden.make_batch, golden.shapes, golden.forward = make_batch, shapes, forward
    golden.write([golden.run(model) for model in MODELS])
