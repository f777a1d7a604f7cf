// Where everything stands for the width there is, and in which order.

/** @typedef {import("./types").State} State */

export const ROW = 24; // CSS pixels
export const MOST_ROWS = 16; // beyond, the rows scroll
const LEAST_CELL = 4; // a dimension is never narrower; where there is no room for all, the strongest are shown
const LARGEST_CELL = 22;
/** @type {[string, number][]} */
export const BARS = [
  ["q", 50],
  ["k", 50],
  ["q × k", 64],
]; // name and height of each line of bars

export const TICKS = 14;
const WIDE = 720;

// Where everything stands for the width there is; says whether that has changed.
/** @type {(state: State) => boolean} */
export function arrange(state) {
  const { root, box, canvas, barCanvas, count, dims } = state;
  const width = root.clientWidth;
  if (!width) return false;
  const ratio = devicePixelRatio || 1;
  const key = [width, ratio, count, dims, Boolean(state.shares)].join();
  if (key === state.key) return false;
  if (width !== state.width) shrinkFormula(state);
  const height = Math.max(1, Math.min(count, MOST_ROWS)) * ROW;
  box.style.height = height + "px";
  state.spacer.style.height = count * ROW + "px";
  state.pane.style.height = height + "px";
  const bar = box.offsetWidth - box.clientWidth;
  const wide = width >= WIDE;
  const columns = wide
    ? { key: 132, sum: 60, score: 60, weight: 130, value: state.shares ? 130 : 0 }
    : { key: 74, sum: 0, score: 44, weight: 80, value: 0 };
  const gap = wide ? 10 : 6;
  const taken = Object.values(columns).reduce((sum, column) => sum + column + (column ? gap : 0), 0) + bar;
  const room = Math.max(LEAST_CELL, width - taken);
  const shown = Math.min(dims, Math.max(1, Math.floor(room / LEAST_CELL)));
  const cell = Math.min(LARGEST_CELL, Math.floor(room / Math.max(1, shown)));
  const cells = Math.max(1, shown * cell);
  const ends = wide && columns.value ? 2 : 1;
  const spare = Math.min(110, Math.floor((room - cells) / ends)); // goes to the bars at the right
  columns.weight += spare;
  if (columns.value) columns.value += spare;
  for (const [name, value] of Object.entries({ ...columns, cells, gap })) root.style.setProperty(`--${name}`, value + "px");
  root.classList.toggle("narrow", !wide);
  root.classList.toggle("plain", !columns.value);
  const barHeight = BARS.reduce((sum, [, high]) => sum + high, 0) + TICKS;
  for (const { surface, high } of [
    { surface: canvas, high: height },
    { surface: barCanvas, high: barHeight },
  ]) {
    surface.width = Math.round(cells * ratio);
    surface.height = Math.round(high * ratio);
    surface.style.width = cells + "px";
    surface.style.height = high + "px";
  }
  canvas.style.left = columns.key + gap + "px";
  Object.assign(state, { key, width, ratio, columns, cells, cell, shown, height, barHeight });
  return true;
}

// The formula's own height again, which it else keeps, so that the rows do not jump.
/** @type {(state: State) => void} */
export function shrinkFormula(state) {
  state.formula.style.minHeight = "";
  state.tall = 0;
}

// Which key stands in which row, and which dimension in which column.
/** @type {(state: State) => void} */
export function order(state) {
  const { header, count, dims, keySort, dimSort, products, chosen, allowed, shown } = state;
  const weight = header.arrays.weight.data;
  const key = Array.from({ length: count }, (_, i) => i);
  /** @type {(i: number) => number} */
  const rank = (i) => (allowed[i] ? weight[i] || 0 : -1);
  if (keySort === "weight") key.sort((a, b) => rank(b) - rank(a) || a - b);
  /** @type {(dim: number) => number} */
  const size = (dim) => Math.abs(products[Math.max(0, chosen) * dims + dim]) || 0;
  let dim = Array.from({ length: dims }, (_, i) => i);
  if (count) dim.sort((a, b) => size(b) - size(a) || a - b);
  dim = dim.slice(0, shown ?? dims);
  if (dimSort === "index") dim.sort((a, b) => a - b);
  const row = new Int32Array(count);
  key.forEach((at, i) => (row[at] = i));
  Object.assign(state, { keyAt: key, rowOf: row, dimAt: dim });
  state.groups.keySort.show(keySort);
  state.groups.dimSort.show(dimSort);
}
