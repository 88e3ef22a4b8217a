// Sends questions to the models of the page's own server, by the routes that programs use. /v1/models names the fields
// of a question; /openapi.json says whether answers can have probabilities. The page must load nothing from other
// servers (page.hpp). Read answers.js first.
const routeNames = {
  "/v1/predict": "Answer of the task",
  "/v1/embeddings": "Vectors",
  "/v1/completions": "Generated text",
};
const firstRoute = { lm: "/v1/completions", embed: "/v1/embeddings" };  // by task; other tasks use the first route
const fieldNames = {
  text: "Text", text2: "Second text", question: "Question", context: "Paragraph", source: "Text",
  prompt: "Beginning of the text",
};
const hints = {
  relation: "Mark the two things: <e1>storm</e1> and <e2>damage</e2>.",
  mlm: "Write the mask token of the model, such as [MASK], in place of the word to guess.",
  qa: "The answer is a part of the paragraph.",
};
// The key is the task, followed by the number of fields if there are several.
const examples = {
  ner: ["Anna Berg met the mayor of Lund ."],
  tag: ["Anna Berg met the mayor of Lund ."],
  classify: ["What is the capital of Sweden ?"],
  classify2: ["A man plays the guitar .", "Someone makes music ."],
  multilabel: ["Thank you, that made my day!"],
  regress: ["The best film that I have seen this year ."],
  regress2: ["A man plays the guitar .", "Someone makes music ."],
  relation: ["The <e1>storm</e1> caused heavy <e2>damage</e2> ."],
  qa: ["Where does Zoë live?", "Zoë was born in Lund. She has lived in Malmö since 2019, in a house by the sea."],
  translate: ["Two young men talk to each other in the garden ."],
  summarize: ["The council of Lund met on Monday. It decided to build a bridge over the river."],
  lm: ["Once upon a time"],
  mlm: ["The capital of Sweden is [MASK] ."],
  embed: ["A man plays the guitar .\nSomeone makes music .\nThe stock market fell ."],
  embed2: ["A man plays the guitar .", "Someone makes music ."],
};

const page = { models: [], scores: false, refusesScores: new Set(), typed: {}, linked: false, asking: null };
const model = () => page.models.find((each) => each.id === $("model").value);
const route = () => $("route").value;
const list = (select, values, names) => {
  const before = select.value;
  select.replaceChildren(...values.map((value) => new Option(names?.[value] ?? value, value)));
  if (values.includes(before)) select.value = before;
};

// --- the question ---
const readsSource = () => model()?.fields?.[0] === "source";
const fieldsOf = () => route() === "/v1/completions" ? [readsSource() ? "source" : "prompt"] :
  route() === "/v1/predict" ? model()?.fields ?? ["text"] : ["text"];
