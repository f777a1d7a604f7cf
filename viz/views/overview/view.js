// The map of one head, small, and a window on it: dragged, pinched, wheeled, moved by keys, or written in boxes.
// A window is [first query, last query, first key, last key]. Axis 0 is queries (down), axis 1 keys (across).

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { tintsOf } from "../../shared/colours.js";
import { makeEcho } from "../../shared/echo.js";
import { element, makeTool, write } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { lookUp } from "../../shared/lookup.js";
import { roughly } from "../../shared/number.js";
import { writeProse } from "../../shared/prose.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Both} Both */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Range} Range */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

const LARGEST = 208; // CSS pixels of the longer side
const THINNEST = 40; // of the shorter one, however uneven the map
const GRIP = 7; // from an edge at most, and a press takes hold of the edge
const LEAST = 8; // tokens a side, unless there are fewer
const EACH = 120; // milliseconds between two windows that are told of one movement
const FINE = 8; // the arrows go by so much of the window
const ZOOM = 1.25;
const AXES = ["from (query)", "to (key)"];
const PLAIN_AXES = ["from", "to"]; // for beginners, who have no boxes
const BOXES = ["first query", "last query", "first key", "last key"];

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  const before = state.header;
  Object.assign(state, { header, tell: setTriggerValue });
  adopt(state, before);
  state.stage.setAttribute("aria-label", `${header.label}. Arrows move it, Shift and arrows resize it, plus and minus too.`);
  writeProse(state.note, header.note);
  state.note.hidden = !header.note;
  state.boxes.hidden = !header.boxes;
  state.axes.forEach((axis, i) => write(axis, (header.boxes ? AXES : PLAIN_AXES)[i]));
  arrange(state);
  draw(state);
  frame(state);
}

// What the app sends counts, unless it echoes what was chosen here, or a movement goes on.
/** @type {(state: State, before: Header) => void} */
function adopt(state, before) {
  const { header, echo } = state;
  const news = echo.isNews(header.window);
  const moved = (state.held || state.later) && state.window.every((edge, i) => edge < header.shape[i >> 1]);
  const grown = String(before.shape) !== String(header.shape);
  if (!moved && (grown || news)) state.window = header.window.slice();
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const parts = makeParts(
    root,
    (i) => type(state, i),
    () => settle(state, all(state)),
  );
  /** @type {State} */
  const state = {
    root,
    header,
    tell,
    window: header.window.slice(),
    size: [0, 0],
    held: null,
    pointers: new Map(),
    echo: makeEcho(),
    told: "",
    later: 0,
    ...parts,
  };
  listen(state);
  return state;
}

// `write(i)`: somebody has written in one of the boxes; `takeAll()`: somebody wants all.
/** @param {HTMLElement} root @param {(i: number) => void} write @param {() => void} takeAll */
function makeParts(root, write, takeAll) {
  const axes = PLAIN_AXES.map((side) => element("div", "axis " + side));
  const stage = element("div", "stage");
  stage.tabIndex = 0;
  stage.setAttribute("role", "application");
  stage.setAttribute("aria-roledescription", "window on a map");
  const canvas = element("canvas");
  const shades = ["top", "bottom", "left", "right"].map((name) => element("i", "shade " + name));
  const pane = element("div", "pane");
  for (const node of [canvas, ...shades, pane]) node.setAttribute("aria-hidden", "true");
  stage.append(canvas, ...shades, pane);
  const map = element("div", "map");
  map.append(axes[1], axes[0], stage);
  const note = element("p", "note");
  const boxes = element("div", "boxes");
  const inputs = BOXES.map((name, i) => {
    const input = element("input");
    Object.assign(input, { type: "number", inputMode: "numeric" });
    input.setAttribute("aria-label", name);
    input.addEventListener("change", () => write(i));
    return input;
  });
  for (const [axis, word] of ["from", "to"].entries()) {
    const line = element("div", "line");
    line.append(element("span", "", word), inputs[2 * axis], element("span", "", "–"), inputs[2 * axis + 1]);
    boxes.append(line);
  }
  const whole = makeTool("whole", "all", takeAll);
  boxes.append(whole);
  const said = element("p", "said");
  const spoken = element("p", "hidden");
  spoken.setAttribute("aria-live", "polite");
  const words = element("div", "words");
  words.append(note, boxes, said, spoken);
  root.replaceChildren(map, words);
  return { stage, canvas, shades, pane, note, boxes, inputs, whole, said, spoken, axes };
}

