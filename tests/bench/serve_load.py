#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures the load that `exp serve` can answer, and beside it that of the same model in ONNX Runtime behind
uvicorn.

    python3 tests/bench/serve_load.py --exp build/openmp/bin/exp --db encore.db --run quickstart --texts notes.txt
    python3 tests/bench/serve_load.py ... --route /v1/embeddings --seconds 600 --peer quickstart-onnx --json figures.json

Called by hand; docs/internals/testing.md describes it; serve_load_test.py tests it without a server. The
figures are the time to the first answer, the capacity, the latency at a share of it, and the throughput of
the Engine (framework/infer/engine.hpp) without a server. Requests of one text each come at random moments of
a given mean rate, whether or not earlier ones are answered (an open loop), so that a server that is too slow
cannot slow its clients down; one with a backlog of twice the bound has lost, and the probe ends. Capacity is
the highest rate at which 99 of 100 answers come within 200 ms: found by bisection with short probes, then
held for --confirm-seconds, and lowered by 5 % until the server can answer it. Then --share of it is held for
--seconds. Each answer is compared with that of `exp predict` or `exp embed` for its input. The Engine's own
throughput is that of the same verb over the file and over a tenth of it, without their start, the quickest of
three turns each. --peer is a folder that `exp export --format onnx` wrote: serve_onnx.py serves it, once with
a process for each core and once with one process that has a thread for each core, and the same client
measures its capacity; the better of the two counts. Client and server share the machine. --rate holds a given
rate and searches no capacity. --json - prints the figures as one JSON object and everything else on standard
error. It is not a test: a machine's speed is not the code's correctness.
"""
import argparse, asyncio, json, os, random, sys, time
from serve_client import Connection, OnnxServer, Server, expected_answers, is_right, lines_of, once, request_for

try:
    import uvloop  # the client then needs less processor time
    uvloop.install()
except ImportError:
    pass

BOUND = 0.2  # seconds within which 99 of 100 answers must come
STEP = 1.05  # the smallest ratio of two rates that are distinguished


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


class Asked:
    """Inputs with their right answers, and the first right answer to each as bytes: answers that equal it need no further check."""

    def __init__(self, route, texts, wanted):
        self.route, self.wanted, self.seen = route, wanted, {}
        self.requests = [request_for(route, text) for text in texts]

    def is_right(self, number, body):
        if self.seen.get(number) == body:
            return True
        right = is_right(self.route, body, self.wanted[number])
        if right:
            self.seen[number] = body
        return right


async def hold(server, asked, rate, seconds, seed):
    """Returns the latencies of right answers, and the numbers of refused, lost and wrong ones, at a mean rate."""
    draw, latencies, counts = random.Random(seed), [], {"refused": 0, "lost": 0, "wrong": 0}
    free, waiting, sent = [], set(), 0

    async def ask(number, due):
        connection = free.pop() if free else Connection(server.port)
        status, body = await connection.ask(asked.requests[number])
        latency = time.monotonic() - due
        free.append(connection)
        if status == 200 and asked.is_right(number, body):
            latencies.append(latency)
        else:
            counts["wrong" if status == 200 else "lost" if status == 0 else "refused"] += 1

    begin = due = time.monotonic()
    while due < begin + seconds:
        if len(waiting) > 2 * rate * BOUND + 200:  # more would exceed the bound; the rest would only wait
            counts["refused"] += 1
            break
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        task = asyncio.create_task(ask(draw.randrange(len(asked.requests)), due))
        waiting.add(task)
        task.add_done_callback(waiting.discard)
        sent += 1
        due += draw.expovariate(rate)
    await asyncio.gather(*waiting)
    taken = time.monotonic() - begin
    for connection in free:
        connection.close()
    return {"rate": rate, "seconds": taken, "answered_per_second": len(latencies) / taken, "p50": quantile(latencies, 0.5), "p95": quantile(latencies, 0.95), "p99": quantile(latencies, 0.99), "sent": sent, "answers": len(latencies), **counts}


def bears(result):
    return result["p99"] <= BOUND and result["refused"] + result["lost"] + result["wrong"] == 0


class Measured:
    """One server under the client of this script; keeps every probe."""

    def __init__(self, name, server, arguments):
        self.name, self.server, self.arguments, self.probes = name, server, arguments, []

    def hold(self, asked, rate, seconds, what):
        result = asyncio.run(hold(self.server, asked, rate, seconds, len(self.probes)))
        self.probes.append({"what": what, **result})
        say(line_of(f"{self.name} {what}", result))
        return result

    def capacity(self, asked, first):
        """Doubles or halves the rate, bisects, then holds the found rate for longer."""
        low, high, rate, probes = 0.0, None, first, 0
        while probes < 12 and (high is None or low == 0 or high / low > STEP):
            if bears(self.hold(asked, rate, self.arguments.probe_seconds, "probe")):
                low = rate
            else:
                high = rate
            rate = low * 2 if high is None else high / 2 if low == 0 else (low * high) ** 0.5
            probes += 1
        for _ in range(8):
            if low == 0 or bears(self.hold(asked, low, self.arguments.confirm_seconds, "confirm")):
                return low
            low /= STEP
        return 0.0


def say(line):
    print(line, file=say.to, flush=True)


say.to = sys.stdout


def line_of(name, r):
    return f"{name:16} {r['rate']:8.1f} requests/s  p50 {r['p50'] * 1000:6.1f} ms  p95 {r['p95'] * 1000:6.1f} ms  p99 {r['p99'] * 1000:6.1f} ms  {r['answers']} answers  {r['refused']} refused  {r['lost']} lost  {r['wrong']} wrong"


def engine_throughput(arguments, texts):
    """Returns inputs per second and the right answers."""
    by_verb = lambda some: expected_answers(arguments.exp, arguments.db, arguments.run, some, arguments.route)
    turns = [(by_verb(texts), by_verb(texts[: len(texts) // 10])) for _ in range(3)]
    # What disturbs a turn only makes it longer.
    seconds = min(all_of[1] for all_of, _ in turns) - min(few[1] for _, few in turns)
    return (len(texts) - len(texts) // 10) / seconds, turns[0][0][0]


class Anything(Asked):
    """Inputs for a peer, which rounds numbers differently: only counts how many of its answers are right."""

    def __init__(self, route, texts, wanted):
        super().__init__(route, texts, wanted)
        self.right = self.all = 0

    def is_right(self, number, body):
        if number not in self.seen:
            self.seen[number] = body
            self.all += 1
            self.right += 1 if is_right(self.route, body, self.wanted[number]) else 0
        return True


def measure_peers(arguments, texts, wanted, first):
    """Measures the capacity of each setting that a user would try."""
    cores = len(os.sched_getaffinity(0))
    found = []
    for processes, threads in dict.fromkeys([(cores, 1), (1, cores)]):
        server = OnnxServer(arguments.peer, processes, threads)
        measured, asked = Measured(f"onnx {processes}x{threads}", server, arguments), Anything(arguments.route, texts, wanted)
        measured.hold(asked, first / 2, 2, "warm")
        capacity = measured.capacity(asked, first)
        server.stop()
        say(f"onnx {processes}x{threads}: capacity {capacity:.1f} requests/s; of the answers to {asked.all} inputs {asked.right} equal those of exp")
        found.append({"processes": processes, "threads": threads, "capacity": capacity, "texts": asked.all, "texts_answered_alike": asked.right, "probes": measured.probes})
    return found


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exp", required=True)
    parser.add_argument("--db", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--texts", required=True, help="file with an input on each line, or words with tags")
    parser.add_argument("--count", type=int, default=1000, help="number of inputs")
    parser.add_argument("--route", default="/v1/predict", choices=["/v1/predict", "/v1/embeddings"])
    parser.add_argument("--options", default="", help="options of exp serve")
    parser.add_argument("--probe-seconds", type=float, default=8)
    parser.add_argument("--confirm-seconds", type=float, default=60)
    parser.add_argument("--seconds", type=float, default=60, help="seconds for which the share of the capacity is held")
    parser.add_argument("--share", type=float, default=0.7, help="share of the capacity that is held")
    parser.add_argument("--rate", type=float, help="requests/s to hold instead of a share of the capacity, which is then not measured")
    parser.add_argument("--peer", help="the same model as a folder of ONNX")
    parser.add_argument("--json", help="file for the figures; -: standard output")
    arguments = parser.parse_args()
    if arguments.rate is not None and (arguments.rate <= 0 or arguments.peer):
        parser.error("--rate is above 0 and goes without --peer, which is compared by capacities")
    if arguments.json == "-":
        say.to = sys.stderr
    texts = lines_of(arguments.texts, arguments.count)
    engine, wanted = engine_throughput(arguments, texts)
    say(f"engine   {engine:8.1f} inputs/s over {len(texts)} inputs of {arguments.texts}")

    asked = Asked(arguments.route, texts, wanted)
    server = Server(arguments.exp, arguments.db, arguments.run, arguments.options.split())
    status, _ = asyncio.run(once(server.port, asked.requests[0]))
    first = time.monotonic() - server.begin
    say(f"start    {server.ready_seconds:8.3f} s to ready, {first:.3f} s to the first answer ({status})")
    ours = Measured("exp", server, arguments)
    ours.hold(asked, engine / 4, 2, "warm")  # memory for the largest batches, and a look at each answer
    capacity = None if arguments.rate else ours.capacity(asked, engine / 2)
    held = ours.hold(asked, arguments.rate or max(1.0, capacity * arguments.share), arguments.seconds, "held")
    if capacity is not None:
        say(f"capacity {capacity:8.1f} requests/s, {capacity / engine:.2f} of the Engine's own")
    resident = server.resident_bytes()
    code = server.stop()
    say(f"exp      {resident / 2**20:8.1f} MiB resident; ended with {code}")
    figures = {"run": arguments.run, "route": arguments.route, "texts": len(texts), "engine_texts_per_second": engine, "ready_seconds": server.ready_seconds, "first_answer_seconds": first, "capacity": capacity, "capacity_of_engine": None if capacity is None else capacity / engine, "held": held, "resident_bytes": resident, "exit_code": code}
    if arguments.peer:
        figures["peers"] = measure_peers(arguments, texts, wanted, max(1.0, capacity / 4))
        best = max(each["capacity"] for each in figures["peers"])
        figures["capacity_of_best_peer"] = capacity / best if best else None
        say(f"capacity {capacity:8.1f} requests/s against {best:.1f} of ONNX Runtime: {capacity / best if best else float('inf'):.2f}")
    figures["probes"] = ours.probes
    if arguments.json == "-":
        print(json.dumps(figures, indent=1))
    elif arguments.json:
        with open(arguments.json, "w") as out:
            json.dump(figures, out, indent=1)
    sys.exit(0 if held["refused"] + held["lost"] + held["wrong"] == 0 else 1)


if __name__ == "__main__":
    main()