const inputs = () => [...$("fields").querySelectorAll("textarea")];
const hintOf = () => (route() === "/v1/predict" && hints[model()?.task]) || "";
function showFields() {
  const fields = fieldsOf(), hint = element("p", { id: "field-hint", class: "hint" }, hintOf());
  const isShort = (name) => name === "question" || (fields.length > 1 && name !== "context");
  const boxes = fields.map((name, i) => {
    const box = element("textarea", { id: "field-" + i, rows: isShort(name) ? 2 : 6, "aria-describedby": hint.id });
    box.value = page.typed[i] ?? "";
    box.addEventListener("input", () => { page.typed[i] = box.value; });
    return element("div", {}, element("label", { for: box.id }, fieldNames[name] ?? name), box);
  });
  boxes.at(-1).append(hint);
  $("fields").replaceChildren(...boxes);
  $("writing-row").hidden = route() !== "/v1/completions";
  $("truncate-row").hidden = route() === "/v1/completions";
  $("lines-row").hidden = route() === "/v1/completions" || fields.length > 1;
}
function showModel() {
  const chosen = model(), routes = chosen?.routes ?? [];
  const labels = chosen?.labels ?? [], few = labels.slice(0, 12).join(", ") + (labels.length > 12 ? ", \u2026" : "");
  $("about").textContent = !chosen ? "" : !chosen.ready ? "loading" :
    (chosen.task ? "Task " + chosen.task + "; " : "") + "after step " + chosen.step + " of its training" +
    (labels.length > 0 ? "; " + counted(labels.length, "label", "labels") + ": " + few : "");
  list($("route"), routes, routeNames);
  $("route").value = routes.find((each) => each === firstRoute[chosen?.task]) ?? routes[0];
  $("route-row").hidden = routes.length < 2;
  $("ask").disabled = routes.length === 0;
  showFields();
}
function fill(texts) {
  const boxes = inputs();
  page.typed = {};
  boxes.forEach((box, i) => { box.value = page.typed[i] = texts[i] ?? ""; });
}
function fillExample() {
  const fields = fieldsOf(), task = model()?.task + (fields.length > 1 ? fields.length : "");
  fill(examples[task] ?? examples[model()?.task] ?? (fields.length > 1 ? examples.classify2 : examples.ner));
  inputs()[0].focus();
}
/** The lines for `exp predict`: several fields are one line, separated by tabs. */
function texts() {
  const values = inputs().map((box) => box.value);
  if (route() === "/v1/completions") return values;
  if (values.length === 1) {
    const parts = $("lines").checked ? values[0].split("\n") : [values[0].trim()];
    return parts.filter((part) => part.trim() !== "");
  }
  while (values.length > 1 && values.at(-1) === "") values.pop();
  return values.join("").trim() === "" ? [] : [values.map((value) => value.replaceAll("\t", " ")).join("\t")];
}
function bodyOf(asked) {
  const body = { model: model().id };
  if (route() === "/v1/completions") {
    Object.assign(body, { prompt: asked[0], max_tokens: Number($("max-tokens").value) || 64, stream: true });
    if ($("temperature").value !== "") body.temperature = Number($("temperature").value);
    return body;
  }
  body[route() === "/v1/predict" ? "inputs" : "input"] = asked;
  if ($("truncate").checked) body.truncate = true;
  if (route() === "/v1/predict" && page.scores && !page.refusesScores.has(body.model)) body.scores = true;
  return body;
}

// --- the same question for a shell ---
const shellQuoted = (text) => "'" + text.replaceAll("'", "'\\''") + "'";
/** JSON in which no letter is invisible or changes the direction of what follows it. */
const unseen = /[\u007f-\u009f\u00ad\u061c\u180e\u200b-\u200f\u2028-\u202f\u2060-\u206f\ufeff]/g;
const plainJson = (value) =>
  JSON.stringify(value).replace(unseen, (letter) => "\\u" + letter.charCodeAt(0).toString(16).padStart(4, "0"));
const curlOf = (body) => ["curl" + (body.stream ? " -N " : " ") + shellQuoted(location.origin + route()),
  ...($("token").value ? ['-H "Authorization: Bearer $TOKEN"'] : []),
  "-H 'Content-Type: application/json'", "-d " + shellQuoted(plainJson(body))].join(" \\\n  ");

