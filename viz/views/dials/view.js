// Sliders of the browser's own kind. A move is told when it is let go; its number is written while it goes on.

import { unpack } from "../../shared/bytes.js";
import { element, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

export function mount({ parentElement, data, setTriggerValue }) {
  const state = stateOf(parentElement, (blank) => (blank.dials = []));
  const { dials } = unpack(data);
  state.tell = setTriggerValue;
  while (state.dials.length > dials.length) state.dials.pop().node.remove();
  dials.forEach(({ label, value, least, most, step }, i) => {
    const dial = state.dials[i] ?? blankDial(state, i);
    write(dial.label, label);
    Object.assign(dial.range, { min: least, max: most, step });
    dial.digits = Math.max(0, -Math.floor(Math.log10(step)));
    if (dial.held) return; // somebody drags it: what a slow server sends would move it back
    dial.range.value = value;
    show(dial);
  });
}

function blankDial(state, i) {
  const node = element("label", "dial");
  const [label, value] = [element("span"), element("output")];
  const range = element("input");
  range.type = "range";
  node.append(label, range, value);
  state.root.append(node);
  const dial = (state.dials[i] = { node, label, range, value, held: false });
  range.addEventListener("pointerdown", () => (dial.held = true));
  for (const end of ["pointerup", "pointercancel"]) range.addEventListener(end, () => (dial.held = false));
  range.addEventListener("input", () => show(dial));
  range.addEventListener("change", () => state.tell("chosen", [i, Number(range.value)]));
  return dial;
}

function show({ range, value, digits }) {
  write(value, Number(range.value).toFixed(digits).replace("-", "−"));
}
