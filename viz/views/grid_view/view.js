// Numbers as coloured cells on one canvas, in one frame or in several that play. Where the pointer or the keyboard is, and what is
// chosen, are ordinary elements above it; a screen reader is given the cell that the keyboard is on, and a table of all.

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { blackOrWhite, colours, css, divergingOf, mix, scaleOf, stripOf } from "../../shared/colours.js";
import { element, write } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { onPoint, point } from "../../shared/link.js";
import { lookUp } from "../../shared/lookup.js";
import { number, tick } from "../../shared/number.js";
import { makePlayer } from "../../shared/player.js";
import { stateOf } from "../../shared/state.js";
import { fillTable } from "../../shared/table.js";

/** @typedef {import("./types").Cell} Cell */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Size} Size */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Brush} Brush */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

const FONT = "12px 'Source Sans 3', 'Source Sans', system-ui, sans-serif";
const SMALL = FONT.replace("12px", "10px"); // of numbers and words where columns are narrow
const NARROW = 40; // pixels of a cell in which a short word is drawn smaller rather than cut
const PRESSED = 0.75; // of its width, to which such a word is pressed together at the most
const RING = 5; // pixels beside a cell for the outline of one that is chosen
const LONGEST = 120; // pixels of a label
const LINE = 14; // pixels between two labels at the least
const TURN = (55 * Math.PI) / 180; // of labels that have no room to lie flat
const LEAN = 6; // pixels that a turned label reaches to the left of where it begins
const NUMBER = /^[−-]?[\d,.]+$/;
/** @type {Size} */
const NO_SIZE = { width: 0, height: 0, top: 0, beside: 0, gap: 0, flat: true, lines: 1 };
const BEAT = 900; // milliseconds a frame

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  const [, rows, columns] = header.arrays.values.shape;
  if (rows !== state.rows || columns !== state.columns) state.at = null;
  Object.assign(state, { header, rows, columns, tell: setTriggerValue, link: header.link });
  state.player.set({ names: header.frames ?? [""] });
  state.box.setAttribute("aria-label", header.label);
  state.box.setAttribute("aria-rowcount", String(rows));
  state.box.setAttribute("aria-colcount", String(columns));
  state.shape = "";
  explain(state);
  arrange(state);
  draw(state);
  reveal(state);
}

// A cell that was chosen elsewhere, such as the last token as one types, is scrolled into sight.
/** @type {(state: State) => void} */
function reveal(state) {
  const { header, scroll, size, shown } = state;
  const at = String(header.chosen) + header.columns.length;
  if (!size.width || at === shown) return;
  state.shown = at;
  if (!header.chosen) return;
  const left = header.chosen[1] * size.width;
  if (left < scroll.scrollLeft) scroll.scrollLeft = left;
  else if (left + size.width > scroll.scrollLeft + scroll.clientWidth)
    scroll.scrollLeft = left + size.width - scroll.clientWidth + RING + 3;
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const player = makePlayer("Frame", BEAT, () => draw(state));
  const left = element("canvas", "left");
  left.setAttribute("aria-hidden", "true");
  const scroll = element("div", "scroll");
  const box = element("div", "box");
  box.setAttribute("role", "grid");
  box.tabIndex = 0;
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const chosen = element("div", "chosen");
  const pointed = element("div", "pointed");
  const row = element("div", "hidden");
  row.setAttribute("role", "row");
  const cell = element("span");
  cell.setAttribute("role", "gridcell");
  cell.id = "cell" + Math.random().toString(36).slice(2, 9);
  row.append(cell);
  box.append(canvas, pointed, chosen, row);
  box.setAttribute("aria-activedescendant", cell.id);
  scroll.append(box);
  const whole = element("div", "whole");
  whole.append(left, scroll);
  const legend = element("p", "legend");
  const tip = element("div", "tip");
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  const details = element("details");
  const table = element("div", "table");
  table.tabIndex = 0;
  details.append(element("summary", "", "As a table"), table);
  root.replaceChildren(player.node, whole, legend, details, tip);
  /** @type {State} */
  const state = {
    root,
    link: header.link,
    header,
    tell,
    rows: 0,
    columns: 0,
    at: null,
    size: NO_SIZE,
    shape: "",
    shown: "",
    player,
    left,
    scroll,
    box,
    canvas,
    marks: { chosen, pointed },
    row,
    cell,
    legend,
    tip,
    details,
    table,
  };
  listen(state);
  return state;
}

