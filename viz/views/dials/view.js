// Sliders of the browser's own kind. A move is told when it is let go; its number is written while it goes on.

import { unpack } from "../../shared/bytes.js";
import { element, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Dial} Dial */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const { dials } = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, setTriggerValue));
  state.tell = setTriggerValue;
  for (const dial of state.dials.splice(dials.length)) dial.node.remove();
  dials.forEach(({ label, value, least, most, step }, i) => {
    const dial = state.dials[i] ?? blankDial(state, i);
    write(dial.label, label);
    Object.assign(dial.range, { min: String(least), max: String(most), step: String(step) });
    dial.digits = Math.max(0, -Math.floor(Math.log10(step)));
    if (dial.held) return; // somebody drags it: what a slow server sends would move it back
    dial.range.value = String(value);
    show(dial);
  });
}

/** @type {(root: HTMLElement, tell: Tell) => State} */
function make(root, tell) {
  return { root, tell, dials: [] };
}

/** @type {(state: State, i: number) => Dial} */
function blankDial(state, i) {
  const node = element("label", "dial");
  const [label, value] = [element("span"), element("output")];
  const range = element("input");
  range.type = "range";
  node.append(label, range, value);
  state.root.append(node);
  /** @type {Dial} */
  const dial = (state.dials[i] = { node, label, range, value, digits: 0, held: false });
  range.addEventListener("pointerdown", () => (dial.held = true));
  for (const end of ["pointerup", "pointercancel"]) range.addEventListener(end, () => (dial.held = false));
  range.addEventListener("input", () => show(dial));
  range.addEventListener("change", () => state.tell("chosen", [i, Number(range.value)]));
  return dial;
}

/** @type {(dial: Dial) => void} */
function show({ range, value, digits }) {
  write(value, Number(range.value).toFixed(digits).replace("-", "−"));
}
