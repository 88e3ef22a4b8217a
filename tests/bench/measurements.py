# SPDX-License-Identifier: BSD-3-Clause
"""The measurements of compare.py: each Measurement is one program that is started once, and its answer.
rows.py computes the rows from the answers. Names of measurements and members of answers are stored in the
samples of compare.py (--out), so they stay.
"""
import dataclasses, json, os, re, sqlite3, subprocess, sys, typing

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.abspath(__file__))))
HERE = os.path.join(ROOT, "tests", "bench")
MODELS = {"seed": {"layers": 12, "width": 384, "heads": 6, "hidden": 768, "residual_norm": True},
          "small": {"layers": 4, "width": 256, "heads": 4, "hidden": 768, "residual_norm": False}}
# PyTorch's modes: (batching, dtype), each with every allocator. The fastest of a round counts.
TORCH_MODES = {"float32": [("sorted", "fp32"), ("unpadded", "fp32")],
               "bfloat16": [("sorted", "bf16"), ("sorted", "bf16-weights"), ("unpadded", "bf16"), ("unpadded", "bf16-weights")]}
FULL_LENGTH, BATCH, MEMORY_STEPS = 256, 32, 4
QUALITY_SEEDS = 5


class Failure(Exception):
    """A program that is missing, ends with an error, takes too long or gives an unexpected answer; the message names it."""


@dataclasses.dataclass
class Measurement:
    name: str
    seconds: float  # an estimate for two quiet cores, used until this machine has measured its own time
    measure: typing.Callable[[], dict]
    rounds: int = 10**9  # it takes part in at most this number of rounds


def child(command, env, patience=900.0):
    """Runs a program and returns its output."""
    try:
        done = subprocess.run(command, capture_output=True, text=True, env=env, timeout=patience)
    except FileNotFoundError as error:
        raise Failure(f"program {error.filename} is missing") from None
    except subprocess.TimeoutExpired:
        raise Failure(f"{os.path.basename(command[0])} took more than {patience:.0f} s: {' '.join(command)}") from None
    if done.returncode != 0:
        last = (done.stderr.strip() or done.stdout.strip() or "it said nothing").splitlines()[-1]
        raise Failure(f"{last} (exit code {done.returncode}: {' '.join(command)})")
    return done.stdout


def answer_of(text, command):
    """Returns the JSON object in a program's output."""
    try:
        return json.loads(text)
    except ValueError:
        raise Failure(f"its answer is not JSON: {text[-200:]!r} ({' '.join(command)})") from None


def take_sentences(source, target, count):
    """Copies the first `count` sentences of a CoNLL file."""
    with open(source, encoding="utf-8") as lines, open(target, "w", encoding="utf-8") as out:
        for line in lines:
            out.write(line)
            count -= not line.strip()
            if count == 0:
                return


def join_sentences(source, target, count, words):
    """Writes `count` sentences of `words` words each from those of a CoNLL file, which repeat if they are too few."""
    with open(source, encoding="utf-8") as lines:
        tagged = [line.strip() for line in lines if line.strip()]
    with open(target, "w", encoding="utf-8") as out:
        for number in range(count):
            out.writelines(tagged[(number * words + k) % len(tagged)] + "\n" for k in range(words))
            out.write("\n")