/** @type {(state: State) => void} */
function listen(state) {
  const { box, details } = state;
  onMove(box, (event) => go(state, under(state, event)));
  box.addEventListener("pointerleave", () => go(state, null));
  box.addEventListener("click", (event) => press(state, under(state, event)));
  box.addEventListener("focus", () => box.matches(":focus-visible") && go(state, here(state)));
  box.addEventListener("blur", () => go(state, null));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") press(state, here(state));
    else if (event.key === "Escape" && state.at) go(state, null);
    else {
      const to = step(state, here(state), event.key);
      if (!to) return;
      go(state, to);
      state.marks.pointed.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    event.preventDefault();
  });
  details.addEventListener("toggle", () => tabulate(state));
  onPoint(state, (place) => {
    const there = place >= 0 && place < state.rows * state.columns;
    aim(state, there ? [Math.floor(place / state.columns), place % state.columns] : null);
  });
  new ResizeObserver(() => {
    if (!arrange(state)) return;
    draw(state);
    reveal(state);
  }).observe(state.root);
}

// Where the keyboard is: what it points at, else what is chosen, else the first.
/** @type {(state: State) => Cell} */
function here({ at, header }) {
  return at ?? header.chosen ?? [0, 0];
}

/** @type {(state: State, event: MouseEvent) => Cell | null} */
function under({ box, size, rows, columns }, event) {
  const frame = box.getBoundingClientRect();
  const column = Math.floor((event.clientX - frame.left) / size.width);
  const row = Math.floor((event.clientY - frame.top - size.top) / size.height);
  return row >= 0 && column >= 0 && row < rows && column < columns ? [row, column] : null;
}

/** @type {(state: State, at: Cell, key: string) => Cell | null} */
function step({ rows, columns }, [row, column], key) {
  /** @type {Record<string, Cell>} */
  const moves = {
    ArrowUp: [-1, 0],
    ArrowDown: [1, 0],
    ArrowLeft: [0, -1],
    ArrowRight: [0, 1],
    Home: [0, -columns],
    End: [0, columns],
  };
  const move = lookUp(moves, key);
  return move ? [Math.min(rows - 1, Math.max(0, row + move[0])), Math.min(columns - 1, Math.max(0, column + move[1]))] : null;
}

/** @type {(state: State, at: Cell | null) => void} */
function press(state, at) {
  const { blankAnswers } = state.header;
  if (at && (blankAnswers || Number.isFinite(valueAt(state, at)) || isCovered(state, at))) state.tell("chosen", at);
}

/** @type {(state: State, at: Cell) => boolean} */
function isCovered({ header }, [row, column]) {
  return header.covered?.[row][column] ?? false;
}

/** @type {(state: State, at: Cell) => number} */
function valueAt({ header, player, rows, columns }, [row, column]) {
  return header.arrays.values.data[(player.at * rows + row) * columns + column];
}

// Two digits, for a cell: per cent without its sign.
/** @type {(value: number, unit: string) => string} */
function digits(value, unit) {
  if (unit === "%") return String(Math.round(100 * value));
  if (Number.isInteger(value)) return value < 10_000 ? String(value) : "";
  return value
    .toFixed(Math.abs(value) < 9.95 ? 1 : 0)
    .replace(/^-(?=0\.0$)/, "")
    .replace("-", "−");
}

// A cell in words.
/** @type {(state: State, at: Cell) => string} */
function words(state, at) {
  const { header, player } = state;
  const [row, column] = at;
  const value = valueAt(state, at);
  const name = [header.rowNames[row], header.columnNames[column]].filter(Boolean).join(" ");
  const when = header.frames ? `${header.frames[player.at]}, ` : "";
  const note = header.notes?.[row][column] ?? "";
  const reading = isCovered(state, at) ? "not tried yet" : Number.isFinite(value) ? number(value, header.unit) : header.blank;
  return `${when}${name}: ${reading}${note && "\n" + note}`;
}

