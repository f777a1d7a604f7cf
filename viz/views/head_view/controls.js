// What a reader may choose about the picture: how it is drawn, from what weight on, and which pairs.

import { element } from "../../shared/element.js";
import { makeToggle } from "../../shared/toggle.js";
import { refresh } from "./drawing.js";
import { CHOICES, DEFAULTS, leastWords, soon } from "./state.js";

/** @typedef {import("./types").Controls} Controls */
/** @typedef {import("./types").Options} Options */
/** @typedef {import("./types").State} State */

const TOP = [["0", "all"], ...["1", "2", "3", "5", "10"].map((n) => [n, n])];
const PAIRS = [
  ["all", "all"],
  ["00", "A to A"],
  ["01", "A to B"],
  ["10", "B to A"],
  ["11", "B to B"],
];

// `act(name, value)` is called for each choice.
/** @type {(node: HTMLElement, act: <Name extends keyof Options>(name: Name, value: Options[Name]) => void) => Controls} */
export function makeControls(node, act) {
  /** @type {(name: "mode" | "style" | "layout" | "zoom") => import("../../shared/types").Toggle} */
  const toggle = (name) => {
    const [label, values] = CHOICES[name];
    const made = makeToggle(label, values, (value) => act(name, value));
    node.append(made.node);
    return made;
  };
  /** @type {(name: HTMLElement, listen: () => void, ...inputs: HTMLElement[]) => HTMLElement} */
  const field = (name, listen, ...inputs) => {
    const label = element("label", "field");
    label.append(name, ...inputs);
    inputs[0].addEventListener("input", listen);
    node.append(label);
    return label;
  };
  const toggles = { mode: toggle("mode"), style: toggle("style"), layout: toggle("layout"), zoom: toggle("zoom") };
  const least = element("input");
  Object.assign(least, { type: "range", min: "1", max: "60", step: "1", value: String(DEFAULTS.least) });
  const [leastName, leastOutput] = [element("span", "", "weights from"), element("output")];
  field(leastName, () => act("least", Number(least.value)), least, leastOutput);
  const top = select(TOP);
  const topField = field(element("span", "", "a token’s strongest"), () => act("top", Number(top.value)), top);
  const pairs = select(PAIRS);
  const pairsField = field(element("span", "", "sentences"), () => act("pairs", pairs.value), pairs);
  return { ...toggles, least, leastName, leastWords: leastOutput, topField, pairsField };
}

/** @type {(values: string[][]) => HTMLSelectElement} */
function select(values) {
  const node = element("select");
  for (const [value, words] of values) node.append(Object.assign(element("option", "", words), { value }));
  return node;
}

/** @template {keyof Options} Name @param {State} state @param {Name} name @param {Options[Name]} value */
export function choose(state, name, value) {
  state.options[name] = value;
  if (name === "layout" || name === "zoom") state.scroll = 0;
  if (name === "least") {
    state.controls.leastWords.textContent = leastWords(state); // the picture follows once a frame
    soon(state, () => refresh(state));
  } else refresh(state);
}
