// One query against every key. A row a key: q × k as a strip of cells, then q·k, score and weight; above, one key's bars at large.
// Rows are written only while they are in sight, so a thousand keys cost what sixteen do.

import { unpack } from "../../shared/bytes.js";
import { shadesOf, stripOf } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { fade } from "../../shared/fade.js";
import { onMove } from "../../shared/hover.js";
import { onPoint } from "../../shared/link.js";
import { exactly, percent } from "../../shared/number.js";
import { stateOf } from "../../shared/state.js";
import { makeToggle } from "../../shared/toggle.js";
import { active } from "./active.js";
import { dialsOf, makeDials } from "./dials.js";
import { barsOf, draw } from "./drawing.js";
import { arrange, BARS, order, shrinkFormula } from "./places.js";
import { aim, centre, dimUnder, press, step, under, walk } from "./pointing.js";
import { calculate } from "./products.js";
import { rows } from "./rows.js";
import { tabulateSoon } from "./words.js";

/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  const { keys, position, title, query } = header;
  const subject = [title, position, query.join(""), keys.length].join("\u0000");
  const fresh = subject !== state.subject;
  Object.assign(state, {
    header,
    subject,
    tell: setTriggerValue,
    link: header.link,
    count: keys.length,
    dims: header.arrays.q.data.length,
  });
  state.names = keys.map((pieces) => pieces.join(""));
  if (fresh || header.chosen !== state.given) state.chosen = state.given = header.chosen;
  if (fresh) state.at = state.dim = -1;
  calculate(state);
  state.box.setAttribute("aria-label", header.label);
  theme(state);
  state.key = "";
  if (fresh) shrinkFormula(state);
  arrange(state);
  order(state);
  if (fresh) centre(state, state.chosen);
  draw(state);
  fade(state.box, state.pane);
  tabulateSoon(state, true);
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  /** @type {State} */
  const state = {
    root,
    link: header.link,
    header,
    tell,
    id: "key" + Math.random().toString(36).slice(2, 8),
    subject: "",
    given: -1,
    chosen: -1,
    at: -1,
    dim: -1,
    keySort: "position",
    dimSort: "contribution",
    count: 0,
    dims: 0,
    names: [],
    products: new Float32Array(0),
    allowed: [],
    scaleEnd: 0,
    beyond: false,
    shares: null,
    full: 0,
    bottom: 0,
    fixed: [],
    paints: { plus: "", minus: "", ink: "", soft: "", paper: "", line: "" },
    key: "",
    width: 0,
    ratio: 0,
    columns: null,
    cells: 0,
    cell: 1,
    shown: null,
    height: 0,
    barHeight: 0,
    tall: 0,
    keyAt: [],
    rowOf: new Int32Array(0),
    dimAt: [],
    rows: [],
    stale: false,
    later: 0,
    ...makeParts(root, (choices) => arrangeAs(state, choices)),
  };
  listen(state);
  return state;
}

// `choose(choices)`: the reader wants another order of keys or of dimensions.
/** @param {HTMLElement} root @param {(choices: Partial<Pick<State, "keySort" | "dimSort">>) => void} choose */
function makeParts(root, choose) {
  const formula = element("p", "formula");
  const readout = element("p", "readout");
  const legend = element("p", "legend");
  const notes = element("p", "notes");
  const spoken = element("p", "hidden");
  spoken.setAttribute("aria-live", "polite");
  const unseen = element("div", "hidden");
  const keyTable = element("table");
  const dimTable = element("table");
  unseen.append(keyTable, dimTable);
  const { controls, title, groups } = makeControls(choose);
  const [bars, rows, dials] = [makeBars(), makeRows(), makeDials()];
  root.replaceChildren(controls, formula, bars.bars, readout, legend, rows.head, rows.box, dials.dials, notes, spoken, unseen);
  const words = { title, formula, readout, legend, notes, spoken, unseen, keyTable, dimTable };
  return { groups, ...words, ...bars, ...rows, ...dials };
}

/** @param {(choices: Partial<Pick<State, "keySort" | "dimSort">>) => void} choose */
function makeControls(choose) {
  const controls = element("div", "controls");
  const title = element("p", "title");
  const keys = { position: "keys in order", weight: "by weight" };
  const keySort = makeToggle("Order of the keys", keys, (value) => choose({ keySort: value }));
  const dimensions = { contribution: "dimensions by size", index: "in order" };
  const dimSort = makeToggle("Order of the dimensions", dimensions, (value) => choose({ dimSort: value }));
  controls.append(title, keySort.node, dimSort.node);
  return { controls, title, groups: { keySort, dimSort } };
}

/** @type {(state: State, choices: Partial<Pick<State, "keySort" | "dimSort">>) => void} */
function arrangeAs(state, choices) {
  Object.assign(state, choices);
  order(state);
  if (choices.keySort) centre(state, state.chosen);
  draw(state);
}

