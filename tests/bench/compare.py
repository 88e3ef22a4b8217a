#!/usr/bin/env python3
"""Everything that speed and memory are judged by, in one run: Encore and its peers in turn, raw samples kept.

    python3 tests/bench/compare.py --torch-ner torch_ner.py --matmul-limit matmul_limit --data DIR --vocab vocab.txt \\
        --rounds 6 --out samples.json

DIR holds train.conll, dev.conll, test.conll. --matmul-limit is the compiled program. A peer that is not named is left
out, and what needs it is not judged. Each round runs every measurement once, in an order that turns from round to round;
what is compared is compared within a round, so that a machine that changes its speed between rounds changes both sides.
Ratios are medians over the rounds; the interval stands between two order statistics (95 % from six rounds on). --only
NAME,... takes some of the rows. Needs the Python packages of the peers; no test looks at any of it.

Rows: step_float32, step_bfloat16 (step over its products alone), torch_float32, torch_bfloat16, small_float32,
small_bfloat16 (tokens a second over PyTorch's fastest mode), memory (peak of training on 32 x 256 full tokens over
PyTorch's), order (price of the fixed order), threads (gain with all threads over that of the products alone), limit
(our matmul_seconds against the frozen program: says whether both measure the same).
"""
import argparse, json, math, os, re, statistics, subprocess, sys, tempfile, time

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
BARS = {"step_float32": ("<=", 1.25, 1.12), "step_bfloat16": ("<=", 1.6, 1.35), "torch_float32": (">=", 1.35, 1.55),
        "torch_bfloat16": (">=", 3.0, 4.0), "small_float32": (">=", 2.0, 3.0), "small_bfloat16": (">=", 2.0, 3.0),
        "memory": ("<=", 0.6, 0.5), "order": ("<=", 0.05, 0.02), "threads": (">=", 0.95, None)}
SEED_MODEL = {"layers": 12, "width": 384, "heads": 6, "hidden": 768, "residual_norm": True}
SMALL_MODEL = {"layers": 4, "width": 256, "heads": 4, "hidden": 768, "residual_norm": False}
# PyTorch's candidates for "its fastest mode"; the fastest of each round counts.
TORCH_MODES = {"float32": [("sorted", "fp32"), ("unpadded", "fp32")],
               "bfloat16": [("sorted", "bf16"), ("sorted", "bf16-weights"), ("unpadded", "bf16")]}


def child(command, **options):
    """Runs a program and returns its output."""
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        raise RuntimeError(f"{' '.join(command)} failed:\n{done.stdout[-2000:]}{done.stderr[-2000:]}")
    return done.stdout


def measured_alone(command, env=None):
    """The peak of memory of a command and its children, measured in a process of its own."""
    script = ("import resource,subprocess,sys; code=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL).returncode;"
              "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)")
    output = child([sys.executable, "-c", script, *command], env=env)
    return int(output.strip().splitlines()[-1]) * 1024


def settings(a, model):
    values = {"data.root": a.data, "tokenizer.vocab": a.vocab, "tokenizer.lowercase": str(not a.cased).lower(),
              "model.layers": model["layers"], "model.width": model["width"],
              "model.layer.attention.heads": model["heads"], "model.layer.feed_forward.hidden": model["hidden"],
              "model.head.residual_norm": str(model["residual_norm"]).lower()}
    return [part for key, value in values.items() for part in ("-S", f"{key}={value}")]


def environment(a):
    return {**os.environ, "ENCORE_DATA": os.path.dirname(os.path.abspath(a.data))}


def run_encore(a, folder, model, precision, threads, extra=()):
    """One exp bench: {quantity: median, ...} of its step."""
    command = [a.exp, "bench", os.path.join(ROOT, "experiments", "seed_ner.toml"), "--db", os.path.join(folder, "bench.db"),
               "--json", "--quiet", "--rounds", str(a.inner_rounds), "--batches", str(a.batches), "--precision", precision,
               "--threads", threads, *settings(a, model), *extra]
    output = child(command, env=environment(a))
    result = json.loads(output)
    steps = []
    for step in result["summary"]["steps"]:
        entry = {key: step[key]["median"] for key in ("tokens_per_second", "step_seconds", "matmul_seconds", "gemm_seconds",
                                                      "step_over_matmul")}
        entry["threads"] = step["settings"]["threads"]
        entry["price_of_order"] = step.get("price_of_order", {}).get("median")
        entry["tokens"] = next(c["facts"]["tokens"] for c in result["cases"] if c["name"] == step["name"])
        entry["matmul_flops"] = step["matmul_flops"]
        entry["samples"] = {c["name"]: c["samples"] for c in result["cases"] if c["name"] == step["name"]}
        steps.append(entry)
    return {"steps": steps, "notes": result["notes"]}


