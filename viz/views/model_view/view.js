// Every head as a thumbnail, on one canvas. Outlines, labels and what a screen reader needs are ordinary elements above it.
// A head is a number here: layer * heads + head.

import { fromRows, unpack } from "../../shared/bytes.js";
import { element } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { onPoint } from "../../shared/link.js";
import { stateOf } from "../../shared/state.js";
import { draw } from "./drawing.js";
import { explain } from "./legend.js";
import { arrange } from "./places.js";
import { aim, here, outline, press, step, under } from "./pointing.js";
import { cells, describe } from "./words.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  const [layers, heads, rows, columns] = header.shape;
  const order = header.arrays.order?.data ?? null;
  const shape = layers !== state.layers || heads !== state.heads || !order !== !state.order;
  const chosen = header.chosen ? header.chosen[0] * heads + header.chosen[1] : -1;
  if (shape) state.at = -1;
  const sent = header.arrays.maps.data;
  if (header.causal) state.whole = fromRows(sent, layers * heads, rows, state.whole);
  state.maps = header.causal && state.whole ? state.whole : sent;
  Object.assign(state, {
    header,
    tell: setTriggerValue,
    link: header.link,
    layers,
    heads,
    rows,
    columns,
    order,
    chosen,
    count: layers * heads,
  });
  state.drawn = order ? [...order] : Array.from({ length: layers * heads }, (_, i) => i);
  state.box.setAttribute("aria-label", header.label);
  if (shape) cells(state);
  describe(state);
  explain(state);
  arrange(state);
  draw(state);
  outline(state);
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  /** @type {State} */
  const state = {
    root,
    link: header.link,
    header,
    tell,
    layers: 0,
    heads: 0,
    count: 0,
    rows: 0,
    columns: 0,
    maps: header.arrays.maps.data,
    order: null,
    drawn: [],
    chosen: -1,
    at: -1,
    tint: new Uint32Array(256),
    sheet: element("canvas"),
    key: "",
    side: 0,
    gap: 0,
    across: 0,
    lines: 1,
    layerHeight: 0,
    ratio: 1,
    places: [],
    wide: 0,
    height: 0,
    frame: 0,
    cells: [],
    selected: null,
    ...makeParts(root),
  };
  listen(state);
  return state;
}

/** @type {(root: HTMLElement) => Pick<State, "box" | "canvas" | "labels" | "legend" | "left" | "large" | "marks" | "table">} */
function makeParts(root) {
  const box = element("div", "box");
  box.setAttribute("role", "grid");
  box.tabIndex = 0;
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const labels = element("div", "labels");
  labels.setAttribute("aria-hidden", "true");
  const chosen = element("div", "chosen");
  const pointed = element("div", "pointed");
  const table = element("div", "hidden");
  table.setAttribute("role", "rowgroup");
  const large = element("div", "large");
  large.setAttribute("aria-hidden", "true");
  box.append(canvas, labels, pointed, chosen, table, large);
  const left = element("p", "left");
  left.setAttribute("role", "status");
  const legend = element("p", "legend");
  root.replaceChildren(box, left, legend);
  return { box, canvas, labels, legend, left, large, marks: { chosen, pointed }, table };
}

/** @type {(state: State) => void} */
function listen(state) {
  const { box } = state;
  state.canvas.redraw = () => draw(state);
  onMove(box, (event) => aim(state, under(state, event)));
  box.addEventListener("pointerleave", () => aim(state, -1));
  box.addEventListener("click", (event) => press(state, under(state, event)));
  box.addEventListener("focus", () => box.matches(":focus-visible") && aim(state, here(state)));
  box.addEventListener("blur", () => aim(state, -1));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") press(state, here(state));
    else if (event.key === "Escape" && state.at >= 0) aim(state, -1);
    else {
      const to = step(state, here(state), event.key);
      if (to < 0) return;
      aim(state, to);
      state.marks.pointed.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    event.preventDefault();
  });
  onPoint(state, (head) => {
    if (head < state.count) aim(state, head, true);
  });
  new ResizeObserver(() => {
    if (!arrange(state)) return;
    draw(state);
    outline(state);
  }).observe(state.root);
}
