#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks that `exp serve` answers every request while its workers are killed and its clients misbehave.

    python3 tests/bench/serve_faults.py --exp build/openmp/bin/exp --db encore.db --run quickstart \\
        --texts notes.txt --kills 50
    python3 tests/bench/serve_faults.py ... --connections 10000 --seconds 600

Called by hand; docs/internals/testing.md says what it checks. Some clients send inputs and compare each answer
with that of `exp predict`. Meanwhile one worker after the other is killed, and other clients send garbage, halves of
requests, JSON that is nested too deeply or has numbers out of range, or open connections and leave them.
Exits with 1 if a request was lost, an answer was wrong, the server ended, or its memory grew beyond --growth
MiB after the first tenth of the time.
"""
import argparse, asyncio, os, random, resource, signal, sys, time
from serve_client import HOSTILE, Connection, Server, expected_answers, is_right, lines_of, once, request_for

ROUTE = "/v1/predict"


async def polite(server, texts, wanted, until, counts):
    connection, draw = Connection(server.port), random.Random(id(counts))
    while time.monotonic() < until():
        number = draw.randrange(len(texts))
        status, body = await connection.ask(request_for(ROUTE, texts[number]))
        kind = "right" if status == 200 and is_right(ROUTE, body, wanted[number]) else "wrong" if status == 200 else "lost" if status == 0 else f"refused with {status}"
        counts[kind] = counts.get(kind, 0) + 1
    connection.close()


async def hostile(server, until, counts):
    draw = random.Random(7)
    while time.monotonic() < until():
        try:
            reader, writer = await asyncio.open_connection("127.0.0.1", server.port)
            writer.write(draw.choice(HOSTILE))
            if draw.random() < 0.5:
                await asyncio.wait_for(reader.read(100), 0.5)
            writer.close()
        except (OSError, asyncio.TimeoutError):
            pass
        counts["hostile"] = counts.get("hostile", 0) + 1


async def crowd(server, connections, until):
    """Keeps as many connections open as it gets."""
    open_ones = []
    try:
        for _ in range(connections):
            if time.monotonic() >= until():
                break
            try:
                open_ones.append((await asyncio.wait_for(asyncio.open_connection("127.0.0.1", server.port), 5))[1])
            except (OSError, asyncio.TimeoutError):
                pass
        while time.monotonic() < until():
            await asyncio.sleep(0.1)
    finally:
        for writer in open_ones:
            writer.close()
    return len(open_ones)


async def killer(server, kills, pause, counts):
    while counts.get("kills", 0) < kills:
        await asyncio.sleep(pause)
        for worker in server.workers()[:1]:
            os.kill(worker, signal.SIGKILL)  # of our own server
            counts["kills"] = counts.get("kills", 0) + 1


async def run(server, arguments, texts, wanted):
    counts, samples, ends = {}, [], {"at": time.monotonic() + arguments.seconds}
    until = lambda: ends["at"]
    asked = [asyncio.create_task(polite(server, texts, wanted, until, counts)) for _ in range(arguments.clients)]
    asked += [asyncio.create_task(hostile(server, until, counts)) for _ in range(2)]
    asked.append(asyncio.create_task(crowd(server, arguments.connections, until)))
    killing = asyncio.create_task(killer(server, arguments.kills, arguments.pause, counts))
    while time.monotonic() < until():
        await asyncio.sleep(0.5)
        samples.append(server.resident_bytes())
    await killing
    await asyncio.gather(*asked)
    return counts, samples


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name in ("exp", "db", "run", "texts"):
        parser.add_argument("--" + name, required=True)
    parser.add_argument("--options", default="--workers 2", help="options of exp serve")
    parser.add_argument("--kills", type=int, default=50)
    parser.add_argument("--pause", type=float, default=0.5, help="seconds between two kills")
    parser.add_argument("--clients", type=int, default=8)
    parser.add_argument("--connections", type=int, default=2000, help="number of idle connections")
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--growth", type=float, default=64, help="MiB that memory may grow after the first tenth")
    arguments = parser.parse_args()
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (hard, hard))
    texts = lines_of(arguments.texts, 200)
    wanted, _ = expected_answers(arguments.exp, arguments.db, arguments.run, texts, ROUTE)
    server = Server(arguments.exp, arguments.db, arguments.run, arguments.options.split())
    counts, samples = asyncio.run(run(server, arguments, texts, wanted))
    alive = server.process.poll() is None
    status, _ = asyncio.run(once(server.port, request_for(ROUTE, texts[0])))
    shown = [line for line in server.metrics().splitlines() if line.startswith(("encore_worker_ends", "encore_texts_again", "encore_texts_lost", "encore_refused_conn"))]
    early, late = max(samples[: max(1, len(samples) // 10)]), max(samples)
    print("  ".join(f"{count} {kind}" for kind, count in sorted(counts.items())))
    print("\n".join(shown))
    print(f"memory of exp: {early / 2**20:.1f} MiB early, {late / 2**20:.1f} MiB at most, {samples[-1] / 2**20:.1f} MiB at the end; afterwards a request gets {status}")
    code = server.stop() if alive else server.process.returncode
    failed = not alive or code != 0 or status != 200 or counts.get("lost", 0) + counts.get("wrong", 0) > 0 or late - early > arguments.growth * 2**20
    print("FAILED" if failed else "passed", f"(exit code of the server {code})")
    sys.exit(1 if failed else 0)


main()
