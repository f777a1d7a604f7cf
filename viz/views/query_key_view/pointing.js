// Which key and which dimension one points at, by pointer and by keyboard.

import { point } from "../../shared/link.js";
import { lookUp } from "../../shared/lookup.js";
import { active } from "./active.js";
import { detail, draw } from "./drawing.js";
import { MOST_ROWS, order, ROW } from "./places.js";
import { rows } from "./rows.js";
import { dimensionOf } from "./words.js";

/** @typedef {import("./types").State} State */

/** @type {(state: State, event: MouseEvent) => { key: number, dim: number }} */
export function under(state, event) {
  const box = state.box.getBoundingClientRect();
  const row = Math.floor((event.clientY - box.top + state.box.scrollTop) / ROW);
  const inside = event.clientX - box.left < state.box.clientWidth; // not on the scroll bar
  return { key: inside ? (state.keyAt[row] ?? -1) : -1, dim: dimUnder(state, event) };
}

/** @type {(state: State, event: MouseEvent) => number} */
export function dimUnder(state, event) {
  const left = state.canvas.getBoundingClientRect().left;
  return state.dimAt[Math.floor((event.clientX - left) / state.cell)] ?? -1;
}

// Points at a key and a dimension; -1 is none. `tell` where this view's own pointer moved.
/** @type {(state: State, key: number, dim: number, tell?: boolean) => void} */
export function aim(state, key, dim, tell = false) {
  if (key === state.at && dim === state.dim) return;
  const other = key !== state.at;
  Object.assign(state, { at: key, dim });
  rows(state);
  detail(state);
  if (tell && other) point(state, key);
}

/** @type {(state: State, key: number) => void} */
export function press(state, key) {
  if (key < 0) return;
  state.chosen = key;
  order(state);
  draw(state);
  state.tell("chosen", { key });
}

// The keyboard's step: to a key in sight, and said.
/** @type {(state: State, key: number, dim: number) => void} */
export function walk(state, key, dim) {
  if (key < 0) return;
  const turned = dim !== state.dim && dim >= 0;
  reveal(state, key);
  aim(state, key, dim, true);
  rows(state);
  state.spoken.textContent = turned ? dimensionOf(state, key, dim) : "";
}

/** @type {(state: State, key: string) => { key: number, dim: number } | null} */
export function step(state, key) {
  const { rowOf, keyAt, dimAt, count, dim } = state;
  const now = active(state);
  const steps = { ArrowUp: -1, ArrowDown: 1, PageUp: -(MOST_ROWS - 1), PageDown: MOST_ROWS - 1, Home: -count, End: count };
  const by = lookUp(steps, key);
  if (by) return { key: keyAt[Math.min(count - 1, Math.max(0, rowOf[now] + by))], dim };
  const side = lookUp({ ArrowLeft: -1, ArrowRight: 1 }, key);
  if (!side || !dimAt.length) return null;
  const column = dimAt.indexOf(dim);
  return { key: now, dim: dimAt[column < 0 ? 0 : Math.min(dimAt.length - 1, Math.max(0, column + side))] };
}

// The first rows as long as the key is among them, else those around it.
/** @type {(state: State, key: number) => void} */
export function centre({ box, rowOf, height }, key) {
  if (key >= 0 && height) box.scrollTop = rowOf[key] < MOST_ROWS ? 0 : Math.round(rowOf[key] - height / ROW / 2) * ROW;
}

/** @type {(state: State, key: number) => void} */
function reveal({ box, rowOf, height }, key) {
  if (key < 0 || !height) return;
  const top = rowOf[key] * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW > box.scrollTop + height) box.scrollTop = top + ROW - height;
}