class Workshop:
    """The folder of one run of compare.py, and every program that is started in it."""

    def __init__(self, arguments, folder):
        self.a, self.folder = arguments, folder
        # The environment here must not bind or silence any program: each runs with its own defaults.
        self.env = {k: v for k, v in os.environ.items() if not k.startswith(("OMP_", "GOMP_", "KMP_", "KOKKOS_"))}
        self.env |= {"ENCORE_DATA": os.path.dirname(self.a.data), "ENCORE_CACHE": os.path.join(folder, "cache")}
        self.tokens = 896  # in a batch of the seed model: a guess until bench() has measured Encore's batches
        self.limit_program = None

    # --- data ------------------------------------------------------------------------------------------------

    def folder_of_data(self, name, fill):
        folder = os.path.join(self.folder, name)
        if not os.path.isdir(folder):
            os.makedirs(folder)
            for part in ("dev", "test"):
                take_sentences(os.path.join(self.a.data, part + ".conll"), os.path.join(folder, part + ".conll"), BATCH)
            fill(os.path.join(self.a.data, "train.conll"), os.path.join(folder, "train.conll"))
        return folder

    def speed_data(self):
        """Copies the whole training set, and one batch of the other sets, which are not used here."""
        return self.folder_of_data("speed", os.symlink)

    def full_data(self):
        """Makes a few batches in which every sequence fills all its tokens: both programs cut the surplus words."""
        return self.folder_of_data("full", lambda source, target: join_sentences(source, target, MEMORY_STEPS * BATCH, FULL_LENGTH))

    # --- Encore ----------------------------------------------------------------------------------------------

    def settings(self, model, data):
        values = {"data.root": data, "tokenizer.vocab": self.a.vocab, "tokenizer.lowercase": str(not self.a.cased).lower(),
                  "model.layers": model["layers"], "model.width": model["width"], "model.layer.attention.heads": model["heads"],
                  "model.layer.feed_forward.hidden": model["hidden"], "model.head.residual_norm": str(model["residual_norm"]).lower()}
        return [part for key, value in values.items() for part in ("-S", f"{key}={value}")]

    def encore(self, model, precision, threads, extra=()):
        answer = self.bench("seed_ner.toml", precision, threads, [*self.settings(MODELS[model], self.speed_data()), *extra])
        if model == "seed":
            self.tokens = round(answer["steps"][0]["tokens"])
        return answer

    def encore_translation(self, precision):
        return self.bench("multi30k.toml", precision, str(self.a.threads), ["-S", f"data.root={self.a.multi30k}"])

    def encore_tuning(self, precision):
        return self.bench("minilm_wnut17.toml", precision, str(self.a.threads), ["-S", f"data.root={self.a.wnut17}", "-S", f"model.from={self.a.minilm}"])

    def bench(self, experiment, precision, threads, settings):
        """Runs one `exp bench`: medians and samples of its steps, and its notes about noise."""
        command = [self.a.exp, "bench", os.path.join(ROOT, "experiments", experiment), "--db", os.path.join(self.folder, "bench.db"),
                   "--json", "--quiet", "--rounds", str(self.a.inner_rounds), "--batches", str(self.a.batches), "--precision", precision,
                   "--threads", threads, *settings]
        result = answer_of(child(command, self.env), command)
        steps = []
        for step in result["summary"]["steps"]:
            case = next(c for c in result["cases"] if c["name"] == step["name"])
            entry = {key: step[key]["median"] for key in ("tokens_per_second", "step_seconds", "matmul_seconds", "gemm_seconds", "step_over_matmul")}
            entry |= {"matmul_flops": step["matmul_flops"], "threads": step["settings"]["threads"], "tokens": case["facts"]["tokens"],
                      "price_of_order": step.get("price_of_order", {}).get("median"),
                      "samples": {name: case["samples"][name] for name in ("step", "matmul", "gemm") if name in case["samples"]}}
            steps.append(entry)
        environment = case["environment"]
        return {"steps": steps, "notes": result["notes"], "places": result["settings"].get("places"),
                "peaks": peaks_of(result["summary"]["machines"]),
                "environment": {key: environment.get(key) for key in ("device", "gemm", "instruction_set", "compiler")}}

    def encore_memory(self):
        """Returns the peak memory of a training in which every batch holds 32 sequences of 256 tokens."""
        database = os.path.join(self.folder, f"memory-{len(os.listdir(self.folder))}.db")
        command = [self.a.exp, "run", os.path.join(ROOT, "experiments", "seed_ner.toml"), "--db", database, "--quiet",
                   *self.settings(MODELS["seed"], self.full_data()), "-S", f"data.max_length={FULL_LENGTH}", "-S", "train.epochs=1",
                   "-S", f"train.batch_size={BATCH}", "--threads", str(self.a.threads)]
        # The peak of the largest process among the command and its children: a process in between asks for it.
        script = ("import resource,subprocess,sys; code=subprocess.run(sys.argv[1:],stdout=subprocess.DEVNULL).returncode;"
                  "print(resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss); sys.exit(code)")
        return {"peak_bytes": int(child([sys.executable, "-c", script, *command], self.env).split()[-1]) * 1024}

    def first_step(self):
        answer = self.script("first_step.py", ["--exp", self.a.exp, "--experiment", os.path.join(ROOT, "experiments", "wikineural.toml"), "--rounds", "1"])
        return {kind: turns[0]["step_1"] for kind, turns in answer.items()}

    def quality(self):
        """Returns test F1 by precision and seed, from databases that hold them, or else from runs that it trains now, or resumes if they were interrupted."""
        if len(shared_seeds(scores := read_scores(self.a.quality_db))) < QUALITY_SEEDS:
            command = [self.a.exp, "run", os.path.join(ROOT, "experiments", "precision.toml"), "--db", self.a.quality_db[-1], "--quiet"]
            child(command, self.env, patience=48 * 3600.0)
            scores = read_scores(self.a.quality_db)
        if len(seeds := shared_seeds(scores)) < QUALITY_SEEDS:
            raise Failure(f"{', '.join(self.a.quality_db)}: {len(seeds)} seeds completed in both precisions; {QUALITY_SEEDS} are needed")
        return {precision: [scores[precision][seed] for seed in seeds] for precision in scores}

    # --- peers -----------------------------------------------------------------------------------------------

    def torch(self, model, batching, dtype, data, steps, extra=(), allocator=""):
        shape = MODELS[model]
        command = [sys.executable, self.a.torch_ner, "--data", data, "--vocab", self.a.vocab, "--batching", batching, "--dtype", dtype,
                   "--steps", str(steps), "--layers", str(shape["layers"]), "--width", str(shape["width"]), "--heads", str(shape["heads"]),
                   "--ffn", str(shape["hidden"]), "--batch", str(BATCH), "--threads", str(self.a.threads), *extra]
        command += ["--cased"] * self.a.cased + ["--residual-norm"] * shape["residual_norm"]
        return self.peer(command, allocator)

    def peer(self, command, allocator=""):
        """Returns the JSON object in the last line that a script of PyTorch prints. `allocator`: a library to preload, or empty."""
        lines = child(command, {**self.env, "LD_PRELOAD": allocator} if allocator else self.env).strip().splitlines()
        return answer_of(lines[-1] if lines else "", command)

    def torch_translation(self, dtype, allocator):
        return self.peer([sys.executable, self.a.torch_translate, "--data", self.a.multi30k, "--steps", str(self.a.torch_steps), "--dtype", dtype],
                         allocator)

    def torch_tuning(self, dtype, allocator):
        return self.peer([sys.executable, self.a.hf_ner, "--model", self.a.minilm, "--data", self.a.wnut17, "--steps", str(self.a.torch_steps),
                          "--dtype", dtype], allocator)

    def torch_speed(self, model, batching, dtype, allocator):
        return self.torch(model, batching, dtype, self.speed_data(), self.a.torch_steps, allocator=allocator)

    def torch_products(self):
        """GFLOP/s of the seed model's products as PyTorch computes them, by precision, with as many tokens as Encore's batches have."""
        answer = self.peer([sys.executable, self.a.torch_products, "--rows", str(self.tokens), "--threads", str(self.a.threads)])
        return {"tokens": self.tokens, **{precision: answer[precision]["all"] for precision in ("float32", "bfloat16")}}

    def torch_memory(self):
        """Returns PyTorch's peak on the same sequences (the smaller one of both allocators), and its memory without a model."""
        peak = min(self.torch("seed", "fixed", "fp32", self.full_data(), MEMORY_STEPS, ["--max-length", str(FULL_LENGTH)], library)["peak_mb"]
                   for _, library in allocators(self.a))
        script = "import resource, torch, numpy, tokenizers; print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss)"
        return {"peak_bytes": peak * 2**20, "empty_bytes": int(child([sys.executable, "-c", script], self.env)) * 1024}

    def limit(self):
        """Runs the frozen program with the number of tokens in Encore's batches: seconds of the products of a step, by precision."""
        if self.limit_program is None:
            self.limit_program = self.a.matmul_limit
            if self.limit_program.endswith(".cpp"):
                self.limit_program = os.path.join(self.folder, "matmul_limit")
                child(["g++", "-O3", "-march=native", "-std=c++17", "-fopenmp", self.a.matmul_limit, "-ldnnl", "-o", self.limit_program], self.env)
        # Pinned as Encore's worker is: the limit must be as low as possible.
        env = {**self.env, "OMP_NUM_THREADS": str(self.a.threads), "OMP_PROC_BIND": "close", "OMP_PLACES": "cores"}
        output = child([self.limit_program, str(self.tokens)], env)
        found = {name: float(ms) / 1e3 for name, ms in re.findall(r"(float32|bfloat16)\s+tokens \d+: ([\d.]+) ms", output)}
        if len(found) < 2:
            raise Failure(f"matmul_limit gave an unexpected answer: {output[-200:]!r}")
        return {"tokens": self.tokens, **found}

    def script(self, name, arguments):
        """Runs one of the comparisons beside this file and returns its samples."""
        samples = os.path.join(self.folder, name + ".json")
        child([sys.executable, os.path.join(HERE, name), *arguments, "--out", samples], self.env)
        with open(samples, encoding="utf-8") as text:
            return json.load(text)

    def wordpiece(self):
        tool = os.path.join(self.a.build, "bin", "tests", "wordpiece_speed")
        answer = self.script("against_tokenizers.py", ["--tool", tool, "--vocab", self.a.vocab, "--rounds", "1", "--text",
                                                       os.path.join(self.a.data, "train.conll"), *["--cased"] * self.a.cased])
        return {who: answer["lines"] / answer["rounds"][0][who]["wall"] for who in ("encore", "tokenizers")}

    def attention(self):
        tool = os.path.join(self.a.build, "bin", "tests", "attention_speed")
        answer = self.script("against_attention.py", ["--tool", tool, "--rounds", "1", "--threads", str(self.a.threads)])
        return {sample["precision"]: {who: sample[who] for who in ("encore", "torch")} for sample in answer["rounds"]}


