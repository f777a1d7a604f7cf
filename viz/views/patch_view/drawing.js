// Shades, numbers and the sentence of the token that one points at, or that is chosen.

import { element, write } from "../../shared/element.js";
import { percent } from "../../shared/number.js";

/** @typedef {import("./types").State} State */

const MOST = 0.78; // the opacity of the largest weight: the image stays visible under it
const NUMBERED = 3; // so many of the strongest carry their number
const ROOM = 34; // CSS pixels of a patch that has room for one

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
  const row = rowOf(state, at);
  const largest = row ? Math.max(...row) || 1 : 1;
  const strongest = row ? [...row.keys()].sort((a, b) => row[b] - row[a]).slice(0, NUMBERED).filter((i) => row[i] >= 0.001) : [];
  const wide = grid.clientWidth / header.columns >= ROOM;
  nodes.forEach((node, i) => {
    const patch = i - header.leading.length;
    const share = row ? (MOST * row[i]) / largest : 0;
    node.style.setProperty("--shade", `${Math.round(100 * share)}%`);
    node.classList.toggle("from", i === at);
    node.classList.toggle("covered", hidden.has(patch));
    node.setAttribute("aria-selected", String(i === header.chosen));
    if (patch < 0) return;
    const number = row && wide && row[i] >= 0.01 && strongest.includes(i) ? Math.round(100 * row[i]) + "\u00a0%" : "";
    write(node, number);
  });
  say(state, at, row, strongest);
  clearTimeout(state.later);
  state.later = setTimeout(() => describe(state, row), 200); // screen readers: not at each step of a pointer
}

// The sentence below: the strongest, and what each would get if the token looked everywhere alike.
/** @type {(state: State, at: number, row: Float32Array | null, strongest: number[]) => void} */
function say(state, at, row, strongest) {
  const { sentence, legend, header } = state;
  sentence.hidden = legend.hidden = !row || header.small;
  if (!row || header.small) return;
  const parts = strongest.map((i) => `${i === at ? "itself" : nameOf(state, i)} (${percent(row[i])})`);
  sentence.replaceChildren("From ", element("b", "", nameOf(state, at)), ` it looks most at ${parts.join(", then ")}.`);
  write(legend, `The strongest colour is the largest share. Even over all ${row.length} tokens, each would get ${percent(1 / row.length)}.`);
}

/** @type {(state: State, row: Float32Array | null) => void} */
function describe(state, row) {
  state.nodes.forEach((node, i) => {
    const name = nameOf(state, i) + (row ? `: ${percent(row[i])}` : "");
    if (node.getAttribute("aria-label") !== name) node.setAttribute("aria-label", name);
  });
}
