#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Measures whether and how soon `exp monitor` detects that tweets have replaced news, and how often it gives
false alarms.

    ENCORE_DATA=... python3 tests/bench/drift.py --exp build/openmp/bin/exp \\
        --replay build/openmp/bin/tests/drift_replay --folder drift

Called by hand; docs/guides/monitoring.md has its results. A small model is trained on English Wikipedia
(drift.toml), unless the folder has it. `exp serve --monitor` answers the sentences of its test set and those
of WNUT 17, one request each, as plain text; its records of them are read from the database. Then the test of
`exp monitor` (framework/monitor/shift_test.hpp, called by drift_replay.cpp) gets them in --replays random
orders: --length sentences of the test set alone, where every alarm is a false one, and --quiet of them and
then tweets, where it should alarm within 200. It compares once with the reference of the run, its development
set, and once with a reference that is drawn from the test set itself in each replay, so that the two differ
only by chance. The upper bound of the false alarm rate is that of Clopper and Pearson with 95 %. All samples
go to FOLDER/drift.json.
"""
import argparse, asyncio, json, math, os, pathlib, sqlite3, subprocess
from serve_client import Connection, Server, lines_of, post

BOUND = 200  # a shift counts as detected if the alarm comes within this number of requests


def upper_bound(hits, count, level=0.95):
    """Returns the largest rate at which at most `hits` of `count` have a probability of 1 - level."""
    def at_most(rate):
        return sum(math.exp(math.lgamma(count + 1) - math.lgamma(k + 1) - math.lgamma(count - k + 1) + k * math.log(rate)
                            + (count - k) * math.log1p(-rate)) for k in range(hits + 1))
    low, high = 0.0, 1.0
    if hits == count:
        return 1.0
    for _ in range(60):
        middle = (low + high) / 2
        low, high = (middle, high) if middle == 0 or at_most(middle) > 1 - level else (low, middle)
    return high


async def ask_all(port, texts, clients=4):
    """Sends every text once, by some clients in turn."""
    left, failed = list(reversed(texts)), []

    async def client():
        connection = Connection(port)
        while left:
            status, body = await connection.ask(post("/v1/predict", {"inputs": left.pop(), "truncate": True}))
            if status != 200:
                failed.append(body.decode())
        connection.close()

    await asyncio.gather(*(client() for _ in range(clients)))
    if failed:
        raise SystemExit(f"{len(failed)} requests failed: {failed[0]}")


def facts_in(database):
    """Returns the stored facts of each text, in the order of the rows."""
    rows = sqlite3.connect(database).execute("SELECT pieces, unknown, confidence, distance, labels FROM served ORDER BY number")
    found = []
    for tokens, unknown, confidence, distance, labels in rows:
        facts = {"pieces": tokens, "unknown": unknown, "labels": json.loads(labels)}
        facts.update({name: value for name, value in (("confidence", confidence), ("distance", distance)) if value is not None})
        found.append(facts)
    return found


def serve(options, database, texts):
    server = Server(options.exp, database, "drift", ["--monitor"])
    asyncio.run(ask_all(server.port, texts))
    server.stop()
    answer = subprocess.run([options.exp, "monitor", "drift", "--db", database, "--json"], capture_output=True, text=True)
    if answer.returncode not in (0, 3):
        raise SystemExit(answer.stderr)
    return json.loads(answer.stdout)


def summary(outcome):
    alarms = sum(at >= 0 for at in outcome["false_alarms"])
    delays = sorted(delay for delay in outcome["delays"] if delay >= 0)
    count = len(outcome["false_alarms"])
    return {"false_alarms": alarms, "replays": count, "rate": alarms / count, "upper_95": upper_bound(alarms, count),
            "detected_within_bound": sum(delay <= BOUND for delay in delays), "never": sum(delay == -1 for delay in outcome["delays"]),
            "before_the_shift": sum(delay == -2 for delay in outcome["delays"]),
            "delay_median": delays[len(delays) // 2] if delays else None, "delay_p99": delays[int(0.99 * len(delays))] if delays else None,
            "delay_most": delays[-1] if delays else None}


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--exp", required=True)
    parser.add_argument("--replay", required=True)
    parser.add_argument("--folder", required=True)
    parser.add_argument("--replays", type=int, default=1000)
    parser.add_argument("--length", type=int, default=1000)
    parser.add_argument("--quiet", type=int, default=200)
    parser.add_argument("--alpha", type=float, default=0.001)
    options = parser.parse_args()
    data = pathlib.Path(os.environ["ENCORE_DATA"])
    folder = pathlib.Path(options.folder)
    folder.mkdir(parents=True, exist_ok=True)
    database = str(folder / "drift.db")
    subprocess.run([options.exp, "run", str(pathlib.Path(__file__).parent / "drift.toml"), "--db", database, "-q"], check=True)
    run = sqlite3.connect(database).execute("SELECT id FROM run WHERE name = 'drift'").fetchone()[0]
    reference = json.loads((folder / "drift.db.runs" / run / "reference.json").read_text())

    with sqlite3.connect(database) as connection:  # of an earlier measurement
        connection.execute("DELETE FROM served")
    news = lines_of(data / "wikineural_en/test.conll", 10**6)
    tweets = [line for name in ("train", "dev", "test") for line in lines_of(data / f"wnut17/{name}.conll", 10**6)]
    quiet = serve(options, database, news)
    same = facts_in(database)
    shifted = serve(options, database, tweets)
    other = facts_in(database)[len(same):]
    (folder / "facts.json").write_text(json.dumps({"reference": reference, "same": same, "other": other}))

    result = {"served": {"news": len(same), "tweets": len(other), "after_news": quiet, "after_tweets": shifted}, "replays": {}, "summary": {}}
    for name, more in (("run's reference", []), ("drawn reference", ["--split"])):
        outcome = json.loads(subprocess.run(
            [options.replay, str(folder / "facts.json"), "--replays", str(options.replays), "--length", str(options.length),
             "--quiet", str(options.quiet), "--alpha", str(options.alpha), *more], check=True, capture_output=True, text=True).stdout)
        result["replays"][name] = outcome
        result["summary"][name] = summary(outcome)
        print(name, json.dumps(result["summary"][name]))
    (folder / "drift.json").write_text(json.dumps(result))
    print(f"served in order: {len(same)} news, alarm after {quiet['test']['alarm_after']}; then {len(other)} tweets, "
          f"alarm after {shifted['test']['alarm_after']}")


if __name__ == "__main__":
    main()
