// The head that is pointed at or chosen: its outline, the large picture of it, and what presses and keys do.

import { penOn } from "../../shared/canvas.js";
import { element } from "../../shared/element.js";
import { point } from "../../shared/link.js";
import { lookUp } from "../../shared/lookup.js";
import { colourOf, mapOf } from "./drawing.js";
import { swatch } from "./legend.js";
import { cellOf, nameOf, noteOf, valueOf } from "./words.js";

/** @typedef {import("./types").State} State */

// Where the keyboard is: what it points at, else what is chosen, else the first.
/** @type {(state: State) => number} */
export function here({ at, chosen, drawn }) {
  return at >= 0 ? at : chosen >= 0 ? chosen : drawn[0];
}

/** @type {(state: State) => void} */
export function outline(state) {
  const { marks, chosen, at, side, frame, box, places } = state;
  for (const { mark, head } of [
    { mark: marks.chosen, head: chosen },
    { mark: marks.pointed, head: at },
  ]) {
    mark.hidden = head < 0 || !side;
    if (mark.hidden) continue;
    const [x, y] = places[head].map((v) => v - frame);
    mark.style.transform = `translate(${x}px, ${y}px)`;
    mark.style.width = mark.style.height = side + 2 * frame + "px";
  }
  state.selected?.removeAttribute("aria-selected");
  state.selected = cellOf(state, chosen);
  state.selected?.setAttribute("aria-selected", "true");
  const active = cellOf(state, here(state));
  if (active) box.setAttribute("aria-activedescendant", active.id);
  enlarge(state);
}

// The head that is pointed at, larger, with its words; beside it where there is room.
/** @type {(state: State) => void} */
function enlarge(state) {
  const { large, at, side, gap, places, rows, columns, root, tint } = state;
  large.hidden = at < 0 || !side;
  if (large.hidden) return;
  const title = element("div");
  title.append(element("b", "", nameOf(state, at)), noteOf(state, at));
  /** @type {HTMLElement[]} */
  const parts = [title];
  if (valueOf(state, at)) {
    const value = swatch(colourOf(state, at), valueOf(state, at));
    value.classList.add("value");
    parts.push(value);
  }
  if (state.header.arrays.faint?.data[at]) parts.push(element("div", "", "left out by the filter"));
  if (rows && columns) {
    const canvas = element("canvas");
    Object.assign(canvas, { width: columns, height: rows });
    const image = new ImageData(columns, rows);
    const out = new Uint32Array(image.data.buffer);
    mapOf(state, at).forEach((weight, i) => (out[i] = tint[weight]));
    penOn(canvas).putImageData(image, 0, 0);
    parts.push(canvas);
  }
  large.replaceChildren(...parts);
  const [x, y] = places[at];
  const [wide, high] = [large.offsetWidth, large.offsetHeight];
  const beside = state.wide + 10;
  let left = beside + wide <= root.clientWidth ? beside : x + side + gap + 6; // it covers no other head where there is room
  let top = y + side / 2 - high / 2;
  if (left + wide > root.clientWidth) left = x - gap - 6 - wide;
  if (left < 0) {
    left = Math.max(0, Math.min(x + side / 2 - wide / 2, root.clientWidth - wide)); // no room at either side: below
    top = y + side + gap + 8;
  } else top = Math.max(0, Math.min(top, state.height - high));
  large.style.transform = `translate(${left}px, ${top}px)`;
}

/** @type {(state: State, event: MouseEvent) => number} */
export function under({ box, places, side, gap }, event) {
  if (!side) return -1;
  const edge = box.getBoundingClientRect();
  const [x, y] = [event.clientX - edge.left + gap / 2, event.clientY - edge.top + gap / 2];
  return places.findIndex(([left, top]) => x >= left && x < left + side + gap && y >= top && y < top + side + gap);
}

// Points at a head; -1 is none. `led` where another view, or who leads, points there.
/** @type {(state: State, head: number, led?: boolean) => void} */
export function aim(state, head, led = false) {
  if (state.at === head) return;
  state.at = head;
  outline(state);
  if (!led) point(state, head);
}

/** @type {(state: State, head: number) => void} */
export function press(state, head) {
  if (head < 0) return;
  state.chosen = state.at = head;
  outline(state);
  state.tell("chosen", [Math.floor(head / state.heads), head % state.heads]);
}

// The arrows go along what is drawn: up and down by a layer, or by a line where heads have another order.
/** @type {(state: State, head: number, key: string) => number} */
export function step({ heads, order, drawn, across }, head, key) {
  const width = order ? across : heads;
  const at = drawn.indexOf(head);
  const start = at - (at % width);
  const last = Math.min(start + width, drawn.length) - 1;
  const places = {
    ArrowLeft: order ? Math.max(0, at - 1) : Math.max(start, at - 1),
    ArrowRight: order ? Math.min(drawn.length - 1, at + 1) : Math.min(last, at + 1),
    ArrowUp: at - width < 0 ? at : at - width,
    ArrowDown: at + width < drawn.length ? at + width : at,
    Home: start,
    End: last,
  };
  const to = lookUp(places, key);
  return to === undefined ? -1 : drawn[to];
}