/** @type {(state: State) => void} */
function listen(state) {
  const { stage, pointers } = state;
  stage.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    stage.setPointerCapture(event.pointerId);
    pointers.set(event.pointerId, placeOf(state, event));
    grip(state);
  });
  onMove(stage, (event) => {
    if (!pointers.has(event.pointerId)) return hover(state, event);
    pointers.set(event.pointerId, placeOf(state, event));
    pull(state);
  });
  for (const name of /** @type {const} */ (["pointerup", "pointercancel", "lostpointercapture"]))
    stage.addEventListener(name, (event) => {
      if (!pointers.delete(event.pointerId)) return;
      state.held = null;
      if (pointers.size) return grip(state); // of two fingers one is left
      tellNow(state);
    });
  stage.addEventListener("pointerleave", () => say(state, ""));
  stage.addEventListener("dblclick", () => settle(state, all(state)));
  stage.addEventListener(
    "wheel",
    (event) => {
      // Without the focus the page scrolls, as it should; a pinch on a trackpad arrives as Ctrl and the wheel.
      if (!event.ctrlKey && !stage.matches(":focus")) return;
      event.preventDefault();
      settle(state, zoomed(state, ZOOM ** Math.sign(event.deltaY), placeOf(state, event)), true);
    },
    { passive: false },
  );
  stage.addEventListener("keydown", (event) => {
    const to = stepped(state, event);
    if (!to) return;
    event.preventDefault();
    settle(state, to, true);
    state.spoken.textContent = rangeOf(state);
  });
  new ResizeObserver(() => {
    arrange(state);
    frame(state);
  }).observe(state.root);
}

// ---------------------------------------------------------------- windows

/** @type {(window: Range, axis: number) => number} */
const lengthOf = (window, axis) => window[2 * axis + 1] - window[2 * axis] + 1;

/** @type {(state: State, axis: number, length: number) => number} */
function fitting({ header }, axis, length) {
  const count = header.shape[axis];
  return Math.max(Math.min(LEAST, count), Math.min(Math.round(length), count, header.most));
}

// A window of these lengths that begins there, or as near as the text allows.
/** @type {(state: State, starts: Both, lengths: Both) => Range} */
function placed(state, starts, lengths) {
  return [0, 1].flatMap((axis) => {
    const length = fitting(state, axis, lengths[axis]);
    const first = Math.max(0, Math.min(Math.round(starts[axis]), state.header.shape[axis] - length));
    return [first, first + length - 1];
  });
}

// All, or as much of the end as there is room for.
/** @type {(state: State) => Range} */
const all = (state) => placed(state, state.header.shape, state.header.shape);

/** @type {(state: State, factor: number, around?: Both) => Range} */
function zoomed(state, factor, around) {
  const { window, header } = state;
  const lengths = [0, 1].map((axis) => fitting(state, axis, lengthOf(window, axis) * factor));
  const starts = [0, 1].map((axis) => {
    const at = around ? around[axis] : (window[2 * axis] + window[2 * axis + 1] + 1) / 2;
    const inside = Math.max(window[2 * axis], Math.min(at, window[2 * axis + 1] + 1));
    const share = (inside - window[2 * axis]) / lengthOf(window, axis);
    return inside - share * Math.min(lengths[axis], header.shape[axis]);
  });
  return placed(state, starts, lengths);
}

/** @type {(state: State, event: KeyboardEvent) => Range | null} */
function stepped(state, { key, shiftKey, ctrlKey, metaKey, altKey }) {
  if (ctrlKey || metaKey || altKey) return null;
  const { window, header } = state;
  if (key === "+" || key === "=") return zoomed(state, 1 / ZOOM);
  if (key === "-" || key === "_") return zoomed(state, ZOOM);
  const lengths = [0, 1].map((axis) => lengthOf(window, axis));
  if (key === "Home") return placed(state, [0, 0], lengths);
  if (key === "End") return placed(state, header.shape, lengths);
  const arrow = lookUp({ ArrowUp: [0, -1], ArrowDown: [0, 1], ArrowLeft: [1, -1], ArrowRight: [1, 1] }, key);
  if (!arrow) return null;
  const [axis, way] = arrow;
  const by = way * Math.max(1, Math.round(lengths[axis] / FINE));
  const starts = [window[0], window[2]];
  if (shiftKey) lengths[axis] += by;
  else starts[axis] += by;
  return placed(state, starts, lengths);
}

/** @type {(state: State, i: number) => void} */
function type(state, i) {
  const input = state.inputs[i];
  const axis = i >> 1;
  const value = Math.round(Number(input.value));
  if (input.value === "" || !Number.isFinite(value)) return frame(state);
  const to = state.window.slice();
  to[i] = Math.max(0, Math.min(value, state.header.shape[axis] - 1));
  const other = i ^ 1; // the end that was not written gives way
  const [low, high] = [2 * axis, 2 * axis + 1];
  const most = Math.min(state.header.most, state.header.shape[axis]);
  if (to[high] < to[low]) to[other] = to[i];
  if (to[high] - to[low] >= most) to[other] = i === low ? to[low] + most - 1 : to[high] - most + 1;
  settle(state, to);
}

