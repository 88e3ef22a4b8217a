#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Fine-tunes a folder of transformers on CLINC150 with PyTorch, by the recipe of experiments/minilm_clinc150.toml, and
compares its in-scope accuracy with that of Encore's runs.

    python3 -m venv V && V/bin/pip install torch transformers
    V/bin/python tests/bench/intents_transformers.py --model all-MiniLM-L6-v2 --data clinc150 --seed 1 --out 1.json
    ./exp run experiments/minilm_clinc150.toml -S data.test=test.tsv --seeds 1-3
    V/bin/python tests/bench/intents_transformers.py --compare 1.json 2.json 3.json --runs 1.jsonl 2.jsonl 3.jsonl

Called by hand; docs/guides/clinc150.md has its results, and says where the files of the runs are. The recipe: mean
pooling and a linear layer, AdamW with a linear schedule, 95 % of train.tsv for training, the rest (drawn with the seed,
by class) selects the epoch. Batches are sorted by length within 100 batches, so that little is padded. --compare prints
for each side the mean over its runs, and an interval of the difference: a bootstrap over requests and over runs of each
side.
"""
import argparse, json, math, random, sys, time

OUT_OF_SCOPE = "oos"


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t")[:2] for line in file if "\t" in line]


def split_by_class(rows, share, rng):
    """Returns (train, dev): dev has SHARE of the rows of each class."""
    by_class = {}
    for row in rows:
        by_class.setdefault(row[1], []).append(row)
    train, dev = [], []
    for name in sorted(by_class):
        members = by_class[name]
        rng.shuffle(members)
        count = round(share * len(members))
        dev += members[:count]
        train += members[count:]
    return train, dev


def fine_tune(a):
    import torch
    from transformers import AutoModel, AutoTokenizer
    torch.manual_seed(a.seed)
    rng = random.Random(a.seed)
    tokenizer = AutoTokenizer.from_pretrained(a.model)
    body = AutoModel.from_pretrained(a.model, add_pooling_layer=False)
    train, dev = split_by_class(read_rows(f"{a.data}/train.tsv"), 0.05, rng)
    test = read_rows(f"{a.data}/test.tsv")
    names = sorted({label for _, label in train})
    number = {name: i for i, name in enumerate(names)}
    encode = lambda rows: [(tokenizer(text, truncation=True, max_length=64)["input_ids"], number[label]) for text, label in rows]
    train, dev, test = encode(train), encode(dev), encode(test)
    head = torch.nn.Linear(body.config.hidden_size, len(names))
    torch.nn.init.normal_(head.weight, std=0.02)
    torch.nn.init.zeros_(head.bias)
    named = list(body.named_parameters()) + list(head.named_parameters())
    plain = lambda n: n.endswith("bias") or "LayerNorm" in n
    optimizer = torch.optim.AdamW([{"params": [p for n, p in named if not plain(n)], "weight_decay": 0.01},
                                   {"params": [p for n, p in named if plain(n)], "weight_decay": 0.0}], lr=a.rate, fused=True)

    def batches(examples, shuffled):
        order = list(range(len(examples)))
        if shuffled:
            rng.shuffle(order)
        block = a.batch * 100
        order = [i for s in range(0, len(order), block) for i in sorted(order[s:s + block], key=lambda i: len(examples[i][0]))]
        out = [order[s:s + a.batch] for s in range(0, len(order), a.batch)]
        if shuffled:
            rng.shuffle(out)
        for members in out:
            width = max(len(examples[i][0]) for i in members)
            ids = torch.zeros(len(members), width, dtype=torch.long)
            mask = torch.zeros(len(members), width, dtype=torch.long)
            for row, i in enumerate(members):
                tokens = examples[i][0]
                ids[row, :len(tokens)] = torch.tensor(tokens)
                mask[row, :len(tokens)] = 1
            yield members, ids, mask, torch.tensor([examples[i][1] for i in members])

    def logits(ids, mask):
        with torch.autocast("cpu", dtype=torch.bfloat16, enabled=a.precision == "bfloat16"):
            hidden = body(input_ids=ids, attention_mask=mask).last_hidden_state
            weight = mask[:, :, None].to(hidden.dtype)
            return head((hidden * weight).sum(1) / weight.sum(1)).float()

    def answers(examples):
        body.eval()
        given = [0] * len(examples)
        with torch.no_grad():
            for members, ids, mask, _ in batches(examples, False):
                for i, best in zip(members, logits(ids, mask).argmax(1).tolist()):
                    given[i] = best
        body.train()
        return given

    total = a.epochs * math.ceil(len(train) / a.batch)
    step, best, kept, began = 0, -1.0, None, time.time()
    body.train()
    for epoch in range(a.epochs):
        for _, ids, mask, labels in batches(train, True):
            for group in optimizer.param_groups:
                group["lr"] = a.rate * min((step + 1) / (0.1 * total), (total - step) / (0.9 * total))
            loss = torch.nn.functional.cross_entropy(logits(ids, mask), labels)
            loss.backward()
            torch.nn.utils.clip_grad_norm_([p for _, p in named], 1.0)
            optimizer.step()
            optimizer.zero_grad()
            step += 1
        right = [given == label for given, (_, label) in zip(answers(dev), dev)]
        accuracy = sum(right) / len(right)
        print(f"epoch {epoch + 1}: loss {loss.item():.4f}, dev accuracy {accuracy:.4f}", file=sys.stderr, flush=True)
        if accuracy > best:
            best, kept = accuracy, [p.detach().clone() for _, p in named]
    seconds = time.time() - began
    with torch.no_grad():
        for (_, p), value in zip(named, kept):
            p.copy_(value)
    result = {"torch": torch.__version__, "precision": a.precision, "seed": a.seed, "seconds": round(seconds, 1),
              "dev": best, "truth": [names[label] for _, label in test], "answers": [names[i] for i in answers(test)]}
    json.dump(result, open(a.out, "w", encoding="utf-8") if a.out else sys.stdout)


def in_scope_right(truth, answers):
    return [float(t == g) for t, g in zip(truth, answers) if t != OUT_OF_SCOPE]


def predictions(path):
    """Truth and answers of a file predictions/test.jsonl of an Encore run."""
    with open(path, encoding="utf-8") as file:
        lines = [json.loads(line) for line in file]
    return [line["truth"] for line in lines], [line["predicted"] for line in lines]


def compare(a):
    peers = []
    for path in a.compare:
        with open(path, encoding="utf-8") as file:
            result = json.load(file)
        peers.append(in_scope_right(result["truth"], result["answers"]))
    ours = [in_scope_right(*predictions(path)) for path in a.runs]
    count = len(peers[0])
    if any(len(right) != count for right in peers + ours):
        sys.exit("intents_transformers: the files answer test sets of different sizes")
    mean = lambda values: sum(values) / len(values)
    for name, side in (("transformers", peers), ("Encore", ours)):
        print(f"{name}: in-scope accuracy {100 * mean([mean(r) for r in side]):.2f} % "
              f"({', '.join(f'{100 * mean(r):.2f}' for r in side)})")
    rng = random.Random(1)
    draws = []
    for _ in range(2000):
        rows = [rng.randrange(count) for _ in range(count)]
        drawn = lambda side: mean([mean([right[i] for i in rows]) for right in rng.choices(side, k=len(side))])
        draws.append(100 * (drawn(ours) - drawn(peers)))
    draws.sort()
    point = 100 * (mean([mean(r) for r in ours]) - mean([mean(r) for r in peers]))
    print(f"Encore less transformers: {point:+.2f} points, 95 % interval {draws[49]:+.2f} to {draws[1949]:+.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", help="folder of transformers")
    parser.add_argument("--data", help="folder with train.tsv and test.tsv")
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--epochs", type=int, default=5)
    parser.add_argument("--rate", type=float, default=3e-4)
    parser.add_argument("--batch", type=int, default=32)
    parser.add_argument("--precision", choices=["bfloat16", "float32"], default="bfloat16")
    parser.add_argument("--out", help="file for the answers (JSON)")
    parser.add_argument("--compare", nargs="+", help="files of earlier calls, one for each seed")
    parser.add_argument("--runs", nargs="+", help="predictions/test.jsonl of Encore's runs")
    arguments = parser.parse_args()
    if arguments.compare:
        compare(arguments) if arguments.runs else parser.error("--compare needs --runs")
    elif arguments.model and arguments.data:
        fine_tune(arguments)
    else:
        parser.error("expected --model and --data, or --compare and --runs")
