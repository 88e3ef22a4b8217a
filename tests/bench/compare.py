#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures speed and memory of Encore and of other programs ("peers": PyTorch, oneDNN, tokenizers) in turn,
and keeps the samples.

    python3 tests/bench/compare.py --torch-ner torch_ner.py --matmul-limit matmul_limit.cpp --data DIR \\
        --vocab vocab.txt --cased --rounds 6 --out samples.json --markdown docs/internals/peers.md

Called by hand on a machine that does nothing else; docs/internals/peers.md has its results, and no test looks
at the numbers. measurements.py starts the programs, and rows.py computes the rows of the result. Samples of
earlier calls are read again (--resume), so the names of measurements and their JSON keep their meaning.

DIR holds train.conll, dev.conll, test.conll and is called wikineural_en; --matmul-limit is the compiled
program or its source. A peer that is not named is left out, and the rows that need it are not judged. A round
runs every measurement once, every second round in reverse order; some take part in the first three rounds
only. Values are compared within a round, so a machine that changes its speed between rounds changes both
sides. Ratios are medians over the rounds. The interval lies between two order statistics that cover the true
median with a probability of at least 95 %. With fewer than six rounds it is the range, which covers the
median with a probability of 94 % after five rounds and 75 % after three.

It first prints how long it will take. --minutes M starts nothing that would end later. --out is written after
every measurement; --resume continues it, also with other rows. A program that fails costs only the rows that
need it. --only NAME,... takes some of the rows (`--only list` shows them); the row `quality` trains ten
models, takes hours and is measured only if it is named. Variables that configure OpenMP (OMP_..., KMP_...)
are removed from the environment: each side runs with its own defaults. Needs the Python packages of the
peers.
"""
import argparse, ctypes.util, json, os, platform, statistics, subprocess, sys, tempfile, time

from measurements import ROOT, Failure, Workshop, measurements, processor
from rows import markdown, result_lines, rows, text_table

BEGIN, END = "<!-- measured: begin -->\n", "<!-- measured: end -->\n"
MUST_AGREE = ("data", "vocab", "cased", "threads", "inner_rounds", "batches", "torch_steps", "torch_allocator")


def parsed():
    p = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    p.add_argument("--data", help="folder of the CoNLL set"); p.add_argument("--vocab", help="BERT vocabulary")
    p.add_argument("--cased", action="store_true", help="the vocabulary is cased")
    p.add_argument("--torch-ner", help="the PyTorch script"); p.add_argument("--matmul-limit", help="the frozen program, or its source")
    p.add_argument("--torch-products", help="the PyTorch script that multiplies")
    p.add_argument("--torch-translate", help="the PyTorch script that translates"); p.add_argument("--multi30k", help="folder of Multi30k, unpacked")
    p.add_argument("--hf-ner", help="the transformers script that fine-tunes"); p.add_argument("--minilm", help="folder of a pretrained encoder")
    p.add_argument("--wnut17", help="folder of the CoNLL set that it is tuned on")
    p.add_argument("--torch-allocator", default=None,
                   help="a library for LD_PRELOAD of PyTorch, measured beside that of the C library; empty: none (default: tcmalloc where it is installed)")
    p.add_argument("--rounds", type=int, default=6); p.add_argument("--minutes", type=float, help="start nothing that would end later")
    p.add_argument("--inner-rounds", type=int, default=2, help="rounds of each `exp bench`"); p.add_argument("--batches", type=int, default=8)
    p.add_argument("--torch-steps", type=int, default=30, help="steps of PyTorch, with its warm-up of 5")
    p.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    p.add_argument("--only", default="", help="names of rows, separated by commas; list: show them")
    p.add_argument("--out", help="samples, as JSON"); p.add_argument("--resume", action="store_true", help="continue the file of --out")
    p.add_argument("--markdown", help="write the tables into this file, between its marks where it has them")
    p.add_argument("--quality-db", action="append", help="database that holds, or is to hold, the runs of experiments/precision.toml; may be repeated")
    p.add_argument("--build", default=os.path.join(ROOT, "build", "openmp"), help="build folder of Encore with its tests")
    p.add_argument("--exp", help="the command that runs Encore (default: that of --build)")
    a = p.parse_args()
    if a.rounds < 0 or a.inner_rounds < 2 or a.batches < 1 or a.torch_steps < 10 or a.threads < 1:
        p.error("--rounds 0 or more, --inner-rounds 2 or more, --torch-steps 10 or more, --batches and --threads 1 or more")
    if a.resume and not a.out:
        p.error("--resume continues a file: name it with --out")
    if a.only != "list" and not (a.data and a.vocab):
        p.error("--data and --vocab are needed")
    for name in ("data", "vocab", "build", "multi30k", "minilm", "wnut17"):
        path = getattr(a, name)
        setattr(a, name, os.path.abspath(path) if path else path)
    a.exp = os.path.abspath(a.exp or os.path.join(a.build, "bin", "exp"))
    a.quality_db = a.quality_db or ["quality.db"]
    if a.torch_allocator is None:
        a.torch_allocator = ctypes.util.find_library("tcmalloc_minimal") or ctypes.util.find_library("tcmalloc") or ""
    return a


def chosen_rows(only):
    every = rows()
    names = {row.name: row for row in every}
    if only == "list":
        print("\n".join(f"{row.name:20} {row.what}" for row in every))
        sys.exit(0)
    if unknown := [name for name in only.split(",") if only and name not in names]:
        sys.exit(f"compare.py: unknown row \"{unknown[0]}\"; there are {', '.join(names)}")
    return [names[name] for name in only.split(",")] if only else [row for row in every if not row.asked_only]


def require_inputs(a):
    """Prints or exits before anything is measured."""
    wanted = [os.path.join(a.data, part + ".conll") for part in ("train", "dev", "test")] + [a.vocab, a.exp]
    for path in wanted + [path for path in (a.torch_ner, a.torch_products, a.matmul_limit, a.torch_translate, a.multi30k, a.hf_ner, a.minilm, a.wnut17) if path]:
        if not os.path.exists(path):
            sys.exit(f"compare.py: there is no {path}")


def commit_of(folder):
    """Returns the commit of the sources, with a plus if they are changed; empty if git does not know it."""
    git = lambda *words: subprocess.run(["git", "-C", folder, *words], capture_output=True, text=True).stdout.strip()
    try:
        return git("rev-parse", "--short=12", "HEAD") + ("+" if git("status", "--porcelain", "--untracked-files=no") else "")
    except FileNotFoundError:
        return ""


class Record:
    """The content of --out, written as a whole after every measurement."""

    def __init__(self, a):
        self.path, self.rounds, self.failures = a.out, [], {}
        self.arguments, self.begun, self.host, self.commit = vars(a), time.strftime("%Y-%m-%d %H:%M"), platform.node(), commit_of(ROOT)
        self.processor = processor()
        if not a.out or not os.path.exists(a.out):
            return
        if not a.resume:
            sys.exit(f"compare.py: {a.out} exists: pass --resume to continue it, or another --out to start from scratch")
        with open(a.out, encoding="utf-8") as text:
            try:
                old = json.load(text)
                self.rounds, self.begun = old["rounds"], old["begun"]
                differing = [k for k in MUST_AGREE if old["arguments"].get(k) != self.arguments[k]]
                elsewhere = old["host"] != self.host or old.get("processor", self.processor) != self.processor
                if self.rounds:
                    self.commit = old["commit"]
            except (ValueError, KeyError, TypeError) as error:
                sys.exit(f"compare.py: {a.out} is not what this script writes: {error}")
        if differing or elsewhere:
            what = f"--{differing[0].replace('_', '-')} {old['arguments'].get(differing[0])}" if differing else f"the host {old['host']}"
            sys.exit(f"compare.py: {a.out} was measured with {what}; name another --out")

    def save(self):
        if not self.path:
            return
        with open(self.path + ".part", "w", encoding="utf-8") as out:
            json.dump({"arguments": self.arguments, "begun": self.begun, "host": self.host, "processor": self.processor, "commit": self.commit, "rounds": self.rounds, "failures": self.failures}, out, indent=1)
        os.replace(self.path + ".part", self.path)


class Clock:
    """Estimates the time of the remaining measurements from the times of this machine so far."""

    def __init__(self, record, every):
        self.took, self.every = {}, every
        for sample in record.rounds:
            for name, answer in sample.items():
                self.took.setdefault(name, []).append(answer["took"])

    def seconds(self, todo):
        known = [m for m in self.every if m.name in self.took]
        pace = (sum(statistics.mean(self.took[m.name]) for m in known) / sum(m.seconds for m in known)) if known else 1.0
        return sum(statistics.mean(self.took[m.name]) if m.name in self.took else m.seconds * pace for m in todo)


def say(text):
    print(text, flush=True)


def in_words(seconds):
    return f"{seconds:.0f} s" if seconds < 90 else f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"


def schedule(a, record, every):
    """Returns the missing [(round, measurement)]."""
    todo = []
    for number in range(a.rounds):
        done = record.rounds[number] if number < len(record.rounds) else {}
        due = [m for m in every if number < m.rounds and m.name not in done]
        todo += [(number, m) for m in (due if number % 2 == 0 else due[::-1])]
    return todo


def run(a, record, every):
    """Measures; returns early if the time is used up or after Ctrl-C."""
    begin, clock, todo = time.time(), Clock(record, every), schedule(a, record, every)
    load = os.getloadavg()[0]
    say(f"{len(todo)} measurements in {a.rounds} rounds, about {in_words(clock.seconds([m for _, m in todo]))}"
        + (f", at most {a.minutes:g} min" if a.minutes else "") + (f"; the load is {load:.1f}: this machine is not quiet" if load > 0.3 else ""))
    for position, (number, m) in enumerate(todo):
        if m.name in record.failures:
            continue
        ahead = clock.seconds([m])
        if a.minutes and time.time() - begin + ahead > 60 * a.minutes:
            say(f"{m.name} takes about {in_words(ahead)} and would end beyond --minutes {a.minutes:g}: {len(todo) - position} measurements are left out")
            return
        start = time.time()
        try:
            answer = m.measure()
        except Failure as error:
            record.failures[m.name] = str(error)
            say(f"round {number + 1}: {m.name} failed and is left out: {error}")
            record.save()
            continue
        except (KeyError, TypeError, IndexError, StopIteration) as error:
            record.failures[m.name] = f"its answer lacks what is needed: {error!r}"
            say(f"round {number + 1}: {m.name} failed and is left out: {record.failures[m.name]}")
            record.save()
            continue
        took = time.time() - start
        clock.took.setdefault(m.name, []).append(took)
        record.rounds += [{} for _ in range(number + 1 - len(record.rounds))]
        record.rounds[number][m.name] = {**answer, "took": took, "load": os.getloadavg()[0]}
        record.save()
        left = clock.seconds([later for _, later in todo[position + 1:] if later.name not in record.failures])
        say(f"round {number + 1} of {a.rounds}: {m.name} took {in_words(took)}; {in_words(left)} to go")


def peaks_in_words(answers):
    """Returns medians over all measurements that have peaks."""
    found = {}
    for answer in answers:
        for name, value in answer.get("peaks", {}).items():
            found.setdefault(name, []).append(value)
    return [f"{name} {statistics.median(values) / 1e9:,.0f} {'GB/s' if name == 'triad' else 'GFLOP/s'}" for name, values in sorted(found.items())] or ["none"]


def facts_of(record):
    """The facts of the machine and the programs that a reader needs."""
    facts, answers = [], [answer for sample in record.rounds for answer in sample.values()]
    environments = [x["environment"] for x in answers if "environment" in x]
    if environments:
        e = environments[-1]
        facts.append(record.processor)
        facts.append(", ".join(str(e[key]) for key in ("gemm", "instruction_set") if e.get(key)))
        facts.append("measured peaks (medians): " + ", ".join(peaks_in_words(answers)))
        facts.append(f"{record.begun}, {record.arguments['threads']} threads" + (f", commit {record.commit}" if record.commit else ""))
    if torch := {x["torch"] for x in answers if "torch" in x and isinstance(x["torch"], str)}:
        other = record.arguments["torch_allocator"]
        facts.append(f"PyTorch {', '.join(sorted(torch))}, each mode with the allocator of the C library" + (f" and with {other}" if other else " alone"))
    if notes := [note for x in answers for note in x.get("notes", [])]:
        facts.append(f"noise was noticed {len(notes)} times in {len(environments)} measurements of Encore, first: {notes[0]}")
    elif environments:
        facts.append("no noise was noticed: a calibration loop kept its speed, the machine had no steal time, no other processes ran")
    return facts


def write_markdown(path, section):
    """Writes between the marks of a file; without marks the section becomes the file."""
    old = open(path, encoding="utf-8").read() if os.path.exists(path) else ""
    if BEGIN in old and END in old:
        section = old[: old.index(BEGIN) + len(BEGIN)] + section + old[old.index(END):]
    elif old:
        sys.exit(f"compare.py: {path} has no place for the tables; the lines {BEGIN.strip()} and {END.strip()} mark one")
    with open(path, "w", encoding="utf-8") as out:
        out.write(section)


def main():
    a = parsed()
    chosen = chosen_rows(a.only)
    require_inputs(a)
    record = Record(a)
    interrupted = False
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        needs = [need for row in chosen for need in row.needs]
        every = [m for m in measurements(a, Workshop(a, folder)) if any(m.name == need or m.name.startswith(need) for need in needs)]
        try:
            run(a, record, every)
        except KeyboardInterrupt:
            say("interrupted" + (f"; --resume --out {a.out} continues" if a.out else ""))
            interrupted = True
    lines = result_lines(chosen, record.rounds, record.failures)
    say("\n" + text_table(lines))
    for fact in facts_of(record):
        say(fact)
    for name, message in record.failures.items():
        say(f"failed: {name}: {message}")
    if a.markdown:  # all results of the samples, not only those of this call
        write_markdown(a.markdown, markdown(result_lines(rows(), record.rounds, record.failures), record.rounds, facts_of(record)))
    sys.exit(130 if interrupted else 1 if record.failures else 0)


if __name__ == "__main__":
    main()
