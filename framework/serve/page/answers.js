// Shows answers to people: functions that turn an answer of the server into elements. They use the members that an
// answer has, so that tasks of other plugins are shown too. Data of the server must become text, never HTML. Read
// next: page.js.
const heading = (text) => element("h2", {}, text);

const isText = (value) => typeof value === "string";
const isNumber = (value) => typeof value === "number";
const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isSpans = (value) => Array.isArray(value) && value.every((each) => isObject(each) && isNumber(each.start));

const withMinus = (number) => number.replace("-", "\u2212");
const rounded = (value) => withMinus(String(Number(value.toPrecision(4))));
const fixed = (value, digits) => withMinus(value.toFixed(digits));

/** Columns of numbers are aligned to the right. */
function tableOf(heads, rows, attributes = {}) {
  const numeric = heads.map((_, i) => (rows.every((row) => isNumber(row[i])) ? { class: "number" } : {}));
  const head = heads.map((name, i) => element("th", { scope: "col", ...numeric[i] }, name));
  const cell = (value, i) =>
    element(i ? "td" : "th", i ? numeric[i] : { scope: "row" }, isNumber(value) ? rounded(value) : value);
  const body = rows.map((row) => element("tr", {}, ...row.map(cell)));
  return element("div", { class: "scroll" }, element("table", attributes,
    element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...body)));
}
/** On narrow screens a long text scrolls, so that what stands below it is seen. */
const longText = 400;
function besideEachOther(left, leftText, right, rightNode) {
  const scrolls = leftText.length > longText ? { tabindex: 0, role: "region", "aria-label": left } : {};
  const shown = element("p", { class: "plain", ...scrolls }, leftText);
  return element("div", { class: "beside" }, element("div", {}, heading(left), shown),
    element("div", {}, heading(right), rightNode));
}

// --- parts of a text ---
const kinds = 6, typesSeen = [];
/** A type keeps its colour in all answers. */
function kindOf(type) {
  if (!typesSeen.includes(type)) typesSeen.push(type);
  return "kind-" + (typesSeen.indexOf(type) % kinds);
}
function markOf(text, span) {
  const mark = element("mark", { class: kindOf(span.type) }, text);
  const type = element("span", { class: "type" }, span.type ?? "");
  if (isNumber(span.score)) type.append(" ", element("span", {}, percent(span.score)));
  if (type.textContent) mark.append("\u00a0", type);
  return mark;
}
/** `text` with its spans marked: {type, start, end, score}. Places count code points. Of overlapping spans only
    the first is marked. */
function markedText(text, spans) {
  const letters = Array.from(text), shown = paragraph("text");
  const part = (begin, end) => letters.slice(begin, end).join("");
  let done = 0;
  for (const span of [...spans].sort((a, b) => a.start - b.start)) {
    if (span.start < done) continue;
    shown.append(part(done, span.start), markOf(part(span.start, span.end), span));
    done = span.end;
  }
  shown.append(part(done));
  return shown;
}
function tableOfSpans(spans) {
  const leastOf = (span) => span.least ?? span.least_score, hasLeast = spans.some((span) => isNumber(leastOf(span)));
  const share = (value) => (isNumber(value) ? percent(value) : "");
  return tableOf(["Part of the text", "Type", "Score", ...(hasLeast ? ["Lowest score of a word"] : [])],
    spans.map((span) => [span.text, span.type, share(span.score), ...(hasLeast ? [share(leastOf(span))] : [])]));
}
/** A label for each word, as spans; "O" marks a word without a label. */
function spansOfWords(words, tags, scores) {
  let end = -1;
  const spans = words.map((word, i) => {
    const start = end + 1;
    end = start + Array.from(word).length;
    return { type: tags[i], start, end, score: scores?.[i] };
  });
  return spans.filter((span) => span.type !== "O");
}

// --- classes ---
const shownBars = 8;
function barOf([label, share], chosen) {
  const bar = element("span", { class: "bar" });
  bar.style.width = 100 * Math.min(Math.max(share, 0), 1) + "%";
  return element("tr", chosen.includes(label) ? { class: "chosen" } : {}, element("th", { scope: "row" }, label),
    element("td", { "aria-hidden": "true" }, bar), element("td", { class: "number" }, percent(share)));
}
/** `scores`: label to probability. Shows the most probable ones, and folds the others. */
function barsOf(scores, chosen) {
  const sorted = Object.entries(scores).filter(([, share]) => isNumber(share)).sort((a, b) => b[1] - a[1]);
  const table = (some) =>
    element("table", { class: "bars" }, element("tbody", {}, ...some.map((each) => barOf(each, chosen))));
  const more = sorted.slice(shownBars), bars = [table(sorted.slice(0, shownBars))];
  if (more.length > 0) {
    const summary = element("summary", {}, counted(more.length, "label", "labels") + " more");
    bars.push(element("details", {}, summary, table(more)));
  }
  return bars;
}
function labelLine(label, score) {
  const line = paragraph("label", label);
  if (isNumber(score)) line.append(" ", element("span", { class: "share" }, percent(score)));
  return line;
}

