# SPDX-License-Identifier: BSD-3-Clause
"""Shared by serve_load.py, serve_faults.py, serve_under_attack.py and encoder_inference.py: a server of their
own, and an HTTP client on asyncio that needs no package. Nothing else imports it.
"""
import asyncio, json, os, re, signal, subprocess, sys, tempfile, time


class Server:
    """`exp serve RUN` on a port of its own."""

    def __init__(self, exp, db, run, options):
        self.start([exp, "serve", run, "--db", db, "--port", "0", *options], "serving ")

    def start(self, command, ready, times=1):
        """Starts `command` and waits until its output has a port and `times` lines with `ready`."""
        self.log = tempfile.NamedTemporaryFile("r", prefix="serve-", suffix=".txt")
        self.begin = time.monotonic()
        with open(self.log.name, "w") as out:
            self.process = subprocess.Popen(command, stdout=out, stderr=out)
        said = self.wait_for(r"(?:listening|running) on http://127\.0\.0\.1:(\d+)")
        self.port = int(said[1])
        self.wait_for(rf"(?s)(?:{ready}.*?){{{times}}}")
        self.ready_seconds = time.monotonic() - self.begin

    def wait_for(self, pattern):
        while True:
            said = re.search(pattern, open(self.log.name).read())
            if said:
                return said
            if self.process.poll() is not None:
                raise SystemExit(open(self.log.name).read())
            time.sleep(0.002)

    def workers(self):
        """Process ids of its workers, which are its children."""
        found = subprocess.run(["ps", "-o", "pid=", "--ppid", str(self.process.pid)], capture_output=True, text=True).stdout.split()
        return [int(pid) for pid in found]

    def resident_bytes(self):
        for line in open(f"/proc/{self.process.pid}/status"):
            if line.startswith("VmRSS"):
                return int(line.split()[1]) * 1024
        return 0

    def metrics(self):
        status, body = asyncio.run(once(self.port, b"GET /metrics HTTP/1.1\r\nHost: localhost\r\n\r\n"))
        return body.decode() if status == 200 else ""

    def stop(self):
        self.process.send_signal(signal.SIGTERM)
        return self.process.wait(60)


class OnnxServer(Server):
    """serve_onnx.py on a port of its own."""

    def __init__(self, model, processes, threads):
        script = os.path.join(os.path.dirname(os.path.abspath(__file__)), "serve_onnx.py")
        command = [sys.executable, script, "--model", model, "--port", "0", "--processes", str(processes), "--threads", str(threads)]
        self.start(command, r"startup complete", processes)


def post(path, body, fields=""):
    """Returns the bytes of a request. `fields`: more lines of the head, each with its line end."""
    data = json.dumps(body).encode()
    return f"POST {path} HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: {len(data)}\r\n{fields}\r\n".encode() + data


# Requests that a server has to refuse, and that cost it as much as their sender can make them cost.
HOSTILE = [
    b"\x00\xff\xfegarbage\r\n\r\n",
    b"GET / HTTP/1.1\r\n" + b"X: " + b"y" * 40000 + b"\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 500\r\n\r\n{\"inputs\": \"half",
    b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Length: 99999999999999999999\r\n\r\n",
    b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\nZZ\r\n",
    post("/v1/predict", {"inputs": "x" * 2_000_000}),
    b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 400000\r\n\r\n" + b"[" * 400000,
    b"POST /v1/predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 400011\r\n\r\n" + b'{"inputs":' + b"9" * 400000 + b"}",
    post("/v1/predict", {"inputs": [""] * 5000}),
    post("/v1/predict", {"inputs": ["a", None]}),
]


class Connection:
    def __init__(self, port):
        self.port, self.streams = port, None

    async def ask(self, request):
        """Sends a request and returns status and body; (0, b"") if the connection ended without an answer."""
        try:
            if self.streams is not None and self.streams[0].at_eof():  # the server has closed an idle connection
                self.close()
            if self.streams is None:
                self.streams = await asyncio.open_connection("127.0.0.1", self.port)
            reader, writer = self.streams
            writer.write(request)
            head = await reader.readuntil(b"\r\n\r\n")
            length = int(re.search(rb"(?i)content-length: (\d+)", head)[1])
            body = await reader.readexactly(length)
            if b"Connection: close" in head:
                self.close()
            return int(head[9:12]), body
        except (OSError, asyncio.IncompleteReadError):
            self.close()
            return 0, b""

    def close(self):
        if self.streams is not None:
            self.streams[1].close()
        self.streams = None


async def once(port, request):
    connection = Connection(port)
    try:
        return await connection.ask(request)
    finally:
        connection.close()


def lines_of(path, count):
    """Returns the lines of a file; for a file of words with tags (a blank line behind each sentence), its sentences."""
    raw = open(path, encoding="utf-8").read().split("\n")
    if any("\t" in line for line in raw[:50]):
        texts, words = [], []
        for line in raw:
            if line.strip():
                words.append(line.split("\t")[0])
            elif words:
                texts.append(" ".join(words))
                words = []
    else:
        texts = [line for line in raw if line.strip()]
    return texts[:count]


def expected_answers(exp, db, run, texts, route):
    """Returns the answers of the verb that computes the same as the route, and the seconds that the verb took."""
    begin = time.monotonic()
    if route == "/v1/predict":
        out = subprocess.run([exp, "predict", run, "--db", db, "--file", "-", "--json"], input="\n".join(texts) + "\n", capture_output=True, text=True, check=True).stdout
        return [json.loads(line) for line in out.splitlines()], time.monotonic() - begin
    out = subprocess.run([exp, "embed", run, "--db", db, "--texts", "-", "--json"], input="\n".join(texts) + "\n", capture_output=True, text=True, check=True).stdout
    return [each["vector"] for each in json.loads(out[out.index('{"run"') if '{"run"' in out else out.index("{\n") :])["vectors"]], time.monotonic() - begin


def request_for(route, text, fields=""):
    return post(route, {"inputs" if route == "/v1/predict" else "input": text, "truncate": True}, fields)


def is_right(route, body, wanted):
    answer = json.loads(body)
    if route == "/v1/predict":
        return nearly(answer["results"][0], wanted)
    return nearly(answer["data"][0]["embedding"], wanted)


def nearly(a, b, tolerance=1e-4):
    """Whether both are equal, except for the rounding of numbers that are not whole."""
    if isinstance(a, float) or isinstance(b, float):
        return abs(a - b) <= tolerance * (1 + abs(b))
    if isinstance(a, list) and isinstance(b, list):
        return len(a) == len(b) and all(nearly(x, y, tolerance) for x, y in zip(a, b))
    if isinstance(a, dict) and isinstance(b, dict):
        return a.keys() == b.keys() and all(nearly(a[key], b[key], tolerance) for key in a)
    return a == b
