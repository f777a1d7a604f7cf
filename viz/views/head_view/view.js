// The heads of one layer: tokens on two sides, a line for each weight. One canvas holds all lines, one above it those of the token
// that is pointed at, so that pointing repaints little. Labels, numbers and controls are ordinary elements.
// "Along" runs from token to token and "across" from one side to the other: down and right in columns, right and down in rows.

import { fromRows, unpack } from "../../shared/bytes.js";
import { colours, css } from "../../shared/colours.js";
import { makeEcho } from "../../shared/echo.js";
import { element } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { onPoint } from "../../shared/link.js";
import { stateOf } from "../../shared/state.js";
import { choose, makeControls } from "./controls.js";
import { draw, drawAll, drawFocus, refresh } from "./drawing.js";
import { cut, lineUnder } from "./cutting.js";
import { chips } from "./heads.js";
import { NO_LINES } from "./gather.js";
import { arrange, locate } from "./places.js";
import { aim, KEYS, pin, press, step, under } from "./pointing.js";
import { asked, AXES, DEFAULTS, NAMES, soon } from "./state.js";
import { tabulate } from "./words.js";

/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Place} Place */
/** @typedef {import("./types").State} State */

const PLAIN_AXES = ["from: looks", "to: is looked at"]; // for beginners
/** @type {("pinned" | "hovered" | "focused" | "linked")[]} */
const POINTING = ["pinned", "hovered", "focused", "linked"];
const CHOOSING = ", choosing"; // in cross-attention, whose rows are named by what they serve to choose

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  const before = state.header;
  Object.assign(state, { header, tell: setTriggerValue, link: header.link, theme: themeOf(state.root, header) });
  const sent = header.arrays.weights.data;
  if (header.causal) state.whole = fromRows(sent, header.shape[0], header.shape[1], state.whole);
  state.weights = header.causal && state.whole ? state.whole : sent;
  state.sides = [header.from, header.to ?? header.from].map((side, i) => ({
    ...side,
    i,
    count: header.shape[i + 1],
    first: header.starts[i],
    pitch: 0,
    offset: 0,
    height: 0,
    at: new Float32Array(0),
    open: {},
  }));
  const [from, to] = header.simple ? PLAIN_AXES : AXES;
  state.axes = [from + (header.from.rows ? CHOOSING : ""), to];
  if (header.simple) state.options = { ...DEFAULTS, least: state.options.least }; // what has no control here is as it begins
  state.named.forEach((node, i) => (node.textContent = state.axes[i]));
  state.boxes.forEach((box, i) => box.setAttribute("aria-label", state.axes[i]));
  state.paired = new Set(state.sides.flatMap((side) => side.segments ?? [0])).size > 1;
  adopt(state, before);
  if (String(header.shape) !== String(before.shape)) state.scroll = 0;
  chips(state);
  refresh(state);
}

// What the app sends counts, unless it is an echo of what the reader chose here.
/** @type {(state: State, before: Header) => void} */
function adopt(state, before) {
  const { header, echoes } = state;
  if (echoes.heads.isNews(header.heads) || header.shape[0] !== before.shape[0]) state.on = header.heads.slice();
  if (echoes.chosen.isNews(header.chosen)) state.pinned = header.chosen && [NAMES.indexOf(header.chosen[0]), header.chosen[1]];
  for (const name of POINTING) {
    const place = state[name];
    if (place && place[1] >= state.sides[place[0]].count) state[name] = null;
  }
}