// Points at a cell; null is none. Views of the same link point there too.
/** @type {(state: State, at: Cell | null) => void} */
function go(state, at) {
  if (String(at) !== String(state.at)) point(state, at ? at[0] * state.columns + at[1] : -1);
  aim(state, at);
}

/** @type {(state: State, at: Cell | null) => void} */
function aim(state, at) {
  const { box, tip, marks, size, root, cell, row } = state;
  state.at = at;
  tip.hidden = !at;
  place(state, marks.pointed, at);
  const on = here(state);
  const sentence = words(state, on);
  write(cell, sentence);
  row.setAttribute("aria-rowindex", String(on[0] + 1));
  cell.setAttribute("aria-colindex", String(on[1] + 1));
  cell.setAttribute("aria-selected", String(String(on) === String(state.header.chosen)));
  if (!at) return;
  tip.textContent = sentence;
  const [outer, inner] = [root.getBoundingClientRect(), box.getBoundingClientRect()];
  const x = inner.left - outer.left + (at[1] + 0.5) * size.width - tip.offsetWidth / 2;
  const above = inner.top - outer.top + size.top + at[0] * size.height - tip.offsetHeight - 6;
  const below = above + tip.offsetHeight + size.height + 12;
  const y = inner.top + size.top + at[0] * size.height - tip.offsetHeight - 6 > 0 ? above : below;
  tip.style.transform = `translate(${Math.max(0, Math.min(outer.width - tip.offsetWidth, x))}px, ${y}px)`;
}

/** @type {(state: State, mark: HTMLElement, at: Cell | null) => void} */
function place({ size }, mark, at) {
  mark.hidden = !at;
  if (!at) return;
  mark.style.transform = `translate(${at[1] * size.width}px, ${size.top + at[0] * size.height}px)`;
  mark.style.width = size.width - size.gap + "px";
  mark.style.height = size.height - size.gap + "px";
}

// How large everything is; true where that changed.
/** @type {(state: State) => boolean} */
function arrange(state) {
  const { root, header, rows, columns, left, canvas, box } = state;
  const room = root.clientWidth;
  if (!room) return false;
  const dark = colours(root).name;
  const shape = `${room} ${devicePixelRatio} ${dark}`;
  if (shape === state.shape) return false;
  state.shape = shape;
  const pen = penOn(canvas);
  pen.font = FONT;
  /** @type {(texts: string[], most: number) => number} */
  const widest = (texts, most) => Math.ceil(Math.max(0, ...texts.map((text) => Math.min(most, pen.measureText(text).width))));
  const beside = widest(header.rows, Math.min(LONGEST, room * 0.3)) + 8;
  const behind = header.rowNotes ? widest(header.rowNotes, 160) + 12 : 0;
  const [least, most] = header.cell;
  let width = Math.min(most, Math.max(least, (room - beside - behind - 2) / columns));
  const labels = widest(header.columns, LONGEST);
  const whole = labels <= width - 3;
  const flat = whole || widest(header.columns.flatMap(broken), LONGEST) <= width; // in two lines, "feed-" above "forward"
  const slope = flat ? 0 : Math.ceil(labels * Math.cos(TURN)) + 6;
  const fits = (room - beside - Math.max(behind, slope, RING) - 2) / columns;
  width = Math.min(width, Math.max(least, fits));
  const sight = room - beside - RING; // where the grid has to scroll, whole columns are in sight
  if (width <= least && columns * least > sight) width = Math.min(most, sight / Math.max(1, Math.floor(sight / least)));
  const lines = whole ? 1 : 2;
  const top = flat ? lines * LINE + 4 : Math.ceil(labels * Math.sin(TURN)) + 16;
  const height = header.height || width;
  const size = { width, height, top, beside, gap: width > 12 ? 1.5 : width > 6 ? 1 : 0, flat, lines };
  state.size = size;
  const across = Math.ceil(columns * width + Math.max(behind, slope, RING));
  const down = Math.ceil(top + rows * height + 2);
  fit(left, beside, down);
  fit(canvas, across, down);
  box.style.width = across + "px";
  box.style.height = down + "px";
  return true;
}