def run_torch(a, model, batching, dtype, extra=()):
    command = [sys.executable, a.torch_ner, "--data", a.data, "--vocab", a.vocab, "--batching", batching, "--dtype", dtype,
               "--steps", str(a.torch_steps), "--layers", str(model["layers"]), "--width", str(model["width"]),
               "--heads", str(model["heads"]), "--ffn", str(model["hidden"]), "--threads", str(a.threads), *extra]
    command += ["--cased"] if a.cased else []
    command += ["--residual-norm"] if model["residual_norm"] else []
    env = {**os.environ, "LD_PRELOAD": a.torch_allocator} if a.torch_allocator else None
    output = child(command, env=env)
    return json.loads(output.strip().splitlines()[-1])


def run_limit(a, tokens):
    """The frozen program with so many tokens: milliseconds of the products of a step, by precision."""
    output = child([a.matmul_limit, str(tokens)], env={**os.environ, "OMP_NUM_THREADS": str(a.threads)})
    return {name: float(ms) / 1e3 for name, ms in re.findall(r"(float32|bfloat16)\s+tokens \d+: ([\d.]+) ms", output)}


def few_sentences(a, folder):
    """Ten batches' worth: the data themselves are to weigh nothing."""
    data = os.path.join(folder, "few")
    if not os.path.isdir(data):
        os.makedirs(data)
        for name in ("train", "dev", "test"):
            take_sentences(os.path.join(a.data, name + ".conll"), os.path.join(data, name + ".conll"), 320 if name == "train" else 8)
    return data


def encore_memory(a, folder, number):
    """Peak of a training whose every batch is 32 x 256 rows: padded, one epoch."""
    few = argparse.Namespace(**{**vars(a), "data": few_sentences(a, folder)})
    command = [a.exp, "run", os.path.join(ROOT, "experiments", "seed_ner.toml"), "--db", os.path.join(folder, f"memory-{number}.db"),
               *settings(few, SEED_MODEL), "-S", "train.batching=padded", "-S", "data.max_length=256", "-S", "train.epochs=1", "--quiet"]
    return measured_alone(command, environment(a))


def torch_memory(a, folder):
    few = argparse.Namespace(**{**vars(a), "data": few_sentences(a, folder), "torch_steps": 10})
    return run_torch(few, SEED_MODEL, "fixed", "fp32", ["--max-length", "256"])["peak_mb"] * 2 ** 20


def take_sentences(source, target, count):
    """Copies the first `count` sentences of a CoNLL file."""
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            count -= not line.strip()
            if count == 0:
                return


def interval(values):
    """Between two order statistics: the innermost pair that covers the median with 95 %, else the range."""
    ordered, n, k = sorted(values), len(values), 1
    below = lambda k: sum(math.comb(n, i) for i in range(k)) / 2 ** n
    while 2 * (k + 1) <= n and 1 - 2 * below(k + 1) >= 0.95:
        k += 1
    return ordered[k - 1], ordered[n - k]


def tasks(a, folder, number):
    """What one round does: name -> function that measures."""
    one = str(a.threads)
    both = f"1,{a.threads}" if a.threads > 1 else "1"
    list_ = {}
    for precision in ("float32", "bfloat16"):
        list_[f"encore_seed_{precision}"] = lambda p=precision: run_encore(a, folder, SEED_MODEL, p, one, ["--order-cost"])
        list_[f"encore_small_{precision}"] = lambda p=precision: run_encore(a, folder, SMALL_MODEL, p, one)
        if a.torch_ner:
            for batching, dtype in TORCH_MODES[precision]:
                list_[f"torch_seed_{precision}_{batching}_{dtype}"] = lambda b=batching, d=dtype: run_torch(a, SEED_MODEL, b, d)
                list_[f"torch_small_{precision}_{batching}_{dtype}"] = lambda b=batching, d=dtype: run_torch(a, SMALL_MODEL, b, d)
    list_["encore_threads"] = lambda: run_encore(a, folder, SEED_MODEL, "float32", both)
    list_["encore_memory"] = lambda: encore_memory(a, folder, number)
    if a.torch_ner:
        list_["torch_memory"] = lambda: torch_memory(a, folder)
    if a.matmul_limit:
        list_["limit"] = lambda: run_limit(a, 896)
    return list_