def peaks_of(machines):
    """Returns the peaks of the first machine of an `exp bench`: operations per second by precision, and bytes per second from memory."""
    if not machines:
        return {}
    peaks = {}
    for entry in machines[0]["core_peaks"]:
        peaks[entry["precision"]] = max(peaks.get(entry["precision"], 0.0), entry["flops_per_second"]["median"])
    return {**peaks, "triad": machines[0]["triad_bytes_per_second"]["median"]}


def processor():
    """Returns name, family and model of the CPU, because one name may mean several designs."""
    fields = {}
    with open("/proc/cpuinfo", encoding="utf-8") as lines:
        for line in lines:
            key, _, value = line.partition(":")
            fields.setdefault(key.strip(), value.strip())
    return "{} (family {}, model {}, stepping {})".format(*(fields.get(key, "unknown") for key in ("model name", "cpu family", "model", "stepping")))


def read_scores(databases):
    """{precision: {seed: test F1}} of completed runs on wikineural_en."""
    scores = {"float32": {}, "bfloat16": {}}
    for path in databases:
        if not os.path.exists(path):
            continue
        connection = sqlite3.connect(f"file:{os.path.abspath(path)}?mode=ro", uri=True)
        try:
            rows = connection.execute(
                "SELECT precision.value, run.seed, run.result FROM run JOIN param AS precision ON precision.run = run.number"
                " AND precision.key = 'train.precision' JOIN param AS root ON root.run = run.number AND root.key = 'data.root'"
                " WHERE run.state = 'completed' AND run.removed IS NULL AND root.value LIKE '%wikineural_en'").fetchall()
        except sqlite3.Error as error:
            raise Failure(f"cannot read {path}: {error}") from None
        finally:
            connection.close()
        for precision, seed, result in rows:
            scores.setdefault(precision, {})[seed] = json.loads(result)["measures"]["test/f1"]
    return scores


