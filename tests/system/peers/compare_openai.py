#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Checks `exp serve` with the Python package `openai`: its completions, streams and embeddings must equal the
output of the verbs.

    compare_openai.py build/openmp/bin/exp

CTest runs it as openai_clients_are_served. The verbs are `exp generate` and `exp embed`. The answers must
also be equal when the request has optional members at their neutral values, as many clients send them: these
clients must keep working with `exp serve`. WRITER is the experiment file of the model that generates. Exits
with 77 (skipped) without the package, or if the worker of the build does not run.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

try:
    import openai
except ImportError:
    print("skipped: the package openai is missing")
    sys.exit(77)

DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
WRITER = """
name = "days"
[task]
type = "lm"
[data]
type = "text_file"
train = "days.txt"
dev = "days.txt"
max_length = 16
[tokenizer]
type = "character"
vocab_size = 60
white_space = true
[model]
causal = true
width = 32
layers = 1
dropout = 0.0
norm_position = "pre"
block = ["attention", "feed_forward"]
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 64
[model.head]
type = "language_model"
transform = false
[optimizer]
type = "adamw"
learning_rate = 5e-3
[schedule]
type = "constant"
[train]
steps = 200
batch_tokens = 256
"""
NEUTRAL = dict(best_of=1, echo=False, frequency_penalty=0, logit_bias={}, logprobs=None, n=1, presence_penalty=0, seed=None, stop=[], suffix=None, top_p=1)
failures = []


def check(what, holds, *seen):
    print(("ok    " if holds else "FAIL  ") + what, *(() if holds else seen))
    if not holds:
        failures.append(what)


def exp(program, folder, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "1"})
    if done.returncode:
        sys.exit(f"exp {' '.join(arguments)} failed: {done.stderr}")
    return done.stdout


def compare(program, folder, client):
    written = exp(program, folder, "generate", "days", "mon", "--max-tokens", "8").rstrip("\n")
    ask = lambda **more: client.completions.create(model="days", prompt="mon", max_tokens=8, **more)
    check("a completion", ask().choices[0].text == written, ask(), written)
    check("a completion with neutral members", ask(**NEUTRAL).choices[0].text == written)
    parts = list(ask(stream=True, stream_options={"include_usage": True}))
    check("a stream", "".join(part.choices[0].text for part in parts if part.choices) == written and len(parts) > 2, parts)
    check("the usage at the end of a stream", parts[-1].usage is not None and parts[-1].usage.completion_tokens == 8, parts[-1])
    for name, value in (("echo", True), ("logprobs", 2), ("best_of", 3)):
        try:
            ask(**{name: value})
            check(f"{name} = {value} is refused", False)
        except openai.BadRequestError as error:
            check(f"{name} = {value} is refused by name", f'"{name}"' in str(error), error)
    texts = ["Anna lives in Lund", "the strike ended"]
    vectors = [each["vector"] for each in json.loads(exp(program, folder, "embed", "quickstart", *texts, "--json"))["vectors"]]
    given = [each.embedding for each in client.embeddings.create(model="quickstart", input=texts).data]
    check("vectors", all(abs(a - b) < 1e-6 for x, y in zip(given, vectors) for a, b in zip(x, y)) and len(given) == 2)
    width = len(vectors[0])
    given = client.embeddings.create(model="quickstart", input=texts[0], dimensions=width, encoding_format="float").data[0].embedding
    check("vectors of the model's length", len(given) == width)
    try:
        client.embeddings.create(model="quickstart", input=texts[0], dimensions=width + 1)
        check("another length is refused", False)
    except openai.BadRequestError as error:
        check("another length is refused", f"have {width} numbers" in str(error), error)


def main():
    program = os.path.abspath(sys.argv[1])
    worker = os.path.join(os.path.dirname(program), "encore-worker")
    if subprocess.run([worker, "version"], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL).returncode != 0:
        print("skipped: this worker does not run here")
        sys.exit(77)
    quickstart = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../experiments/quickstart.toml")
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "days.txt"), "w") as out:
            for first in range(60):
                out.write(" ".join(DAYS[(first + k) % 7] for k in range(5 + first % 4)) + "\n")
        with open(os.path.join(folder, "days.toml"), "w") as out:
            out.write(WRITER)
        exp(program, folder, "run", "days.toml", "-q")
        exp(program, folder, "run", quickstart, "-q", "-S", "train.epochs=1")
        with open(os.path.join(folder, "log"), "w") as out:
            server = subprocess.Popen([program, "serve", "days", "quickstart", "--port", "0"], cwd=folder, stdout=out, stderr=out)
        try:
            port = None
            while port is None:
                time.sleep(0.01)
                port = re.search(r"on http://127\.0\.0\.1:(\d+)", open(os.path.join(folder, "log")).read())
                if server.poll() is not None:
                    sys.exit(open(os.path.join(folder, "log")).read())
            client = openai.OpenAI(base_url=f"http://127.0.0.1:{port[1]}/v1", api_key="none", max_retries=20)
            compare(program, folder, client)
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
