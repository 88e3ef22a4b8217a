#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how near a search comes to the minimum, compared with Optuna's TPESampler and random draws: same
spaces, same budgets.

    python3 -m venv V && V/bin/pip install optuna
    V/bin/python tests/bench/search_quality.py [--repeats 100] [--trials 60] [--build build/openmp] [--out samples.json]
    V/bin/python tests/bench/search_quality.py --asha tests/bench/search_table.json    epochs that asha needs

Called by hand; docs/guides/search.md has its results. The decisions of Encore's search come from the program
of search_dialog.cpp. Six functions with known minima: Branin, Hartmann 6, Rosenbrock, Ackley and Levy (4
dimensions each), and a mixed one with a condition (a choice, a whole number, a logarithm, and a number that
one of the choices has). Measured for each is the regret (best value minus minimum) after all trials, by
repeat; the interval of the difference of medians is a bootstrap's, over repeats. --asha reads trained points
from a table, or from a database from which it makes the table (--out; search_table.toml says how): complete
runs of a sweep with [sweep.random], all with the same epochs and a dev/f1 after each. Random search trains
half of them, drawn again in every repeat; asha gets them in another order, and measured is how many epochs it
has spent when a trial is complete that is as good as random search's best. Then asha and Optuna's
SuccessiveHalvingPruner get the same trials in the same order and a third of random search's epochs; of each
the regret is the table's best value less that of its best complete trial.
"""
import argparse, json, math, random, sqlite3, statistics, subprocess


def branin(p):
    x, y = p["x0"], p["x1"]
    return (y - 5.1 / (4 * math.pi**2) * x * x + 5 / math.pi * x - 6) ** 2 + 10 * (1 - 1 / (8 * math.pi)) * math.cos(x) + 10


A6 = [[10, 3, 17, 3.5, 1.7, 8], [0.05, 10, 17, 0.1, 8, 14], [3, 3.5, 1.7, 10, 17, 8], [17, 8, 0.05, 10, 0.1, 14]]
P6 = [[1312, 1696, 5569, 124, 8283, 5886], [2329, 4135, 8307, 3736, 1004, 9991],
      [2348, 1451, 3522, 2883, 3047, 6650], [4047, 8828, 8732, 5743, 1091, 381]]


def hartmann6(p):
    return -sum(c * math.exp(-sum(a * (p[f"x{j}"] - q * 1e-4) ** 2 for j, (a, q) in enumerate(zip(A, P))))
                for c, A, P in zip([1.0, 1.2, 3.0, 3.2], A6, P6))


def values(p, count):
    return [p[f"x{i}"] for i in range(count)]


def rosenbrock(p):
    x = values(p, 4)
    return sum(100 * (b - a * a) ** 2 + (1 - a) ** 2 for a, b in zip(x, x[1:]))


def ackley(p):
    x = values(p, 4)
    return (-20 * math.exp(-0.2 * math.sqrt(sum(v * v for v in x) / 4)) -
            math.exp(sum(math.cos(2 * math.pi * v) for v in x) / 4) + 20 + math.e)


def levy(p):
    w = [1 + (v - 1) / 4 for v in values(p, 4)]
    return (math.sin(math.pi * w[0]) ** 2 +
            sum((v - 1) ** 2 * (1 + 10 * math.sin(math.pi * v + 1) ** 2) for v in w[:-1]) +
            (w[-1] - 1) ** 2 * (1 + math.sin(2 * math.pi * w[-1]) ** 2))


def mixed(p):
    common = 0.3 * (math.log10(p["rate"]) + 3) ** 2 + 0.02 * (p["layers"] - 7) ** 2
    if p["kind"] == 0:
        return common + 2 * (p["momentum"] - 0.8) ** 2
    return common + (0.4 if p["kind"] == 1 else 1.0)


def box(count, low, high):
    return [{"key": f"x{i}", "law": "uniform", "low": low, "high": high} for i in range(count)]


FUNCTIONS = {
    "branin": (branin, 0.39788735772973816,
               [{"key": "x0", "law": "uniform", "low": -5, "high": 10}, {"key": "x1", "law": "uniform", "low": 0, "high": 15}]),
    "hartmann6": (hartmann6, -3.322368011391339, box(6, 0, 1)),
    "rosenbrock": (rosenbrock, 0.0, box(4, -2, 2)),
    "ackley": (ackley, 0.0, box(4, -10, 10)),
    "levy": (levy, 0.0, box(4, -10, 10)),
    "mixed": (mixed, 0.0, [{"key": "kind", "law": "choice", "values": ["a", "b", "c"]},
                           {"key": "rate", "law": "log_uniform", "low": 1e-6, "high": 1.0},
                           {"key": "layers", "law": "int", "low": 1, "high": 24},
                           {"key": "momentum", "law": "uniform", "low": 0.0, "high": 1.0}]),
}


class Dialog:
    def __init__(self, build):
        self.process = subprocess.Popen([f"{build}/bin/tests/search_dialog"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)

    def say(self, what):
        self.process.stdin.write(json.dumps(what) + "\n")
        self.process.stdin.flush()

    def search(self, space, trials, train, **settings):
        """Calls train(trial, point, epochs) for each decision; it returns a value and the absent variables."""
        self.say({"space": space, "trials": trials, "settings": {
            "pruning": "none", "epochs": 1, "objectives": [{"metric": "loss", "maximize": False}]} | settings})
        while wanted := json.loads(self.process.stdout.readline()):
            value, absent = train(wanted["trial"], wanted["point"], wanted["epochs"])
            self.say({"value": value, "absent": absent})


def ours(dialog, method, name, trials, seed):
    function, minimum, space = FUNCTIONS[name]
    best = math.inf

    def train(trial, point, epochs):
        nonlocal best
        value = function(point)
        best = min(best, value)
        return value, ["momentum"] if point.get("kind", 0) != 0 else []
    dialog.search(space, trials, train, method=method, seed=seed, startup=10)
    return best - minimum


def optuna_tpe(name, trials, seed):
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    function, minimum, space = FUNCTIONS[name]

    def objective(trial):
        point = {}
        for one in space:
            if one["key"] == "momentum" and point["kind"] != 0:
                continue
            if one["law"] == "choice":
                point[one["key"]] = trial.suggest_categorical(one["key"], list(range(len(one["values"]))))
            elif one["law"] == "int":
                point[one["key"]] = trial.suggest_int(one["key"], one["low"], one["high"])
            else:
                point[one["key"]] = trial.suggest_float(one["key"], one["low"], one["high"], log=one["law"] == "log_uniform")
        return function(point)
    study = optuna.create_study(sampler=optuna.samplers.TPESampler(seed=seed))
    study.optimize(objective, n_trials=trials)
    return study.best_value - minimum


def interval(a, b, rounds=10000):
    """The 95 % interval of the difference of the medians of two samples, a minus b."""
    draw = random.Random(1)
    differences = sorted(statistics.median(draw.choices(a, k=len(a))) - statistics.median(draw.choices(b, k=len(b)))
                         for _ in range(rounds))
    return differences[int(0.025 * rounds)], differences[int(0.975 * rounds)]


def compare(arguments):
    dialog = Dialog(arguments.build)
    samples = {}
    print(f"median regret after {arguments.trials} trials, {arguments.repeats} repeats")
    print(f"{'function':12}{'random':>10}{'halton':>10}{'tpe':>10}{'optuna':>10}   tpe - optuna, 95 %      upper end / random")
    for name in arguments.functions:
        regret = {method: [ours(dialog, method, name, arguments.trials, seed) for seed in range(arguments.repeats)]
                  for method in ("random", "quasi_random", "tpe")}
        regret["optuna"] = [optuna_tpe(name, arguments.trials, seed) for seed in range(arguments.repeats)]
        samples[name] = regret
        median = {method: statistics.median(sample) for method, sample in regret.items()}
        low, high = interval(regret["tpe"], regret["optuna"])
        print(f"{name:12}" + "".join(f"{median[m]:10.4g}" for m in ("random", "quasi_random", "tpe", "optuna")) +
              f"   {low:9.3g} to {high:9.3g}   {100 * high / median['random']:6.1f} %", flush=True)
    if arguments.out:
        json.dump(samples, open(arguments.out, "w"))


def curves_of(database):
    """Returns, for each complete run, the best dev/f1 so far after each epoch: the score of its best checkpoint."""
    rows = sqlite3.connect(f"file:{database}?mode=ro", uri=True).execute(
        "SELECT run.number, value FROM current_point JOIN run ON run.number = current_point.run JOIN metric ON metric.number = metric "
        "WHERE metric.name = 'dev/f1' AND run.state = 'completed' ORDER BY run.number, step").fetchall()
    curves = {}
    for run, value in rows:
        curve = curves.setdefault(run, [])
        curve.append(max([value] + curve[-1:]))
    return list(curves.values())


def table_of(path, out):
    if path.endswith(".json"):
        return json.load(open(path))
    # Four digits: a curve is a score on a few hundred names.
    curves = [[round(value, 4) for value in curve] for curve in curves_of(path)]
    if out:
        with open(out, "w") as file:
            file.write("[\n" + ",\n".join(json.dumps(curve) for curve in curves) + "\n]\n")
    return curves


def optuna_halving(given, budget):
    """Returns the best complete trial of Optuna's SuccessiveHalvingPruner within that number of epochs."""
    import optuna
    optuna.logging.set_verbosity(optuna.logging.ERROR)
    spent, best = 0, 0.0

    def objective(trial):
        nonlocal spent, best
        curve = given[trial.number]
        for epoch, value in enumerate(curve, 1):
            spent += 1
            trial.report(value, epoch)
            if epoch < len(curve) and trial.should_prune():
                raise optuna.TrialPruned()
        if spent <= budget:
            best = max(best, curve[-1])
        return curve[-1]
    pruner = optuna.pruners.SuccessiveHalvingPruner(min_resource=1, reduction_factor=3)
    study = optuna.create_study(direction="maximize", sampler=optuna.samplers.RandomSampler(seed=1), pruner=pruner)
    while spent < budget and len(study.trials) < len(given):
        study.optimize(objective, n_trials=1)
    return best


