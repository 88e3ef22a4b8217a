#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the page /review of `exp serve` (framework/serve/page/review.js) in Chromium, with a tiny application.

    review_page.py build/openmp/bin/exp [--pictures DIR]

CTest runs it as review_page_in_a_browser. The page asks for the token, works by keyboard alone, shows a request as
text, decides, skips, undoes and adds a label, and the queue has what the page did. Exits with 77 (skipped) as
serve_page.py, whose models and checks it uses.
"""
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time

from browser import Browser, find_chromium
from serve_page import CORPUS, EXPERIMENTS, HOSTILE, TOKEN, Page, check, failures, run

DESK = """name = "desk"
[app]
steps = ["kind", "decide"]
[app.step.kind]
type = "predict"
model = { run = "kinds" }
[app.step.decide]
type = "decide"
error = 0.5
[data]
type = "tsv"
dev = "kinds.tsv"
test = "kinds.tsv"
"""


class ReviewPage(Page):
    def open(self, hash=""):
        self.browser.open(f"http://127.0.0.1:{self.port}/review")
        self.browser.wait_for("$('state').textContent !== ''")

    def press(self, key, expected):
        self.browser.press(key)
        self.browser.wait_for(f"!desk.busy && $('state').textContent.startsWith({json.dumps(expected)})")

    def value(self, expression):
        return self.browser.value(expression)


def begins(page):
    page.open()
    page.browser.wait_for("$('state').textContent.startsWith('401')")
    check("without the token the page shows the field for it", page.value("!$('token-row').hidden"))
    page.value("$('token').focus()")
    page.browser.type(TOKEN)
    page.browser.press("Tab")
    page.browser.wait_for("$('state').textContent === 'desk'")
    page.browser.press("Tab")
    page.value("$('reviewer').focus()")
    page.browser.type("anna")
    page.browser.press("Enter")
    page.browser.wait_for("!$('item').hidden")
    check("a request is shown and has the focus", page.value("document.activeElement.id") == "text")
    check("each control has a name", not (nameless := page.browser.controls_without_a_name()), nameless)
    page.look("review")


def decides_by_keyboard(page, program, folder):
    first = page.value("desk.item.id")
    proposed = page.value("desk.item.proposed")
    page.press("1", "Decided: " + proposed)
    check("the key 1 decides for the proposed label", proposed != "")
    second = page.value("desk.item.id")
    check("the next request is shown", second != first)
    page.press("u", "The decision is taken back")
    check("u takes the decision back and shows the request again", page.value("desk.item.id") == first)
    page.press("s", "Skipped")
    check("s skips", page.value("desk.item.id") != first)
    page.browser.press("/")
    page.browser.wait_for("document.activeElement.id === 'filter'")
    page.browser.type("nu")
    page.press("Enter", "Decided: NUM")
    page.browser.press("/")
    page.browser.type("a kind of its own")
    page.browser.wait_for("!$('no-label').hidden")
    page.value("$('add').focus()")
    page.press("Enter", "Decided: a kind of its own")
    listed = subprocess.run([program, "review", "ls", "desk.queue", "--done", "--json"], cwd=folder, capture_output=True, text=True)
    decided = {(each["label"], each["opinions"][0]["reviewer"]) for each in json.loads(listed.stdout)["items"]}
    check("the queue has these decisions", decided == {("NUM", "anna"), ("a kind of its own", "anna")}, decided)


def shows_requests_as_text(page):
    seen = set()
    for _ in range(4):
        seen.add(page.value("$('text').textContent"))
        page.press("s", "Skipped")
    check("a hostile request is text", len(seen) > 1 and all(HOSTILE in each for each in seen), seen)
    check("no text became an element", page.value("document.querySelectorAll('img, script').length") == 1)
    page.value("$('leave').click()")
    page.browser.wait_for("$('state').textContent.startsWith('The item is with the others')")
    elsewhere = [each for each in page.browser.urls if not each.startswith((f"http://127.0.0.1:{page.port}/", "data:", "about:"))]
    check("nothing is loaded from elsewhere", not elsewhere, elsewhere)
    said = [each for each in page.browser.log if "status of 4" not in each]
    check("the policy blocks nothing, and no script fails", not said, said)


def main():
    program = os.path.abspath(sys.argv[1])
    pictures = sys.argv[3] if sys.argv[2:3] == ["--pictures"] else None
    if pictures:
        os.makedirs(pictures, exist_ok=True)
    chromium = find_chromium()
    if chromium is None:
        print("skipped: Chromium is missing")
        sys.exit(77)
    if subprocess.run([os.path.join(os.path.dirname(program), "encore-worker"), "version"], capture_output=True).returncode != 0:
        print("skipped: this worker does not run here")
        sys.exit(77)
    with tempfile.TemporaryDirectory() as folder:
        kinds = next(each for each in EXPERIMENTS if 'name = "kinds"' in each)
        for name, text in {"kinds.tsv": CORPUS["kinds.tsv"], "kinds.toml": kinds, "desk.toml": DESK}.items():
            with open(os.path.join(folder, name), "w") as out:
                out.write(text)
        run(program, folder, "run", "kinds.toml", "-q")
        run(program, folder, "run", "desk.toml", "-q")
        run(program, folder, "review", "new", "desk.queue", "--app", "desk", "--audit", "1", "--keep-texts", "1")
        with open(os.open(os.path.join(folder, "token.txt"), os.O_CREAT | os.O_WRONLY, 0o600), "w") as out:
            out.write(TOKEN)
        said = os.path.join(folder, "said.txt")
        with open(said, "w") as out:
            server = subprocess.Popen([program, "serve", "desk", "--review", "desk.queue", "--port", "0", "--workers", "1", "--token-file", "token.txt"],
                                      cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            while "serving " not in open(said).read():
                time.sleep(0.02)
                if server.poll() is not None:
                    sys.exit(open(said).read())
            port = int(re.search(r"on http://127\.0\.0\.1:(\d+)", open(said).read())[1])
            browser = Browser(chromium)
            try:
                page = ReviewPage(browser, port, pictures)
                page.ask_server("/v1/predict", {"inputs": [f"{each} {HOSTILE}" for each in ("Where is Lund ?", "Who is Anna ?", "How many ?", "Where is Kiel ?", "Who was Bo ?")]})
                begins(page)
                decides_by_keyboard(page, program, folder)
                shows_requests_as_text(page)
            finally:
                browser.close()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
