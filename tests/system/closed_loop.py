#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Runs the whole life of a served application (docs/guides/closed_loop.md), with clients that never stop asking.

    closed_loop.py build/openmp/bin/exp [--decisions 200]

CTest runs it as an_application_in_a_closed_loop. An application is trained and served with a review queue. A topic
that it does not know comes into the requests: an alert must be raised, items must wait in the queue, and people (this
program) decide them. The application is retrained with the decisions, promoted, loaded by the running server, and
replaced by the old one again. The programs of the stages are killed once, at a point where they have begun, and the
same command must complete the stage. It fails if a request gets no answer, if an item is lost or doubled, if a version
does not verify as equal, or if the old version answers otherwise than before.
"""
import argparse
import json
import os
import random
import re
import signal
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.request

ASK = ["please help me with", "I have a question about", "where is", "there is a problem with", "more about"]
TOPICS = {
    "billing": ["the invoice", "my refund", "the card payment", "the price on the bill"],
    "delivery": ["the parcel", "my order", "the courier", "the box with the lamp"],
    "other": ["the weather in town", "a recipe with rice", "the match on Sunday", "a song about rain"],
}
# The new topic shares words with what is out of scope, so the application leaves it to people.
NEW_TOPIC = "garden"
NEW_THINGS = ["the weather for tomatoes", "a recipe for compost", "the rain on the roses", "a song for the lawn"]
USUAL = ["billing", "delivery"] * 4 + ["other"]

MODEL = """name = "intent"
[task]
type = "classify"
[data]
type = "tsv"
train = "train.tsv"
dev = "dev.tsv"
max_length = 32
[tokenizer]
type = "wordpiece"
vocab_size = 400
[model]
width = 32
layers = 1
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 64
[model.head]
type = "linear"
[optimizer]
type = "adamw"
learning_rate = 5e-3
[schedule]
type = "linear"
[train]
epochs = 4
"""
APPLICATION = """name = "desk"
[app]
steps = ["intent", "decide"]
[app.step.intent]
type = "predict"
model = { experiment = "intent.toml" }
vectors = true
[app.step.decide]
type = "decide"
error = 0.1
out_of_scope = "other"
[data]
type = "tsv"
train = "train.tsv"
dev = "decisions.tsv"
test = "test.tsv"
"""
# Requests of an unknown topic go to people: their share in ten seconds is what the alert watches.
ALERTS = """late = "1s"
[[alert]]
name = "many reviews"
level = "critical"
field = "decide.band"
value = "review"
above = 0.4
window = "10s"
least = 20
"""


def fail(what):
    print(f"closed_loop: {what}")
    sys.exit(1)


def request_about(topic, draw):
    things = NEW_THINGS if topic == NEW_TOPIC else TOPICS[topic]
    return f"{draw.choice(ASK)} {draw.choice(things)} , number {draw.randrange(10000)}"


def write_data(draw):
    for name, count, topics in [("train", 600, ["billing", "delivery", "other"]), ("dev", 200, ["billing", "delivery", "other"]),
                                ("decisions", 900, list(TOPICS)), ("test", 400, list(TOPICS))]:
        with open(name + ".tsv", "w", encoding="utf-8") as file:
            for _ in range(count):
                topic = draw.choice(topics)
                file.write(f"{request_about(topic, draw)}\t{topic}\n")
    for name, text in [("intent.toml", MODEL), ("desk.toml", APPLICATION), ("alerts.toml", ALERTS)]:
        with open(name, "w", encoding="utf-8") as file:
            file.write(text)


class Program:
    """exp, with the words of each call printed if it fails."""

    def __init__(self, path):
        self.path = path

    def run(self, *words, codes=(0,)):
        done = subprocess.run([self.path, *words], text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if done.returncode not in codes:
            fail(f"exp {' '.join(words)}: exit code {done.returncode}\n{done.stdout}{done.stderr}")
        return done

    def run_killed(self, begun, *words):
        """Starts exp, waits until begun() holds, and kills it with all its workers."""
        process = subprocess.Popen([self.path, *words], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, start_new_session=True)
        while not begun():
            if process.poll() is not None:
                fail(f"exp {' '.join(words)} ended before it was killed")
            time.sleep(0.005)
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


class Server:
    """The server of the application, and clients that ask it without a break until stop()."""

    def __init__(self, exp):
        self.exp, self.process, self.url = exp, None, None
        self.topics = USUAL
        self.answered, self.reviewed, self.failures = 0, set(), []
        self.lock, self.is_up, self.stopped = threading.Lock(), threading.Event(), threading.Event()
        self.clients = [threading.Thread(target=self.ask, args=(seed,), daemon=True) for seed in range(3)]

    def start(self):
        self.log = open("serve.txt", "w+", encoding="utf-8")
        self.process = subprocess.Popen([self.exp.path, "serve", "desk", "--promoted", "--monitor", "--review", "desk.queue", "--port", "0"],
                                        stdin=subprocess.DEVNULL, stdout=self.log, stderr=self.log, start_new_session=True)
        while "serving" not in (text := open("serve.txt", encoding="utf-8").read()):
            if self.process.poll() is not None:
                fail("exp serve ended: " + open("serve.txt", encoding="utf-8").read())
            time.sleep(0.02)
        self.url = re.search(r"http://\S+", text).group(0)
        self.is_up.set()
        if not self.clients[0].ident:
            for client in self.clients:
                client.start()

    def kill(self):
        self.is_up.clear()  # clients ask again only when it is back
        os.killpg(self.process.pid, signal.SIGKILL)
        self.process.wait()

    def stop(self):
        self.stopped.set()
        for client in self.clients:
            client.join()
        self.process.send_signal(signal.SIGTERM)
        if self.process.wait() != 0:
            fail("exp serve: " + open("serve.txt", encoding="utf-8").read())

    def post(self, route, body):
        message = urllib.request.Request(self.url + route, json.dumps(body).encode(), {"Content-Type": "application/json"})
        with urllib.request.urlopen(message, timeout=60) as answer:
            return answer.headers["X-Request-Id"], json.load(answer)

    def predict(self, inputs):
        return self.post("/v1/predict", {"inputs": inputs})[1]["results"]

    def ask(self, seed):
        draw = random.Random(seed)
        while not self.stopped.is_set():
            self.is_up.wait(0.1)
            if not self.is_up.is_set():
                continue
            process = self.process
            text = request_about(draw.choice(self.topics), draw)
            try:
                name, answer = self.post("/v1/predict", {"inputs": text})
            except (urllib.error.URLError, ConnectionError, OSError, json.JSONDecodeError) as error:
                if process.poll() is None and self.is_up.is_set():
                    self.failures.append(f"{text}: {error}")
                continue  # the server was killed: no answer was given
            with self.lock:
                self.answered += 1
                if answer["results"][0]["decide.band"] == "review":
                    self.reviewed.add(name)
            time.sleep(0.01)

    def require_no_loss(self, stage):
        if self.failures:
            fail(f"{stage}: {len(self.failures)} requests got no answer, the first: {self.failures[0]}")


def decide(server, exp, number):
    """Decides `number` items as their words say: most over HTTP, every tenth on the command line."""
    for i in range(number):
        _, claimed = server.post("/v1/review/claim", {"reviewer": "anna"})
        item = claimed.get("item")
        deadline = time.monotonic() + 60
        while item is None and time.monotonic() < deadline:  # clients bring more
            time.sleep(0.05)
            item = server.post("/v1/review/claim", {"reviewer": "anna"})[1].get("item")
        if item is None:
            fail("the queue stayed empty")
        label = NEW_TOPIC
        for topic, things in TOPICS.items():
            if any(thing in item["text"] for thing in things):
                label = topic
        if i % 10 == 0:
            exp.run("review", "decide", "desk.queue", item["id"], label, "--by", "anna", "--new-label")
        else:
            server.post("/v1/review/decide", {"item": item["id"], "label": label, "reviewer": "anna", "new_label": True})


def rows(database, query):
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True, timeout=60)
    try:
        return connection.execute(query).fetchall()
    finally:
        connection.close()


def training_has_begun(run):
    def begun():
        try:
            return bool(rows("encore.db", f"SELECT 1 FROM curve WHERE run = '{run}'"))
        except sqlite3.Error:
            return False
    return begun


def wait_for(condition, what):
    deadline = time.monotonic() + 300
    while not condition():
        if time.monotonic() > deadline:
            fail("waited in vain: " + what)
        time.sleep(0.2)


def loop(exp, server, decisions):
    draw = random.Random(1)
    write_data(draw)
    exp.run_killed(training_has_begun("intent"), "run", "desk.toml", "-q")
    exp.run("run", "desk.toml", "-q")
    exp.run("review", "new", "desk.queue", "--app", "desk", "--audit", "0.02", "--keep-texts", "30")
    server.start()
    fixed = [request_about(topic, draw) for topic in list(TOPICS) + [NEW_TOPIC] for _ in range(5)]
    before = server.predict(fixed)
    wait_for(lambda: server.answered > 200, "200 answers")
    exp.run("monitor", "desk", "--alerts", "alerts.toml")
    server.require_no_loss("usual requests")
    print(f"served: {server.answered} answers, no alert")

    server.topics = [NEW_TOPIC] * 12 + USUAL
    wait_for(lambda: exp.run("monitor", "desk", "--alerts", "alerts.toml", codes=(0, 3)).returncode == 3, "an alert")
    print(f"alert: raised among {server.answered} answers")

    decide(server, exp, decisions // 2)
    server.kill()
    server.start()
    decide(server, exp, decisions - decisions // 2)
    server.require_no_loss("decisions")
    exp.run("review", "export", "desk.queue", "-o", "decided.tsv")
    exported = len(open("decided.tsv", encoding="utf-8").read().splitlines())
    if exported != decisions:
        fail(f"{decisions} items were decided, and {exported} were exported")
    print(f"decided: {decisions} items, across a killed server")

    retrain = ("retrain", "desk", "--with", "decided.tsv", "--from-scratch", "--promote-if", "old > -100 and new > -100", "-q")
    exp.run_killed(training_has_begun("intent-retrained"), *retrain)
    exp.run(*retrain)
    server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: "serving desk-retrained" in open("serve.txt", encoding="utf-8").read(), "the new version")
    server.require_no_loss("the new version")
    # How often a model this small is right depends on the requests that came, so only its classes are checked.
    answer = json.loads(exp.run("predict", "intent-retrained", "--json", "--scores", request_about(NEW_TOPIC, draw)).stdout)
    if NEW_TOPIC not in answer["scores"]:
        fail(f"the new model does not have the class of the new topic: {answer}")
    labels = [each["intent.label"] for each in server.predict([request_about(NEW_TOPIC, draw) for _ in range(100)])]
    print(f"retrained: {labels.count(NEW_TOPIC)} of 100 requests about the new topic get its label")

    exp.run("tag", "desk-retrained", "-promoted")
    server.process.send_signal(signal.SIGHUP)
    wait_for(lambda: server.predict(fixed) == before, "the old version")
    server.require_no_loss("the old version again")
    server.stop()
    exp.run("verify", "desk", "desk-retrained", "-q")

    queued = [row[0] for row in rows("desk.queue", "SELECT id FROM item WHERE reason = 'review'")]
    if len(queued) != len(set(queued)):
        fail("the queue has an item twice")
    missing = server.reviewed - {name.split(".")[0] for name in queued}
    if missing:
        fail(f"{len(missing)} requests were answered with review and are not in the queue, such as {sorted(missing)[0]}")
    print(f"went back: {server.answered} answers in all, none lost; {len(queued)} items, none lost or doubled; both versions verify as equal")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("exp", help="the program exp of a build")
    parser.add_argument("--decisions", type=int, default=200, help="number of items that are decided")
    arguments = parser.parse_args()
    exp = Program(os.path.abspath(arguments.exp))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        os.environ.pop("ENCORE_DB", None)
        server = Server(exp)
        try:
            loop(exp, server, arguments.decisions)
        finally:
            if server.process and server.process.poll() is None:
                server.kill()
            os.chdir("/")


if __name__ == "__main__":
    main()
