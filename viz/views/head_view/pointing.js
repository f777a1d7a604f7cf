// Which token is asked about, by pointer and by keyboard.

import { point } from "../../shared/link.js";
import { lookUp } from "../../shared/lookup.js";
import { cut } from "./cutting.js";
import { draw } from "./drawing.js";
import { isPlaced, NAMES, tell } from "./state.js";

/** @typedef {import("./types").Pair} Pair */
/** @typedef {import("./types").Place} Place */
/** @typedef {import("./types").State} State */

export const KEYS = "/to"; // the end of the link by which keys are pointed at together

/** @type {(state: State, event: MouseEvent) => Place | null} */
export function under(state, event) {
  const { options, sides, room, across } = state;
  if (!isPlaced(state)) return null;
  const box = state.stage.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const [a, c] = options.layout === "rows" ? [x, y] : [y, x];
  const side = c < room + 14 ? 0 : c > across - room - 14 ? 1 : -1;
  if (side < 0) return null;
  const position = Math.floor((a + sides[side].offset) / sides[side].pitch);
  return position >= 0 && position < sides[side].count ? [side, position] : null;
}

/** @type {(state: State, place: Place | null) => void} */
export function aim(state, place) {
  const before = state.hovered;
  if (String(place) === String(before)) return;
  state.hovered = place;
  draw(state);
  const same = !state.header.to;
  point(state, place && (place[0] === 0 || same) ? place[1] : -1);
  if (place?.[0] === 1) point(state, place[1], KEYS); // the last to be told is what a class is led to
  else if (before?.[0] === 1) point(state, -1, KEYS);
}

/** @type {(state: State, place: Place | null) => void} */
export function pin(state, place) {
  if (!place && !state.pinned) return;
  const { pinned } = state;
  if (state.header.cuts && place && pinned?.[0] === 1 - place[0])
    return cut(state, place[0] ? [pinned[1], place[1]] : [place[1], pinned[1]], state.on);
  const off = !place || String(place) === String(state.pinned);
  state.pinned = off ? null : place;
  if (place) (state.at ??= [0, 0])[place[0]] = place[1];
  draw(state);
  tell(state, "chosen", off ? null : [NAMES[place[0]], place[1]]);
}

/** @type {(state: State, side: number, position: number) => void} */
export function step(state, side, position) {
  const { count, pitch } = state.sides[side];
  if (!count) return;
  position = Math.max(0, Math.min(count - 1, position));
  (state.at ??= [0, 0])[side] = position;
  state.focused = [side, position];
  state.hovered = null;
  const { span, extent, long } = state;
  const full = count * pitch;
  if (full > span + 1) {
    const middle = (position + 0.5) * pitch;
    const seen = middle - state.sides[side].offset;
    if (seen < 2 * pitch || seen > extent - 2 * pitch) {
      const to = Math.max(0, Math.min(full - span, middle - span / 2));
      state.scroller[state.options.layout === "rows" ? "scrollLeft" : "scrollTop"] = (to * (long - extent)) / (full - span);
    }
  }
  draw(state);
}

/** @type {(state: State, side: number, event: KeyboardEvent) => void} */
export function press(state, side, event) {
  const here = state.at?.[side] ?? 0;
  const rows = state.options.layout === "rows";
  const [back, on, left, right] = rows
    ? ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]
    : ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
  const steps = { [back]: here - 1, [on]: here + 1, PageUp: here - 10, PageDown: here + 10, Home: 0, End: Infinity };
  const to = lookUp(steps, event.key);
  if (to !== undefined) step(state, side, to);
  else if ((event.key === left && side === 1) || (event.key === right && side === 0)) {
    state.boxes[1 - side].focus();
    step(state, 1 - side, state.at?.[1 - side] ?? 0);
  } else if (event.key === "Enter" || event.key === " ") pin(state, here < state.sides[side].count ? [side, here] : null);
  else if (event.key === "Escape" && state.pinned) pin(state, null);
  else return;
  event.preventDefault();
}