// --- vectors ---
const shownValues = 6;
function firstValues(vector) {
  const values = vector.slice(0, shownValues).map((value) => fixed(value, 4)).join(", ");
  return vector.length > shownValues ? values + ", \u2026" : values;
}
function cosine(a, b) {
  const product = (x, y) => x.reduce((sum, value, i) => sum + value * y[i], 0);
  return product(a, b) / Math.sqrt(product(a, a) * product(b, b) || 1);
}
function tableOfCosines(texts, vectors) {
  const rows = vectors.map((a, i) =>
    [i + 1 + " " + shortened(texts[i]), ...vectors.map((b) => fixed(cosine(a, b), 3))]);
  const table = tableOf(["Cosine", ...vectors.map((_, i) => String(i + 1))], rows, { class: "cosine" });
  for (const cell of table.querySelectorAll("td")) {
    cell.className = "number";
    cell.style.setProperty("--share", Math.max(0, Number(cell.textContent) || 0));
  }
  return table;
}
function showVectors(texts, vectors, compared = vectors.length > 1) {
  const values = tableOf(["Text", "Values"], vectors.map((vector, i) => [shortened(texts[i]), firstValues(vector)]));
  return [...(compared ? [heading("Similarity"), tableOfCosines(texts, vectors)] : []),
    heading("First of " + counted(vectors[0].length, "value", "values")), values];
}

// --- one answer of /v1/predict ---
/** The members of an answer. A member that is shown is taken out; a table at the end shows the others. */
class Members extends Map {
  take(name) {
    const value = this.get(name);
    this.delete(name);
    return value;
  }
}
const listsOf = { translation: "translations", summary: "summaries" };
function showWritten(members, text) {
  const name = Object.keys(listsOf).find((each) => isText(members.get(each)));
  if (!name) return null;
  const best = members.take(name), all = members.take(listsOf[name]) ?? [best], score = members.take("score");
  members.delete("scores");
  const title = name[0].toUpperCase() + name.slice(1);
  return [besideEachOther("Text", text, title, paragraph("plain", best)),
    ...all.slice(1).map((each, i) => paragraph("plain", element("span", { class: "note" }, i + 2 + ". "), each)),
    ...(isNumber(score) ? [paragraph("note", "Score " + rounded(score) + ", from its log-probability")] : [])];
}
function showWords(members) {
  if (!Array.isArray(members.get("words")) || !Array.isArray(members.get("tags"))) return null;
  const words = members.take("words"), spans = spansOfWords(words, members.take("tags"), members.take("score"));
  members.delete("scores");
  return [markedText(words.join(" "), spans)];
}
function showAnswer(members, text) {
  if (!isText(members.get("question")) || !isSpans(members.get("answers"))) return null;
  const spans = members.take("answers"), answer = spans[0]?.text ?? "No answer in this paragraph";
  return [heading(members.take("question")), labelLine(answer, members.take("score")),
    markedText(text, spans.map((span) => ({ ...span, score: undefined })))];
}
function showSpans(members, text) {
  const name = [...members.keys()].find((each) => isSpans(members.get(each)));
  if (!name) return null;
  const spans = members.take(name), parts = [markedText(text, spans)];
  if (spans.length === 0) parts.push(paragraph("note", "No part of the text is marked."));
  return spans.some((span) => isNumber(span.score)) ? [...parts, tableOfSpans(spans)] : parts;
}
function showTexts(text, second) {
  if (second) return [besideEachOther("Text", text, "Second text", paragraph("plain", second))];
  return text ? [paragraph("plain", text)] : [];
}
function showLabels(members) {
  if (!isText(members.get("label")) && !Array.isArray(members.get("labels"))) return [];
  const label = members.take("label"), labels = members.take("labels") ?? [label];
  const score = members.take("score"), scores = members.take("scores");
  const lines = labels.map((each, i) => labelLine(each, Array.isArray(score) ? score[i] : score));
  return [...(lines.length > 0 ? lines : [paragraph("label", "No label")]),
    ...(isObject(scores) ? barsOf(scores, labels) : [])];
}
/** `candidates` has a line for each mask: "lund 0.910 oslo 0.045". */
function showMasks(members) {
  if (!Array.isArray(members.get("masks")) || !Array.isArray(members.get("candidates"))) return [];
  const masks = members.take("masks"), lines = members.take("candidates");
  if (masks.length === 0) return [paragraph("note", "The text has no mask token.")];
  return lines.flatMap((line, i) => {
    const words = line.split(" "), scores = {};
    for (let k = 0; k + 1 < words.length; k += 2) scores[words[k]] = Number(words[k + 1]);
    return [heading("Mask " + (i + 1) + ": " + masks[i]), ...barsOf(scores, [masks[i]])];
  });
}
function showNumbers(members) {
  const names = { number: "", similarity: "Similarity (cosine) " };
  return Object.keys(names).filter((name) => isNumber(members.get(name)))
    .map((name) => paragraph("figure", names[name] + rounded(members.take(name))));
}
function showRest(members) {
  const left = [...members].filter(([, value]) => value !== "");
  const shown = (value) => (isText(value) || isNumber(value) ? value : JSON.stringify(value));
  const rows = left.map(([name, value]) => [name.replaceAll("_", " "), shown(value)]);
  return rows.length > 0 ? [tableOf(["Member", "Value"], rows)] : [];
}
function showResult(result) {
  const members = new Members(Object.entries(result));
  const text = members.take("text") ?? members.take("context") ?? "", second = members.take("text2");
  const vectors = [members.take("embedding"), members.take("embedding2")].filter((each) => each?.length > 0);
  const texts = showWritten(members, text) ?? showWords(members) ?? showAnswer(members, text) ??
    showSpans(members, text) ?? showTexts(text, second);
  const parts = [...texts, ...showLabels(members), ...showMasks(members), ...showNumbers(members)];
  if (vectors.length > 0) parts.push(...showVectors([text, second ?? ""], vectors, false));
  return element("div", { class: "result" }, ...parts, ...showRest(members));
}
