#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Tests the page of `exp serve` (framework/serve/page) in Chromium, with tiny models.

    serve_page.py build/openmp/bin/exp [--pictures DIR]

CTest runs it as served_page_in_a_browser. The page asks for the token, works by keyboard alone, shows each
kind of answer as the server gives it, makes no HTML of hostile inputs and labels, and its curl line sends the
same request. Exits with 77 (skipped) without Chromium, or where the worker of the build does not run.
`--pictures DIR` keeps pictures of each page, 400 and 1,280 pixels wide, light and dark. browser.py drives
Chromium.
"""
import json
import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import urllib.request

from browser import Browser, find_chromium

TOKEN = "0123456789abcdef0123"
HOSTILE = "<img src=x onerror=alert(1)>"
QUOTES = "it's \"$(touch pwned)\" `touch pwned` \\ \u202e ' ; touch pwned #"

# A model of one layer; the lines that differ come before it.
MODEL = """
[model]
width = 32
layers = 1
dropout = 0.0
block = ["attention", "feed_forward"]
%s
[model.layer.attention]
type = "self_attention"
heads = 2
[model.layer.feed_forward]
type = "feed_forward"
hidden = 64
[model.head]
type = "%s"
%s
[optimizer]
type = "adamw"
learning_rate = 5e-3
[schedule]
type = "constant"
[train]
%s
"""


def experiment(name, task, data, tokenizer, head, train, model="", head_options=""):
    return f'name = "{name}"\nseed = 1\n[task]\ntype = "{task}"\n[data]\n{data}\n[tokenizer]\n{tokenizer}\n' + MODEL % (model, head, head_options, train)


def files(ending):
    return "".join(f'{name} = "{ending}"\n' for name in ("train", "dev", "test"))


WORDS = 'type = "word"\nvocab_size = 200'
DAYS = "monday tuesday wednesday thursday friday saturday sunday".split()
QUESTIONS = [(f"{who} went to {place} .", [("where to ?", place), ("who went ?", who)]) for who in ("Anna", "Bo", "Zoë") for place in ("Rome", "Bern", "Malmö", "Oslo")]


def sequences(words):
    return "".join(" ".join(words[(i + k * (1 + i % 3)) % 7] for k in range(1 + i % 4)) + "\n" for i in range(84))


def squad():
    paragraphs = [{"context": context, "qas": [{"id": f"{i}-{k}", "question": question, "answers": [{"text": answer, "answer_start": context.index(answer)}]}
                                               for k, (question, answer) in enumerate(asked)]} for i, (context, asked) in enumerate(QUESTIONS)]
    return json.dumps({"version": "1.1", "data": [{"title": "a", "paragraphs": paragraphs}]})


CORPUS = {
    "days.txt": "\n".join(" ".join(DAYS[(first + k) % 7] for k in range(5 + first % 4)) for first in range(60)) + "\n",
    "kinds.tsv": ("Where is Lund ?\tLOC\nWho is Anna ?\t" + HOSTILE + "\nWhere is Kiel ?\tLOC\nWho was Bo ?\t" + HOSTILE + "\nHow many ?\tNUM\n") * 8,
    "pairs.tsv": "a man plays\ta man is playing\tsame\na dog runs\tthe sea is calm\tother\na man runs\ta man is running\tsame\nthe sea\ta dog\tother\n" * 8,
    "squad.json": squad(),
    "days.en": sequences(DAYS),
    "talks.jsonl": "".join(json.dumps({"talk": f"A: {a} and {b} ?\nB: {b} .", "gist": b}) + "\n" for a in DAYS for b in DAYS),
    "days.de": sequences("Montag Dienstag Mittwoch Donnerstag Freitag Samstag Sonntag".split()),
}
EXPERIMENTS = [
    experiment("days", "lm", 'type = "text_file"\nmax_length = 16\n' + files("days.txt"), 'type = "character"\nvocab_size = 60\nwhite_space = true', "language_model",
               "steps = 200\nbatch_tokens = 256", model='causal = true\nnorm_position = "pre"', head_options="transform = false"),
    experiment("kinds", "classify", 'type = "tsv"\nmax_length = 32\n' + files("kinds.tsv"), WORDS, "linear", "epochs = 20"),
    experiment("pairs", "classify", 'type = "tsv"\nmax_length = 32\ntext2_column = "2"\nlabel_column = "3"\n' + files("pairs.tsv"), WORDS, "linear", "epochs = 20"),
    experiment("journeys", "qa", 'type = "squad"\nmax_length = 256\n' + files("squad.json"), WORDS, "span", "epochs = 40\nbatch_size = 8"),
    experiment("shorter", "summarize", 'type = "jsonl"\nsource_key = "talk"\ntarget_key = "gist"\nmax_length = 512\n' + files("talks.jsonl"), WORDS, "language_model",
               "epochs = 4\nbatch_size = 8", model='norm_position = "pre"\ndecoder = { layers = 1, block = ["attention", "cross", "feed_forward"] }',
               head_options='transform = false\n[model.layer.cross]\ntype = "cross_attention"\nheads = 2'),
    experiment("german", "translate", 'type = "parallel"\nmax_length = 12\ntrain = ["days.en", "days.de"]\ndev = ["days.en", "days.de"]', WORDS, "language_model",
               "epochs = 30\nbatch_size = 8", model='norm_position = "pre"\ndecoder = { layers = 1, block = ["attention", "cross", "feed_forward"] }',
               head_options='transform = false\n[model.layer.cross]\ntype = "cross_attention"\nheads = 2'),
]
NAMES = ["quickstart", "days", "kinds", "pairs", "journeys", "shorter", "german"]
failures = []


def check(what, holds, *seen):
    print(("ok    " if holds else "FAIL  ") + what, *(() if holds else seen))
    if not holds:
        failures.append(what)


def run(program, folder, *arguments):
    done = subprocess.run([program, *arguments], cwd=folder, capture_output=True, text=True, env={**os.environ, "OMP_NUM_THREADS": "2"})
    if done.returncode:
        sys.exit(f"exp {' '.join(arguments)} failed: {done.stderr}")


class Page:
    """The page of the server at `port` in a browser."""

    def __init__(self, browser, port, pictures):
        self.browser, self.port, self.pictures = browser, port, pictures

    def open(self, hash=""):
        self.browser.open(f"http://127.0.0.1:{self.port}/{hash}")
        self.browser.wait_for("$('state').textContent !== ''")

    def ask_server(self, path, body):
        request = urllib.request.Request(f"http://127.0.0.1:{self.port}{path}", json.dumps(body).encode(),
                                         {"Content-Type": "application/json", "Authorization": "Bearer " + TOKEN})
        return json.load(urllib.request.urlopen(request))

    def state(self):
        return self.browser.value("$('state').textContent")

    def choose(self, model, route=None):
        set_value = "(at, value) => { at.value = value; at.dispatchEvent(new Event('change')); }"
        self.browser.value(f"({set_value})($('model'), {json.dumps(model)})")
        if route:
            self.browser.value(f"({set_value})($('route'), {json.dumps(route)})")

    def ask(self, *texts):
        for i, text in enumerate(texts):
            self.browser.value(f"$('field-{i}').focus(); $('field-{i}').select()")
            self.browser.press("Delete")
            self.browser.type(text)
        self.browser.value("$('ask').click()")
        self.browser.wait_for("page.asking === null")
        return self.state()

    def texts_of(self, selector):
        return self.browser.value(f"[...document.querySelectorAll({json.dumps('#answer ' + selector)})].map((each) => each.textContent)")

    def look(self, name):
        """No side of the page is cut off, and each text can be read."""
        for width in (1280, 400):
            for dark in (False, True):
                self.browser.show_as(width, dark)
                shade = f"{width} pixels wide, {'dark' if dark else 'light'}"
                check(f"{name} fits, {shade}", self.browser.content_width() <= width, self.browser.content_width())
                check(f"{name} can be read, {shade}", not (pale := self.browser.value(PALE_TEXTS)), pale)
                if self.pictures:
                    self.browser.take_picture(os.path.join(self.pictures, f"{name}-{width}-{'dark' if dark else 'light'}.png"))
        self.browser.show_as(1280, False)


# Every text with a contrast below 4.5 against what they stand on (WCAG 2.2).
PALE_TEXTS = """(() => {
  const pen = new OffscreenCanvas(1, 1).getContext("2d", { willReadFrequently: true });
  const colour = (css, below) => {
    pen.fillStyle = `rgb(${below})`; pen.fillRect(0, 0, 1, 1);
    pen.fillStyle = css; pen.fillRect(0, 0, 1, 1);
    return [...pen.getImageData(0, 0, 1, 1).data].slice(0, 3);
  };
  const light = (rgb) => rgb.map((c) => c / 255).map((c) => c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
    .reduce((sum, c, i) => sum + c * [0.2126, 0.7152, 0.0722][i], 0);
  const groundOf = (at) => at ? colour(getComputedStyle(at).backgroundColor, groundOf(at.parentElement)) : [255, 255, 255];
  const pale = [];
  const walker = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (walker.nextNode()) {
    const at = walker.currentNode.parentElement;
    if (!walker.currentNode.data.trim() || at.closest("script, style, noscript, :disabled") || !at.checkVisibility()) continue;
    const ground = groundOf(at), [a, b] = [light(colour(getComputedStyle(at).color, ground)), light(ground)].sort((x, y) => y - x);
    if ((a + 0.05) / (b + 0.05) < 4.5) pale.push(walker.currentNode.data + " " + ((a + 0.05) / (b + 0.05)).toFixed(2));
  }
  return pale;
})()"""


def asks_for_the_token(page):
    page.open()
    check("without the token it says so", page.state().startswith("401: a token is required"), page.state())
    check("and shows the field for it", page.browser.value("!$('token-row').hidden"))
    page.browser.value("$('token').focus()")
    page.browser.type(TOKEN)
    page.browser.press("Tab")
    page.browser.wait_for("$('state').textContent === 'Ready'")
    check("all models are there", page.browser.value("[...$('model').options].map((each) => each.value)") == NAMES)
    check("the token is kept nowhere", page.browser.value(f"!document.documentElement.outerHTML.includes({json.dumps(TOKEN)}) && !document.cookie && localStorage.length === 0"))


def keyboard_is_enough(page):
    page.choose("quickstart")
    page.browser.value("$('model').focus()")
    reached = []
    for _ in range(12):
        reached.append(page.browser.value("document.activeElement.id"))
        page.browser.press("Tab")
    check("Tab reaches each control", {"model", "route", "field-0", "lines", "truncate", "ask", "example"} <= set(reached), reached)
    page.browser.value("$('example').focus()")
    page.browser.press("Enter")
    check("an example is filled in", page.browser.value("$('field-0').value") != "")
    check("and the text has the focus", page.browser.value("document.activeElement.id") == "field-0")
    page.browser.press("Enter", modifiers=2)
    page.browser.wait_for("$('state').textContent.startsWith('Answered')")
    check("Ctrl+Enter sends the request", len(page.texts_of(".result")) == 1)
    page.browser.value("$('ask').focus()")
    page.browser.press("Enter")
    page.browser.wait_for("page.asking === null && $('state').textContent.startsWith('Answered')")
    check("Enter on the button sends the request and keeps the focus", page.browser.value("document.activeElement.id") == "ask")
    check("each control has a name", not (nameless := page.browser.controls_without_a_name()), nameless)


def marks_entities(page):
    page.choose("quickstart")
    lines = ["the mayor of Porter met Jordan .", "Jordan lives in Porter 🙂 and works for Sutton .", HOSTILE + " met Jordan in Zoë ."]
    state = page.ask("\n".join(lines))
    check("three sentences are answered", state.startswith("Answered"), state)
    results = page.ask_server("/v1/predict", {"model": "quickstart", "inputs": lines})["results"]
    entities = [each for result in results for each in result["entities"]]
    shown = page.browser.value("[...document.querySelectorAll('#answer mark')].map((each) => [each.firstChild.data, each.querySelector('.type').firstChild.data])")
    check("entities are found", len(entities) > 1, results)
    check("each entity is marked with its type", shown == [[each["text"], each["type"]] for each in entities], shown, entities)
    plain = page.browser.value("[...document.querySelectorAll('#answer .text')].map((at) => [...at.childNodes].map((each) => each.firstChild?.data ?? each.data).join(''))")
    check("the rest is the text of the request", plain == lines, plain)
    page.look("ner")


def shows_classes(page):
    page.choose("kinds")
    page.ask("Who is Anna ?")
    check("a label is shown as text, whatever it contains", page.texts_of(".label")[0].startswith(HOSTILE), page.texts_of(".label"))
    page.look("classify")
    page.choose("pairs")
    check("pairs have two fields", page.browser.value("[...document.querySelectorAll('#fields label')].map((each) => each.textContent)") == ["Text", "Second text"])
    page.ask("a man plays", "a man is playing")
    check("the pair and its label are shown", page.texts_of(".label")[0].startswith("same") and len(page.texts_of(".plain")) == 2, page.texts_of(".result"))
    page.look("pairs")


def marks_the_answer(page):
    page.choose("journeys")
    check("questions have two fields", page.browser.value("[...document.querySelectorAll('#fields label')].map((each) => each.textContent)") == ["Question", "Paragraph"])
    page.ask("where to ?", "Zoë went to Malmö .")
    expected = page.ask_server("/v1/predict", {"model": "journeys", "inputs": "where to ?\tZoë went to Malmö ."})["results"][0]["answers"]
    check("the answer is marked in its paragraph", page.texts_of("mark") == [each["text"] for each in expected], page.texts_of(".result"), expected)
    page.look("qa")


def grows_texts(page):
    page.choose("days")
    page.ask("mon")
    expected = page.ask_server("/v1/completions", {"model": "days", "prompt": "mon", "max_tokens": 64})["choices"][0]["text"]
    check("generated text grows behind its prompt", page.texts_of(".plain") == ["mon" + expected], page.texts_of(".plain"), expected)
    events = json.loads(page.browser.value("$('json').textContent"))
    check("the stream has several parts", len(events) > 2 and "".join(each["choices"][0]["text"] for each in events) == expected, len(events))
    page.look("lm")
    whole = "nö 你好 🙂"
    stream = "".join(f"data: {json.dumps({'choices': [{'text': each}]}, ensure_ascii=False)}\n\n" for each in whole) + "data: [DONE]\n\n"
    got = page.browser.value("""(async (bytes) => {
      const parts = new ReadableStream({ start(to) { for (const byte of bytes) to.enqueue(new Uint8Array([byte])); to.close(); } });
      let text = "";
      for await (const event of eventsOf(new Response(parts))) text += event.choices[0].text;
      return text;
    })(%s)""" % list(stream.encode()))
    check("characters whose bytes come one by one stay whole", got == whole, got)


def translates(page):
    page.choose("german")
    page.ask("monday\ntuesday friday")
    expected = [each["translation"] for each in page.ask_server("/v1/predict", {"model": "german", "inputs": ["monday", "tuesday friday"]})["results"]]
    check("translations are shown beside their sources", page.texts_of(".plain") == ["monday", expected[0], "tuesday friday", expected[1]], page.texts_of(".plain"), expected)
    page.look("translation")
    page.choose("german", "/v1/completions")
    page.ask("monday")
    check("and grow in place", page.texts_of(".plain") == ["monday", expected[0]], page.texts_of(".plain"))


def summarizes(page):
    page.choose("shorter")
    talk = "\n".join(f"{who}: {day} and {day} , {day} ?" for day in DAYS * 4 for who in "AB")
    page.ask(talk.splitlines()[0] + "\n" + talk.splitlines()[1])
    check("each line is summarized by itself", page.texts_of("h2") == ["Text", "Summary"] * 2, page.texts_of("h2"))
    page.browser.value("$('lines').click()")
    page.ask(talk)
    expected = page.ask_server("/v1/predict", {"model": "shorter", "inputs": [talk]})["results"][0]["summary"]
    check("a text of many lines is one text if the user says so", page.texts_of(".plain") == [talk, expected], page.texts_of(".plain"), expected)
    check("and its summary is not called a translation", page.texts_of("h2") == ["Text", "Summary"], page.texts_of("h2"))
    page.browser.show_as(400, False)
    below = page.browser.value("$('answer').querySelectorAll('h2')[1].offsetTop - $('answer').querySelector('h2').offsetTop")
    check("a long text leaves its summary in sight on a narrow screen", below < 300, below)
    check("and is scrolled by keyboard", page.browser.value("$('answer').querySelector('.plain').tabIndex") == 0)
    page.look("summary")
    page.browser.value("$('lines').click()")
    page.choose("shorter", "/v1/completions")
    check("what is written is no continuation of the text", page.browser.value("[...document.querySelectorAll('#fields label')].map((each) => each.textContent)") == ["Text"])
    check("and one text is asked about", page.browser.value("$('lines-row').hidden"))


def compares_vectors(page):
    page.choose("quickstart", "/v1/embeddings")
    lines = ["Jordan lives in Porter .", "the strike ended", "the strike has ended"]
    page.ask("\n".join(lines))
    cells = [float(each.replace("\u2212", "-")) for each in page.texts_of(".cosine td")]
    check("the cosines of all pairs are shown", len(cells) == 9 and all(abs(cells[i] - 1) < 1e-3 for i in (0, 4, 8)) and cells[1] == cells[3], cells)
    page.look("embed")


def shows_what_a_server_may_say(page):
    """Answers of other servers and tasks: with probabilities, of plugins, hostile."""
    page.choose("quickstart")
    scores = {HOSTILE: 0.9, "LOC": 0.0996, **{f"label {i}": 0.0001 for i in range(20)}}
    entity = {"type": HOSTILE, "text": "🙂 Anna", "start": 2, "end": 8, "score": 0.97, "least": 0.91}
    results = [
        {"text": HOSTILE, "label": HOSTILE, "score": 0.9, "scores": scores},
        {"text": "a 🙂 Anna b", "entities": [entity]},
        {"text": "x", "labels": ["joy", "love"], "score": [0.8, 0.6], "scores": {"joy": 0.8, "love": 0.6, "fear": 0.1}},
        {"text": "Anna in Lund", "words": ["Anna", "in", "Lund"], "tags": ["PER", "O", "LOC"], "score": [0.9, 0.8, 0.7], "scores": [{}, {}, {}]},
        {"text": "the storm", "label": "Other", "spans": [{"type": "e1", "text": "storm", "start": 4, "end": 9}]},
        {"text": "one day", "translation": "ein " + HOSTILE, "score": -1.25},
        {"text": "a", "text2": "b", "number": 4.7012},
        {"text": "to [MASK]", "masks": ["lund"], "candidates": ["lund 0.910 oslo 0.045"]},
        {"text": "a", "text2": "b", "similarity": 0.25, "embedding": [1, 0], "embedding2": [0, 1]},
        {"text": "a", "perplexity": 21.7, "made_up": {"by": [HOSTILE]}},
    ]
    schema = {"paths": {"/v1/predict": {"post": {"requestBody": {"content": {"application/json": {"schema": {"properties": {"scores": {}}}}}}}}}}
    page.browser.answer_with({"/v1/predict": {"model": "quickstart", "results": results}, "/openapi.json": schema})
    page.browser.value("findScores()")
    page.ask("anything")
    check("probabilities are requested if the server has them", "\"scores\":true" in page.browser.value("$('curl').textContent"))
    parts = [" ".join(each.split()) for each in page.texts_of(".result")]
    check("each answer is shown", len(parts) == len(results), parts)
    for part, words in zip(parts, [[HOSTILE, "90.0 %", "14 labels more"], ["97.0 %", "91.0 %"], ["joy 80.0 %", "10.0 %"], ["PER 90.0 %", "LOC 70.0 %"], ["e1", "Other"],
                                   ["one day", "ein " + HOSTILE, "\u22121.25"], ["4.701"], ["lund", "91.0 %", "4.5 %"], ["0.25"], ["21.7", "made up", HOSTILE]]):
        check(f"it shows {', '.join(words)}", all(word in part for word in words), part)
    check("places count code points", page.browser.value("document.querySelectorAll('#answer mark')[0].firstChild.data") == entity["text"])
    check("no text became an element", page.browser.value("document.querySelectorAll('img, script').length") == 1)
    page.look("all")
    page.browser.answer_no_more()
    page.browser.value("findScores()")


def curl_asks_the_same(page, folder):
    page.choose("kinds")
    page.ask(QUOTES)
    line = page.browser.value("$('curl').textContent")
    check("the curl line has no token", TOKEN not in line and "$TOKEN" in line, line)
    check("and no invisible letter", "\u202e" not in line, line)
    if shutil.which("curl") is None:
        return print("skipped: the curl line is not run without curl")
    done = subprocess.run(["sh", "-c", line], cwd=folder, capture_output=True, text=True, env={**os.environ, "TOKEN": TOKEN})
    shown = json.loads(page.browser.value("$('json').textContent"))
    check("the curl line sends the same request", done.returncode == 0 and json.loads(done.stdout) == shown, done.stdout, done.stderr)
    check("and executes nothing of the text", not os.path.exists(os.path.join(folder, "pwned")))


def refusals_and_links(page):
    page.choose("journeys")
    state = page.ask("where to ?", "")
    check("a rejection is shown", state.startswith("400:") and "has no context" in state, state)
    page.choose("quickstart")
    check("an empty text is not sent", page.ask(" ") == "Enter a text first.", page.state())
    page.browser.urls.clear()
    page.open("#ask=" + urllib.request.quote("Anna & " + HOSTILE))
    page.browser.value("$('token').focus()")
    page.browser.type(TOKEN)
    page.browser.press("Tab")
    page.browser.wait_for("$('state').textContent.startsWith('This text came with the link')")
    check("a link fills in its text", page.browser.value("$('field-0').value") == "Anna & " + HOSTILE)
    check("and sends no request", not any("/predict" in each for each in page.browser.urls), page.browser.urls)


def look_at(page, folder):
    for part in (asks_for_the_token, keyboard_is_enough, marks_entities, shows_classes, marks_the_answer, grows_texts, translates, summarizes, compares_vectors, shows_what_a_server_may_say):
        part(page)
    curl_asks_the_same(page, folder)
    refusals_and_links(page)
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
    quickstart = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../../experiments/quickstart.toml")
    with tempfile.TemporaryDirectory() as folder:
        for name, text in CORPUS.items():
            with open(os.path.join(folder, name), "w") as out:
                out.write(text)
        run(program, folder, "run", quickstart, "-q", "-S", "train.epochs=2")
        for i, text in enumerate(EXPERIMENTS):
            with open(os.path.join(folder, f"{i}.toml"), "w") as out:
                out.write(text)
            run(program, folder, "run", f"{i}.toml", "-q")
        with open(os.open(os.path.join(folder, "token.txt"), os.O_CREAT | os.O_WRONLY, 0o600), "w") as out:
            out.write(TOKEN)
        said = os.path.join(folder, "said.txt")
        with open(said, "w") as out:
            server = subprocess.Popen([program, "serve", *NAMES, "--port", "0", "--workers", "1", "--token-file", "token.txt"], cwd=folder, stdin=subprocess.DEVNULL, stdout=out, stderr=out)
        try:
            while "serving " not in open(said).read():
                time.sleep(0.02)
                if server.poll() is not None:
                    sys.exit(open(said).read())
            port = int(re.search(r"on http://127\.0\.0\.1:(\d+)", open(said).read())[1])
            browser = Browser(chromium)
            try:
                look_at(Page(browser, port, pictures), folder)
            finally:
                browser.close()
        finally:
            server.send_signal(signal.SIGTERM)
            server.wait(60)
    sys.exit(1 if failures else 0)


if __name__ == "__main__":
    main()
