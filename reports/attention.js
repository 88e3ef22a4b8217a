"use strict";
// Draws the maps of attention weights that stand in the page as data, and shows values under the pointer. Weights are
// shaded by their root, the same in all maps, so that maps can be compared and small weights are seen.
const data = JSON.parse(document.getElementById("data").textContent);
const $ = (id) => document.getElementById(id);
const state = { part: 0, group: 0, layer: 0, head: 0, row: -1, column: -1, pinned: -1 };

// --- values ---
// 16 bits a weight, the low byte first.
const cache = new Map();
function weightsOf(layer, head) {
  const text = layer.weights[head];
  if (!cache.has(text)) {
    const bytes = atob(text), values = new Float32Array(bytes.length / 2);
    for (let i = 0; i < values.length; ++i)
      values[i] = (bytes.charCodeAt(2 * i) + 256 * bytes.charCodeAt(2 * i + 1)) / 65535;
    cache.set(text, values);
  }
  return cache.get(text);
}
/** One head, or the mean of all of them behind the last one. */
function valuesOf(layer, head) {
  if (head < layer.heads.length) return weightsOf(layer, head);
  const mean = new Float32Array(weightsOf(layer, 0).length);
  for (let h = 0; h < layer.heads.length; ++h) {
    const one = weightsOf(layer, h);
    for (let i = 0; i < mean.length; ++i) mean[i] += one[i] / layer.heads.length;
  }
  return mean;
}
const nameOf = (layer, head) => (head < layer.heads.length ? "head " + layer.heads[head] : "mean of the heads");
const part = () => data.parts[state.part];
const group = () => part().groups[state.group];
const chosen = () => group().layers[state.layer];
const rowPieces = () => part()[group().rows];
const columnPieces = () => part()[group().columns];

