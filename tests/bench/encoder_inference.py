#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures inputs per second of a pretrained encoder, and the time of a single input, in Encore and in other
programs in turn.

    python3 tests/bench/encoder_inference.py --exp build/openmp/bin/exp --model DIR/all-MiniLM-L6-v2 \\
        --texts test.conll --decide dev.conll --peer infer.py --peer infer_more.py --rounds 3 --out samples.json

Called by hand; docs/internals/peers.md has its results. Measured are float32, bfloat16 and 8-bit integers.
The folder is imported twice (float32, bfloat16) and quantized; `exp quantize` measures with the lines
of --decide. Encore's part is `exp embed --json` of the first 512 inputs and of these four times: the
difference of the two is the time of 1,536 inputs without the program's start. Tokenizing and writing the vectors count for Encore,
and are outside of the peers' clock. A single input is a request to `exp serve --workers 1` on a connection
that stays open: HTTP, tokenizing, the vector as JSON and the client's own reading count for Encore, and the
pass alone for the peers. --peer is a script that prints one JSON object with texts_per_second, p50 and p95
(milliseconds) of single inputs, and distance (1 - cosine, at most) by engine; it is called with --model,
--texts, --threads and --onnx, a folder that all peers share. An engine with int8 in its name computes with
integers. Every sample is kept.
"""
import argparse, http.client, json, math, os, statistics, subprocess, sys, tempfile, time
from serve_client import Server

COUNT, TIMES, SINGLE, WARM = 512, 4, 200, 20
PRECISIONS = ("float32", "bfloat16")


def sentences(path):
    """Returns the lines of a text file, or the sentences of a CoNLL file."""
    if not path.endswith(".conll"):
        return [line.strip() for line in open(path, encoding="utf-8") if line.strip()]
    found, words = [], []
    for line in open(path, encoding="utf-8"):
        fields = line.split()
        if fields:
            words.append(fields[0])
        elif words:
            found.append(" ".join(words))
            words = []
    return found + ([" ".join(words)] if words else [])


class Ours:
    def __init__(self, arguments, folder):
        self.exp, self.folder, self.threads = os.path.abspath(arguments.exp), folder, str(arguments.threads)
        texts = sentences(arguments.texts)[:COUNT]
        self.files = {}
        for name, lines in {"once": texts, "often": texts * TIMES, "decide": sentences(arguments.decide)[:COUNT]}.items():
            self.files[name] = os.path.join(folder, name + ".txt")
            with open(self.files[name], "w", encoding="utf-8") as out:
                out.write("\n".join(lines) + "\n")
        self.texts, self.single = len(texts), texts[:SINGLE]
        for precision in PRECISIONS:
            self.call("import", os.path.abspath(arguments.model), "--name", precision, "-S", "train.precision=" + precision)
            self.call("quantize", precision, "--texts", self.files["decide"])

    def call(self, *words):
        done = subprocess.run([self.exp, *words, "--db", "encore.db"], cwd=self.folder, capture_output=True, text=True)
        if done.returncode != 0:
            sys.exit(f"exp {' '.join(words)}: {done.stderr}")
        return done.stdout

    def vectors(self, name, options, file):
        begin = time.perf_counter()
        answer = self.call("embed", name, "--texts", self.files[file], "--json", "--threads", self.threads, *options)
        return time.perf_counter() - begin, answer

    def speed(self, name, options):
        once, _ = self.vectors(name, options, "once")
        often, _ = self.vectors(name, options, "often")
        return self.texts * (TIMES - 1) / (often - once)

    def latency(self, name, options):
        """Returns p50 and p95 of single inputs, in milliseconds."""
        server = Server(self.exp, os.path.join(self.folder, "encore.db"), name, ["--workers", "1", "--threads", self.threads, *options])
        connection, taken = http.client.HTTPConnection("127.0.0.1", server.port), []
        for text in self.single[:WARM] + self.single:
            begin = time.perf_counter()
            connection.request("POST", "/v1/embeddings", json.dumps({"input": text, "truncate": True}), {"Content-Type": "application/json"})
            answer = connection.getresponse()
            body = answer.read()
            taken.append(1000 * (time.perf_counter() - begin))
            if answer.status != 200:
                sys.exit(f"exp serve {name}: {answer.status} {body.decode()}")
        connection.close()
        server.stop()
        cuts = statistics.quantiles(taken[WARM:], n=20, method="inclusive")
        return {"p50": cuts[9], "p95": cuts[18]}

    def distance(self, name, options):
        """Returns the largest distance (1 - cosine) of a vector from that in float32."""
        exact, other = ([each["vector"] for each in json.loads(self.vectors(*which, "once")[1])["vectors"]]
                        for which in (("float32", []), (name, options)))
        return max(1.0 - sum(x * y for x, y in zip(a, b)) / math.sqrt(sum(x * x for x in a) * sum(y * y for y in b))
                   for a, b in zip(exact, other))


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for option in ("--exp", "--model", "--texts", "--decide"):
        parser.add_argument(option, required=True)
    parser.add_argument("--peer", required=True, action="append", help="may be repeated; they run in this order")
    parser.add_argument("--python", default=sys.executable, help="with the peer's packages")
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=3)
    parser.add_argument("--out", default="samples.json")
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        ours = Ours(arguments, folder)
        variants = {name + suffix: (name, options) for name in PRECISIONS for suffix, options in (("", []), (", int8", ["--int8"]))}
        distances = {variant: ours.distance(*how) for variant, how in variants.items()}
        rounds, singles = [], []
        for _ in range(arguments.rounds):
            sample = {variant: ours.speed(*how) for variant, how in variants.items()}
            single = {variant: ours.latency(*how) for variant, how in variants.items()}
            engines = {}
            for script in arguments.peer:
                peer = subprocess.run([arguments.python, script, "--model", arguments.model, "--texts", arguments.texts, "--threads",
                                       str(arguments.threads), "--onnx", folder], capture_output=True, text=True)
                if peer.returncode != 0:
                    sys.exit(peer.stderr)
                engines |= {name: engine for name, engine in json.loads(peer.stdout.splitlines()[-1]).items() if isinstance(engine, dict)}
            sample.update({"peer " + name: engine["texts_per_second"] for name, engine in engines.items()})
            single.update({"peer " + name: {key: engine[key] for key in ("p50", "p95")} for name, engine in engines.items()})
            distances.update({"peer " + name: engine["distance"] for name, engine in engines.items()})
            rounds.append(sample)
            singles.append(single)
            with open(arguments.out, "w") as out:
                json.dump({"rounds": rounds, "single": singles, "distances": distances}, out, indent=1)
    for name in rounds[0]:
        speeds = [sample[name] for sample in rounds]
        p50, p95 = (statistics.median(single[name][key] for single in singles) for key in ("p50", "p95"))
        print(f"{name:18} {statistics.median(speeds):8.1f} texts/s ({min(speeds):.1f} to {max(speeds):.1f}), one text {p50:.2f} ms, "
              f"p95 {p95:.2f} ms, distance {distances[name]:.2g}")
    integers = [name for name in rounds[0] if name.startswith("peer ") and "int8" in name]
    for what, ours, peers in (("integers over the fastest peer", [n for n in variants if "int8" in n], [n for n in rounds[0] if n.startswith("peer ")]),
                              ("integers over the fastest peer with integers", [n for n in variants if "int8" in n], integers)):
        ratios = [max(sample[name] for name in ours) / max(sample[name] for name in peers) for sample in rounds if peers]
        if ratios:
            print(f"{what}: {statistics.median(ratios):.2f} ({min(ratios):.2f} to {max(ratios):.2f})")


main()
