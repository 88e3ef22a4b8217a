#!/usr/bin/env python3
"""Training speed of Encore against a PyTorch script, in turn on the same sentences.

    python3 tests/bench/against_pytorch.py --peer torch_ner.py --data DIR --vocab vocab.txt --rounds 5 --out samples.json

DIR holds train.conll, dev.conll, test.conll. Each round trains both for one epoch over the first --steps batches' worth of
sentences, Encore through `./exp run`, the peer through its own command line; which of them goes first alternates. Both
report real tokens (special pieces counted, padding not) per second of step time after the same warm-up. Prints each
round, then the median ratio with a bootstrap interval over the rounds; --out keeps every sample.
Needs the peer's Python packages. It is no test: a machine's speed is not the code's correctness.
"""
import argparse, json, os, random, sqlite3, statistics, subprocess, sys, tempfile

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
WARM_STEPS = 5


def take_sentences(source, target, count):
    """Copies the first `count` sentences of a CoNLL file."""
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            if not line.strip():
                count -= 1
                if count == 0:
                    return


def child(command, **options):
    """Runs a program and returns its output."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def run_encore(a, folder, seed):
    database = os.path.join(folder, f"encore-{seed}.db")
    command = [a.exp, "run", os.path.join(ROOT, "experiments", "seed_ner.toml"), "--db", database,
               "-S", f"data.root={folder}", "-S", f"tokenizer.vocab={a.vocab}", "-S", f"tokenizer.lowercase={'false' if a.cased else 'true'}",
               "-S", "train.epochs=1", "-S", f"seed={seed}", "-S", f"model.head.residual_norm={'true' if a.residual_norm else 'false'}",
               "-S", f"model.layers={a.layers}", "-S", f"model.width={a.width}", "-S", f"model.layer.attention.heads={a.heads}",
               "-S", f"model.layer.feed_forward.hidden={a.ffn}", "-S", "train.digest_steps=0", "--threads", str(a.threads)]
    child(command, env={**os.environ, "ENCORE_DATA": os.path.dirname(os.path.abspath(a.data))})
    connection = sqlite3.connect(database)
    points = lambda name: [v for (v,) in connection.execute(
        "SELECT value FROM curve WHERE metric = ? ORDER BY step", (name,))]
    seconds, speed = points("train/step_seconds"), points("train/tokens_per_second")
    tokens = [s * v for s, v in zip(seconds, speed)][WARM_STEPS:]
    return {"tokens_per_second": sum(tokens) / sum(seconds[WARM_STEPS:]), "step_seconds": seconds}


def run_peer(a, folder, seed):
    command = [sys.executable, a.peer, "--data", folder, "--vocab", a.vocab, "--batching", a.batching, "--dtype", a.dtype,
               "--steps", str(a.steps), "--layers", str(a.layers), "--width", str(a.width), "--heads", str(a.heads),
               "--ffn", str(a.ffn), "--threads", str(a.threads), "--seed", str(seed)]
    command += ["--cased"] if a.cased else []
    command += ["--residual-norm"] if a.residual_norm else []
    answer = json.loads(child(command).strip().splitlines()[-1])
    return {"tokens_per_second": answer["real_tokens_per_second"], "peak_mb": answer["peak_mb"], "step_seconds": answer["seconds_per_step"]}


def interval(ratios, draws=10000):
    """95 % bootstrap interval of the median."""
    rng = random.Random(1)
    medians = sorted(statistics.median(rng.choices(ratios, k=len(ratios))) for _ in range(draws))
    return medians[int(0.025 * draws)], medians[int(0.975 * draws)]


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--peer", required=True); p.add_argument("--data", required=True); p.add_argument("--vocab", required=True)
    p.add_argument("--cased", action="store_true"); p.add_argument("--residual-norm", action="store_true")
    p.add_argument("--rounds", type=int, default=5); p.add_argument("--steps", type=int, default=60)
    p.add_argument("--layers", type=int, default=12); p.add_argument("--width", type=int, default=384)
    p.add_argument("--heads", type=int, default=6); p.add_argument("--ffn", type=int, default=768)
    p.add_argument("--threads", type=int, default=os.cpu_count()); p.add_argument("--batching", default="sorted")
    p.add_argument("--dtype", default="fp32"); p.add_argument("--out")
    p.add_argument("--exp", default=os.path.join(ROOT, "exp"), help="the command that runs Encore")
    a = p.parse_args()
    rounds = []
    with tempfile.TemporaryDirectory() as folder:
        take_sentences(os.path.join(a.data, "train.conll"), os.path.join(folder, "train.conll"), 32 * a.steps)
        for name in ("dev.conll", "test.conll"):
            take_sentences(os.path.join(a.data, name), os.path.join(folder, name), 32)
        for number in range(a.rounds):
            runs = [("encore", run_encore), ("peer", run_peer)]
            sample = {name: run(a, folder, number + 1) for name, run in (runs if number % 2 == 0 else runs[::-1])}
            rounds.append(sample)
            print(f"round {number + 1}: encore {sample['encore']['tokens_per_second']:.0f}, "
                  f"peer {sample['peer']['tokens_per_second']:.0f} tokens/s", flush=True)
    ratios = [r["encore"]["tokens_per_second"] / r["peer"]["tokens_per_second"] for r in rounds]
    low, high = interval(ratios)
    print(f"ratio {statistics.median(ratios):.3f} (95 % interval {low:.3f} to {high:.3f}, {a.rounds} rounds)")
    if a.out:
        json.dump({"arguments": vars(a), "rounds": rounds, "ratios": ratios}, open(a.out, "w"), indent=1)


if __name__ == "__main__":
    main()