// --- asking ---
const post = (body, signal) => fetch(route(), {
  method: "POST", signal, body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...head() },
});
/** The events of a stream as they arrive; a character whose bytes arrive in two parts stays whole. */
async function* eventsOf(response) {
  const reader = response.body.getReader(), decoder = new TextDecoder();
  for (let kept = "", done = false; !done;) {
    const part = await reader.read();
    done = part.done;
    kept += done ? decoder.decode() : decoder.decode(part.value, { stream: true });
    const events = kept.split("\n\n");
    kept = events.pop();
    for (const event of events)
      if (event.startsWith("data: ") && event !== "data: [DONE]") yield JSON.parse(event.slice(6));
  }
}
/** Shows the text as it grows: after its prompt, or beside its source if the model has an encoder. */
async function showStream(response, prompt) {
  if (!response.ok) return json(response);
  const grown = document.createTextNode(""), events = [];
  $("answer").replaceChildren(readsSource()
    ? besideEachOther("Text", prompt, "Output", paragraph("plain", grown))
    : paragraph("plain", element("span", { class: "prompt" }, prompt), grown));
  for await (const event of eventsOf(response)) {
    if (event.error) throw new Refused(503, event.error.message);
    events.push(event);
    grown.appendData(event.choices?.[0]?.text ?? "");
  }
  const last = events.at(-1), tokens = counted(last?.usage?.completion_tokens ?? 0, "token", "tokens");
  const reasons = { stop: "; the text is complete", length: "; the limit is reached" };
  $("answer").append(paragraph("note", tokens + (reasons[last?.choices?.[0]?.finish_reason] ?? "")));
  return events;
}
async function answered(asked, signal) {
  const body = bodyOf(asked);
  $("curl").textContent = curlOf(body);
  $("curl-fold").hidden = false;
  try {
    const response = await post(body, signal);
    if (body.stream) return await showStream(response, asked[0]);
    const whole = await json(response);
    $("answer").replaceChildren(...(whole.results ? whole.results.map(showResult)
      : [element("div", { class: "result" }, ...showVectors(asked, whole.data.map((each) => each.embedding)))]));
    return whole;
  } catch (error) {
    // A task refuses both probabilities that it lacks and an invalid input: a second request without them shows which.
    if (!(error instanceof Refused && error.status === 400 && body.scores)) throw error;
    page.refusesScores.add(body.model);
    try {
      return await answered(asked, signal);
    } catch (second) {
      page.refusesScores.delete(body.model);
      throw second;
    }
  }
}
async function ask() {
  const asked = texts();
  if (page.asking || !model()) return;
  if (asked.length === 0) {
    inputs()[0].focus();
    return say("Enter a text first.", true);
  }
  const begin = performance.now();
  page.asking = new AbortController();
  $("ask").setAttribute("aria-disabled", "true");  // a disabled button would lose the focus
  $("stop").hidden = false;
  $("answer").replaceChildren();
  $("answer").setAttribute("aria-busy", "true");
  $("json-fold").hidden = true;
  say("Asking \u2026");
  try {
    const whole = await answered(asked, page.asking.signal);
    $("json").textContent = JSON.stringify(whole, null, 1);
    $("json-fold").hidden = false;
    say("Answered in " + (performance.now() - begin).toFixed(0) + " ms");
  } catch (error) {
    if (error.status === 401) $("token-row").hidden = false;
    if (error.name === "AbortError") say("Stopped");
    else say((error.status ?? "No answer") + ": " + error.message, true);
  } finally {
    const hadFocus = document.activeElement === $("stop");
    page.asking = null;
    $("ask").removeAttribute("aria-disabled");
    $("stop").hidden = true;
    $("answer").removeAttribute("aria-busy");
    if (hadFocus) $("ask").focus();
  }
}

// --- the models ---
async function load() {
  try {
    const before = JSON.stringify(page.models);
    page.models = (await json(await fetch("/v1/models", { headers: head() }))).data;
    $("token-row").hidden = $("token").value === "";
    list($("model"), page.models.map((each) => each.id));
    if (JSON.stringify(page.models) !== before) showModel();
    const ready = page.models.every((each) => each.ready);
    say(ready ? "Ready" : "Loading a model \u2026");
    if (!ready) setTimeout(load, 1000);
    else if (!page.linked) takeLink();
  } catch (error) {
    $("token-row").hidden = error.status !== 401;
    say((error.status ?? "No answer") + ": " + error.message, true);
  }
}
async function findScores() {
  try {
    const predict = (await json(await fetch("/openapi.json"))).paths["/v1/predict"].post;
    page.scores = "scores" in predict.requestBody.content["application/json"].schema.properties;
  } catch { page.scores = false; }
}
/** A link may contain a question: /#ask=TEXT. Its author is unknown, so the page waits for the user to send it. */
function takeLink() {
  page.linked = true;
  if (!location.hash.startsWith("#ask=")) return;
  let text = location.hash.slice(5);
  try {
    text = decodeURIComponent(text);
  } catch { /* unchanged */ }
  const fields = fieldsOf().length;
  fill(fields > 1 ? text.split("\t", fields) : [text]);
  say("This text came with the link; Ask sends it to the model.");
  $("ask").focus();
}

$("question").addEventListener("submit", (event) => {
  event.preventDefault();
  ask();
});
$("question").addEventListener("keydown", (event) => {
  if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) ask();
});
$("model").addEventListener("change", () => {
  page.asking?.abort();
  $("answer").replaceChildren();
  for (const fold of ["json-fold", "curl-fold"]) $(fold).hidden = true;
  showModel();
});
$("route").addEventListener("change", showFields);
$("token").addEventListener("change", load);
$("example").addEventListener("click", fillExample);
$("stop").addEventListener("click", () => page.asking?.abort());
$("copy").addEventListener("click", () => navigator.clipboard.writeText($("curl").textContent).then(
  () => say("Copied"), () => say("The browser does not let this page copy.", true)));
window.addEventListener("hashchange", takeLink);
$("copy").hidden = !navigator.clipboard;
showFields();
findScores().then(load);
