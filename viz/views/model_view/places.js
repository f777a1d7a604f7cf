// Where each thumbnail stands for the width there is.

import { element } from "../../shared/element.js";
import { nameOf } from "./words.js";

/** @typedef {import("./types").Spot} Spot */
/** @typedef {import("./types").State} State */

const LABEL = 26; // the column of L0, L1, ...
const EDGE = 4; // room for the outermost frames
const TOP = 16; // the line of H0, H1, ...; only where each layer takes one line
const NAME = 14; // the line of a name under each thumbnail
const SMALLEST = 18; // CSS pixels a side; below this, a layer's heads take several lines
const NAMED = 38; // the least where each carries its name

// Where each thumbnail stands for the width there is; says whether that has changed.
/** @type {(state: State) => boolean} */
export function arrange(state) {
  const { root, canvas, labels, layers, heads, count, order, drawn, header, rows, columns } = state;
  const width = root.clientWidth;
  if (!width) return false;
  const ratio = devicePixelRatio || 1;
  const framed = Boolean(header.quantity);
  const faint = header.arrays.faint?.data;
  const margin = order ? EDGE : LABEL;
  const room = width - margin - EDGE;
  /** @type {(across: number) => number} */
  const gapFor = (across) => (across > 16 ? 2 : across > 10 ? 3 : 4) + (framed ? (across > 16 || room / across < 46 ? 4 : 6) : 0);
  const least = order ? NAMED : SMALLEST;
  const most = Math.max(least, Math.min(header.largest, order && count > 400 ? 40 : Infinity));
  let across = heads;
  if (order) across = Math.max(1, Math.min(count, Math.floor((room + 8) / (most + 8))));
  const fits = Math.max(1, Math.floor((room + gapFor(across)) / (least + gapFor(across))));
  let lines = 1; // of each layer
  if (order) across = Math.max(across, Math.min(count, fits, Math.floor(room / 56)));
  else {
    lines = Math.ceil(heads / fits);
    across = Math.ceil(heads / lines);
  }
  const gap = order ? Math.max(8, gapFor(1)) : gapFor(across);
  let side = Math.max(8, Math.min(most, Math.floor((room + gap) / across) - gap));
  side = snap(side, Math.max(rows, columns), ratio, Math.min(side, least));
  const named = order ? NAME : 0;
  const top = order || lines > 1 ? EDGE : TOP + (framed ? 3 : 0);
  const key = [width, side, across, lines, layers, heads, ratio, framed, top, order && drawn.join(), faint?.join("")].join(";");
  if (key === state.key) return false;

  /** @type {Spot[]} */
  const places = [];
  const between = lines > 1 ? 3 * gap : gap;
  const layerHeight = lines * (side + gap) - gap + between;
  drawn.forEach((head, i) => {
    const column = order ? i % across : (head % heads) % across;
    const line = order ? Math.floor(i / across) : Math.floor((head % heads) / across);
    const y = order ? line * (side + gap + named) : Math.floor(head / heads) * layerHeight + line * (side + gap);
    places[head] = [margin + column * (side + gap), top + y];
  });
  const height = (order ? Math.ceil(count / across) * (side + gap + named) - gap : layers * layerHeight - between) + top + EDGE;
  const wide = margin + Math.min(count, across) * (side + gap) - gap + EDGE;
  const frame = framed ? Math.max(2, Math.min(4, Math.floor((gap - 1) / 2))) : 0;
  Object.assign(state, { key, side, gap, across, lines, layerHeight, ratio, places, wide, height, frame });
  state.legend.style.marginLeft = state.left.style.marginLeft = margin + "px";
  state.box.style.width = wide + "px";
  state.box.style.height = height + "px";
  canvas.width = Math.round(wide * ratio);
  canvas.height = Math.round(height * ratio);
  labels.replaceChildren(...namesOf(state));
  return true;
}

// What the thumbnails are called: each under itself, or its layer and its head at the edges, as many as there is room for.
/** @type {(state: State) => HTMLElement[]} */
function namesOf(state) {
  const { layers, heads, order, drawn, header, side, gap, lines, layerHeight, places, frame } = state;
  const faint = header.arrays.faint?.data;
  /** @type {(text: string, left: number, top: number, className: string) => HTMLElement} */
  const mark = (text, left, top, className) => {
    const node = element("span", className, text);
    node.style.left = left + "px";
    node.style.top = top + "px";
    return node;
  };
  if (order)
    return drawn.map((head) => {
      const [x, y] = places[head];
      return mark(nameOf(state, head), x + side / 2, y + side + frame + 2, faint?.[head] ? "both faint" : "both");
    });
  /** @type {HTMLElement[]} */
  const names = [];
  const every = Math.ceil(24 / (side + gap));
  if (lines === 1)
    for (let head = 0; head < heads; head += every) names.push(mark("H" + head, places[head][0] + side / 2, 0, "head"));
  const each = Math.ceil(14 / layerHeight);
  for (let layer = 0; layer < layers; layer += each)
    names.push(mark("L" + header.numbers[layer], 0, places[layer * heads][1] + Math.min(side, layerHeight) / 2, "layer"));
  return names;
}

// A side that is a whole number of pixels a cell, where that costs little: then all cells are of one size.
/** @type {(side: number, cells: number, ratio: number, least: number) => number} */
function snap(side, cells, ratio, least) {
  const pixels = Math.round(side * ratio);
  const whole = Math.floor(pixels / Math.max(1, cells)) * cells;
  return whole >= 0.7 * pixels && whole >= least * ratio ? whole / ratio : side;
}