/** @type {WeakMap<HTMLCanvasElement, number>} */
const pixelsOf = new WeakMap(); // the canvas's own pixels in one of CSS

/** @type {(canvas: HTMLCanvasElement, width: number, height: number) => void} */
function fit(canvas, width, height) {
  const sharp = Math.min(devicePixelRatio || 1, 16000 / Math.max(width, height));
  canvas.width = Math.round(width * sharp);
  canvas.height = Math.round(height * sharp);
  canvas.style.width = width + "px";
  canvas.style.height = height + "px";
  pixelsOf.set(canvas, sharp);
}

/** @type {(canvas: HTMLCanvasElement) => Brush} */
function pencil(canvas) {
  const pen = penOn(canvas);
  const sharp = pixelsOf.get(canvas) ?? 1;
  pen.setTransform(sharp, 0, 0, sharp, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.font = FONT;
  pen.textBaseline = "middle";
  return pen;
}

/** @type {(state: State) => void} */
function draw(state) {
  if (!state.size.width) return;
  const { header, canvas, left, size, rows, columns, player, root, marks } = state;
  const { values, shades } = header.arrays;
  const { ink, paper } = colours(root);
  const soft = css(mix(paper, ink, 0.75));
  const scale = header.signed ? divergingOf(root) : scaleOf(root);
  const pen = pencil(canvas);
  const [w, h] = [size.width - size.gap, size.height - size.gap];
  const tight = header.numbered && header.unit !== "%" && pen.measureText("−8.8").width > w - 4; // then all are smaller
  pen.font = tight ? SMALL : FONT;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      const at = (player.at * rows + row) * columns + column;
      const covered = isCovered(state, [row, column]);
      if (Number.isNaN(values.data[at]) && !covered) continue;
      const colour = covered ? mix(paper, ink, 0.12) : scale[shades.data[at]];
      pen.fillStyle = css(colour);
      pen.fillRect(column * size.width, size.top + row * size.height, w, h);
      const large = header.numbered && Math.abs(values.data[at]) >= header.least;
      const short = large ? digits(values.data[at], header.unit) : "";
      const text = covered
        ? "?"
        : (header.texts?.[row][column] ?? (pen.measureText(short).width <= w - (tight ? 1 : 4) && h > 14 ? short : ""));
      if (!text) continue;
      pen.fillStyle = blackOrWhite(colour);
      pen.textAlign = "center";
      const [x, y] = [column * size.width + w / 2, size.top + (row + 0.5) * size.height];
      if (text === short) pen.fillText(text, x, y);
      else if (NUMBER.test(text)) pen.fillText(fitting(pen, text, w - 2), x, y);
      else word(pen, text, x, y, w);
    }
  }
  pen.font = FONT;
  pen.fillStyle = soft;
  columnLabels(pen, state);
  if (header.rowNotes) {
    pen.textAlign = "left";
    header.rowNotes.forEach((text, row) => pen.fillText(text, columns * size.width + 8, size.top + (row + 0.5) * size.height));
  }
  const side = pencil(left);
  side.fillStyle = soft;
  side.textAlign = "right";
  const every = Math.ceil(LINE / size.height);
  header.rows.forEach((text, row) => {
    if (row % every) return;
    side.fillText(clipped(side, text, size.beside - 8), size.beside - 6, size.top + (row + 0.5) * size.height);
  });
  place(state, marks.chosen, header.chosen);
  aim(state, state.at);
  if (state.details.open) tabulate(state);
}

// A label in two lines, broken after a hyphen or at a space; one line where it has neither.
/** @type {(text: string) => string[]} */
const broken = (text) => {
  const parts = text.split(/(?<=\w-)(?=\w)|(?<=\S) (?=\S)/);
  return parts.length === 2 ? parts : [text];
};

