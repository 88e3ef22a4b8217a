# SPDX-License-Identifier: BSD-3-Clause
"""The rows that compare.py judges: which measurements (measurements.py) each needs, its number in one round,
its bar, and the tables. A bar is the value that Encore must reach; docs/internals/peers.md explains the bars
and holds the printed tables.
"""
import dataclasses, math, statistics, typing

MEGA = 2.0**20


@dataclasses.dataclass
class Row:
    name: str
    what: str
    needs: list  # names of measurements, or beginnings of names; each entry must match one
    value: typing.Callable[[dict], float]  # computes the row's number from the answers of one round
    bar: typing.Optional[tuple] = None  # ("<=", bar, beyond or None)
    form: str = "{:.3f}"
    asked_only: bool = False  # takes hours: only where --only names it


def step(sample, name):
    return sample[name]["steps"][0]


def over_torch(model, precision):
    def value(sample):
        theirs = [v["real_tokens_per_second"] for k, v in sample.items() if k.startswith(f"torch_{model}_{precision}_")]
        return step(sample, f"encore_{model}_{precision}")["tokens_per_second"] / max(theirs)
    return value


def products_over_torch(precision):
    """Compares rates, because a round may have measured PyTorch with other numbers of tokens."""
    def value(sample):
        ours = step(sample, f"encore_seed_{precision}")
        return ours["matmul_flops"] / ours["gemm_seconds"] / 1e9 / sample["torch_products"][precision]
    return value


def over_torch_in(task, precision):
    """Divides by the rate of PyTorch's faster precision, whatever Encore's precision is."""
    def value(sample):
        theirs = [sample[name]["real_tokens_per_second"] for name in sample if name.startswith(f"torch_{task}_")]
        return step(sample, f"encore_{task}_{precision}")["tokens_per_second"] / max(theirs)
    return value


def over_own_products(precision):
    def value(sample):
        ours = step(sample, f"encore_seed_{precision}")
        return ours["step_seconds"] / ours["gemm_seconds"]
    return value


def products_over_peak(precision):
    """Returns None if the machine's peak of that precision was not measured."""
    def value(sample):
        ours, peak = step(sample, f"encore_seed_{precision}"), sample[f"encore_seed_{precision}"]["peaks"].get(precision)
        return ours["matmul_flops"] / ours["gemm_seconds"] / peak if peak else None
    return value


def over_frozen(precision):
    """Compares values per token, because a round may have measured the frozen program with other numbers of tokens."""
    def value(sample):
        ours = step(sample, f"encore_seed_{precision}")
        return ours["step_seconds"] / ours["tokens"] / (sample["limit"][precision] / sample["limit"]["tokens"])
    return value


def gain_over_that_of_products(sample):
    few, many = sorted(sample["encore_threads"]["steps"], key=lambda s: s["threads"])
    return few["step_seconds"] / many["step_seconds"] / (few["matmul_seconds"] / many["matmul_seconds"])


def slower_half_of_attention(precision):
    def value(sample):
        s = sample["attention"][precision]
        return min(statistics.median(s["torch"][half]) / statistics.median(s["encore"][half]) for half in ("forward", "backward"))
    return value