/** @type {(root: HTMLElement, header: Header) => State["theme"]} */
function themeOf(root, header) {
  const theme = colours(root);
  return { ...theme, heads: header.colours, all: css(theme.accent) };
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const options = element("div", "options");
  const parts = makeParts(root, options);
  /** @type {State} */
  const state = {
    root,
    header,
    tell,
    link: header.link,
    theme: themeOf(root, header),
    ...parts,
    controls: makeControls(options, (name, value) => choose(state, name, value)),
    options: { ...DEFAULTS },
    on: [],
    pinned: null,
    hovered: null,
    focused: null,
    linked: null,
    at: null,
    focus: 0,
    scroll: 0,
    echoes: { heads: makeEcho(20), chosen: makeEcho(20) },
    axes: AXES,
    paired: false,
    weights: header.arrays.weights.data,
    sides: [],
    planes: [],
    kept: null,
    lines: { ...NO_LINES },
    focusedLines: null,
    values: new Float32Array(0),
    extent: 0,
    span: 0,
    long: 0,
    across: 0,
    room: 0,
    upright: false,
    ratio: 1,
    stale: true,
    drawn: [new Map(), new Map()],
    free: [[], []],
    sizes: ["", ""],
    bracketed: ["", ""],
    frame: 0,
    later: 0,
  };
  listen(state);
  return state;
}

/** @param {HTMLElement} root @param {HTMLElement} options */
function makeParts(root, options) {
  const heads = element("div", "heads");
  heads.setAttribute("role", "toolbar");
  heads.setAttribute("aria-label", "Heads");
  const picture = element("div", "picture");
  const named = AXES.map((words, i) => element("div", "axis " + NAMES[i], words));
  const scroller = element("div", "scroller");
  const spacer = element("div", "spacer");
  const stage = element("div", "stage");
  const canvases = ["all", "focus"].map((name) => element("canvas", name));
  for (const canvas of canvases) canvas.setAttribute("aria-hidden", "true");
  const boxes = NAMES.map((name) => {
    const box = element("div", "side " + name);
    box.setAttribute("role", "slider"); // one token after the other, at any length of text
    box.tabIndex = 0;
    return box;
  });
  stage.append(...canvases, ...boxes);
  spacer.append(stage);
  scroller.append(spacer);
  picture.append(named[0], scroller, named[1]);
  const sentence = element("p", "sentence");
  const note = element("p", "note");
  const { numbers, table } = makeNumbers();
  root.replaceChildren(heads, options, picture, sentence, note, numbers);
  return { heads, named, picture, scroller, spacer, stage, canvases, boxes, sentence, note, numbers, table };
}

function makeNumbers() {
  const numbers = element("details", "numbers");
  const holder = element("div", "holder");
  holder.tabIndex = 0;
  holder.setAttribute("role", "region");
  holder.setAttribute("aria-label", "Numbers");
  const table = element("table");
  holder.append(table);
  numbers.append(element("summary", "", "The numbers as a table"), holder);
  return { numbers, table };
}

/** @type {(state: State) => void} */
function listen(state) {
  const { stage, scroller, boxes, canvases } = state;
  canvases[0].redraw = () => drawAll(state);
  canvases[1].redraw = () => {
    const place = asked(state);
    if (place) drawFocus(state, place);
  };
  onMove(stage, (event) => {
    aim(state, under(state, event));
    stage.style.cursor = lineUnder(state, event) ? "pointer" : "";
  });
  stage.addEventListener("pointerleave", () => aim(state, null));
  stage.addEventListener("click", (event) => {
    const line = lineUnder(state, event);
    if (line) cut(state, line.pair, line.heads);
    else pin(state, under(state, event));
  });
  scroller.addEventListener("scroll", () => {
    const to = state.options.layout === "rows" ? scroller.scrollLeft : scroller.scrollTop;
    if (to === state.scroll) return;
    state.scroll = to;
    soon(state, () => {
      locate(state);
      draw(state);
    });
  });
  boxes.forEach((box, i) => {
    box.addEventListener("focus", () => box.matches(":focus-visible") && step(state, i, state.at?.[i] ?? 0));
    box.addEventListener("blur", () => {
      state.focused = null;
      draw(state);
    });
    box.addEventListener("keydown", (event) => press(state, i, event));
  });
  new ResizeObserver(() => arrange(state) && draw(state)).observe(state.root);
  state.numbers.addEventListener("toggle", () => tabulate(state));
  for (const [side, end] of ["", KEYS].entries()) {
    /** @type {(position: number) => void} */
    const act = (position) => {
      state.linked = position >= 0 && position < state.sides[side].count ? [side, position] : null;
      draw(state);
    };
    onPoint(state, act, end);
  }
}
