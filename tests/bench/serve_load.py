#!/usr/bin/env python3
"""What `exp serve` bears: time to the first answer, capacity, latency at a share of it, and the Engine's own throughput beside it.

    python3 tests/bench/serve_load.py --exp build/openmp/bin/exp --db encore.db --run quickstart --texts notes.txt
    python3 tests/bench/serve_load.py ... --route /v1/embeddings --seconds 60 --options "--workers 2" --json samples.json

Requests of one text each come at random moments of a given mean rate whether or not earlier ones are answered (an open loop), so that a
server that is too slow cannot slow its clients down; one with a backlog of twice the bound has lost, and the probe ends. Capacity is the highest rate at which 99 of 100 answers come within 200 ms, found
by bisection; then --share of it is held for --seconds. Each answer is compared with what `exp predict` or `exp embed` says of its
text. The Engine's own throughput is that of the same verb over the file and over a tenth of it, without their start, the quickest of three turns each. Client and server
share the machine. It is no test: a machine's speed is not the code's correctness.
"""
import argparse, asyncio, json, random, time
from serve_client import Connection, Server, expected_answers, is_right, lines_of, once, request_for

BOUND = 0.2  # seconds, of 99 of 100 answers


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("inf")


async def hold(server, route, texts, wanted, rate, seconds, seed):
    """Latencies of right answers, and how many answers were refused, lost or wrong, at a mean rate."""
    draw, latencies, counts = random.Random(seed), [], {"refused": 0, "lost": 0, "wrong": 0}
    free, tasks, answers = [], [], []

    async def ask(number, due):
        connection = free.pop() if free else Connection(server.port)
        status, body = await connection.ask(request_for(route, texts[number]))
        latency = time.monotonic() - due
        free.append(connection)
        answers.append((number, status, body, latency))

    begin = due = time.monotonic()
    while due < begin + seconds:
        if len(tasks) - len(answers) > 2 * rate * BOUND + 200:  # nobody could bear more; the rest would only wait
            counts["refused"] += 1
            break
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        tasks.append(asyncio.create_task(ask(draw.randrange(len(texts)), due)))
        due += draw.expovariate(rate)
    await asyncio.gather(*tasks)
    taken = time.monotonic() - begin
    for connection in free:
        connection.close()
    for number, status, body, latency in answers:  # not before: the client shares the machine
        if status == 200 and is_right(route, body, wanted[number]):
            latencies.append(latency)
        else:
            counts["wrong" if status == 200 else "lost" if status == 0 else "refused"] += 1
    return {"rate": rate, "answered_per_second": len(latencies) / taken, "p50": quantile(latencies, 0.5), "p95": quantile(latencies, 0.95), "p99": quantile(latencies, 0.99), "answers": len(latencies), **counts}


def bears(result):
    return result["p99"] <= BOUND and result["refused"] + result["lost"] + result["wrong"] == 0


def find_capacity(server, arguments, texts, wanted, first):
    """Doubles or halves, then bisects to a tenth."""
    results, low, high, rate = [], 0.0, None, first
    while len(results) < 9 and (high is None or low == 0 or high / low > 1.1):
        results.append(asyncio.run(hold(server, arguments.route, texts, wanted, rate, arguments.probe_seconds, len(results))))
        print(line_of("probe", results[-1]), flush=True)
        if bears(results[-1]):
            low = rate
        else:
            high = rate
        rate = low * 2 if high is None else high / 2 if low == 0 else (low * high) ** 0.5
    return low, results


def line_of(name, r):
    return f"{name:8} {r['rate']:8.1f} requests/s  p50 {r['p50'] * 1000:6.1f} ms  p95 {r['p95'] * 1000:6.1f} ms  p99 {r['p99'] * 1000:6.1f} ms  {r['answers']} answers  {r['refused']} refused  {r['lost']} lost  {r['wrong']} wrong"


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exp", required=True)
    parser.add_argument("--db", required=True)
    parser.add_argument("--run", required=True)
    parser.add_argument("--texts", required=True, help="a text a line, or words with tags")
    parser.add_argument("--count", type=int, default=1000, help="texts to take")
    parser.add_argument("--route", default="/v1/predict", choices=["/v1/predict", "/v1/embeddings"])
    parser.add_argument("--options", default="", help="of exp serve")
    parser.add_argument("--probe-seconds", type=float, default=8)
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--share", type=float, default=0.7, help="of the capacity that is held")
    parser.add_argument("--json", help="a file for every figure")
    arguments = parser.parse_args()
    texts = lines_of(arguments.texts, arguments.count)
    by_verb = lambda some: expected_answers(arguments.exp, arguments.db, arguments.run, some, arguments.route)
    turns = [(by_verb(texts), by_verb(texts[: len(texts) // 10])) for _ in range(3)]
    wanted = turns[0][0][0]
    # What disturbs a turn only makes it longer.
    seconds = min(all_of[1] for all_of, _ in turns) - min(few[1] for _, few in turns)
    engine = (len(texts) - len(texts) // 10) / seconds
    print(f"engine   {engine:8.1f} texts/s over {len(texts)} texts of {arguments.texts}", flush=True)

    server = Server(arguments.exp, arguments.db, arguments.run, arguments.options.split())
    status, _ = asyncio.run(once(server.port, request_for(arguments.route, texts[0])))
    first = time.monotonic() - server.begin
    print(f"start    {server.ready_seconds:8.3f} s to ready, {first:.3f} s to the first answer ({status})", flush=True)
    asyncio.run(hold(server, arguments.route, texts, wanted, engine / 4, 2, 99))  # memory for the largest batches
    capacity, probes = find_capacity(server, arguments, texts, wanted, engine / 2)
    held = asyncio.run(hold(server, arguments.route, texts, wanted, max(1.0, capacity * arguments.share), arguments.seconds, 100))
    print(line_of("held", held))
    print(f"capacity {capacity:8.1f} requests/s, {capacity / engine:.2f} of the Engine's own")
    resident = server.resident_bytes()
    code = server.stop()
    print(f"exp      {resident / 2**20:8.1f} MiB resident; ended with {code}")
    if arguments.json:
        with open(arguments.json, "w") as out:
            json.dump({"engine": engine, "ready_seconds": server.ready_seconds, "first_answer_seconds": first, "capacity": capacity, "probes": probes, "held": held, "resident_bytes": resident}, out, indent=1)


main()
