"use strict";
// Sorts tables and shows the values of a curve under the pointer. The document is complete without it.

// --- tables ---
// A click on a column's name sorts by it: numbers by their full value, then what has none; text by its letters.
function sortTable(table, column, descending) {
  const body = table.tBodies[0];
  const key = (row) => {
    const cell = row.cells[column];
    const number = cell.dataset.value === undefined ? NaN : parseFloat(cell.dataset.value);
    return { row, number, text: cell.textContent };
  };
  const rows = Array.from(body.rows, key);
  const sign = descending ? -1 : 1;
  rows.sort((a, b) => {
    const aMissing = Number.isNaN(a.number), bMissing = Number.isNaN(b.number);
    if (aMissing !== bMissing) return aMissing ? 1 : -1;
    if (!aMissing) return sign * (a.number - b.number);
    return sign * (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
  });
  for (const { row } of rows) body.append(row);
}

for (const table of document.querySelectorAll("figure.table table")) {
  if (table.tBodies[0].rows.length < 2) continue;
  Array.from(table.tHead.rows[0].cells).forEach((head, column) => {
    const button = document.createElement("button");
    button.type = "button";
    button.append(...head.childNodes);
    head.append(button);
    button.addEventListener("click", () => {
      const descending = head.getAttribute("aria-sort") === "ascending";
      for (const other of table.tHead.rows[0].cells) other.removeAttribute("aria-sort");
      head.setAttribute("aria-sort", descending ? "descending" : "ascending");
      sortTable(table, column, descending);
    });
  });
}

// --- curves ---
function number(value) {
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-3 || size >= 1e7)) return value.toExponential(2);
  return value.toLocaleString("en", { maximumSignificantDigits: 4 });
}

// From a place in the drawing to the value it stands for.
function valueAt(place, begin, end, low, high, logarithmic) {
  const share = (place - begin) / (end - begin);
  return logarithmic ? low * Math.pow(high / low, share) : low + share * (high - low);
}

// The points of a path "M1 2 3 4".
function pointsOf(path) {
  const numbers = path.getAttribute("d").slice(1).split(" ").map(Number);
  const points = [];
  for (let i = 0; i + 1 < numbers.length; i += 2) points.push([numbers[i], numbers[i + 1]]);
  return points;
}

function nearest(points, x) {
  let best = points[0];
  for (const point of points) if (Math.abs(point[0] - x) < Math.abs(best[0] - x)) best = point;
  return best;
}

function watch(svg) {
  const [left, top, right, bottom, xLow, xHigh, yLow, yHigh, xLog, yLog] = svg.dataset.plane.split(" ").map(Number);
  const curves = Array.from(svg.querySelectorAll(".series"), (path) => {
    const title = path.querySelector("title");
    const name = title.textContent;
    title.remove();  // the values take its place
    return { name, points: pointsOf(path), tone: path.getAttribute("class").split(" ")[0] };
  });
  const figure = svg.closest("figure");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "path");
  line.setAttribute("class", "tone-faint");
  line.setAttribute("stroke", "currentColor");
  let box = null;
  const hide = () => { if (box) box.remove(); box = null; line.remove(); };
  svg.addEventListener("pointerleave", hide);
  svg.addEventListener("pointermove", (event) => {
    const place = new DOMPoint(event.clientX, event.clientY).matrixTransform(svg.getScreenCTM().inverse());
    if (place.x < left || place.x > right || place.y < top || place.y > bottom) return hide();
    const found = [];
    for (const curve of curves) {
      const point = nearest(curve.points, place.x);
      if (Math.abs(point[0] - place.x) <= 12) found.push({ curve, point, far: Math.abs(point[1] - place.y) });
    }
    if (found.length === 0) return hide();
    found.sort((a, b) => a.far - b.far);
    if (!box) { box = document.createElement("div"); box.className = "values"; figure.append(box); svg.append(line); }
    const x = found[0].point[0];
    line.setAttribute("d", `M${x} ${top}V${bottom}`);
    const rows = [`${svg.dataset.x} ${number(valueAt(x, left, right, xLow, xHigh, xLog))}`];
    const tones = [""];
    for (const { curve, point } of found.slice(0, 8)) {
      rows.push(`${curve.name}: ${number(valueAt(point[1], bottom, top, yLow, yHigh, yLog))}`);
      tones.push(curve.tone);
    }
    box.replaceChildren(...rows.map((text, i) => {
      const row = document.createElement("span");
      row.textContent = text.length > 60 ? text.slice(0, 59) + "\u2026" : text;
      row.className = tones[i];
      return row;
    }));
    const frame = figure.getBoundingClientRect();
    const beside = event.clientX - frame.left;
    if (beside > frame.width / 2) { box.style.left = "auto"; box.style.right = `${frame.width - beside + 14}px`; }
    else { box.style.right = "auto"; box.style.left = `${beside + 14}px`; }
    box.style.top = `${Math.max(0, event.clientY - frame.top - 20)}px`;
  });
}

for (const svg of document.querySelectorAll("svg[data-plane]")) watch(svg);
