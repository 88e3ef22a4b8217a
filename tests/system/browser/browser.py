# SPDX-License-Identifier: BSD-3-Clause
"""Chromium without a window, driven over its DevTools protocol through a pipe: no port, and only Python's own
packages. Used by serve_page.py.
"""
import base64
import json
import os
import shutil
import subprocess
import tempfile
import time


def find_chromium():
    """Returns the path of Chromium, or None. $ENCORE_CHROMIUM names another one."""
    named = [os.environ["ENCORE_CHROMIUM"]] if "ENCORE_CHROMIUM" in os.environ else ["chromium", "chromium-browser", "google-chrome"]
    return next(filter(None, map(shutil.which, named)), None)


class Browser:
    """One page. `log` has the messages of its console and its policy, `urls` its requests."""

    def __init__(self, program):
        self.folder = tempfile.mkdtemp()
        commands, self.commands = os.pipe()
        self.events, events = os.pipe()

        def wire():  # the browser reads descriptor 3 and writes descriptor 4
            read, write = os.dup(commands), os.dup(events)
            os.dup2(read, 3)
            os.dup2(write, 4)

        arguments = ["--headless", "--disable-gpu", "--disable-dev-shm-usage", "--remote-debugging-pipe", "--user-data-dir=" + self.folder]
        if os.geteuid() == 0:
            arguments.append("--no-sandbox")
        self.process = subprocess.Popen([program, *arguments, "about:blank"], preexec_fn=wire, close_fds=False,
                                        stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
        os.close(commands)
        os.close(events)
        self.unread, self.number, self.session = b"", 0, None
        self.log, self.urls, self.answers = [], [], {}
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        self.session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        self.call("Emulation.setScrollbarsHidden", hidden=True)
        for domain in ("Page", "Runtime", "Log", "Network", "Accessibility"):
            self.call(domain + ".enable")

    def close(self):
        self.process.terminate()
        self.process.wait(30)
        os.close(self.commands)
        os.close(self.events)
        shutil.rmtree(self.folder, ignore_errors=True)

    def _send(self, method, parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if self.session:
            message["sessionId"] = self.session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        return self.number

    def _receive(self):
        while b"\0" not in self.unread:
            more = os.read(self.events, 1 << 16)
            if not more:
                raise RuntimeError("the browser has ended")
            self.unread += more
        message, self.unread = self.unread.split(b"\0", 1)
        return json.loads(message)

    def _take_event(self, event):
        method, what = event.get("method"), event.get("params", {})
        if method == "Fetch.requestPaused":
            self._answer_instead(what)
        elif method == "Network.requestWillBeSent":
            self.urls.append(what["request"]["url"])
        elif method == "Log.entryAdded":
            self.log.append(what["entry"]["text"])
        elif method in ("Runtime.exceptionThrown", "Runtime.consoleAPICalled", "Page.javascriptDialogOpening"):
            self.log.append(json.dumps(what))

    def _answer_instead(self, paused):
        body = self.answers.get("/" + paused["request"]["url"].split("/", 3)[3])
        if body is None:
            self._send("Fetch.continueRequest", {"requestId": paused["requestId"]})
            return
        self._send("Fetch.fulfillRequest", {"requestId": paused["requestId"], "responseCode": 200, "body": base64.b64encode(json.dumps(body).encode()).decode(),
                                            "responseHeaders": [{"name": "Content-Type", "value": "application/json"}]})

    def call(self, method, **parameters):
        number = self._send(method, parameters)
        while True:
            message = self._receive()
            if message.get("id") != number:
                self._take_event(message)
                continue
            if "error" in message:
                raise RuntimeError(f"{method}: {message['error']}")
            return message["result"]

    def answer_with(self, bodies):
        """Answers these paths with these values from now on; the server answers all others."""
        self.answers = bodies
        self.call("Fetch.enable", patterns=[{"urlPattern": "*" + path} for path in bodies])

    def answer_no_more(self):
        self.call("Fetch.disable")

    def value(self, expression):
        result = self.call("Runtime.evaluate", expression=expression, awaitPromise=True, returnByValue=True)
        if "exceptionDetails" in result:
            raise RuntimeError(f"{expression}: {json.dumps(result['exceptionDetails'])}")
        return result["result"].get("value")

    def wait_for(self, expression, seconds=60):
        end = time.monotonic() + seconds
        while not self.value(expression):
            if time.monotonic() > end:
                raise RuntimeError(f"{expression} does not become true; the page says:\n" + self.value("document.body.innerText"))
            time.sleep(0.02)

    def open(self, url):
        self.call("Page.navigate", url="about:blank")
        self.call("Page.navigate", url=url)
        self.wait_for("location.protocol === 'http:' && document.readyState === 'complete'")

    def press(self, key, code=None, modifiers=0):
        """Presses a key; `code` is the number of the key."""
        text = {"Enter": "\r", " ": " "}.get(key, "")
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, modifiers=modifiers, windowsVirtualKeyCode=code or {"Tab": 9, "Enter": 13, " ": 32, "Delete": 46}.get(key, ord(key[0])),
                      **({"text": text} if text and kind == "keyDown" else {}))

    def type(self, text):
        self.call("Input.insertText", text=text)

    def show_as(self, width, dark):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=900, deviceScaleFactor=1, mobile=False)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def content_width(self):
        return self.call("Page.getLayoutMetrics")["cssContentSize"]["width"]

    def take_picture(self, file):
        size = self.call("Page.getLayoutMetrics")["cssContentSize"]
        taken = self.call("Page.captureScreenshot", captureBeyondViewport=True, clip={"x": 0, "y": 0, "width": size["width"], "height": size["height"], "scale": 1})
        with open(file, "wb") as out:
            out.write(base64.b64decode(taken["data"]))

    def controls_without_a_name(self):
        roles = {"button", "checkbox", "combobox", "spinbutton", "textbox", "link"}
        nodes = self.call("Accessibility.getFullAXTree")["nodes"]
        return [node["role"]["value"] for node in nodes if not node.get("ignored") and node.get("role", {}).get("value") in roles and not node.get("name", {}).get("value")]
