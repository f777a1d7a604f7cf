// The rows in sight, on elements that are used again, and their cells.

import { penOn } from "../../shared/canvas.js";
import { shade } from "../../shared/colours.js";
import { activeIn, element } from "../../shared/element.js";
import { exactly, percent } from "../../shared/number.js";
import { fill } from "../../shared/token.js";
import { active } from "./active.js";
import { ROW } from "./places.js";
import { sentenceOf } from "./words.js";

/** @typedef {import("./types").Gauge} Gauge */
/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").State} State */

// The rows in sight, on elements that are used again, and their cells.
/** @type {(state: State) => void} */
export function rows(state) {
  const { box, pane, header, count, height, keyAt, chosen, at, columns, shares, full, allowed } = state;
  if (!columns) return;
  const { raw, score, weight } = header.arrays;
  const first = Math.max(0, Math.floor(box.scrollTop / ROW));
  const shift = box.scrollTop - first * ROW;
  const need = Math.min(count - first, Math.ceil((height + shift) / ROW));
  while (state.rows.length < need) state.rows.push(blankRow(pane));
  state.rows.forEach((row, i) => (row.node.hidden = i >= need));
  for (let i = 0; i < need; i++) {
    const key = keyAt[first + i];
    const row = state.rows[i];
    row.node.style.transform = `translateY(${i * ROW - shift}px)`;
    row.node.id = state.id + key;
    row.node.setAttribute("aria-posinset", String(first + i + 1));
    row.node.setAttribute("aria-setsize", String(count));
    row.node.setAttribute("aria-selected", String(key === chosen));
    row.node.classList.toggle("pointed", key === at);
    row.node.classList.toggle("masked", !allowed[key]);
    if (row.key === key && row.header === header && row.layout === state.key) continue;
    Object.assign(row, { key, header, layout: state.key });
    row.node.setAttribute("aria-label", sentenceOf(state, key));
    row.number.textContent = String(key);
    fill(row.name, header.keys[key]);
    row.name.classList.toggle("special", header.kinds[key] === 1);
    row.sum.textContent = exactly(raw.data[key]);
    row.score.textContent = exactly(score.data[key]);
    row.sum.hidden = !columns.sum;
    row.value.cell.hidden = !columns.value;
    gauge(
      row.weight,
      weight.data[key],
      full,
      allowed[key] ? percent(weight.data[key]) : "masked",
      columns.value ? null : (shares?.[key] ?? null),
    );
    if (shares && columns.value) gauge(row.value, shares[key], full, allowed[key] ? percent(shares[key]) : "");
  }
  const now = active(state);
  const here = state.rows.some(({ node, key }) => key === now && !node.hidden);
  if (here && activeIn(box) === box) box.setAttribute("aria-activedescendant", state.id + now);
  else box.removeAttribute("aria-activedescendant");
  cellsOf(state, first, shift, need);
}

/** @type {(pane: HTMLElement) => Row} */
function blankRow(pane) {
  const node = element("div", "line row");
  node.setAttribute("role", "option");
  const key = element("span", "key");
  const number = element("small");
  const name = element("bdi");
  key.append(number, name);
  const [sum, score] = [element("span", "sum"), element("span", "score")];
  const [weight, value] = ["weight", "value"].map(blankGauge);
  node.append(key, element("span", "cells"), sum, score, weight.cell, value.cell);
  pane.append(node);
  return { node, number, name, sum, score, weight, value, key: -1, header: null, layout: "" };
}

/** @type {(name: string) => Gauge} */
function blankGauge(name) {
  const cell = element("span", name);
  const track = element("span", "track");
  const [bar, thin, number] = [element("i"), element("i"), element("span", "number")];
  track.append(bar, thin);
  cell.append(track, number);
  return { cell, bar, thin, number };
}

// A bar with its number; where there is no column for it, the second share is a thin bar below the first.
/** @type {(gauge: Gauge, share: number, full: number, words: string, second?: number | null) => void} */
function gauge({ bar, thin, number }, share, full, words, second = null) {
  /** @type {(part: number) => string} */
  const long = (part) => (full && part > 0 ? Math.min(100, (100 * part) / full) : 0) + "%";
  bar.style.width = long(share);
  thin.hidden = second == null;
  thin.style.width = long(second ?? 0);
  number.textContent = words;
}

/** @type {(state: State, first: number, shift: number, need: number) => void} */
function cellsOf(state, first, shift, need) {
  const { canvas, ratio, cell, cells, height, keyAt, dimAt, products, dims, scaleEnd, allowed, paints, dim } = state;
  const pen = penOn(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, cells, height);
  const most = scaleEnd || 1;
  const inset = cell >= 6 ? 1 : 0;
  pen.fillStyle = paints.paper; // under the colours, so that they are the same in a row that is marked
  for (let i = 0; i < need; i++) pen.fillRect(0, i * ROW - shift + 3, dimAt.length * cell - inset, ROW - 6);
  for (const raised of [true, false]) {
    pen.fillStyle = raised ? paints.plus : paints.minus;
    for (let i = 0; i < need; i++) {
      const key = keyAt[first + i];
      const from = key * dims;
      const strength = allowed[key] ? 1 : 0.35;
      for (let column = 0; column < dimAt.length; column++) {
        const value = products[from + dimAt[column]];
        if (!(raised ? value > 0 : value < 0)) continue;
        pen.globalAlpha = strength * shade(Math.abs(value) / most);
        pen.fillRect(column * cell, i * ROW - shift + 3, cell - inset, ROW - 6);
      }
    }
  }
  pen.globalAlpha = 1;
  const column = dimAt.indexOf(dim);
  if (column < 0) return;
  pen.strokeStyle = paints.ink;
  pen.strokeRect(column * cell - 0.5 * (inset ? 1 : -1), 0.5, cell - inset + (inset ? 1 : -1), height - 1);
}
