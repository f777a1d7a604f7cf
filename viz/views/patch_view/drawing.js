// Shades, numbers and the sentence of the token that one points at, or that is chosen.

import { element, write } from "../../shared/element.js";
import { percent } from "../../shared/number.js";

/** @typedef {import("./types").State} State */

const MOST = 0.78; // the opacity of the largest weight: the image stays visible under it
const NUMBERED = 3; // so many of the strongest carry their number
const ROOM = 34; // CSS pixels of a patch that has room for one
const WIDE = 44; // and for a number with more digits

// The place of the token whose row is shown.
/** @type {(state: State) => number} */
export function shown({ header, pointed }) {
  const { weights } = header.arrays;
  if (!weights || pointed < 0) return header.chosen;
  return weights.shape[0] > 1 ? pointed : header.chosen;
}

// How a token is called: a patch by its row and column, counted from 1.
/** @type {(state: State, position: number) => string} */
export function nameOf({ header, hidden }, position) {
  const { leading, columns } = header;
  if (position < leading.length) return leading[position];
  const at = position - leading.length;
  const name = `row ${Math.floor(at / columns) + 1}, column ${(at % columns) + 1}`;
  return hidden.has(at) ? `${name} (hidden)` : name;
}

// The row of weights of a token; null where there are none.
/** @type {(state: State, position: number) => Float32Array | null} */
function rowOf({ header, nodes }, position) {
  const { weights } = header.arrays;
  if (!weights) return null;
  const at = weights.shape[0] > 1 ? position : 0;
  return weights.data.subarray(at * nodes.length, (at + 1) * nodes.length);
}

/** @type {(state: State) => void} */
export function draw(state) {
  const { header, nodes, hidden, grid } = state;
  const at = shown(state);
  const values = header.arrays.values?.data ?? null;
  const row = values ?? rowOf(state, at);
  const largest = header.values?.largest || (row ? Math.max(...row) : 0) || 1;
  const strongest = row ? strongestOf(row, values ? 0 : 0.001) : [];
  const wide = grid.clientWidth / header.columns >= (values ? WIDE : ROOM);
  nodes.forEach((node, i) => {
    const patch = i - header.leading.length;
    const share = row ? MOST * Math.min(1, Math.abs(row[i]) / largest) : 0;
    node.style.setProperty("--shade", `${Math.round(100 * share)}%`);
    node.style.setProperty("--tint", !values ? "var(--accent)" : values[i] < 0 ? "var(--minus)" : "var(--plus)");
    node.classList.toggle("from", i === (values ? state.pointed : at));
    node.classList.toggle("covered", hidden.has(patch));
    node.setAttribute("aria-selected", String(i === header.chosen && !values));
    if (patch < 0) return;
    const named = wide && strongest.includes(i) && (values || (row && row[i] >= 0.01));
    write(node, named && row ? (header.values?.words[i] ?? Math.round(100 * row[i]) + "\u00a0%") : "");
  });
  if (values) sayValue(state, strongest);
  else say(state, at, row, strongest);
  clearTimeout(state.later);
  state.later = setTimeout(() => describe(state, row), 200); // screen readers: not at each step of a pointer
}

// The places of the largest few, by their size, the largest first; none as small as `least`.
/** @type {(row: Float32Array, least: number) => number[]} */
function strongestOf(row, least) {
  const order = [...row.keys()].sort((a, b) => Math.abs(row[b]) - Math.abs(row[a]));
  return order.slice(0, NUMBERED).filter((i) => Math.abs(row[i]) > least);
}

// Of numbers: that of the token which is pointed at, else the largest.
/** @type {(state: State, strongest: number[]) => void} */
function sayValue(state, strongest) {
  const { sentence, legend, header, pointed } = state;
  sentence.hidden = legend.hidden = header.small;
  const { words, unit } = header.values ?? { words: [], unit: "" };
  /** @type {(i: number) => string} */
  const named = (i) => `${nameOf(state, i)} (${words[i]} ${unit})`.replace(" )", ")");
  const parts = pointed >= 0 ? [named(pointed)] : strongest.map(named);
  write(sentence, pointed >= 0 ? `${parts[0]}.` : `Largest: ${parts.join(", then ")}.`);
  write(legend, "Red is above 0, blue below; the full colour is the largest size of a patch.");
}

// The sentence below: the strongest, and what each would get if the token looked everywhere alike.
/** @type {(state: State, at: number, row: Float32Array | null, strongest: number[]) => void} */
function say(state, at, row, strongest) {
  const { sentence, legend, header } = state;
  sentence.hidden = legend.hidden = !row || header.small;
  if (!row || header.small) return;
  const parts = strongest.map((i) => `${i === at ? "itself" : nameOf(state, i)} (${percent(row[i])})`);
  sentence.replaceChildren("From ", element("b", "", nameOf(state, at)), ` it looks most at ${parts.join(", then ")}.`);
  write(
    legend,
    `The strongest colour is the largest share. Even over all ${row.length} tokens, each would get ${percent(1 / row.length)}.`,
  );
}

/** @type {(state: State, row: Float32Array | null) => void} */
function describe(state, row) {
  state.nodes.forEach((node, i) => {
    const { words, unit } = state.header.values ?? {};
    const size = words ? `: ${words[i]} ${unit}`.trimEnd() : row ? `: ${percent(row[i])}` : "";
    const name = nameOf(state, i) + size;
    if (node.getAttribute("aria-label") !== name) node.setAttribute("aria-label", name);
  });
}