def rows():
    found = []
    # On processors without AMX; with it bfloat16 is to reach 4.5 times PyTorch's tokens a second.
    bars = {"float32": (("<=", 1.12, 1.08), (">=", 1.8, 1.9)), "bfloat16": (("<=", 1.18, 1.12), (">=", 2.0, 2.4))}
    for p in ("float32", "bfloat16"):
        found.append(Row(f"own_{p}", f"step over its matrix products alone, as Encore computes them, {p}", [f"encore_seed_{p}"],
                         over_own_products(p), bars[p][0]))
    for p in ("float32", "bfloat16"):
        found.append(Row(f"step_{p}", f"the same, as oneDNN computes them, {p}", [f"encore_seed_{p}"],
                         lambda s, p=p: step(s, f"encore_seed_{p}")["step_over_matmul"]))
    for p in ("float32", "bfloat16"):
        found.append(Row(f"peak_{p}", f"Encore's products over the measured peak of the cores, {p}", [f"encore_seed_{p}"],
                         products_over_peak(p), (">=", 0.92, None)))
    for p in ("float32", "bfloat16"):
        found.append(Row(f"frozen_{p}", f"step over the frozen program's products, {p}", [f"encore_seed_{p}", "limit"], over_frozen(p)))
    for p, bar in (("float32", None), ("bfloat16", (">=", 1.0, 1.2))):
        found.append(Row(f"products_{p}", f"the seed model's products over PyTorch's, {p}", [f"encore_seed_{p}", "torch_products"],
                         products_over_torch(p), bar, "{:.2f}"))
    for p in ("float32", "bfloat16"):
        found.append(Row(f"torch_{p}", f"real tokens/s over PyTorch's fastest mode, {p}", [f"encore_seed_{p}", f"torch_seed_{p}_"],
                         over_torch("seed", p), bars[p][1], "{:.2f}"))
    for p in ("float32", "bfloat16"):
        found.append(Row(f"small_{p}", f"the same for the small model (4 layers, width 256), {p}", [f"encore_small_{p}", f"torch_small_{p}_"],
                         over_torch("small", p), (">=", 2.0, 3.0), "{:.2f}"))
    for task, what, bars in (("translation", "training of multi30k.toml, tokens/s over PyTorch's faster type", (2.0, 2.5)),
                             ("tuning", "fine-tuning of minilm_wnut17.toml, tokens/s over transformers' faster type", (1.4, 2.5))):
        for p, bar in zip(("float32", "bfloat16"), bars):
            found.append(Row(f"{task}_{p}", f"{what}, {p}", [f"encore_{task}_{p}", f"torch_{task}_fp32", f"torch_{task}_bf16"],
                             over_torch_in(task, p), (">=", bar, None), "{:.2f}"))
    mean = statistics.mean
    return found + [
        Row("quality", "absolute difference of the mean test F1 of 5 seeds between float32 and bfloat16, in points", ["quality"],
            lambda s: 100.0 * abs(mean(s["quality"]["float32"]) - mean(s["quality"]["bfloat16"])), ("<=", 0.7, None), "{:.2f}", True),
        Row("memory", "peak of the whole process, 32 x 256 full tokens, over PyTorch's", ["encore_memory", "torch_memory"],
            lambda s: s["encore_memory"]["peak_bytes"] / s["torch_memory"]["peak_bytes"], ("<=", 0.5, None)),
        Row("memory_net", "the same, after subtracting from PyTorch's peak what its process holds without a model", ["encore_memory", "torch_memory"],
            lambda s: s["encore_memory"]["peak_bytes"] / (s["torch_memory"]["peak_bytes"] - s["torch_memory"]["empty_bytes"])),
        Row("order", "price of the fixed order, all reductions, % of a step", ["encore_seed_float32"],
            lambda s: 100.0 * step(s, "encore_seed_float32")["price_of_order"], ("<=", 2.0, None), "{:.1f}"),
        Row("threads", "speed-up of a step by all threads, over that of its products alone", ["encore_threads"],
            gain_over_that_of_products, (">=", 0.95, None)),
        Row("wordpiece", "WordPiece lines/s over the package tokenizers, one thread each", ["wordpiece"],
            lambda s: s["wordpiece"]["encore"] / s["wordpiece"]["tokenizers"], (">=", 2.0, 4.0), "{:.1f}"),
        Row("attention_float32", "attention at 512 tokens over PyTorch's, its slower half, float32", ["attention"],
            slower_half_of_attention("float32"), (">=", 1.0, None), "{:.2f}"),
        Row("attention_bfloat16", "the same in bfloat16", ["attention"], slower_half_of_attention("bfloat16"), (">=", 1.0, None), "{:.2f}"),
        Row("first_step_warm", "seconds from the command to the end of the first step, tokens cached", ["first_step"],
            lambda s: s["first_step"]["warm"], ("<=", 0.45, 0.3), "{:.2f}"),
        Row("first_step_cold", "the same without the cache", ["first_step"], lambda s: s["first_step"]["cold"], ("<=", 2.0, None), "{:.2f}"),
    ]


def values_of(row, rounds):
    """Returns the row's number in every round that measured all it needs."""
    found = []
    for sample in rounds:
        if all(any(name == need or name.startswith(need) for name in sample) for need in row.needs):
            value = row.value(sample)
            if value is not None and math.isfinite(value):
                found.append(value)
    return found


def interval(values):
    """Returns the innermost two order statistics that cover the median with at least 95 %; the range if there are fewer than six values."""
    ordered, n, k = sorted(values), len(values), 1
    below = lambda k: sum(math.comb(n, i) for i in range(k)) / 2**n
    while 2 * (k + 1) <= n and 1 - 2 * below(k + 1) >= 0.95:
        k += 1
    return ordered[k - 1], ordered[n - k]


def verdict(row, value):
    if row.bar is None:
        return ""
    sign, bar, beyond = row.bar
    reaches = lambda limit: limit is not None and (value <= limit if sign == "<=" else value >= limit)
    return "beyond" if reaches(beyond) else "met" if reaches(bar) else "missed"


def result_lines(chosen, rounds, failures):
    """Returns [row, what, median, range, rounds, bar, beyond, verdict] as text for each row, with the reason for a missing value."""
    lines = []
    for row in chosen:
        sign, bar, beyond = row.bar or ("", None, None)
        limits = [f"{sign} {bar:g}" if bar is not None else "", f"{beyond:g}" if beyond is not None else ""]
        if values := values_of(row, rounds):
            low, high = interval(values)
            spread = f"{row.form.format(low)} .. {row.form.format(high)}" if len(values) > 1 else ""
            median = statistics.median(values)
            lines.append([row.name, row.what, row.form.format(median), spread, str(len(values)), *limits, verdict(row, median)])
        else:
            missing = [name for name in failures if any(name == need or name.startswith(need) for need in row.needs)]
            lines.append([row.name, row.what, "", "", "0", *limits, f"{missing[0]} failed" if missing else "not measured"])
    return lines


