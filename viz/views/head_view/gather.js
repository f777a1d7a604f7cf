// Which lines there are: what threshold, filter and “strongest” let through, by weight.

import { colourOf } from "./state.js";

/** @typedef {import("./types").Act} Act */
/** @typedef {import("./types").Lines} Lines */
/** @typedef {import("./types").Place} Place */
/** @typedef {import("./types").Plane} Plane */
/** @typedef {import("./types").Side} Side */
/** @typedef {import("./types").State} State */

export const LINES = 4000; // at most, the strongest first: more are a solid area

/** @type {(count: number, total: number, cut: number) => Lines} */
function blank(count, total, cut) {
  const [from, to, plane] = [new Uint16Array(count), new Uint16Array(count), new Uint16Array(count)];
  return { count, total, cut, curved: false, from, to, plane, value: new Uint8Array(count), start: new Float32Array(count) };
}

export const NO_LINES = blank(0, 0, 1);

// What is drawn, each with its colour: the heads that are on, or the one plane that they make together.
/** @type {(state: State) => Plane[]} */
export function planesOf(state) {
  const { header, weights, on, options } = state;
  const size = header.shape[1] * header.shape[2];
  /** @type {(head: number) => Plane} */
  const plane = (head) => ({ colour: colourOf(state, head), data: weights.subarray(head * size, (head + 1) * size) });
  const planes = on.map(plane);
  if (options.mode === "each" || planes.length < 2) return planes;
  const joint = new Uint8Array(size);
  if (options.mode === "max") {
    for (const { data } of planes) for (let i = 0; i < size; i++) if (data[i] > joint[i]) joint[i] = data[i];
  } else {
    const sum = new Uint32Array(size);
    for (const { data } of planes) for (let i = 0; i < size; i++) sum[i] += data[i];
    for (let i = 0; i < size; i++) joint[i] = Math.round(sum[i] / planes.length);
  }
  return [{ colour: state.theme.all, data: joint }];
}

/** @type {(state: State) => number} */
const leastByte = ({ options }) => Math.max(1, Math.ceil((255 * options.least) / 100 - 0.5));

// Whether the pair filter lets lines from this query through, and if so to which keys (null: all).
/** @type {(state: State, row: number) => { from: boolean, to: Uint8Array | null }} */
function open(state, row) {
  const { pairs } = state.options;
  if (pairs === "all" || !state.paired) return { from: true, to: null };
  const [from, to] = state.sides;
  /** @type {(side: Side, i: number) => string} */
  const segment = (side, i) => String(side.segments?.[i] ?? 0);
  const keys = (to.open[pairs[1]] ??= Uint8Array.from({ length: to.count }, (_, i) => Number(segment(to, i) === pairs[1])));
  return { from: segment(from, row) === pairs[0], to: keys };
}

// Calls act(plane, row, column, weight as a byte) for every line that the threshold, the filter and "strongest" let through.
/** @type {(state: State, act: Act) => void} */
export function scan(state, act) {
  const { planes, header, options } = state;
  const [, rows, columns] = header.shape;
  const least = leastByte(state);
  for (let plane = 0; plane < planes.length; plane++) {
    const { data } = planes[plane];
    for (let row = 0; row < rows; row++) {
      const { from, to } = open(state, row);
      if (!from) continue;
      const start = row * columns;
      const end = start + (header.causal ? row + 1 : columns);
      if (options.top) {
        for (const i of strongestOf(data, start, end, options.top, least, to)) act(plane, row, i - start, data[i]);
      } else {
        for (let i = start; i < end; i++) if (data[i] >= least && (!to || to[i - start])) act(plane, row, i - start, data[i]);
      }
    }
  }
}

// Where the `most` largest of data[start..end) stand; of equals, the first.
/** @type {(data: Uint8Array, start: number, end: number, most: number, least: number, to: Uint8Array | null) => number[]} */
function strongestOf(data, start, end, most, least, to) {
  /** @type {number[]} */
  const best = [];
  for (let i = start; i < end; i++) {
    const value = data[i];
    if (value < least || (to && !to[i - start]) || (best.length === most && value <= data[best[most - 1]])) continue;
    let place = best.length;
    while (place > 0 && data[best[place - 1]] < value) place--;
    best.splice(place, 0, i);
    if (best.length > most) best.pop();
  }
  return best;
}

// The lines of one token.
/** @type {(state: State, place: Place, act: Act) => void} */
export function scanOf(state, [side, position], act) {
  const { planes, header, kept } = state;
  const [, rows, columns] = header.shape;
  if (kept) {
    for (let i = 0; i < kept.length; i += 3)
      if (kept[i + 1 + side] === position)
        act(kept[i], kept[i + 1], kept[i + 2], planes[kept[i]].data[kept[i + 1] * columns + kept[i + 2]]);
    return;
  }
  const least = leastByte(state);
  planes.forEach(({ data }, plane) => {
    /** @type {(row: number, column: number, gate: ReturnType<typeof open>) => void} */
    const check = (row, column, { from, to }) => {
      const value = data[row * columns + column];
      if (value >= least && from && (!to || to[column])) act(plane, row, column, value);
    };
    if (side === 0) for (let column = 0, gate = open(state, position); column < columns; column++) check(position, column, gate);
    else for (let row = 0; row < rows; row++) check(row, position, open(state, row));
  });
}

// The lines that `each` tells of, sorted by weight, at most `most` of them, the weakest level thinned out evenly.
/** @type {(state: State, each: (act: Act) => void, most: number) => Lines} */
export function gather(state, each, most) {
  const [, rows, columns] = state.header.shape;
  const counts = new Uint32Array(257);
  let codes = new Int32Array(1 << 12);
  let total = 0;
  each((plane, row, column, value) => {
    if (total === codes.length) {
      const longer = new Int32Array(2 * total);
      longer.set(codes);
      codes = longer;
    }
    codes[total++] = (plane * rows + row) * columns + column;
    counts[value]++;
  });
  let cut = 255;
  let room = most;
  while (cut > 0 && counts[cut] <= room) room -= counts[cut--];
  const count = Math.min(total, most);
  /** @type {(met: number) => number} */
  const drawnOf = (met) => (cut ? Math.floor((room * met) / counts[cut]) : 0); // of so many of the weakest level; of all, `room`
  const places = new Uint32Array(257);
  for (let value = Math.max(1, cut), next = 0; value < 256; value++) {
    places[value] = next;
    next += value === cut ? room : counts[value];
  }
  const list = blank(count, total, Math.max(1, cut));
  const filled = new Float32Array(rows); // of each query's slot, by the ribbons before
  const width = 1 / 255 / Math.max(1, state.planes.length);
  let met = 0;
  const size = rows * columns;
  for (let n = 0; n < total; n++) {
    const plane = Math.floor(codes[n] / size);
    const cell = codes[n] - plane * size;
    const value = state.planes[plane].data[cell];
    if (value < cut) continue;
    if (value === cut && drawnOf(met + 1) === drawnOf(met++)) continue;
    const i = places[value]++;
    if (i >= count) continue;
    const row = Math.floor(cell / columns);
    list.plane[i] = plane;
    list.from[i] = row;
    list.to[i] = cell - row * columns;
    list.value[i] = value;
    list.start[i] = filled[row];
    filled[row] += value * width;
  }
  return list;
}
