#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures WordPiece against the Python package `tokenizers` (Rust), one thread each, in turn on the same
lines.

    python3 tests/bench/against_tokenizers.py --tool build/openmp/bin/tests/wordpiece_speed --vocab vocab.txt \\
        --text train.conll --rounds 7 --out samples.json

Called by hand, and by compare.py, which reads the JSON of --out. --tool is the program of
wordpiece_speed.cpp. The words of a CoNLL file are joined to sentences; any other file is taken line by line.
The package runs in its best mode: a whole batch in one call (encode_batch_fast, which leaves out offsets,
where the version has it), its thread pool switched off. Reading, printing and turning the package's result
into Python lists are not counted on either side. Before anything is timed, the tokens of all lines are
compared. Prints each round's lines per second and the median ratio with its range; --out keeps every sample.
"""
import argparse, json, os, pathlib, statistics, subprocess, sys, time

os.environ["TOKENIZERS_PARALLELISM"] = "false"
os.environ["RAYON_NUM_THREADS"] = "1"


def sentences(path):
    lines = path.read_text(encoding="utf-8").split("\n")
    if path.suffix != ".conll":
        return [line for line in lines if line]
    found, words = [], []
    for line in lines + [""]:
        if line.strip():
            words.append(line.split()[0])
        elif words:
            found.append(" ".join(words))
            words = []
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tool", required=True)
    parser.add_argument("--vocab", required=True)
    parser.add_argument("--text", required=True, type=pathlib.Path, nargs="+")
    parser.add_argument("--cased", action="store_true")
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--out", type=pathlib.Path)
    a = parser.parse_args()
    from tokenizers import BertWordPieceTokenizer
    peer = BertWordPieceTokenizer(a.vocab, lowercase=not a.cased)
    batch = getattr(peer._tokenizer, "encode_batch_fast", peer._tokenizer.encode_batch)
    lines = [line for path in a.text for line in sentences(path)]
    text = ("\n".join(lines) + "\n").encode()
    casing = "cased" if a.cased else "uncased"

    answer = subprocess.run([os.path.join(os.path.dirname(a.tool), "peer_tool"), "wordpiece", a.vocab, casing], input=text,
                            stdout=subprocess.PIPE, check=True).stdout.decode().split("\n")[:-1]
    theirs = [e.ids for e in batch(lines, add_special_tokens=False)]
    different = sum([int(n) for n in line.split()] != ids for line, ids in zip(answer, theirs, strict=True))
    if different:
        sys.exit(f"{different} of {len(lines)} lines have other tokens; nothing was timed")

    rounds = []
    for number in range(a.rounds):
        def ours():
            done = subprocess.run([a.tool, a.vocab, casing, "3"], input=text, stdout=subprocess.PIPE, check=True)
            sample = json.loads(done.stdout)
            return {"wall": min(sample["wall"]), "cpu": min(sample["cpu"])}

        def other():
            best = None
            for _ in range(3):
                wall, cpu = time.perf_counter(), time.process_time()
                batch(lines, add_special_tokens=False)
                sample = {"wall": time.perf_counter() - wall, "cpu": time.process_time() - cpu}
                best = sample if best is None or sample["wall"] < best["wall"] else best
            return best

        first, second = (ours, other) if number % 2 == 0 else (other, ours)
        one, two = first(), second()
        mine, peers = (one, two) if number % 2 == 0 else (two, one)
        rounds.append({"encore": mine, "tokenizers": peers})
        print(f"round {number + 1}: {len(lines) / mine['wall']:.0f} and {len(lines) / peers['wall']:.0f} lines a second, ratio "
              f"{peers['wall'] / mine['wall']:.2f} (of CPU time {peers['cpu'] / mine['cpu']:.2f})", flush=True)
    for clock in ("wall", "cpu"):
        ratios = sorted(r["tokenizers"][clock] / r["encore"][clock] for r in rounds)
        print(f"{clock}: median ratio {statistics.median(ratios):.2f}, from {ratios[0]:.2f} to {ratios[-1]:.2f}")
    if a.out:
        a.out.write_text(json.dumps({"lines": len(lines), "casing": casing, "rounds": rounds}, indent=1) + "\n")


main()
