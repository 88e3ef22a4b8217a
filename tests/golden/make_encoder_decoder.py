#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes encoder_decoder.json: what PyTorch computes for tiny models with an encoder and a decoder, in double
precision.

    pip install torch
    python tests/golden/make_encoder_decoder.py > tests/golden/encoder_decoder.json

The recipe is that of make_golden.py, which gives weights, losses and steps; this file has the batches of
sources and targets and the models: forward(m, w, ids) gives the logits of one of MODELS, shapes(m) its
parameters. Attention is PyTorch's own, F.scaled_dot_product_attention, causal in the decoder; one table
serves both embeddings and the output. golden_test.cpp compares; the result is committed.
"""
import math

import torch
import torch.nn.functional as F

import make_golden as golden
from make_golden import HEADS, HIDDEN, LAYERS, MAX_LENGTH, VOCABULARY, WIDTH

SOURCE_LENGTHS, TARGET_LENGTHS = [5, 1, 9, 3], [4, 7, 1, 2]
MODELS = [
    dict(name="encoder_decoder_post_norm", pre=False, learned=False, gelu=False, smoothing=0.0, decay=0.0, clip=0.0),
    dict(name="encoder_decoder_pre_norm", pre=True, learned=True, gelu=True, smoothing=0.1, decay=0.1, clip=0.5),
]


def make_batch(seed):
    """((source ids, target ids), targets): all rows of the sources, then for each row of the targets its id and what follows."""
    numbers = golden.Numbers(seed)
    source = [numbers.below(VOCABULARY) for _ in range(sum(SOURCE_LENGTHS))]
    target = [(numbers.below(VOCABULARY), numbers.below(VOCABULARY)) for _ in range(sum(TARGET_LENGTHS))]
    return (torch.tensor(source), torch.tensor([row[0] for row in target])), torch.tensor([row[1] for row in target])


def shapes(m):
    c, f = WIDTH, HIDDEN
    norm = lambda path: {path + ".gain": (c,), path + ".bias": (c,)}
    linear = lambda path, rows, columns: {path + ".weight": (rows, columns), path + ".bias": (rows,)}
    s = {"embedding.tokens": (VOCABULARY, c), "head.bias": (VOCABULARY,)}
    if m["learned"]:
        s |= {"embedding.positions": (MAX_LENGTH, c), "decoder.embedding.positions": (MAX_LENGTH, c)}
    for stack in ("encoder", "decoder"):
        for i in range(LAYERS):
            p = f"{stack}.{i}"
            s |= linear(p + ".attention.qkv", 3 * c, c) | linear(p + ".attention.out", c, c) | norm(p + ".attention.norm")
            s |= linear(p + ".feed_forward.up", f, c) | linear(p + ".feed_forward.down", c, f) | norm(p + ".feed_forward.norm")
            if stack == "decoder":
                s |= linear(p + ".cross.q", c, c) | linear(p + ".cross.kv", 2 * c, c) | linear(p + ".cross.out", c, c)
                s |= norm(p + ".cross.norm")
        if m["pre"]:
            s |= norm(stack + ".norm")
    return dict(sorted(s.items()))


def forward(m, w, ids):
    """Returns the logits (N2, V) of the packed rows of the targets, sequence after sequence."""
    norm = lambda x, path: F.layer_norm(x, (WIDTH,), w[path + ".gain"], w[path + ".bias"], 1e-5)
    linear = lambda x, path: F.linear(x, w[path + ".weight"], w[path + ".bias"])
    heads = lambda x, count: x.view(x.shape[0], count, HEADS, WIDTH // HEADS).permute(1, 2, 0, 3)
    joined = lambda z: z.transpose(0, 1).reshape(z.shape[1], WIDTH)

    def attention(x, path, causal):
        q, k, v = heads(linear(x, path + ".qkv"), 3)
        return linear(joined(F.scaled_dot_product_attention(q, k, v, is_causal=causal)), path + ".out")

    def cross(x, memory, path):
        (q,), (k, v) = heads(linear(x, path + ".q"), 1), heads(linear(memory, path + ".kv"), 2)
        return linear(joined(F.scaled_dot_product_attention(q, k, v)), path + ".out")

    def feed_forward(x, path):
        hidden = linear(x, path + ".up")
        return linear(F.gelu(hidden) if m["gelu"] else F.relu(hidden), path + ".down")

    def embed(sequence, path):
        positions = w[path + ".positions"] if m["learned"] else golden.sinusoids()
        return math.sqrt(WIDTH) * w["embedding.tokens"][sequence] + positions[: len(sequence)]

    def stack(x, name, memory=None):
        layers = [("attention", lambda y, path: attention(y, path, memory is not None))]
        if memory is not None:
            layers.append(("cross", lambda y, path: cross(y, memory, path)))
        layers.append(("feed_forward", feed_forward))
        for i in range(LAYERS):
            for layer, compute in layers:
                path = f"{name}.{i}.{layer}"
                x = x + compute(norm(x, path + ".norm"), path) if m["pre"] else norm(x + compute(x, path), path + ".norm")
        return norm(x, name + ".norm") if m["pre"] else x

    rows = []
    for source, target in zip(ids[0].split(SOURCE_LENGTHS), ids[1].split(TARGET_LENGTHS)):
        memory = stack(embed(source, "embedding"), "encoder")
        rows.append(stack(embed(target, "decoder.embedding"), "decoder", memory))
    return F.linear(torch.cat(rows), w["embedding.tokens"], w["head.bias"])


if __name__ == "__main__":
    golden.make_batch, golden.shapes, golden.forward = make_batch, shapes, forward
    golden.write([golden.run(model) for model in MODELS])
