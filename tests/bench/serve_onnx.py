#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Serves the model with which `exp serve` is compared: ONNX Runtime behind uvicorn, with the same two routes.

    pip install onnxruntime transformers uvicorn uvloop httptools
    python3 tests/bench/serve_onnx.py --model quickstart-onnx --port 8000 --processes 2 --threads 1

serve_load.py --peer starts it on a folder that `exp export --format onnx` wrote. It has what is known to make
it quick: an ASGI program without a framework around it, uvloop and httptools, no access log, the tokenizer in
Rust, one output of the graph, the graph's optimisations at their highest level. --processes are started by
uvicorn, each with its own model and --threads within an operation. A process computes one input after
another, in the order in which they come; inputs are not combined in batches, which neither uvicorn nor ONNX
Runtime does by itself. It understands only the requests of serve_load.py.
"""
import argparse, json, os


class Model:
    def __init__(self, folder, threads):
        import numpy, onnxruntime
        from transformers import AutoTokenizer
        self.numpy, facts = numpy, json.load(open(os.path.join(folder, "model.json")))
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads, options.inter_op_num_threads = threads, 1
        self.session = onnxruntime.InferenceSession(os.path.join(folder, "model.onnx"), options, providers=["CPUExecutionProvider"])
        self.inputs, self.labels = [each.name for each in self.session.get_inputs()], facts["labels"]
        self.tokenizer = AutoTokenizer.from_pretrained(folder).backend_tokenizer
        self.tokenizer.enable_truncation(facts["max_length"])
        self.name = os.path.basename(os.path.normpath(folder))

    def run(self, encoding, output):
        ids = self.numpy.array([encoding.ids], dtype=self.numpy.int64)
        given = {"input_ids": ids, "attention_mask": self.numpy.ones_like(ids), "token_type_ids": self.numpy.zeros_like(ids)}
        return self.session.run([output], {name: given[name] for name in self.inputs})[0][0]

    def embed(self, text):
        states = self.run(self.tokenizer.encode(text), "last_hidden_state")
        return {"object": "list", "model": self.name, "data": [{"object": "embedding", "index": 0, "embedding": states.mean(0).tolist()}]}

    def entities(self, text):
        """Returns the spans of words whose labels begin with B- or I-; a word has the label of its first token."""
        words = text.split()
        encoding = self.tokenizer.encode(words, is_pretokenized=True)
        best, found, last, place = self.run(encoding, "logits").argmax(-1), [], None, 0
        first = {}
        for row, word in enumerate(encoding.word_ids):
            if word is not None:
                first.setdefault(word, row)
        for number, word in enumerate(words):
            begin = text.index(word, place)
            place = begin + len(word)
            label = self.labels[best[first[number]]] if number in first else "O"
            kind = label[2:]
            if kind and last == kind and label[0] == "I":
                found[-1]["end"] = place
            elif kind:
                found.append({"start": begin, "end": place, "type": kind})
            last = kind
        for each in found:
            each["text"] = text[each["start"] : each["end"]]
        return {"model": self.name, "results": [{"entities": found, "text": text}]}


def make_app():
    """Returns the ASGI program; uvicorn calls this in each of its processes."""
    model = Model(os.environ["SERVE_ONNX_MODEL"], int(os.environ["SERVE_ONNX_THREADS"]))

    async def app(scope, receive, send):
        if scope["type"] == "lifespan":
            while True:
                await send({"type": (await receive())["type"] + ".complete"})
        body, more = b"", True
        while more:
            message = await receive()
            body, more = body + message.get("body", b""), message.get("more_body", False)
        asked = json.loads(body)
        answer = model.embed(asked["input"]) if scope["path"] == "/v1/embeddings" else model.entities(asked["inputs"])
        data = json.dumps(answer, ensure_ascii=False, separators=(",", ":")).encode()
        head = [(b"content-type", b"application/json"), (b"content-length", str(len(data)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": head})
        await send({"type": "http.response.body", "body": data})

    return app


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--model", required=True, help="a folder that exp export --format onnx wrote")
    parser.add_argument("--port", type=int, default=8000, help="port; 0: any free one")
    parser.add_argument("--processes", type=int, default=1)
    parser.add_argument("--threads", type=int, default=1, help="threads of each process")
    arguments = parser.parse_args()
    import uvicorn
    os.environ.update(SERVE_ONNX_MODEL=os.path.abspath(arguments.model), SERVE_ONNX_THREADS=str(arguments.threads), TOKENIZERS_PARALLELISM="false", OMP_NUM_THREADS="1")
    uvicorn.run("serve_onnx:make_app", factory=True, app_dir=os.path.dirname(os.path.abspath(__file__)), port=arguments.port, workers=arguments.processes, access_log=False, loop="uvloop", http="httptools")


if __name__ == "__main__":
    main()