// The window is there now; the app is told at once, or soon where more may follow.
/** @type {(state: State, window: Range, more?: boolean) => void} */
function settle(state, window, more = false) {
  const same = String(window) === String(state.window);
  state.window = window;
  frame(state);
  if (same) return;
  if (more) tellSoon(state);
  else tellNow(state);
}

/** @type {(state: State) => void} */
function tellSoon(state) {
  state.later ||= setTimeout(() => tellNow(state), EACH);
}

/** @type {(state: State) => void} */
function tellNow(state) {
  clearTimeout(state.later);
  state.later = 0;
  const words = String(state.window);
  if (state.told === words) return;
  state.told = words;
  state.echo.told(state.window);
  state.tell("chosen", state.window.slice());
}

// ---------------------------------------------------------------- the pointer

// Where a pointer is, in tokens: [query, key], not rounded. Measured again each time: the page may have changed its width.
/** @type {(state: State, event: MouseEvent) => Both} */
function placeOf({ stage, header }, event) {
  const box = stage.getBoundingClientRect();
  return [((event.clientY - box.top) / box.height) * header.shape[0], ((event.clientX - box.left) / box.width) * header.shape[1]];
}

// Which edges a press takes hold of: -1 the first, 1 the last, 0 none, on each axis; null outside of the window.
/** @type {(state: State, place: Both) => Both | null} */
function edgesAt(state, place) {
  const { window, header, size } = state;
  const inside = [0, 1].every((axis) => {
    const slack = (GRIP * header.shape[axis]) / size[axis];
    return place[axis] > window[2 * axis] - slack && place[axis] < window[2 * axis + 1] + 1 + slack;
  });
  if (!inside) return null;
  return [0, 1].map((axis) => {
    /** @type {(tokens: number) => number} */
    const pixels = (tokens) => (tokens * size[axis]) / header.shape[axis];
    const room = Math.min(GRIP, pixels(lengthOf(window, axis)) / 4); // a small window can still be moved
    if (pixels(place[axis] - window[2 * axis]) < room) return -1;
    return pixels(window[2 * axis + 1] + 1 - place[axis]) < room ? 1 : 0;
  });
}

/** @type {(state: State) => void} */
function grip(state) {
  const [place, second] = [...state.pointers.values()];
  if (second) {
    state.held = { window: state.window.slice(), apart: apart(place, second), fingers: true };
    return;
  }
  const edges = edgesAt(state, place);
  if (!edges) {
    const lengths = [0, 1].map((axis) => lengthOf(state.window, axis));
    settle(state, placed(state, [place[0] - lengths[0] / 2, place[1] - lengths[1] / 2], lengths), true);
  }
  state.held = { fingers: false, place, edges: edges ?? [0, 0], window: state.window.slice() };
}

/** @type {(a: Both, b: Both) => number} */
const apart = (a, b) => Math.max(1e-6, Math.hypot(a[0] - b[0], a[1] - b[1]));

/** @type {(state: State) => void} */
function pull(state) {
  const { held, pointers, header } = state;
  if (!held) return;
  const [place, second] = [...pointers.values()];
  if (held.fingers) {
    if (!second) return;
    const now = state.window;
    state.window = held.window;
    const middle = [0, 1].map((axis) => (place[axis] + second[axis]) / 2);
    const to = zoomed(state, held.apart / apart(place, second), middle);
    state.window = now;
    return settle(state, to, true);
  }
  const to = held.window.slice();
  const moved = [0, 1].map((axis) => place[axis] - held.place[axis]);
  if (!held.edges[0] && !held.edges[1]) {
    const lengths = [0, 1].map((axis) => lengthOf(to, axis));
    return settle(state, placed(state, [to[0] + moved[0], to[2] + moved[1]], lengths), true);
  }
  held.edges.forEach((edge, axis) => {
    const [low, high] = [2 * axis, 2 * axis + 1];
    const least = fitting(state, axis, 0) - 1;
    const most = fitting(state, axis, Infinity) - 1;
    const by = Math.round(moved[axis]);
    if (edge < 0) to[low] = Math.max(0, to[high] - most, Math.min(to[low] + by, to[high] - least));
    if (edge > 0) to[high] = Math.min(header.shape[axis] - 1, to[low] + most, Math.max(to[high] + by, to[low] + least));
  });
  settle(state, to, true);
}

