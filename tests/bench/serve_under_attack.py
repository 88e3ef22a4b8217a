#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures how long honest clients of `exp serve` wait while others attack it.

    python3 tests/bench/serve_under_attack.py --exp build/openmp/bin/exp --db encore.db --run quickstart --texts dev.conll
    python3 tests/bench/serve_under_attack.py ... --token --rounds 10 --attack 60 --json

Called by hand; docs/internals/testing.md says what it measures; serve_under_attack_test.py calls it in CTest for
seconds. Each round has a quiet part and an attacked part, so that both see the same changes of a machine that
others use. With --token the server asks for a token, which honest clients have and attackers do not. The
attackers share one process:
  marks     inputs of a letter and 120,000 combining marks, one after the other on a connection
  promises  connections that announce a body of 1 MiB, send none, and are opened again as soon as the server closes them
  garbage   heads and bodies that are not valid requests, other names in Host, unknown codings
  slow      connections that send a byte of a head now and then
Exits with 1 if an honest request had no answer, a wrong answer, 429 or 503. Times are reported, never judged.
"""
import argparse, asyncio, csv, json, multiprocessing, os, random, resource, sys, tempfile, time
from serve_client import HOSTILE, Connection, Server, expected_answers, is_right, lines_of, post, request_for

ROUTE = "/v1/predict"
TOKEN = "serve-under-attack-0123456789abcdef"
MARKS = "a" + "\u0301" * 60000 + "\u0327" * 60000
HEAD = b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
PROMISE = HEAD + b"Content-Length: 1048576\r\n\r\n"
UNTRUE = [  # heads that the server has to judge
    b"POST /v1/predict HTTP/1.1\r\nHost: evil.example\r\nContent-Type: application/json\r\nContent-Length: 4\r\n\r\n",
    b"GET / HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\n\r\n",
    HEAD + b"Transfer-Encoding: gzip, chunked\r\n\r\n",
    HEAD + b"Transfer-Encoding: identity\r\nContent-Length: 4\r\n\r\n{}{}",
]
SECONDS_OF_PROMISE = 2.0


# --- honest clients ---


async def honest(server, fields, texts, wanted, pause, until, samples, phase):
    connection, draw = Connection(server.port), random.Random(len(texts) + len(samples))
    while time.monotonic() < until:
        await asyncio.sleep(draw.uniform(0.5, 1.5) * pause)
        number = draw.randrange(len(texts))
        begin = time.monotonic()
        status, body = await connection.ask(request_for(ROUTE, texts[number], fields))
        spent = time.monotonic() - begin
        what = "wrong" if status == 200 and not is_right(ROUTE, body, wanted[number]) else "lost" if status == 0 else str(status)
        samples.append((phase, begin, spent * 1000, what))
    connection.close()


async def ask_honestly(server, arguments, fields, texts, wanted, seconds, samples, phase):
    until = time.monotonic() + seconds
    await asyncio.gather(*(honest(server, fields, texts, wanted, arguments.pause, until, samples, phase) for _ in range(arguments.clients)))


# --- attackers, in a process of their own ---


async def exchange(port, request, seconds, more=b""):
    """Sends a request on a connection of its own and reads until the server closes it, or the time is over."""
    writer = None
    try:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(request)
        await asyncio.wait_for(reader.read(), seconds)
    except (OSError, asyncio.TimeoutError):
        pass
    finally:
        if writer is not None:
            writer.close()


async def send_marks(port, counts):
    request, connection = post(ROUTE, {"inputs": MARKS}), Connection(port)
    try:
        while True:
            status, _ = await connection.ask(request)
            counts["marks " + str(status)] = counts.get("marks " + str(status), 0) + 1
            if status not in (200, 400):
                await asyncio.sleep(0.02)
    finally:
        connection.close()


async def promise(port, counts):
    while True:
        counts["promises"] = counts.get("promises", 0) + 1
        await exchange(port, PROMISE, SECONDS_OF_PROMISE)
        await asyncio.sleep(0.2)


async def send_garbage(port, counts, draw):
    while True:
        counts["garbage"] = counts.get("garbage", 0) + 1
        await exchange(port, draw.choice(HOSTILE + UNTRUE), 0.5)
        await asyncio.sleep(0.05)


async def send_slowly(port, counts):
    while True:
        counts["slow"] = counts.get("slow", 0) + 1
        writer = None
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", port)
            for byte in HEAD:
                writer.write(bytes([byte]))
                try:
                    await asyncio.wait_for(reader.read(1), 0.5)
                    break  # the server has answered, or closed the connection
                except asyncio.TimeoutError:
                    pass
        except OSError:
            pass
        finally:
            if writer is not None:
                writer.close()
        await asyncio.sleep(0.05)


async def attack_once(port, arguments, on, counts):
    draw = random.Random(7)
    attackers = [send_marks(port, counts) for _ in range(arguments.marks)]
    attackers += [promise(port, counts) for _ in range(arguments.promises)]
    attackers += [send_garbage(port, counts, draw) for _ in range(arguments.garbage)]
    attackers += [send_slowly(port, counts) for _ in range(arguments.slow)]
    tasks = [asyncio.create_task(each) for each in attackers]
    while on.is_set():
        await asyncio.sleep(0.02)
    # wait_for() of Python before 3.12 can lose a cancellation that comes when its call ends, so one is not enough.
    while any(not task.done() for task in tasks):
        for task in tasks:
            task.cancel()
        await asyncio.wait(tasks, timeout=0.1)
    await asyncio.gather(*tasks, return_exceptions=True)


def attack(port, arguments, on, over, results):
    counts = {}
    while not over.is_set():
        if on.wait(0.1):
            asyncio.run(attack_once(port, arguments, on, counts))
    used = resource.getrusage(resource.RUSAGE_SELF)
    results.put((counts, used.ru_utime + used.ru_stime))


# --- what is reported ---


def quantile(values, share):
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))] if ordered else float("nan")


def figures_of(samples, phase):
    times = [spent for of, _, spent, _ in samples if of == phase]
    answers = {}
    for of, _, _, what in samples:
        if of == phase:
            answers[what] = answers.get(what, 0) + 1
    return {"requests": len(times), "p50_ms": quantile(times, 0.5), "p95_ms": quantile(times, 0.95), "p99_ms": quantile(times, 0.99),
            "max_ms": max(times, default=float("nan")), "answers": answers}


def processor_seconds(pids):
    """Returns the processor time of these processes."""
    ticks = 0
    for pid in pids:
        try:
            fields = open(f"/proc/{pid}/stat").read().rsplit(")", 1)[1].split()
            ticks += int(fields[11]) + int(fields[12])
        except OSError:
            pass
    return ticks / os.sysconf("SC_CLK_TCK")


def measure(server, arguments, texts, wanted):
    context = multiprocessing.get_context("fork")
    on, over, results = context.Event(), context.Event(), context.Queue()
    attacker = context.Process(target=attack, args=(server.port, arguments, on, over, results))
    attacker.start()
    fields = f"Authorization: Bearer {TOKEN}\r\n" if arguments.token else ""
    samples, used = [], {"quiet": 0.0, "attacked": 0.0}
    try:
        asyncio.run(ask_honestly(server, arguments, fields, texts, wanted, 1, [], "warm"))
        for _ in range(arguments.rounds):
            for phase, seconds in (("quiet", arguments.quiet), ("attacked", arguments.attack)):
                if phase == "attacked":
                    on.set()
                pids = [server.process.pid, *server.workers()]
                before = processor_seconds(pids)
                asyncio.run(ask_honestly(server, arguments, fields, texts, wanted, seconds, samples, phase))
                used[phase] += processor_seconds(pids) - before
                on.clear()
            time.sleep(1.2)  # the server waits up to a second for clients that it has refused
    finally:
        over.set()
    counts, seconds = results.get()
    attacker.join()
    return samples, counts, {"server_quiet_s": used["quiet"], "server_attacked_s": used["attacked"], "attackers_s": seconds}


def show(report):
    print(f"{'':10}{'requests':>10}{'p50 ms':>10}{'p95 ms':>10}{'p99 ms':>10}{'max ms':>10}  answers")
    for phase in ("quiet", "attacked"):
        row = report[phase]
        answers = ", ".join(f"{count} x {what}" for what, count in sorted(row["answers"].items()))
        print(f"{phase:10}{row['requests']:10}{row['p50_ms']:10.2f}{row['p95_ms']:10.2f}{row['p99_ms']:10.2f}{row['max_ms']:10.1f}  {answers}")
    print(f"p95 attacked / quiet: {report['ratio_p95']:.2f}; token: {'yes' if report['token'] else 'no'}")
    print("attacks: " + ", ".join(f"{count} {what}" for what, count in sorted(report["attacks"].items())))
    used = report["processor"]
    print(f"processor seconds: server {used['server_quiet_s']:.1f} quiet, {used['server_attacked_s']:.1f} attacked; attackers {used['attackers_s']:.1f}; "
          f"all share {report['cores']} cores with the clients")


def parse_arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("exp", "db", "run", "texts"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--options", default="", help="options of exp serve")
    parser.add_argument("--token", action="store_true", help="the server asks for a token, which the attackers do not have")
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--quiet", type=float, default=15, help="seconds of a round without attackers")
    parser.add_argument("--attack", type=float, default=60, help="seconds of a round with attackers")
    parser.add_argument("--clients", type=int, default=4, help="honest ones")
    parser.add_argument("--pause", type=float, default=0.1, help="mean seconds between an answer and the next request of an honest client")
    parser.add_argument("--marks", type=int, default=2)
    parser.add_argument("--promises", type=int, default=80)
    parser.add_argument("--garbage", type=int, default=2)
    parser.add_argument("--slow", type=int, default=20)
    parser.add_argument("--json", action="store_true", help="print JSON in place of a table")
    parser.add_argument("--samples", help="a file for every sample, as CSV")
    return parser.parse_args()


def main():
    arguments = parse_arguments()
    texts = lines_of(arguments.texts, 200)
    wanted, _ = expected_answers(arguments.exp, arguments.db, arguments.run, texts, ROUTE)
    with tempfile.TemporaryDirectory() as folder:
        options = arguments.options.split()
        if arguments.token:
            secret = os.path.join(folder, "token.txt")
            with open(os.open(secret, os.O_WRONLY | os.O_CREAT, 0o600), "w") as file:
                file.write(TOKEN + "\n")
            options += ["--token-file", secret]
        server = Server(arguments.exp, arguments.db, arguments.run, options)
        try:
            samples, attacks, processor = measure(server, arguments, texts, wanted)
        finally:
            code = server.stop()
    report = {phase: figures_of(samples, phase) for phase in ("quiet", "attacked")}
    report |= {"ratio_p95": report["attacked"]["p95_ms"] / report["quiet"]["p95_ms"], "token": arguments.token, "attacks": attacks,
               "processor": processor, "cores": len(os.sched_getaffinity(0)), "exit_code": code}
    if arguments.samples:
        with open(arguments.samples, "w", newline="") as file:
            csv.writer(file).writerows([("phase", "time_s", "ms", "answer"), *samples])
    print(json.dumps(report, indent=2)) if arguments.json else show(report)
    refused = set(report["quiet"]["answers"]) | set(report["attacked"]["answers"])
    sys.exit(0 if refused == {"200"} and code == 0 else 1)


main()