def shared_seeds(scores):
    return sorted(scores["float32"].keys() & scores["bfloat16"].keys())


def allocators(a):
    """[(suffix of a measurement's name, library to preload)]: that of the C library, and the faster one where there is one."""
    return [("", "")] + ([("_allocator", a.torch_allocator)] if a.torch_allocator else [])


def peers_of_tasks(a, shop, scale):
    """Measures training of a translation and fine-tuning of a folder: each peer in both types, of which the faster counts."""
    some, found = 3, []
    for task, named, ours, theirs, seconds in (("translation", a.torch_translate and a.multi30k, shop.encore_translation, shop.torch_translation, 1.9),
                                               ("tuning", a.hf_ner and a.minilm and a.wnut17, shop.encore_tuning, shop.torch_tuning, 1.1)):
        if not named:
            continue
        for precision, dtype in (("float32", "fp32"), ("bfloat16", "bf16")):
            found.append(Measurement(f"encore_{task}_{precision}", 25 * scale, lambda p=precision, run=ours: run(p), some))
            for name, library in allocators(a):
                found.append(Measurement(f"torch_{task}_{dtype}{name}", 15 + seconds * a.torch_steps,
                                         lambda d=dtype, l=library, run=theirs: run(d, l), some))
    return found


def measurements(a, shop):
    """Returns all measurements in the order of a round, compared ones side by side. Their seconds are those of two cores of a virtual AMD EPYC."""
    every, some = 10**9, 3
    scale = (a.inner_rounds + 1) / 3 * a.batches / 8
    found = []
    add = lambda *arguments: found.append(Measurement(*arguments))
    for model, weight in (("seed", 1.0), ("small", 0.25)):
        for precision, seconds in (("float32", 22), ("bfloat16", 17)):
            order = ["--order-cost"] if model == "seed" and precision == "float32" else []
            add(f"encore_{model}_{precision}", seconds * scale * weight + 2,
                lambda m=model, p=precision, o=order: shop.encore(m, p, str(a.threads), o), every)
            if a.torch_ner:
                for batching, dtype in TORCH_MODES[precision]:
                    seconds = 8 + a.torch_steps * weight * (0.5 if precision == "float32" else 0.36)
                    for name, library in allocators(a):
                        add(f"torch_{model}_{precision}_{batching}_{dtype}{name}", seconds,
                            lambda m=model, b=batching, d=dtype, l=library: shop.torch_speed(m, b, d, l), every)
        if model == "seed" and a.torch_products:
            add("torch_products", 6, shop.torch_products, every)
        if model == "seed" and a.matmul_limit:
            add("limit", 6, shop.limit, every)
    found += peers_of_tasks(a, shop, scale)
    if a.threads > 1:
        add("encore_threads", 30 * scale, lambda: shop.encore("seed", "float32", f"1,{a.threads}"), some)
    add("encore_memory", 14, shop.encore_memory, some)
    if a.torch_ner:
        add("torch_memory", 32 * len(allocators(a)), shop.torch_memory, some)
    add("wordpiece", 4, shop.wordpiece, some)
    add("attention", 5, shop.attention, some)
    add("first_step", 5, shop.first_step, some)
    add("quality", 3600, shop.quality, 1)
    return found
