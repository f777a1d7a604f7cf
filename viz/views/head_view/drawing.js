// The lines on their two canvases.

import { penOn } from "../../shared/canvas.js";
import { css, isDark, shade } from "../../shared/colours.js";
import { cutsOf } from "./cutting.js";
import { label } from "./labels.js";
import { gather, LINES, planesOf, scan, scanOf } from "./gather.js";
import { arrange } from "./places.js";
import { asked, BAR, buttonsOf, CHOSEN, isPlaced, leastWords, valuesOf } from "./state.js";
import { say } from "./words.js";

/** @typedef {import("./types").Lines} Lines */
/** @typedef {import("./types").Place} Place */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Brush} Brush */

const FOCUSED_LINES = 1000; // of one token
const CURVED = 1500; // more lines than this are straight, which is quicker
const NONE = new Float32Array(0);
const CHUNK = 250; // lines in one path: canvases slow down with longer ones
const LEVELS = 12; // steps of opacity
const IN_THE_DARK = 0.6; // the exponent of a line's opacity on a dark page, where a faint line of a dark colour is hardly seen

// After any change but pointing: which lines there are, where all stands, and the whole picture.
/** @type {(state: State) => void} */
export function refresh(state) {
  const { controls, options, heads, header, on } = state;
  for (const name of CHOSEN) controls[name].show(options[name]);
  controls.least.value = String(options.least);
  controls.leastWords.textContent = leastWords(state);
  const { simple } = header;
  controls.style.node.hidden = controls.layout.node.hidden = controls.topField.hidden = simple;
  controls.leastName.textContent = simple ? "lines for at least" : "weights from";
  controls.pairsField.hidden = simple || !state.paired;
  controls.mode.node.hidden = simple || header.shape[0] < 2;
  heads.hidden = header.shape[0] < 2;
  buttonsOf(state)
    .slice(0, -1)
    .forEach((node, i) => {
      node.setAttribute("aria-pressed", String(on.includes(i)));
      node.dataset.take = on.includes(i) ? "" : "no"; // in a picture they are its legend
    });
  state.planes = planesOf(state);
  state.kept = null;
  if (options.top) {
    /** @type {number[]} */
    const kept = [];
    scan(state, (plane, row, column) => kept.push(plane, row, column));
    state.kept = Int32Array.from(kept);
  }
  state.lines = gather(state, (act) => scan(state, act), LINES);
  arrange(state);
  draw(state);
}

/** @type {(state: State) => void} */
export function draw(state) {
  if (!isPlaced(state)) return;
  const [all, focus] = state.canvases;
  const place = asked(state);
  if (state.stale && !place) {
    drawAll(state);
    state.stale = false;
  }
  all.classList.toggle("away", Boolean(place));
  focus.classList.toggle("away", !place);
  state.values = place ? valuesOf(state, place) : NONE;
  if (place) drawFocus(state, place);
  for (const side of state.sides) label(state, side, place);
  say(state, place);
}

/** @type {(pen: Brush) => Path2D} */
const pathFor = (pen) => pen.path?.() ?? new Path2D();

