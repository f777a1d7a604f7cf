// What is said of a key and of a dimension, and the tables behind the picture.

import { element } from "../../shared/element.js";
import { exactly, percent, signed } from "../../shared/number.js";
import { fillTable } from "../../shared/table.js";
import { fill } from "../../shared/token.js";
import { active } from "./active.js";
import { tabulateTurns } from "./dials.js";

/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Pieces} Pieces */

const NAMED = 3; // so many dimensions are named in the line below the bars

/** @type {(pieces: Pieces) => HTMLElement} */
export function tokenOf(pieces) {
  const node = element("bdi");
  fill(node, pieces);
  return node;
}

/** @type {(state: State, key: number, dim: number) => string} */
export function dimensionOf({ header, products, dims }, key, dim) {
  const { q, k } = header.arrays;
  return `Dimension ${dim}: q ${exactly(q.data[dim])} × k ${exactly(k.data[key * dims + dim])} = ${exactly(products[key * dims + dim])}`;
}

/** @type {(state: State, key: number) => string} */
export function strongestOf({ header, products, dims }, key) {
  const own = Array.from(products.subarray(key * dims, (key + 1) * dims));
  const best = [...own.keys()].sort((a, b) => Math.abs(own[b]) - Math.abs(own[a])).slice(0, NAMED);
  const sum = header.arrays.raw.data[key];
  const rest = best.reduce((left, dim) => left - own[dim], sum);
  const named = best.map((dim, i) => `${i ? "" : "dimension "}${dim} ${signed(own[dim])}`);
  const others = dims > best.length ? `; the other ${dims - best.length} together ${signed(rest)}` : "";
  return `q·k = ${exactly(sum)}: ${named.join(", ")}${others}`;
}

// What is said of a row, and of the place in it that the keyboard has come to.
/** @type {(state: State, key: number) => string} */
export function sentenceOf({ header, names, allowed, shares, count }, key) {
  const { raw, score, weight } = header.arrays;
  const numbers = `q·k ${exactly(raw.data[key])}, score ${exactly(score.data[key])}`;
  const end = allowed[key] ? `weight ${percent(weight.data[key])}` : "masked";
  const moved = allowed[key] && shares ? `, with the length of its value ${percent(shares[key])}` : "";
  return `${names[key]}, ${key + 1} of ${count}: ${numbers}, ${end}${moved}`;
}

// The tables behind, for who cannot see the cells. Nobody reads them while the pointer runs.
/** @type {(state: State, all?: boolean) => void} */
export function tabulateSoon(state, all = false) {
  state.stale ||= all;
  clearTimeout(state.later);
  state.later = setTimeout(() => tabulate(state), 300);
}

/** @type {(state: State) => void} */
function tabulate(state) {
  const { header, names, dims, products, allowed, shares, keyTable, dimTable } = state;
  const { q, k, raw, score, weight } = header.arrays;
  if (state.stale) {
    const lines = names.map((name, key) => [
      `${name} (${key})`,
      exactly(raw.data[key]),
      exactly(score.data[key]),
      allowed[key] ? percent(weight.data[key]) : "masked",
      ...(shares ? [percent(shares[key])] : []),
    ]);
    const heads = ["to (key)", "q·k", "score", "weight", ...(shares ? ["weight × ‖v‖"] : [])];
    fillTable(keyTable, header.label, heads, lines);
    state.stale = false;
  }
  const key = active(state);
  tabulateTurns(state, key);
  if (key < 0) return dimTable.replaceChildren();
  const at = key * dims;
  const lines = Array.from(q.data, (value, dim) => [String(dim), ...[value, k.data[at + dim], products[at + dim]].map(exactly)]);
  fillTable(dimTable, `Dimensions of ${names[key]}`, ["dimension", "q", "k", "q × k"], lines);
}
