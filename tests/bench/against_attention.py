#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures attention, forward and backward, in Encore and in PyTorch (scaled_dot_product_attention) on equal
sizes, in turn.

    python3 tests/bench/against_attention.py --tool build/openmp/bin/tests/attention_speed --sequences 8 \\
        --length 512 --out samples.json

Called by hand, and by compare.py, which reads the JSON of --out. --tool is the program of
attention_speed.cpp. Both sides get the same number of threads; no dropout, no mask, all sequences of one
length, which is what PyTorch's fastest kernel wants. PyTorch starts from separate (B, H, T, D) tensors,
Encore from the packed (N, 3 C) rows that the projection wrote. Prints the median of each round and the median
ratio (above 1: Encore is faster) with its range; --out keeps every sample.
"""
import argparse, json, os, pathlib, statistics, subprocess, time


def theirs(torch, a, dtype):
    shape = (a.sequences, a.heads, a.length, a.head_size)
    q, k, v = (torch.randn(shape, dtype=dtype, requires_grad=True) for _ in range(3))
    gradient = torch.randn(shape, dtype=dtype)
    forward, backward = [], []
    for i in range(a.repetitions + 2):
        start = time.perf_counter()
        out = torch.nn.functional.scaled_dot_product_attention(q, k, v)
        middle = time.perf_counter()
        out.backward(gradient)
        end = time.perf_counter()
        q.grad = k.grad = v.grad = None
        if i >= 2:
            forward.append(middle - start)
            backward.append(end - middle)
    return {"forward": forward, "backward": backward}


def ours(a, precision):
    command = [a.tool, *map(str, (a.sequences, a.length, a.heads, a.head_size)), precision, str(a.repetitions)]
    environment = {**os.environ, "OMP_NUM_THREADS": str(a.threads), "OMP_PROC_BIND": "true"}
    return json.loads(subprocess.run(command, stdout=subprocess.PIPE, check=True, env=environment).stdout)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--sequences", type=int, default=8)
    parser.add_argument("--length", type=int, default=512)
    parser.add_argument("--heads", type=int, default=6)
    parser.add_argument("--head-size", type=int, default=64)
    parser.add_argument("--precision", choices=["float32", "bfloat16"], nargs="+", default=["float32", "bfloat16"])
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--repetitions", type=int, default=5)
    parser.add_argument("--out", type=pathlib.Path)
    a = parser.parse_args()
    import torch
    torch.set_num_threads(a.threads)
    samples = []
    for precision in a.precision:
        for number in range(a.rounds):
            runs = {"encore": lambda: ours(a, precision), "torch": lambda: theirs(torch, a, getattr(torch, precision))}
            order = list(runs) if number % 2 == 0 else list(runs)[::-1]
            samples.append({"precision": precision, **{who: runs[who]() for who in order}})
        rounds = [s for s in samples if s["precision"] == precision]
        for part in ("forward", "backward"):
            pairs = [(statistics.median(s["encore"][part]), statistics.median(s["torch"][part])) for s in rounds]
            ratios = sorted(torch_time / encore_time for encore_time, torch_time in pairs)
            print(f"{precision} {part:8}  Encore {statistics.median(p[0] for p in pairs) * 1e3:.2f} ms  PyTorch "
                  f"{statistics.median(p[1] for p in pairs) * 1e3:.2f} ms  ratio {statistics.median(ratios):.2f} "
                  f"({ratios[0]:.2f} to {ratios[-1]:.2f})", flush=True)
    if a.out:
        a.out.write_text(json.dumps({"options": {k: v for k, v in vars(a).items() if k != "out"}, "rounds": samples}, indent=1) + "\n")


main()
