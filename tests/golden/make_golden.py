#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes golden.json: what PyTorch computes for two tiny models in double precision.

    pip install torch
    python tests/golden/make_golden.py > tests/golden/golden.json

Both sides make weights and batches by the same integer formula (class Numbers here, Numbers in
tests/support/tiny_model.hpp), so only results are stored: logits, loss and every gradient at the start,
losses of ten optimizer steps on ten batches, parameters after step 1 and step 10. golden_test.cpp compares.
Run it by hand; the result is committed. make_decoders.py, make_encoder_decoder.py and make_distillation.py
import it, so a changed formula changes their files too.
"""
import json
import math

import torch
import torch.nn.functional as F

torch.set_default_dtype(torch.float64)
WIDTH, LAYERS, HEADS, HIDDEN, VOCABULARY, CLASSES, MAX_LENGTH = 8, 2, 2, 12, 11, 5, 9
LENGTHS, STEPS, RATE = [5, 1, 9, 3], 10, 0.01

MODELS = [
    dict(name="post_norm", pre=False, learned=False, gelu=False, residual_norm=False, smoothing=0.0,
         decay=0.0, clip=0.0),
    dict(name="pre_norm", pre=True, learned=True, gelu=True, residual_norm=True, smoothing=0.1,
         decay=0.1, clip=0.5),
]


class Numbers:
    def __init__(self, seed):
        self.state = (seed * 2654435761 + 12345) % 2**64
        self.next()

    def next(self):
        self.state = (self.state * 1103515245 + 12345) % 2**64 % 2147483648
        return self.state

    def below(self, bound):
        return (self.next() >> 8) % bound

    def symmetric(self):
        return self.next() / 1073741824.0 - 1.0


def make_batch(seed):
    numbers = Numbers(seed)
    ids, targets = [], []
    for length in LENGTHS:
        for _ in range(length):
            ids.append(numbers.below(VOCABULARY))
            targets.append(-1 if len(ids) % 3 == 0 else numbers.below(CLASSES))
    return torch.tensor(ids), torch.tensor(targets)


def shapes(m):
    c, f = WIDTH, HIDDEN
    norm = lambda path: {path + ".gain": (c,), path + ".bias": (c,)}
    s = {"embedding.tokens": (VOCABULARY, c)}
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
    if m["residual_norm"]:
        s |= {"head.mix.weight": (c, c), "head.mix.bias": (c,)} | norm("head.norm")
    s |= {"head.weight": (CLASSES, c), "head.bias": (CLASSES,)}
    return dict(sorted(s.items()))


def make_parameters(m):
    parameters = {}
    for number, (path, shape) in enumerate(shapes(m).items()):
        numbers = Numbers(number + 1)
        start, size = (1.0, 0.25) if path.endswith("gain") else (0.0, 0.5)
        values = [start + size * numbers.symmetric() for _ in range(math.prod(shape))]
        parameters[path] = torch.tensor(values).reshape(shape).requires_grad_()
    return parameters


def sinusoids():
    position = torch.arange(MAX_LENGTH, dtype=torch.float64).unsqueeze(1)
    rate = torch.exp(torch.arange(0, WIDTH, 2, dtype=torch.float64) * (-math.log(10000.0) / WIDTH))
    table = torch.zeros(MAX_LENGTH, WIDTH)
    table[:, 0::2], table[:, 1::2] = torch.sin(position * rate), torch.cos(position * rate)
    return table


def forward(m, w, ids):
    """Returns the logits (N, K) of the packed rows, sequence after sequence."""
    norm = lambda x, path: F.layer_norm(x, (WIDTH,), w[path + ".gain"], w[path + ".bias"], 1e-5)
    linear = lambda x, path: F.linear(x, w[path + ".weight"], w[path + ".bias"])

    def attention(x, path):
        t = x.shape[0]
        q, k, v = linear(x, path + ".qkv").view(t, 3, HEADS, WIDTH // HEADS).permute(1, 2, 0, 3)
        a = torch.softmax(q @ k.transpose(1, 2) / math.sqrt(WIDTH // HEADS), dim=-1) @ v
        return linear(a.transpose(0, 1).reshape(t, WIDTH), path + ".out")

    def feed_forward(x, path):
        hidden = linear(x, path + ".up")
        return linear(F.gelu(hidden) if m["gelu"] else F.relu(hidden), path + ".down")

    positions = w["embedding.positions"] if m["learned"] else sinusoids()
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
    x = torch.cat(rows)
    if m["residual_norm"]:
        x = norm(x + linear(x, "head.mix"), "head.norm")
    return linear(x, "head")


def numbers_of(tensor):
    return tensor.detach().reshape(-1).tolist()


def run(m):
    w = make_parameters(m)
    loss_of = lambda logits, targets: F.cross_entropy(logits, targets, ignore_index=-1, label_smoothing=m["smoothing"])
    decayed = [p for path, p in w.items() if path.endswith("weight") or "embedding" in path]
    rest = [p for path, p in w.items() if not (path.endswith("weight") or "embedding" in path)]
    groups = [dict(params=decayed, weight_decay=m["decay"]), dict(params=rest, weight_decay=0.0)]
    optimizer = torch.optim.AdamW(groups, lr=RATE) if m["decay"] else torch.optim.Adam(groups, lr=RATE)
    result = dict(name=m["name"], losses=[])
    for step in range(1, STEPS + 1):
        ids, targets = make_batch(step)
        logits = forward(m, w, ids)
        loss = loss_of(logits, targets)
        optimizer.zero_grad()
        loss.backward()
        result["losses"].append(loss.item())
        if step == 1:
            result["logits"] = numbers_of(logits)
            result["gradients"] = {path: numbers_of(p.grad) for path, p in w.items()}
        if m["clip"]:
            # torch's clip_grad_norm_ adds 1e-6 to the norm; the definition does not.
            norm = math.sqrt(sum((p.grad ** 2).sum().item() for p in w.values()))
            for p in w.values():
                p.grad *= min(1.0, m["clip"] / norm)
        optimizer.step()
        if step in (1, STEPS):
            result[f"after_{step}"] = {path: numbers_of(p) for path, p in w.items()}
    return result


def write(results):
    print("[")
    for i, result in enumerate(results):
        text = json.dumps(result, separators=(",", ":")).replace("},", "},\n").replace('],"', '],\n"')
        print(text + ("," if i + 1 < len(results) else ""))
    print("]")


if __name__ == "__main__":
    write([run(model) for model in MODELS])
