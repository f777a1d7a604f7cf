// What pointing, a press and the keyboard do.

import { closest } from "../../shared/element.js";
import { onHover } from "../../shared/hover.js";
import { onLayout } from "../../shared/layout.js";
import { onPoint, point } from "../../shared/link.js";
import { rove } from "../../shared/rove.js";
import { draw, number } from "./drawing.js";
import { sentenceOf } from "./sentence.js";
import { nodesOf } from "./writing.js";

/** @typedef {import("./types").State} State */

/** @type {(state: State) => void} */
export function listen(state) {
  const { text } = state;
  /** @type {(event: Event) => number} */
  const place = (event) => Number(closest(event, ".token")?.dataset.position ?? -1);
  onHover(text, (event) => {
    const at = place(event);
    if (at < 0 || at === state.pointed) return;
    show(state, at);
    point(state, at);
  });
  text.addEventListener("pointerleave", () => {
    show(state, -1);
    point(state, -1);
  });
  text.addEventListener("focusin", (event) => {
    const at = place(event);
    if (at < 0 || !closest(event, ":focus-visible")) return; // a mouse press is not a step
    show(state, at);
    state.spoken.textContent = sentenceOf(state, at).join("");
  });
  text.addEventListener("focusout", () => show(state, -1));
  text.addEventListener("click", (event) => press(state, place(event)));
  text.addEventListener("keydown", (event) => {
    const at = place(event);
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") press(state, at);
    else {
      const to = step(state, at, event.key);
      if (to < 0) return;
      rove(state, nodesOf(state), to);
      state.tokens[to].node.focus();
    }
    event.preventDefault();
  });
  onPoint(state, (position) => show(state, position));
  onLayout(text, () => {
    state.boxes = new Map();
    if (state.values) number(state);
  });
}

/** @type {(state: State, position: number) => void} */
function press(state, position) {
  if (position < 0) return;
  state.header.chosen = position;
  rove(state, nodesOf(state), position);
  draw(state);
  state.tell("chosen", position);
}

/** @type {(state: State, position: number) => void} */
function show(state, position) {
  if (position === state.pointed || position >= state.tokens.length) return;
  state.pointed = position;
  draw(state);
}

// Left and right follow the script; up and down go to the nearest token of the next line.
/** @type {(state: State, at: number, key: string) => number} */
function step({ text, tokens }, at, key) {
  const last = tokens.length - 1;
  const forward = getComputedStyle(text).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  if (key === "ArrowLeft" || key === "ArrowRight") return Math.min(last, Math.max(0, at + (key === forward ? 1 : -1)));
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key !== "ArrowUp" && key !== "ArrowDown") return -1;
  /** @type {(i: number) => { x: number, y: number, height: number }} */
  const middle = (i) => {
    const box = tokens[i].word.getClientRects()[0];
    return { x: box.left + box.width / 2, y: box.top + box.height / 2, height: box.height };
  };
  const here = middle(at);
  const way = key === "ArrowUp" ? -1 : 1;
  let best = at;
  /** @type {number | null} */
  let line = null;
  let nearest = Infinity;
  for (let i = at + way; i >= 0 && i <= last; i += way) {
    const there = middle(i);
    if (way * (there.y - here.y) < here.height / 2) continue;
    line ??= there.y;
    if (Math.abs(there.y - line) > here.height / 2) break;
    const distance = Math.abs(there.x - here.x);
    if (distance < nearest) [best, nearest] = [i, distance];
  }
  return best;
}
