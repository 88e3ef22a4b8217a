"use strict";
// What the pages of `exp serve` share: elements from text, the line that says what happens, and requests to the page's
// own server. Data of the server must become text, never HTML. Read next: answers.js, page.js; review.js.
const $ = (id) => document.getElementById(id);
const element = (name, attributes = {}, ...children) => {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);  // strings become text
  return made;
};
const paragraph = (kind, ...content) => element("p", { class: kind }, ...content);
const percent = (share) => (share > 0 && share < 0.001 ? "< 0.1 %" : (100 * share).toFixed(1) + " %");
const counted = (count, one, many) => count + " " + (count === 1 ? one : many);
function shortened(text, most = 48) {
  const letters = Array.from(text);
  return letters.length > most ? letters.slice(0, most).join("") + "\u2026" : text;
}
const say = (text, wrong = false) => {
  $("state").textContent = text;
  $("state").classList.toggle("wrong", wrong);
};
const head = () => ($("token").value ? { Authorization: "Bearer " + $("token").value } : {});
class Refused extends Error {
  constructor(status, message) { super(message); this.status = status; }
}
async function json(response) {
  const text = await response.text();
  let read;
  try {
    read = JSON.parse(text);
  } catch {
    throw new Refused(response.status, "the answer is not JSON: " + shortened(text, 200));
  }
  if (!response.ok) throw new Refused(response.status, read.error?.message ?? text);
  return read;
}