// In rows the axes change places, so that all drawing can be written for columns.
/** @type {(state: State, canvas: HTMLCanvasElement) => Brush} */
function penOf({ options, ratio }, canvas) {
  const pen = penOn(canvas);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  if (options.layout === "rows") pen.setTransform(0, ratio, ratio, 0, 0, 0);
  else pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

// Lines from weak to strong, in as few paths as there are levels of opacity and colours.
/** @type {(pen: Brush, state: State, list: Lines, left: number, right: number) => void} */
function paint(pen, state, list, left, right) {
  const { planes, sides, options, extent } = state;
  const [from, to] = sides;
  const ribbons = options.style === "ribbons";
  const curved = (list.curved = list.count <= CURVED);
  const middle = (left + right) / 2;
  const slot = Math.max(8, 0.86 * from.pitch);
  /** @type {(Path2D | null)[]} */
  const paths = planes.map(() => null);
  const sizes = new Uint32Array(planes.length);
  // Heads leave a token, and arrive, side by side.
  const bands = sides.map(({ pitch }) => Math.min(2.4, (0.6 * pitch) / planes.length));
  const faintness = isDark(state.theme) ? IN_THE_DARK : 1;
  let level = -1;
  pen.lineWidth = list.count < 600 ? 2 : list.count < 2500 ? 1.3 : 0.8;
  /** @type {(plane: number) => void} */
  const flush = (plane) => {
    const path = paths[plane];
    if (!path) return;
    pen.globalAlpha = ribbons ? 0.55 : (level / LEVELS) ** faintness;
    pen.strokeStyle = pen.fillStyle = planes[plane].colour;
    if (ribbons) pen.fill(path);
    else pen.stroke(path);
    paths[plane] = null;
    sizes[plane] = 0;
  };
  for (let i = 0; i < list.count; i++) {
    const [a, b] = [from.at[list.from[i]], to.at[list.to[i]]];
    if ((a < 0 && b < 0) || (a > extent && b > extent)) continue;
    const here = LEVEL_OF[list.value[i]];
    if (here !== level) {
      for (let plane = 0; plane < planes.length; plane++) flush(plane);
      level = here;
    }
    const plane = list.plane[i];
    const path = (paths[plane] ??= pathFor(pen));
    const band = plane - (planes.length - 1) / 2;
    if (ribbons) {
      const width = (slot * list.value[i]) / 255 / planes.length;
      ribbon(path, left, a - slot / 2 + slot * list.start[i], right, b + band * bands[1] - width / 2, width, middle);
    } else {
      const [start, end] = [a + band * bands[0], b + band * bands[1]];
      path.moveTo(left, start);
      if (curved) path.bezierCurveTo(middle, start, middle, end, right, end);
      else path.lineTo(right, end);
    }
    if (++sizes[plane] >= CHUNK) flush(plane);
  }
  for (let plane = 0; plane < planes.length; plane++) flush(plane);
  pen.globalAlpha = 1;
}

const LEVEL_OF = Uint8Array.from({ length: 256 }, (_, byte) => Math.ceil(LEVELS * shade(byte / 255)));

/** @type {(path: Path2D, left: number, a: number, right: number, b: number, width: number, middle: number) => void} */
function ribbon(path, left, a, right, b, width, middle) {
  path.moveTo(left, a);
  path.bezierCurveTo(middle, a, middle, b, right, b);
  path.lineTo(right, b + width);
  path.bezierCurveTo(middle, b + width, middle, a + width, left, a + width);
  path.closePath();
}

/** @type {(state: State) => void} */
export function drawAll(state) {
  const pen = penOf(state, state.canvases[0]);
  const [left, right] = [state.room + 6, state.across - state.room - 6];
  paint(pen, state, state.lines, left, right);
  breakLines(pen, state, null, left, right);
}

// What is cut: a broken line.
/** @type {(pen: Brush, state: State, place: Place | null, left: number, right: number) => void} */
function breakLines(pen, state, place, left, right) {
  const [from, to] = state.sides;
  const middle = (left + right) / 2;
  pen.lineWidth = 1.5;
  pen.setLineDash([5, 5]);
  pen.strokeStyle = css(state.theme.ink);
  for (const [query, key] of cutsOf(state, place)) {
    const path = pathFor(pen);
    path.moveTo(left, from.at[query]);
    path.bezierCurveTo(middle, from.at[query], middle, to.at[key], right, to.at[key]);
    pen.stroke(path);
  }
  pen.setLineDash([]);
}

// The lines of one token end in bars: the mean weight, and in it the share of each head.
/** @type {(state: State, place: Place) => void} */
export function drawFocus(state, place) {
  const [side, position] = place;
  const { planes, room, across, sides, values, header, extent } = state;
  const pen = penOf(state, state.canvases[1]);
  const list = gather(state, (act) => scanOf(state, place, act), FOCUSED_LINES);
  const [left, right] = [room + 6, across - room - 6];
  const edge = side === 0 ? right - BAR : left + BAR;
  const [start, end] = side === 0 ? [left, edge] : [edge, right];
  paint(pen, state, list, start, end);
  breakLines(pen, state, place, start, end);
  state.focusedLines = list;
  const other = sides[1 - side];
  const highest = values.reduce((a, b) => (b > a ? b : a), 0);
  if (!highest) return;
  const high = Math.max(1.5, Math.min(11, 0.6 * other.pitch));
  const paths = planes.map(() => pathFor(pen));
  for (let i = 0; i < other.count; i++) {
    if (!(values[i] > 0.02 * highest) || other.at[i] < 0 || other.at[i] > extent) continue;
    const index = side === 0 ? position * header.shape[2] + i : i * header.shape[2] + position;
    let bytes = 0;
    for (let plane = 0; plane < planes.length; plane++) bytes += planes[plane].data[index];
    const scale = (BAR * values[i]) / highest / Math.max(1, bytes);
    for (let plane = 0, x = edge; plane < planes.length; plane++) {
      const wide = planes[plane].data[index] * scale;
      if (wide < 0.1) continue;
      paths[plane].rect(side === 0 ? x : x - wide, other.at[i] - high / 2, wide, high);
      x += side === 0 ? wide : -wide;
    }
  }
  planes.forEach((plane, i) => {
    pen.fillStyle = plane.colour;
    pen.fill(paths[i]);
  });
}