// The three lines of bars of one key, with their names at the left and how far they reach at the right.
/** @type {() => Pick<State, "bars" | "barCanvas" | "extents">} */
function makeBars() {
  const bars = element("div", "bars");
  bars.setAttribute("aria-hidden", "true");
  /** @type {(words: string, height: number) => HTMLElement} */
  const line = (words, height) => {
    const node = element("span", "", words);
    node.style.height = node.style.lineHeight = height + "px";
    return node;
  };
  const names = element("div", "names");
  names.append(...BARS.map(([name, height]) => line(name, height)));
  const barCanvas = element("canvas");
  const ends = element("div", "extents");
  const extents = BARS.map(([, height]) => line("", height));
  ends.append(...extents);
  bars.append(names, barCanvas, ends);
  return { bars, barCanvas, extents };
}

// The rows of all keys, which scroll, and what their columns are called.
/** @type {() => Pick<State, "head" | "captions" | "box" | "spacer" | "pane" | "canvas">} */
function makeRows() {
  const head = element("div", "line head");
  head.setAttribute("aria-hidden", "true");
  const captions = ["key", "cells", "sum", "score", "weight", "value"].map((name) => element("span", name));
  head.append(...captions);
  const box = element("div", "box scrolls");
  box.tabIndex = 0;
  box.setAttribute("role", "listbox");
  const spacer = element("div", "spacer");
  const pane = element("div", "pane fades");
  spacer.setAttribute("role", "presentation");
  pane.setAttribute("role", "presentation");
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  pane.append(canvas);
  spacer.append(pane);
  box.append(spacer);
  return { head, captions, box, spacer, pane, canvas };
}

/** @type {(state: State) => void} */
function listen(state) {
  const { box, barCanvas } = state;
  barCanvas.redraw = () => barsOf(state);
  state.canvas.redraw = () => rows(state);
  state.dialCanvas.redraw = () => dialsOf(state);
  onMove(box, (event) => {
    const { key, dim } = under(state, event);
    aim(state, key, dim, true);
  });
  box.addEventListener("pointerleave", () => aim(state, -1, -1, true));
  onMove(barCanvas, (event) => aim(state, state.at, dimUnder(state, event)));
  barCanvas.addEventListener("pointerleave", () => aim(state, state.at, -1));
  box.addEventListener("click", (event) => press(state, under(state, event).key));
  box.addEventListener("scroll", () => {
    rows(state);
    fade(box, state.pane);
  });
  box.addEventListener("focus", () => box.matches(":focus-visible") && walk(state, active(state), state.dim));
  box.addEventListener("blur", () => aim(state, -1, -1, true));
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !state.count) return;
    if (event.key === "Enter" || event.key === " ") press(state, active(state));
    else if (event.key === "Escape") aim(state, -1, -1, true);
    else {
      const to = step(state, event.key);
      if (!to) return;
      walk(state, to.key, to.dim);
    }
    event.preventDefault();
  });
  new ResizeObserver(() => {
    if (!arrange(state)) return;
    order(state);
    draw(state);
    fade(box, state.pane);
  }).observe(state.root);
  onPoint(state, (key) => {
    if (key < state.count) aim(state, key, -1);
  });
}

/** @type {(state: State) => void} */
function theme(state) {
  const { legend, header, scaleEnd, beyond } = state;
  const strip = element("span", "scale");
  const [minus, plus] = [element("i", "minus"), element("i", "plus")];
  minus.style.background = stripOf(shadesOf("minus"), "left");
  plus.style.background = stripOf(shadesOf("plus"));
  strip.append((beyond ? "≤ " : "") + exactly(-scaleEnd), minus, plus, (beyond ? "≥ " : "") + exactly(scaleEnd));
  legend.replaceChildren(strip, element("span", "", "blue lowers the score, red raises it"));
  /** @type {(node: HTMLElement) => string} */
  const style = (node) => getComputedStyle(node).color;
  const line = getComputedStyle(state.head).borderBottomColor;
  state.paints = {
    plus: style(plus),
    minus: style(minus),
    ink: style(state.root),
    soft: style(legend),
    paper: getComputedStyle(state.root).columnRuleColor,
    line,
  };
  legend.append(element("span", "", `bars at the right: the longest is ${percent(state.full)}`));
  if (state.shares) legend.append(element("span", "thin", "thin bar: weight × ‖v‖"));
  const notes = [`The softmax divides exp(score) by its sum over all keys, here exp(${exactly(state.bottom)}).`];
  const sink = header.arrays.sink.data;
  if (sink.length)
    notes.push(
      `A sink, which is a key that brings nothing (score ${exactly(sink[0])}), takes ${percent(Math.exp(sink[0] - state.bottom))} of this query’s attention.`,
    );
  const hidden = state.allowed.filter((may) => !may).length;
  if (hidden)
    notes.push(
      `${hidden} ${hidden === 1 ? "key is" : "keys are"} masked: the products are there, but the softmax never sees them.`,
    );
  state.fixed = notes;
}
