#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Trains on few examples of each intent of CLINC150: draws the training sets, fine-tunes the same folder with SetFit
(Tunstall et al. 2022), and compares its answers with those of Encore's runs.

    python3 tests/bench/few_examples.py draw $ENCORE_DATA/clinc150 --per-class 8 --seed 1 -o few/8-1
    python3 -m venv V && V/bin/pip install torch setfit
    V/bin/python tests/bench/few_examples.py setfit few/8-1 --model all-MiniLM-L6-v2 --out few/8-1/setfit.json
    ENCORE_FEW=$PWD/few/8-1 ./exp run experiments/minilm_few.toml --name few-8-1
    V/bin/python tests/bench/few_examples.py compare few/8-1/setfit.json --runs RUN/predictions/test.jsonl

Called by hand; docs/guides/few_examples.md has its results. `draw` writes train.tsv with --per-class requests of each
of the 150 intents, drawn from train.tsv with the seed, and test.tsv with the 4,500 requests in scope of the test set. No
other example is used, also none of the development set.

`setfit` follows the paper: --pairs positive and as many negative pairs for each example, one epoch, batches of 16,
learning rate 2e-5, then logistic regression. The paper has 20 pairs; fewer take less time. `compare` prints the accuracy of each draw on each side, the means,
and an interval of the difference: a bootstrap over requests and over draws, with both sides on the same ones.
"""
import argparse, json, os, random, sys, time

OUT_OF_SCOPE = "oos"


def read_rows(path):
    with open(path, encoding="utf-8") as file:
        return [line.rstrip("\n").split("\t")[:2] for line in file if "\t" in line]


def write_rows(path, rows):
    with open(path, "w", encoding="utf-8") as file:
        file.writelines("\t".join(row) + "\n" for row in rows)


def draw(a):
    rng = random.Random(a.seed)
    by_intent = {}
    for text, label in read_rows(f"{a.data}/train.tsv"):
        if label != OUT_OF_SCOPE:
            by_intent.setdefault(label, []).append(text)
    chosen = {label: rng.sample(texts, a.per_class) for label, texts in sorted(by_intent.items())}
    rows = [(text, label) for label, texts in chosen.items() for text in texts]
    rng.shuffle(rows)
    os.makedirs(a.out, exist_ok=True)
    write_rows(f"{a.out}/train.tsv", rows)
    write_rows(f"{a.out}/test.tsv", [row for row in read_rows(f"{a.data}/test.tsv") if row[1] != OUT_OF_SCOPE])
    print(f"{a.out}: {len(rows)} examples of {len(chosen)} intents")


def setfit(a):
    import setfit, torch
    from datasets import Dataset
    from setfit import SetFitModel, Trainer, TrainingArguments
    train, test = read_rows(f"{a.data}/train.tsv"), read_rows(f"{a.data}/test.tsv")
    names = sorted({label for _, label in train})
    torch.manual_seed(a.seed)
    model = SetFitModel.from_pretrained(a.model, labels=names)
    model.model_body.max_seq_length = 64
    examples = Dataset.from_dict({"text": [text for text, _ in train], "label": [names.index(label) for _, label in train]})
    arguments = TrainingArguments(batch_size=16, num_epochs=1, num_iterations=a.pairs, body_learning_rate=2e-5, seed=a.seed,
                                  output_dir=a.out + ".checkpoints", save_strategy="no", report_to="none")
    began = time.time()
    Trainer(model=model, args=arguments, train_dataset=examples).train()
    seconds = time.time() - began
    answers = [str(answer) for answer in model.predict([text for text, _ in test], batch_size=64)]
    right = sum(given == label for given, (_, label) in zip(answers, test)) / len(test)
    print(f"{a.out}: accuracy {100 * right:.2f} % after {seconds:.0f} s")
    with open(a.out, "w", encoding="utf-8") as file:
        json.dump({"setfit": setfit.__version__, "torch": torch.__version__, "seconds": round(seconds, 1),
                   "truth": [label for _, label in test], "answers": answers}, file)


def right_of(path):
    """Returns for each request whether the answer is right, from a file of `setfit` or of an Encore run."""
    with open(path, encoding="utf-8") as file:
        if path.endswith(".json"):
            result = json.load(file)
            return [float(truth == given) for truth, given in zip(result["truth"], result["answers"])]
        return [float(line["truth"] == line["predicted"]) for line in map(json.loads, file)]


def compare(a):
    peers, ours = [right_of(path) for path in a.answers], [right_of(path) for path in a.runs]
    if len(peers) != len(ours) or len({len(right) for right in peers + ours}) != 1:
        sys.exit("few_examples: expected one run for each file of SetFit, with answers to the same test set")
    mean = lambda values: sum(values) / len(values)
    for name, side in (("SetFit", peers), ("Encore", ours)):
        print(f"{name}: {100 * mean([mean(r) for r in side]):.2f} % ({', '.join(f'{100 * mean(r):.2f}' for r in side)})")
    differences = [[x - y for x, y in zip(one, other)] for one, other in zip(ours, peers)]
    rng, count, drawn = random.Random(1), len(differences[0]), []
    for _ in range(2000):
        rows = [rng.randrange(count) for _ in range(count)]
        drawn.append(100 * mean([mean([one[i] for i in rows]) for one in rng.choices(differences, k=len(differences))]))
    drawn.sort()
    print(f"Encore less SetFit: {100 * mean([mean(one) for one in differences]):+.2f} points, "
          f"95 % interval {drawn[49]:+.2f} to {drawn[1949]:+.2f}")


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(required=True)
    one = commands.add_parser("draw")
    one.add_argument("data", help="folder of CLINC150")
    one.add_argument("--per-class", type=int, required=True)
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("-o", "--out", required=True, help="folder for train.tsv and test.tsv")
    one.set_defaults(run=draw)
    one = commands.add_parser("setfit")
    one.add_argument("data", help="folder that `draw` wrote")
    one.add_argument("--model", required=True, help="folder of a sentence transformer")
    one.add_argument("--pairs", type=int, default=20, help="positive pairs of each example; as many negative ones")
    one.add_argument("--seed", type=int, default=1)
    one.add_argument("--out", required=True, help="file for the answers (JSON)")
    one.set_defaults(run=setfit)
    one = commands.add_parser("compare")
    one.add_argument("answers", nargs="+", help="files that `setfit` wrote, one for each draw")
    one.add_argument("--runs", nargs="+", required=True, help="predictions/test.jsonl of Encore's runs, in the same order")
    one.set_defaults(run=compare)
    arguments = parser.parse_args()
    arguments.run(arguments)
