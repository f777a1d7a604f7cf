// What a reader may choose about the picture: how it is drawn, from what weight on, and which pairs.

import { element } from "../../shared/element.js";
import { makeToggle } from "../../shared/toggle.js";
import { refresh } from "./drawing.js";
import { CHOICES, DEFAULTS, soon } from "./state.js";

const PAIRS = [
  ["all", "all"],
  ["00", "A to A"],
  ["01", "A to B"],
  ["10", "B to A"],
  ["11", "B to B"],
];

export function controls(state, node) {
  const inputs = {};
  for (const [name, [label, values]] of Object.entries(CHOICES)) {
    inputs[name] = makeToggle(label, values, (value) => set(state, name, value));
    node.append(inputs[name].node);
  }
  const field = (name, words, input, ...after) => {
    const label = element("label", "field");
    label.append(element("span", "", words), input, ...after);
    input.addEventListener("input", () => set(state, name, name === "pairs" ? input.value : Number(input.value)));
    inputs[name] = input;
    node.append(label);
  };
  const range = element("input");
  Object.assign(range, { type: "range", min: "1", max: "60", step: "1", value: String(DEFAULTS.least) });
  inputs.leastWords = element("output");
  field("least", "weights from", range, inputs.leastWords);
  field("top", "a token’s strongest", select([[0, "all"], ...[1, 2, 3, 5, 10].map((n) => [n, n])]));
  field("pairs", "sentences", select(PAIRS));
  return inputs;
}

function select(values) {
  const node = element("select");
  for (const [value, words] of values) node.append(Object.assign(element("option", "", words), { value }));
  return node;
}

function set(state, name, value) {
  state.options[name] = value;
  if (name === "layout" || name === "zoom") state.scroll = 0;
  if (name === "least") {
    state.controls.leastWords.textContent = value + "\u00a0%"; // the picture follows once a frame
    soon(state, () => refresh(state));
  } else refresh(state);
}