NEEDS = {"step_float32": ["encore_seed_float32"], "step_bfloat16": ["encore_seed_bfloat16"], "order": ["encore_seed_float32"],
         "torch_float32": ["encore_seed_float32", "torch_seed_float32"], "torch_bfloat16": ["encore_seed_bfloat16", "torch_seed_bfloat16"],
         "small_float32": ["encore_small_float32", "torch_small_float32"],
         "small_bfloat16": ["encore_small_bfloat16", "torch_small_bfloat16"], "threads": ["encore_threads"],
         "memory": ["encore_memory", "torch_memory"], "limit": ["encore_seed_float32", "limit"]}


def judged(row, sample):
    """The number of one row from one round, or None where something is missing."""
    step = lambda name: sample[name]["steps"][0]
    try:
        kind, _, precision = row.partition("_")
        if kind == "step":
            return step(f"encore_seed_{precision}")["step_over_matmul"]
        if kind in ("torch", "small"):
            model = "seed" if kind == "torch" else "small"
            best = max(v["real_tokens_per_second"] for k, v in sample.items() if k.startswith(f"torch_{model}_{precision}_") and v)
            return step(f"encore_{model}_{precision}")["tokens_per_second"] / best
        if row == "order":
            return step("encore_seed_float32")["price_of_order"]
        if row == "memory":
            return sample["encore_memory"] / sample["torch_memory"]
        if row == "threads":
            few, many = sorted(sample["encore_threads"]["steps"], key=lambda s: s["threads"])
            gain = lambda quantity: few[quantity] / many[quantity]
            return gain("step_seconds") / gain("matmul_seconds")
        if row == "limit":
            ours = step("encore_seed_float32")
            return ours["matmul_seconds"] / ours["tokens"] / (sample["limit"]["float32"] / 896)
    except (KeyError, TypeError, ValueError):
        return None


def main():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", required=True); p.add_argument("--vocab", required=True); p.add_argument("--cased", action="store_true")
    p.add_argument("--torch-ner", help="the PyTorch script"); p.add_argument("--matmul-limit", help="the compiled program")
    p.add_argument("--torch-allocator", default="", help="a library for LD_PRELOAD of PyTorch, such as libtcmalloc_minimal.so.4")
    p.add_argument("--rounds", type=int, default=6); p.add_argument("--inner-rounds", type=int, default=3)
    p.add_argument("--batches", type=int, default=8); p.add_argument("--torch-steps", type=int, default=60)
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--only", default="", help="rows, with commas between"); p.add_argument("--out")
    p.add_argument("--exp", default=os.path.join(ROOT, "exp"), help="the command that runs Encore")
    a = p.parse_args()
    a.data, a.vocab, a.exp = os.path.abspath(a.data), os.path.abspath(a.vocab), os.path.abspath(a.exp)
    rows = a.only.split(",") if a.only else list(NEEDS)
    if unknown := [row for row in rows if row not in NEEDS]:
        sys.exit(f"unknown row {unknown[0]}; there are {', '.join(NEEDS)}")
    needed = [name for row in rows for name in NEEDS[row]]
    rounds, failures = [], {}
    with tempfile.TemporaryDirectory() as folder:
        for number in range(a.rounds):
            todo = [(n, f) for n, f in tasks(a, folder, number).items() if n not in failures and any(n.startswith(w) for w in needed)]
            turn = number % max(1, len(todo))
            sample = {}
            for name, measure in todo[turn:] + todo[:turn]:
                begin = time.time()
                try:
                    sample[name] = measure()
                except RuntimeError as error:  # a precision that is refused, a package that is missing: said once, then left out
                    failures[name] = str(error)
                    print(f"round {number + 1}: {name} failed and is left out: {str(error).strip().splitlines()[-1]}", flush=True)
                    continue
                print(f"round {number + 1}: {name} {time.time() - begin:.0f} s", flush=True)
            rounds.append(sample)
            if a.out:  # after every round: what an interruption leaves is still of use
                json.dump({"arguments": vars(a), "rounds": rounds, "failures": failures}, open(a.out, "w"), indent=1)
    print(f"\n{'row':16} {'median':>8} {'interval':>18} {'rounds':>7}  bar")
    for row in rows:
        values = [v for v in (judged(row, sample) for sample in rounds) if v is not None]
        if not values:
            print(f"{row:16} {'-':>8} {'not measured':>18}")
            continue
        low, high = interval(values)
        bar = BARS.get(row)
        verdict = "" if not bar else f"{bar[0]} {bar[1]}: " + ("met" if (statistics.median(values) <= bar[1]) == (bar[0] == "<=") else "missed")
        print(f"{row:16} {statistics.median(values):8.3f} {f'{low:.3f} .. {high:.3f}':>18} {len(values):7}  {verdict}")


if __name__ == "__main__":
    main()
