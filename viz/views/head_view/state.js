// What the parts of the view ask of its state: which token is asked about, the weights and the colours of heads.

/** @typedef {import("./types").Choice} Choice */
/** @typedef {import("./types").Options} Options */
/** @typedef {import("./types").Place} Place */
/** @typedef {import("./types").Side} Side */
/** @typedef {import("./types").State} State */

export const NAMES = ["from", "to"];
export const AXES = ["from (query)", "to (key)"];
/** @type {Options} */
export const DEFAULTS = { layout: "columns", style: "lines", mode: "each", least: 2, top: 0, pairs: "all", zoom: "text" };
/** @type {Record<Choice, [words: string, values: Record<string, string>]>} */
export const CHOICES = {
  mode: ["Heads", { each: "each head", mean: "mean", max: "max" }],
  style: ["Drawn as", { lines: "lines", ribbons: "ribbons" }],
  layout: ["Layout", { columns: "columns", rows: "rows" }],
  zoom: ["Size", { text: "whole text", labels: "every label" }],
};

/** @type {Choice[]} */
export const CHOSEN = ["mode", "style", "layout", "zoom"];

export const NUMBER_FROM = 0.005;
export const BAR = 40; // the longest bar beside a label
/** @type {(state: Pick<State, "theme">, head: number) => string} */
export const colourOf = ({ theme }, head) => theme.heads[head % theme.heads.length];

/** @type {(state: State, index: number) => boolean} */
export function isMissing({ header }, index) {
  const bits = header.arrays.missing?.data;
  return Boolean(bits && (bits[index >> 3] >> (index & 7)) & 1);
}

/** @type {(state: State) => Place | null} */
export const asked = (state) => state.hovered ?? state.focused ?? state.linked ?? state.pinned;

// Of one token, to each on the other side: the mean (or the maximum) of the heads that are on, not rounded a second time.
/** @type {(state: State, place: Place) => Float32Array} */
export function valuesOf(state, [side, position]) {
  const { header, weights, on, options, sides } = state;
  const [, rows, columns] = header.shape;
  const { count } = sides[1 - side];
  const values = new Float32Array(count);
  for (const head of on) {
    const first = head * rows * columns + (side === 0 ? position * columns : position);
    const stride = side === 0 ? 1 : columns;
    for (let i = 0; i < count; i++) {
      const index = first + i * stride;
      const value = isMissing(state, index) ? NaN : weights[index] / 255;
      if (options.mode === "max") values[i] = Math.max(values[i], value);
      else values[i] += value / on.length;
    }
  }
  return values;
}

// The buttons of the heads, and the last, of all.
/** @type {(state: State) => HTMLElement[]} */
export const buttonsOf = ({ heads }) => /** @type {HTMLElement[]} */ ([...heads.children]);

// Whether tokens have places, as they do once there is a width to draw in.
/** @type {(state: State) => boolean} */
export const isPlaced = ({ sides }) => sides[0].pitch > 0;

/** @type {(state: State, query: number, key: number) => boolean} */
export function canSee({ header }, query, key) {
  return !header.causal || key <= query;
}

/** @type {(values: Float32Array, most: number) => number[]} */
export function best(values, most) {
  /** @type {number[]} */
  const places = [];
  for (let i = 0; i < values.length; i++) if (values[i] >= NUMBER_FROM) places.push(i);
  return places.sort((a, b) => values[b] - values[a] || a - b).slice(0, most);
}

/** @type {(side: Side, position: number) => string} */
export function nameOf(side, position) {
  if (side.rows) return side.rows[position];
  const name = side.tokens[position].join("").replace(/^·(?=.)/, "");
  return side.kinds[position] === 1 ? name : `“${name}”`;
}

// At most once a frame.
/** @type {(state: State, act: () => void) => void} */
export function soon(state, act) {
  cancelAnimationFrame(state.frame);
  state.frame = requestAnimationFrame(act);
}

/** @type {(state: State, name: "heads" | "chosen", value: number[] | [string, number] | null) => void} */
export function tell(state, name, value) {
  state.echoes[name].told(value);
  state.tell("chosen", name === "heads" ? { heads: value } : { token: value });
}

// The smallest weight that is drawn, in words.
/** @type {(state: State) => string} */
export const leastWords = ({ options, header }) => `${options.least}\u00a0%${header.simple ? " of its attention" : ""}`;