/** @type {(pen: Brush, state: State) => void} */
function columnLabels(pen, { header, size }) {
  const every = Math.ceil((size.flat ? 1 : LINE) / size.width);
  let last = -LINE;
  header.columns.forEach((text, column) => {
    if (column % every) return;
    const middle = (column + 0.5) * size.width;
    const x = size.flat ? middle - size.gap / 2 : Math.max(LEAN, middle - 2);
    if (!size.flat && x - last < LINE - 3) return; // the first stands further right, and the next would stand in it
    last = x;
    pen.textAlign = size.flat ? "center" : "left";
    pen.save();
    pen.translate(x, size.top - (size.flat ? 9 : 8));
    if (!size.flat) pen.rotate(-TURN);
    const parts = size.flat && size.lines > 1 ? broken(text) : [text];
    parts.forEach((part, i) => pen.fillText(clipped(pen, part, LONGEST), 0, (i + 1 - parts.length) * LINE));
    pen.restore();
  });
}

// A word in a cell. Where a short one has no room in a narrow cell, it is drawn smaller and pressed together: cut, it says nothing.
/** @type {(pen: Brush, text: string, x: number, y: number, width: number) => void} */
function word(pen, text, x, y, width) {
  const font = pen.font;
  if (width < NARROW && !fitting(pen, text, width - 6)) {
    pen.font = SMALL;
    if (PRESSED * pen.measureText(text).width <= width - 2) {
      pen.fillText(text, x, y, width - 2);
      pen.font = font;
      return;
    }
    pen.font = font;
  }
  pen.fillText(clipped(pen, text, width - 6), x, y);
}

// A part of a number would be another one.
/** @type {(pen: Brush, text: string, width: number) => string} */
function fitting(pen, text, width) {
  return pen.measureText(text).width <= width ? text : "";
}

/** @type {(pen: Brush, text: string, width: number) => string} */
function clipped(pen, text, width) {
  if (fitting(pen, text, width)) return text;
  const letters = [...text];
  while (letters.length && pen.measureText(letters.join("") + "…").width > width) letters.pop();
  return letters.length ? letters.join("") + "…" : "";
}

/** @type {(state: State) => void} */
function explain({ legend, header, root }) {
  const parts = [];
  if (header.down) parts.push(element("span", "", "down: " + header.down));
  if (header.across) parts.push(element("span", "", "across: " + header.across));
  const strip = element("i");
  strip.style.background = stripOf((header.signed ? divergingOf(root) : scaleOf(root)).filter((_, i) => i % 17 === 0).map(css));
  const [low, high] = header.ends.map((end) => (typeof end === "number" ? tick(end, header.unit) : end));
  const scale = element("span");
  scale.append(low, strip, high);
  if (low || high) parts.push(scale);
  legend.replaceChildren(...parts);
}

// Every number of the frame; made when somebody opens it.
/** @type {(state: State) => void} */
function tabulate(state) {
  const { details, table, header, rows, columns, player } = state;
  if (!details.open) return;
  /** @type {(string | HTMLElement)[][]} */
  const lines = Array.from({ length: rows }, (_, row) => [
    header.rowNames[row],
    ...Array.from({ length: columns }, (_, column) => {
      const [text, note] = [header.texts?.[row][column] ?? "", header.notes?.[row][column] ?? ""];
      const digits = isCovered(state, [row, column]) ? "not tried yet" : number(valueAt(state, [row, column]), header.unit);
      return Object.assign(element("td", "", [text, digits].filter(Boolean).join(" ")), { title: note });
    }),
  ]);
  const filled = element("table");
  const frame = header.frames ? ", " + header.frames[player.at] : "";
  fillTable(filled, header.label + frame, ["", ...header.columnNames], lines);
  filled.querySelector("caption")?.classList.add("hidden");
  table.setAttribute("aria-label", header.label);
  table.setAttribute("role", "region");
  table.replaceChildren(filled);
}
