#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Writes distillation.json: what PyTorch computes for a tiny model that learns from another one, in double
precision.

    pip install torch
    python tests/golden/make_distillation.py > tests/golden/distillation.json

The student is the model "post_norm" of make_golden.py, the teacher "pre_norm" with other numbers. Stored are
the loss of the first batch and every gradient of the student. distillation_test.cpp compares; the result is
committed.
"""
import json
import math

import torch
import torch.nn.functional as F

import make_golden as golden

CASES = [
    dict(name="warm", temperature=2.5, hard_weight=0.3, smoothing=0.0),
    dict(name="cold", temperature=0.5, hard_weight=0.75, smoothing=0.1),
    dict(name="teacher_alone", temperature=1.0, hard_weight=0.0, smoothing=0.0),
]
FIRST_OF_TEACHER = 1001


def make_teacher(m):
    parameters = {}
    for number, (path, shape) in enumerate(golden.shapes(m).items()):
        numbers = golden.Numbers(FIRST_OF_TEACHER + number)
        start, size = (1.0, 0.25) if path.endswith("gain") else (0.0, 0.5)
        values = [start + size * numbers.symmetric() for _ in range(math.prod(shape))]
        parameters[path] = torch.tensor(values).reshape(shape)
    return parameters


def run(case):
    student, teacher = golden.MODELS
    w = golden.make_parameters(student)
    ids, targets = golden.make_batch(1)
    with torch.no_grad():
        taught = golden.forward(teacher, make_teacher(teacher), ids)
    logits = golden.forward(student, w, ids)
    hard = F.cross_entropy(logits, targets, ignore_index=-1, label_smoothing=case["smoothing"])
    known, t = targets >= 0, case["temperature"]
    soft = F.kl_div(F.log_softmax(logits[known] / t, dim=1), F.softmax(taught[known] / t, dim=1),
                    reduction="batchmean")
    loss = case["hard_weight"] * hard + (1 - case["hard_weight"]) * t * t * soft
    loss.backward()
    return case | dict(loss=loss.item(), gradients={path: golden.numbers_of(p.grad) for path, p in w.items()})


if __name__ == "__main__":
    print("[" + ",\n".join(json.dumps(run(case)) for case in CASES) + "]")