// What stands under the pointer, in words.
/** @type {(state: State, event: MouseEvent) => void} */
function hover(state, event) {
  const { header, stage } = state;
  const place = placeOf(state, event);
  if ([0, 1].some((axis) => place[axis] < 0 || place[axis] >= header.shape[axis])) return say(state, "");
  const edges = edgesAt(state, place) ?? [0, 0];
  const slope = edges[0] * edges[1];
  stage.style.cursor = slope
    ? slope > 0
      ? "nwse-resize"
      : "nesw-resize"
    : edges[0]
      ? "ns-resize"
      : edges[1]
        ? "ew-resize"
        : "move";
  const { shape, data } = header.arrays.cells;
  const cell = [0, 1].map((axis) =>
    Math.min(shape[axis] - 1, Math.floor(((Math.floor(place[axis]) + 1) * shape[axis] - 1) / header.shape[axis])),
  );
  const names = [header.from, header.to ?? header.from];
  const words = cell.map((at, axis) => {
    const [first, last] = [startOf(header, axis, at), startOf(header, axis, at + 1) - 1];
    const name = `“${names[axis][first].replace(/^·(?=.)/, "")}”`;
    return last === first ? `${name} (${first})` : `${name} … (${first}–${last})`;
  });
  const weight = data[cell[0] * shape[1] + cell[1]] / 255;
  const most = cell.every((at, axis) => startOf(header, axis, at + 1) - startOf(header, axis, at) === 1) ? "" : "at most ";
  say(state, `${words[0]} looks at ${words[1]}: ${most}${roughly(weight)}`);
}

// The first position that a cell covers; as in viz/views/model_view/shrink.py.
/** @type {(header: Header, axis: number, cell: number) => number} */
const startOf = ({ shape, arrays }, axis, cell) => Math.floor((cell * shape[axis]) / arrays.cells.shape[axis]);

/** @type {(state: State, words: string) => void} */
function say(state, words) {
  write(state.said, words);
}

// ---------------------------------------------------------------- drawing

/** @type {(state: State) => void} */
function arrange(state) {
  const { header, root, stage, canvas } = state;
  const width = root.clientWidth;
  if (!width) return;
  const longest = Math.min(LARGEST, 0.5 * width);
  const most = Math.max(...header.shape);
  const [high, wide] = header.shape.map((count) => Math.round(Math.max(Math.min(THINNEST, longest), (longest * count) / most)));
  state.size = [high, wide];
  stage.style.height = high + "px";
  stage.style.width = wide + "px";
  canvas.style.width = canvas.style.height = "100%";
  state.axes[1].style.width = wide + "px";
}

// A pixel a cell; the browser makes them as large as they are shown.
/** @type {(state: State) => void} */
function draw(state) {
  const { canvas, header, root } = state;
  const [rows, columns] = header.arrays.cells.shape;
  if (canvas.width !== columns) canvas.width = columns;
  if (canvas.height !== rows) canvas.height = rows;
  const tint = tintsOf(root);
  const image = new ImageData(columns, rows);
  const out = new Uint32Array(image.data.buffer);
  header.arrays.cells.data.forEach((weight, i) => (out[i] = tint[weight]));
  penOn(canvas).putImageData(image, 0, 0);
}

// The window, and a veil on all that is outside of it.
/** @type {(state: State) => void} */
function frame(state) {
  const { window, header, pane, shades, inputs, whole } = state;
  /** @type {(i: number) => number} */
  const edge = (i) => (100 * (window[i] + (i & 1))) / header.shape[i >> 1];
  const [top, bottom, left, right] = [0, 1, 2, 3].map(edge);
  /** @type {(node: HTMLElement, values: Record<string, number>) => void} */
  const set = (node, values) =>
    Object.assign(node.style, Object.fromEntries(Object.entries(values).map(([k, v]) => [k, v + "%"])));
  set(pane, { top, left, right: 100 - right, bottom: 100 - bottom });
  set(shades[0], { top: 0, left: 0, right: 0, bottom: 100 - top });
  set(shades[1], { top: bottom, left: 0, right: 0, bottom: 0 });
  set(shades[2], { top, left: 0, right: 100 - left, bottom: 100 - bottom });
  set(shades[3], { top, left: right, right: 0, bottom: 100 - bottom });
  inputs.forEach((input, i) => {
    Object.assign(input, { min: "0", max: String(header.shape[i >> 1] - 1) });
    if (input.value !== String(window[i])) input.value = String(window[i]);
  });
  whole.disabled = String(all(state)) === String(window);
}

/** @type {(state: State) => string} */
function rangeOf({ window: [a, b, c, d] }) {
  return `from ${a} to ${b}, looking at ${c} to ${d}`;
}
