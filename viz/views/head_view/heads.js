// The row of heads: which are on.

import { makeButton, makeTool } from "../../shared/element.js";
import { lookUp } from "../../shared/lookup.js";
import { rove } from "../../shared/rove.js";
import { refresh } from "./drawing.js";
import { DEFAULTS, buttonsOf, colourOf, tell } from "./state.js";

/** @typedef {import("./types").State} State */

const STRONG = 25; // per cent, of all heads' lines at once: weaker ones would make a tangle of them

/** @type {(state: State) => void} */
export function chips(state) {
  const { heads, header } = state;
  const count = header.shape[0];
  if (heads.children.length !== count + 1) {
    const all = makeTool("whole", "all", () => turnAll(state));
    all.addEventListener("keydown", (event) => walk(state, count, event));
    heads.replaceChildren(...Array.from({ length: count }, (_, head) => chip(state, head)), all);
    state.focus = 0;
  }
  buttonsOf(state).forEach((node, i) => {
    node.tabIndex = i === state.focus ? 0 : -1;
    if (i < count) node.style.setProperty("--head", colourOf(state, i));
  });
}

/** @type {(state: State, head: number) => HTMLElement} */
function chip(state, head) {
  const node = makeButton("head", "H" + head, (event) => {
    if (event.detail === 2) return alone(state, head, before);
    before = state.on;
    turn(state, before.includes(head) ? before.filter((lit) => lit !== head) : [...before, head].sort((a, b) => a - b));
  });
  node.title = "Click: on or off. Double click, or S: only this head, and again: all.";
  /** @type {number[]} */
  let before = []; // what was on when a double click began
  node.addEventListener("keydown", (event) => {
    if (event.key !== "s" && event.key !== "S") walk(state, head, event);
    else if (!event.ctrlKey && !event.metaKey && !event.altKey) alone(state, head, state.on);
  });
  return node;
}

/** @type {(state: State) => number[]} */
function everyHead({ header }) {
  return Array.from({ length: header.shape[0] }, (_, head) => head);
}

/** @type {(state: State, head: number, before: number[]) => void} */
function alone(state, head, before) {
  const only = before.length === 1 && before[0] === head;
  if (only) turnAll(state);
  else turn(state, [head]);
}

// With all heads on, only their strong lines are drawn, unless the reader has chosen otherwise.
/** @type {(state: State) => void} */
function turnAll(state) {
  if (state.options.least === DEFAULTS.least && state.header.shape[0] > 1) state.options.least = STRONG;
  turn(state, everyHead(state));
}

/** @type {(state: State, on: number[]) => void} */
function turn(state, on) {
  state.on = on;
  refresh(state);
  tell(state, "heads", on);
}

/** @type {(state: State, at: number, event: KeyboardEvent) => void} */
function walk(state, at, event) {
  const nodes = buttonsOf(state);
  const to = lookUp({ ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: nodes.length - 1 }, event.key);
  if (to === undefined) return;
  event.preventDefault();
  rove(state, nodes, Math.min(nodes.length - 1, to));
  nodes[state.focus].focus();
}