def figures(rounds):
    """Returns [(what, median with unit)]: the absolute numbers whose ratios the rows are."""
    found = []
    def add(what, take, form):
        values = []
        for sample in rounds:
            try:
                values.append(take(sample))
            except (KeyError, TypeError):
                continue
        if values:
            found.append((what, form.format(statistics.median(values))))
    models = {"seed": "seed model", "small": "small model"}
    for model, title in models.items():
        for p in ("float32", "bfloat16"):
            name = f"encore_{model}_{p}"
            add(f"{title}, {p}: Encore", lambda s: step(s, name)["tokens_per_second"], "{:,.0f} tokens/s")
            for mode in sorted({k for sample in rounds for k in sample if k.startswith(f"torch_{model}_{p}_")}):
                batching, dtype, *allocator = mode.split("_")[3:]
                add(f"{title}, {p}: PyTorch {batching}, {dtype}{', other allocator' if allocator else ''}",
                    lambda s: s[mode]["real_tokens_per_second"], "{:,.0f} tokens/s")
            add(f"{title}, {p}: Encore's step", lambda s: 1e3 * step(s, name)["step_seconds"], "{:.1f} ms")
            add(f"{title}, {p}: its matrix products alone", lambda s: 1e3 * step(s, name)["matmul_seconds"], "{:.1f} ms")
            if model == "seed":
                add(f"{title}, {p}: its products", lambda s: step(s, name)["matmul_flops"] / step(s, name)["gemm_seconds"] / 1e9, "{:,.0f} GFLOP/s")
                add(f"{title}, {p}: PyTorch's products", lambda s: s["torch_products"][p], "{:,.0f} GFLOP/s")
                add(f"{title}, {p}: the frozen program's", lambda s: 1e3 * s["limit"][p] * step(s, name)["tokens"] / s["limit"]["tokens"], "{:.1f} ms")
    for task in ("translation", "tuning"):
        for p, dtype in (("float32", "fp32"), ("bfloat16", "bf16")):
            add(f"{task}, {p}: Encore", lambda s: step(s, f"encore_{task}_{p}")["tokens_per_second"], "{:,.0f} tokens/s")
            add(f"{task}, {p}: its peer", lambda s: s[f"torch_{task}_{dtype}"]["real_tokens_per_second"], "{:,.0f} tokens/s")
    for who, title in (("encore", "Encore"), ("torch", "PyTorch")):
        add(f"peak memory, 32 x 256 full tokens: {title}", lambda s: s[f"{who}_memory"]["peak_bytes"] / MEGA, "{:,.0f} MiB")
    add("PyTorch's process without a model", lambda s: s["torch_memory"]["empty_bytes"] / MEGA, "{:,.0f} MiB")
    for who in ("encore", "tokenizers"):
        add(f"WordPiece, one thread: {who}", lambda s: s["wordpiece"][who], "{:,.0f} lines/s")
    for p in ("float32", "bfloat16"):
        for half in ("forward", "backward"):
            for who in ("encore", "torch"):
                add(f"attention, 8 x 512 tokens, {p}, {half}: {who}", lambda s: 1e3 * statistics.median(s["attention"][p][who][half]), "{:.1f} ms")
    for p in ("float32", "bfloat16"):
        add(f"test F1, mean over seeds, {p}", lambda s: 100.0 * statistics.mean(s["quality"][p]), "{:.2f}")
    return found


def text_table(lines):
    """Returns a table of text in columns; the Markdown has the row's meaning."""
    head = ["row", "median", "interval", "rounds", "bar", "beyond", ""]
    cells = [head] + [[line[0], *line[2:]] for line in lines]
    widths = [max(len(row[k]) for row in cells) for k in range(len(head))]
    left = {0, 4, 6}
    return "\n".join("  ".join(cell.ljust(w) if k in left else cell.rjust(w) for k, (cell, w) in enumerate(zip(row, widths))).rstrip()
                     for row in cells)


def markdown(lines, rounds, facts):
    """Returns the section between the marks of docs/internals/peers.md."""
    escape = lambda text: text.replace("|", "\\|")
    out = [*(f"- {escape(fact)}" for fact in facts), ""] if facts else []
    out += ["| what | median | interval | rounds | bar | beyond | |", "|---|---:|---:|---:|---|---:|---|"]
    out += ["| " + " | ".join(escape(cell) for cell in line[1:]) + " |" for line in lines]
    if absolute := figures(rounds):
        out += ["", "| figure | median |", "|---|---:|"] + [f"| {escape(what)} | {text} |" for what, text in absolute]
    return "\n".join(out) + "\n"
