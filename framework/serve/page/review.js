// The page at /review: a reviewer claims one item after the other and decides it, with the mouse or by keyboard alone.
// It uses the routes /v1/review/... that programs use. A label is never chosen in advance, so that no key decides by
// accident. Read common.js first.
const desk = { labels: [], item: null, history: [], busy: false };

const ask = async (action, body) => json(await fetch("/v1/review/" + action, body === undefined ? { headers: head() } : {
  method: "POST", body: JSON.stringify(body), headers: { "Content-Type": "application/json", ...head() },
}));
const reviewer = () => $("reviewer").value.trim();

// --- showing ---
function showCounts(counts) {
  $("counts").textContent = counted(counts.waiting, "item waits", "items wait") + ", " + counts.done + " decided";
}
function showItem() {
  const item = desk.item;
  $("item").hidden = $("leave").hidden = $("skip").hidden = !item;
  $("start").hidden = Boolean(item);
  $("undo").hidden = desk.history.length === 0;
  if (!item) return;
  $("text").textContent = item.text ??
    "The queue does not keep the text. Look up the request " + item.id + " where it came from.";
  $("text").classList.toggle("missing", item.text === null);
  const facts = [["Request", item.id], ["Proposed", item.proposed || "none"]];
  if (item.confidence !== null) facts.push(["Confidence", percent(item.confidence)]);
  if (item.scope !== null) facts.push(["Out of scope", percent(item.scope)]);
  if (item.reason === "audit") facts.push(["Audit", "band " + item.band]);
  $("facts").replaceChildren(...facts.map(([name, value]) =>
    element("div", {}, element("dt", {}, name), element("dd", {}, value))));
  $("filter").value = "";
  showLabels();
  $("text").focus();
}
/** The proposed label comes first, then those that begin with the letters of the filter. */
function shownLabels() {
  const letters = $("filter").value.trim().toLowerCase(), low = (label) => label.toLowerCase();
  const found = desk.labels.filter((label) => low(label).includes(letters));
  const rank = (label) => (label === desk.item?.proposed ? 0 : low(label).startsWith(letters) ? 1 : 2);
  return found.map((label, i) => [rank(label), i, label]).sort((a, b) => a[0] - b[0] || a[1] - b[1]).map((each) => each[2]);
}
function showLabels() {
  const labels = shownLabels(), letters = $("filter").value.trim();
  $("labels").replaceChildren(...labels.map((label, i) => {
    const button = element("button", { type: "button", class: label === desk.item.proposed ? "proposed" : "" },
      ...(i < 9 ? [element("span", { class: "key", "aria-hidden": "true" }, String(i + 1))] : []), label);
    button.addEventListener("click", () => decide(label));
    return button;
  }));
  $("no-label").hidden = letters === "" || labels.length > 0;
}

// --- acting ---
/** Does one thing at a time; an error stands in the line above the item. */
async function doing(what, action) {
  if (desk.busy) return;
  desk.busy = true;
  say(what + " \u2026");
  try {
    await action();
  } catch (error) {
    if (error.status === 401) $("token-row").hidden = false;
    say((error.status ?? "No answer") + ": " + error.message, true);
    if (error.status === 409) desk.item = null;  // another reviewer has it
    if (error.status === 409) showItem();
  } finally {
    desk.busy = false;
  }
}
async function claim(before = "") {
  const status = await ask("status");
  desk.labels = status.labels;
  $("token-row").hidden = $("token").value === "";
  const answer = await ask("claim", { reviewer: reviewer(), order: $("order").value });
  desk.item = answer.item;
  showCounts(answer);
  showItem();
  say(before + (answer.item ? "" : "No item waits for you."));
}
const start = () => doing("Looking for an item", () => claim());
const decide = (label, added = false) => doing("Deciding", async () => {
  const id = desk.item.id;
  await ask("decide", { item: id, label, reviewer: reviewer(), ...(added ? { new_label: true } : {}) });
  desk.history.push(id);
  await claim("Decided: " + label + ". ");
});
const skip = () => doing("Skipping", async () => {
  await ask("release", { item: desk.item.id, reviewer: reviewer(), skip: true });
  await claim("Skipped. ");
});
const undo = () => doing("Undoing", async () => {
  await ask("undo", { item: desk.history.at(-1), reviewer: reviewer() });
  desk.history.pop();
  await claim("The decision is taken back. ");
});
const leave = () => doing("Giving back", async () => {
  await ask("release", { item: desk.item.id, reviewer: reviewer() });
  desk.item = null;
  showItem();
  $("start").focus();
  say("The item is with the others again.");
});

$("who").addEventListener("submit", (event) => {
  event.preventDefault();
  if (reviewer() !== "") start();
});
$("leave").addEventListener("click", leave);
$("skip").addEventListener("click", skip);
$("undo").addEventListener("click", undo);
$("add").addEventListener("click", () => decide($("filter").value.trim(), true));
$("filter").addEventListener("input", showLabels);
$("filter").addEventListener("keydown", (event) => {
  if (event.key === "Escape") $("text").focus();
  if (event.key !== "Enter" || $("filter").value.trim() === "") return;
  const labels = shownLabels();
  if (labels.length > 0) decide(labels[0]);
});
$("reviewer").addEventListener("change", () => {
  desk.history = [];  // the decisions of another person
  desk.item = null;
  showItem();
});
document.addEventListener("keydown", (event) => {
  const typing = ["INPUT", "SELECT", "TEXTAREA"].includes(document.activeElement?.tagName);
  if (typing || event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "u" && desk.history.length > 0) undo();
  if (!desk.item) return;
  const labels = shownLabels();
  if (/^[1-9]$/.test(event.key) && labels.length >= Number(event.key)) decide(labels[Number(event.key) - 1]);
  if (event.key === "s") skip();
  if (event.key === "/") {
    event.preventDefault();
    $("filter").focus();
  }
});
$("token").addEventListener("change", load);
async function load() {
  await doing("Loading", async () => {
    const status = await ask("status");
    desk.labels = status.labels;
    $("token-row").hidden = $("token").value === "";
    showCounts(status);
    say(status.application + (status.opinions > 1 ? ": each item needs two equal opinions" : ""));
  });
}
load();