// --- colours ---
let colours = {};
function readColours() {
  const style = getComputedStyle(document.documentElement);
  for (const tone of ["ink", "faint", "grid", "ground", "first", "second", "missing"])
    colours[tone] = style.getPropertyValue("--" + tone).trim();
}
const channels = (hex) => [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
function mixed(shade) {
  const full = channels(colours.first), ground = channels(colours.ground);
  return full.map((value, i) => Math.round(shade * value + (1 - shade) * ground[i]));
}
const shadeOf = (weight) => Math.sqrt(Math.min(Math.max(weight, 0), 1));
const colourOf = (weight) => "rgb(" + mixed(shadeOf(weight)).join(",") + ")";

// --- all maps ---
function paintSmall(canvas, values, height, width) {
  canvas.width = width;
  canvas.height = height;
  const context = canvas.getContext("2d"), image = context.createImageData(width, height);
  for (let i = 0; i < values.length; ++i) {
    const [red, green, blue] = mixed(shadeOf(values[i]));
    image.data.set([red, green, blue, 255], 4 * i);
  }
  context.putImageData(image, 0, 0);
}
function element(name, text, attributes = {}) {
  const made = document.createElement(name);
  if (text !== undefined) made.textContent = text;
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  return made;
}
function showOverview() {
  const overview = $("overview");
  overview.replaceChildren();
  if (data.parts.length > 1) {
    const label = element("p", "Text: ", { class: "parts" }), select = element("select");
    data.parts.forEach((one, i) => select.append(element("option", one.name, { value: i })));
    select.value = state.part;
    select.addEventListener("change", () => {
      Object.assign(state, { part: Number(select.value), row: -1, column: -1, pinned: -1 });
      showOverview();
      showMap();
    });
    label.append(select);
    overview.append(label);
  }
  part().groups.forEach((one, g) => {
    const box = element("div", undefined, { class: "group" });
    box.append(element("h3", one.title));
    const table = element("table"), head = element("tr");
    const most = Math.max(...one.layers.map((layer) => layer.heads.length));
    head.append(element("td"));
    const numbers = one.layers.find((layer) => layer.heads.length === most).heads;
    numbers.forEach((number, i) => head.append(element("th", i === 0 ? "head " + number : String(number), { scope: "col" })));
    if (most > 1) head.append(element("th", "mean", { scope: "col" }));
    table.append(head);
    one.layers.forEach((layer, l) => {
      const row = element("tr");
      row.append(element("th", layer.layer, { scope: "row" }));
      const maps = layer.heads.length > 1 ? layer.heads.length + 1 : 1;
      for (let h = 0; h < maps; ++h) {
        const cell = element("td"), name = layer.layer + ", " + nameOf(layer, h);
        const button = element("button", undefined, { type: "button", title: name, "aria-label": name });
        const canvas = element("canvas");
        const height = part()[one.rows].length, width = part()[one.columns].length;
        paintSmall(canvas, valuesOf(layer, h), height, width);
        canvas.style.height = Math.max(14, Math.min(120, (52 * height) / width)) + "px";
        button.append(canvas);
        button.addEventListener("click", () => {
          Object.assign(state, { group: g, layer: l, head: h });
          showMap();
        });
        button.dataset.at = [g, l, h].join(" ");
        cell.append(button);
        row.append(cell);
      }
      table.append(row);
    });
    box.append(table);
    overview.append(box);
  });
}

// --- the chosen map ---
let cell = 24, namesWidth = 0, namesHeight = 0;
const font = "13px \"Helvetica Neue\", Helvetica, Arial, \"Liberation Sans\", sans-serif";
const slant = Math.PI / 4;

function sized(canvas, width, height) {
  const ratio = window.devicePixelRatio || 1;
  canvas.width = Math.ceil(width * ratio);
  canvas.height = Math.ceil(height * ratio);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  const context = canvas.getContext("2d");
  context.scale(ratio, ratio);
  context.font = font;
  return context;
}
function widest(pieces) {
  const context = $("cells").getContext("2d");
  context.font = font;
  return Math.min(150, Math.max(20, ...pieces.map((piece) => context.measureText(piece.piece).width)));
}
function fitting(context, text, room) {
  if (context.measureText(text).width <= room) return text;
  const letters = Array.from(text);
  while (letters.length > 1 && context.measureText(letters.join("") + "\u2026").width > room) letters.pop();
  return letters.join("") + "\u2026";
}
function layOut() {
  const rows = rowPieces(), columns = columnPieces();
  namesWidth = widest(rows) + 12;
  const names = widest(columns);
  namesHeight = names * Math.sin(slant) + 22;
  const room = $("detail").clientWidth - namesWidth - names * Math.cos(slant) - 16;
  cell = Math.max(14, Math.min(38, Math.floor(room / columns.length)));
}
function drawNames() {
  const rows = rowPieces(), columns = columnPieces();
  const beyond = widest(columns) * Math.cos(slant) + 14;
  sized($("corner"), namesWidth, namesHeight);
  const above = sized($("columns"), columns.length * cell + beyond, namesHeight);
  columns.forEach((piece, j) => {
    above.save();
    above.translate((j + 0.5) * cell + 2, namesHeight - 6);
    above.rotate(-slant);
    above.fillStyle = j === state.column ? colours.second : piece.special ? colours.faint : colours.ink;
    above.fillText(fitting(above, piece.piece, 150), 0, 4);
    above.restore();
  });
  const beside = sized($("rows"), namesWidth, rows.length * cell + 2);
  beside.textAlign = "right";
  rows.forEach((piece, i) => {
    beside.fillStyle = i === state.row ? colours.second : piece.special ? colours.faint : colours.ink;
    beside.fillText(fitting(beside, piece.piece, 150), namesWidth - 8, (i + 0.5) * cell + 4.5);
  });
}
function drawCells() {
  const rows = rowPieces().length, columns = columnPieces().length;
  const context = sized($("cells"), columns * cell + 2, rows * cell + 2);
  const values = valuesOf(chosen(), state.head);
  const seam = cell > 16 ? 1 : 0;
  for (let i = 0; i < rows; ++i)
    for (let j = 0; j < columns; ++j) {
      const weight = values[i * columns + j];
      if (weight === 0) continue;
      context.fillStyle = colourOf(weight);
      context.fillRect(j * cell + 1, i * cell + 1, cell - seam, cell - seam);
    }
  context.strokeStyle = colours.missing;
  context.strokeRect(0.5, 0.5, columns * cell + 1, rows * cell + 1);
  if (state.row < 0) return;
  context.strokeStyle = colours.second;
  context.lineWidth = 1.5;
  context.strokeRect(0.75, state.row * cell + 0.75, columns * cell + 0.5, cell);
  if (state.column < 0) return;
  context.lineWidth = 2.5;
  context.strokeRect(state.column * cell + 1, state.row * cell + 1, cell - 1, cell - 1);
}
function showStatus() {
  const status = $("status"), rows = rowPieces(), columns = columnPieces();
  if (state.row < 0 || state.column < 0) {
    status.textContent = "Point at a cell for its weight, click to keep its row; arrow keys move.";
    return;
  }
  const weight = valuesOf(chosen(), state.head)[state.row * columns.length + state.column];
  status.replaceChildren(element("b", rows[state.row].piece), " (row " + state.row + ") attends to ",
    element("b", columns[state.column].piece), " (column " + state.column + ") with weight ",
    element("b", weight.toFixed(4)));
}
function chip(piece, weight) {
  const span = element("span", piece.piece, { class: "piece" + (piece.special ? " special" : "") });
  if (weight !== undefined) {
    const shade = shadeOf(weight);
    span.style.backgroundColor = colourOf(weight);
    if (shade > 0.55) span.style.color = colours.ground;
    span.title = weight.toFixed(4);
  }
  return span;
}
/** The text as it is read: the token that attends, and those that it attends to. */
function showReading() {
  const reading = $("reading"), rows = rowPieces(), columns = columnPieces();
  const row = state.row >= 0 ? state.row : state.pinned;
  const values = valuesOf(chosen(), state.head);
  const asks = element("p"), looks = element("p");
  asks.append(element("span", "Choose a piece:", { class: "label" }));
  rows.forEach((piece, i) => {
    const button = element("button", piece.piece, { type: "button", class: "piece" + (piece.special ? " special" : "") + (i === row ? " asks" : "") });
    button.addEventListener("click", () => point(i, state.column < 0 ? 0 : state.column, true));
    asks.append(button);
  });
  looks.append(element("span", row < 0 ? "It attends to:" : "\u201C" + rows[row].piece + "\u201D attends to:", { class: "label" }));
  columns.forEach((piece, j) => looks.append(chip(piece, row < 0 ? undefined : values[row * columns.length + j])));
  reading.replaceChildren(asks, looks);
}
function point(row, column, pin = false) {
  if (pin) state.pinned = row;
  if (row === state.row && column === state.column) return;
  const sameRow = row === state.row;
  state.row = row;
  state.column = column;
  drawCells();
  drawNames();
  showStatus();
  if (!sameRow) showReading();
}
function showLegend() {
  const legend = $("legend"), ramp = element("div", undefined, { class: "ramp" }), canvas = element("canvas");
  canvas.width = 200;
  canvas.height = 1;
  const context = canvas.getContext("2d");
  for (let x = 0; x < 200; ++x) {
    context.fillStyle = colourOf(((x + 0.5) / 200) ** 2);
    context.fillRect(x, 0, 1, 1);
  }
  const ticks = element("div", undefined, { class: "ticks" });
  for (const value of [0, 0.05, 0.2, 0.5, 1]) {
    const tick = element("span", String(value));
    tick.style.left = 100 * shadeOf(value) + "%";
    ticks.append(tick);
  }
  ramp.append(canvas, ticks);
  legend.replaceChildren(element("span", "weight"), ramp);
}
function showMap() {
  const layer = chosen(), rows = rowPieces().length, columns = columnPieces().length;
  if (state.row >= rows || state.column >= columns) Object.assign(state, { row: -1, column: -1, pinned: -1 });
  for (const button of document.querySelectorAll(".group button"))
    button.setAttribute("aria-pressed", button.dataset.at === [state.group, state.layer, state.head].join(" "));
  $("map-title").textContent = layer.layer + ", " + nameOf(layer, state.head);
  $("map-what").textContent = layer.type + ". " + group().what;
  $("map").setAttribute("aria-label", "Weights of " + layer.layer + ", " + nameOf(layer, state.head) + ": " + rows + " rows, " + columns + " columns");
  layOut();
  drawNames();
  drawCells();
  showStatus();
  showReading();
}

// --- pointer and keys ---
function placeOf(event) {
  const box = $("cells").getBoundingClientRect();
  const column = Math.floor((event.clientX - box.left - 1) / cell), row = Math.floor((event.clientY - box.top - 1) / cell);
  const inside = row >= 0 && column >= 0 && row < rowPieces().length && column < columnPieces().length;
  return inside ? [row, column] : null;
}
$("cells").addEventListener("pointermove", (event) => {
  const place = placeOf(event);
  if (place) point(...place);
});
$("cells").addEventListener("click", (event) => {
  const place = placeOf(event);
  if (place) point(...place, true);
});
$("cells").addEventListener("pointerleave", () => {
  if (state.pinned >= 0) point(state.pinned, state.column);
});
$("map").addEventListener("keydown", (event) => {
  const moves = { ArrowUp: [-1, 0], ArrowDown: [1, 0], ArrowLeft: [0, -1], ArrowRight: [0, 1] };
  const move = moves[event.key];
  if (!move) return;
  event.preventDefault();
  const within = (value, count) => Math.min(Math.max(value, 0), count - 1);
  point(within(state.row + move[0], rowPieces().length), within(state.column + move[1], columnPieces().length), true);
});

function showAll() {
  readColours();
  showLegend();
  showOverview();
  showMap();
}
window.addEventListener("resize", showMap);
window.matchMedia("(prefers-color-scheme: dark)").addEventListener("change", showAll);
showAll();