def asha(arguments):
    curves = table_of(arguments.asha, arguments.out)
    epochs = len(curves[0])
    assert all(len(curve) == epochs for curve in curves), "runs with other epochs"
    half = len(curves) // 2
    dialog = Dialog(arguments.build)
    budget, highest = half * epochs // 3, max(curve[-1] for curve in curves)
    shares, regret = [], {"random": [], "asha": [], "optuna": []}
    for seed in range(arguments.repeats):
        order = random.Random(seed)
        target = max(curve[-1] for curve in order.sample(curves, half))
        given = order.sample(curves, len(curves))
        spent, done, reached, best = 0, {}, None, 0.0

        def train(trial, point, until):
            nonlocal spent, reached, best
            spent += until - done.get(trial, 0)
            done[trial] = until
            if reached is None and until == epochs and given[trial][-1] >= target:
                reached = spent
            if until == epochs and spent <= budget:
                best = max(best, given[trial][-1])
            return given[trial][until - 1], []
        dialog.search([{"key": "x", "law": "uniform", "low": 0, "high": 1}], len(curves), train, method="random", seed=seed, epochs=epochs,
                      pruning="asha", first_rung=1, eta=3, objectives=[{"metric": "dev/f1", "maximize": True}])
        shares.append((reached or math.inf) / (half * epochs))
        regret["random"].append(highest - max(curve[-1] for curve in given[:budget // epochs]))
        regret["asha"].append(highest - best)
        regret["optuna"].append(highest - optuna_halving(given, budget))
    shares.sort()
    print(f"{len(curves)} points of {epochs} epochs; asha spends, of the {half * epochs} epochs of random search, until it is as good: "
          f"median {statistics.median(shares):.3f}, best {shares[0]:.3f}, worst {shares[-1]:.3f} of {len(shares)} repeats")
    median = {method: statistics.median(sample) for method, sample in regret.items()}
    low, high = interval(regret["asha"], regret["optuna"])
    print(f"median regret after {budget} epochs: random {median['random']:.4f}, asha {median['asha']:.4f}, Optuna {median['optuna']:.4f}; "
          f"asha less Optuna {low:.4f} to {high:.4f} (95 %), upper end {100 * high / median['random']:.1f} % of random's")


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repeats", type=int, default=100)
    parser.add_argument("--trials", type=int, default=60)
    parser.add_argument("--build", default="build/openmp")
    parser.add_argument("--functions", nargs="*", default=list(FUNCTIONS))
    parser.add_argument("--asha", metavar="TABLE")
    parser.add_argument("--out")
    arguments = parser.parse_args()
    asha(arguments) if arguments.asha else compare(arguments)


if __name__ == "__main__":
    main()
