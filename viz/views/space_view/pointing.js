// Pointing at the points, and turning, moving and enlarging the space, by pointer and by keyboard.

import { lookUp } from "../../shared/lookup.js";
import { choose, reset, show, toggle } from "./show.js";

/** @typedef {import("./types").State} State */

const NEAR = 15; // CSS pixels within which a point is meant

/** @type {(state: State, event: MouseEvent) => number} */
function under(state, event) {
  const box = state.canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let best = -1;
  let nearest = NEAR ** 2;
  for (const spot of state.spots) {
    const distance = (spot.x - x) ** 2 + (spot.y - y) ** 2 - 2 * spot.depth; // of two at the same place, the nearer
    if (distance < nearest) [best, nearest] = [spot.i, distance];
  }
  return best;
}

/** @type {(state: State, i: number) => void} */
export function aim(state, i) {
  if (i === state.pointed) return;
  state.pointed = i;
  if (!state.playing) show(state);
}

/** @type {(state: State, event: PointerEvent) => void} */
export function down(state, event) {
  if (event.button) return;
  state.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  state.far = 0;
  state.scene.setPointerCapture?.(event.pointerId);
}

/** @type {(state: State, event: PointerEvent) => void} */
export function moved(state, event) {
  const before = state.pointers.get(event.pointerId);
  if (!before) return aim(state, under(state, event));
  const others = [...state.pointers.entries()].filter(([id]) => id !== event.pointerId);
  const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
  state.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  state.far += Math.abs(dx) + Math.abs(dy);
  if (others.length) {
    const [, [ox, oy]] = others[0];
    /** @type {(x: number, y: number) => number} */
    const apart = (x, y) => Math.hypot(x - ox, y - oy) || 1;
    return zoom(state, apart(event.clientX, event.clientY) / apart(...before));
  }
  if (state.far < 4) return;
  state.scene.classList.add("turning");
  turn(state, dx, dy, event.shiftKey);
}

/** @type {(state: State, event: PointerEvent) => void} */
export function up(state, event) {
  if (!state.pointers.delete(event.pointerId)) return;
  state.scene.classList.remove("turning");
  if (event.type === "pointercancel" || state.far >= 4) return;
  const i = under(state, event);
  if (i >= 0) choose(state, i === state.chosen ? -1 : i);
}

/** @type {(state: State, dx: number, dy: number, shift?: boolean) => void} */
function turn(state, dx, dy, shift = false) {
  if (state.dimensions === 3 && !shift) {
    state.yaw += dx / 160;
    state.pitch = Math.min(1.5, Math.max(-1.5, state.pitch + dy / 160));
  } else {
    state.shift[0] += dx;
    state.shift[1] += dy;
  }
  show(state);
}

/** @type {(state: State, by: number) => void} */
export function zoom(state, by) {
  const scale = Math.min(20, Math.max(0.3, state.scale * by));
  const [x, y] = state.shift;
  state.shift = [(x * scale) / state.scale, (y * scale) / state.scale];
  state.scale = scale;
  show(state);
}

/** @type {(state: State, event: KeyboardEvent) => void} */
export function key(state, event) {
  if (event.target !== state.scene || event.ctrlKey || event.metaKey || event.altKey) return;
  const by = 16;
  const way = lookUp({ ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }, event.key);
  if (way) turn(state, way[0], way[1], event.shiftKey);
  else if (event.key === "+" || event.key === "=") zoom(state, 1.25);
  else if (event.key === "-" || event.key === "−") zoom(state, 1 / 1.25);
  else if (event.key === "0") reset(state);
  else if (event.key === " ") toggle(state);
  else if (event.key === "Escape" && state.chosen >= 0) choose(state, -1);
  else return;
  event.preventDefault();
}
