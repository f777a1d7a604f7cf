// The square to draw in. The digits that its model has read were counted from 32 × 32 black and white dots, 4 × 4 of them for each of
// 8 × 8 pixels, so a stroke is counted in the same way.

import { penOn } from "../../shared/canvas.js";
import { element, makeTool } from "../../shared/element.js";
import { writeText } from "../../shared/write_text.js";

/** @typedef {import("./types").Pad} Pad */

const [SIDE, FINE, MOST] = [8, 4, 15]; // pixels along a side, dots along one of a pixel, and the largest level
const DOTS = SIDE * FINE;
const RADIUS = 2.2; // dots around a stroke
/** @type {Record<string, [number, number]>} */
const STEPS = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };

/** @type {() => Pad} */
export function makePad() {
  const canvas = Object.assign(element("canvas", "pad"), { width: SIDE, height: SIDE, tabIndex: 0 });
  canvas.setAttribute("role", "application");
  canvas.setAttribute("aria-label", "Square to draw in: arrow keys move, Space draws");
  const node = element("div", "drawing");
  /** @type {Pad} */
  const pad = {
    node,
    canvas,
    before: new Uint8Array(SIDE * SIDE),
    ink: new Uint8Array(DOTS * DOTS),
    erases: false,
    last: null,
    cursor: 0,
    written: "",
  };
  const eraser = makeTool("eraser", "Eraser", () => {
    pad.erases = !pad.erases;
    eraser.setAttribute("aria-pressed", String(pad.erases));
  });
  eraser.setAttribute("aria-pressed", "false");
  const clear = makeTool("", "Clear", () => {
    pad.before.fill(0);
    pad.ink.fill(0);
    send(pad);
  });
  const tools = element("div", "tools");
  tools.append(element("span", "", "Draw here"), eraser, clear);
  node.append(canvas, tools);
  listen(pad);
  return pad;
}

// What a run has read, unless it is what was drawn here.
/** @type {(pad: Pad, levels: ArrayLike<number> | undefined) => void} */
export function showLevels(pad, levels) {
  const now = hex(levels ?? new Uint8Array(SIDE * SIDE));
  if (pad.last || now === pad.written) return;
  pad.written = now;
  pad.before.set(levels ?? new Uint8Array(SIDE * SIDE));
  pad.ink.fill(0);
  paint(pad);
}

/** @type {(levels: ArrayLike<number>) => string} */
const hex = (levels) => Array.from(levels, (level) => level.toString(16)).join("");

/** @type {(pad: Pad) => number[]} */
function levelsOf({ before, ink }) {
  return Array.from(before, (old, i) => {
    const [top, left] = [Math.floor(i / SIDE) * FINE, (i % SIDE) * FINE];
    let dots = 0;
    for (let y = 0; y < FINE; y++) for (let x = 0; x < FINE; x++) dots += ink[(top + y) * DOTS + left + x];
    return Math.max(old, Math.round((MOST * dots) / (FINE * FINE)));
  });
}

/** @type {(pad: Pad) => void} */
function send(pad) {
  const levels = hex(levelsOf(pad));
  paint(pad);
  if (levels === pad.written) return;
  pad.written = levels;
  writeText(`drawn ${levels}`);
}

/** @type {(pad: Pad) => void} */
function paint(pad) {
  const image = new ImageData(SIDE, SIDE);
  levelsOf(pad).forEach((level, i) => image.data.set([...Array(3).fill(Math.round((255 * level) / MOST)), 255], 4 * i));
  penOn(pad.canvas).putImageData(image, 0, 0);
}

// Ink, or none, on all dots near a line.
/** @type {(pad: Pad, from: [number, number], to: [number, number]) => void} */
function stroke(pad, from, to) {
  const length = Math.hypot(to[0] - from[0], to[1] - from[1]);
  const steps = Math.max(1, Math.ceil(length));
  for (let i = 0; i <= steps; i++) dab(pad, from[0] + ((to[0] - from[0]) * i) / steps, from[1] + ((to[1] - from[1]) * i) / steps);
}

/** @type {(pad: Pad, x: number, y: number) => void} */
function dab({ ink, before, erases }, x, y) {
  for (let row = 0; row < DOTS; row++)
    for (let column = 0; column < DOTS; column++) {
      if (Math.hypot(column + 0.5 - x, row + 0.5 - y) > RADIUS) continue;
      ink[row * DOTS + column] = erases ? 0 : 1;
      if (erases) before[Math.floor(row / FINE) * SIDE + Math.floor(column / FINE)] = 0;
    }
}

/** @type {(pad: Pad) => void} */
function listen(pad) {
  const { canvas } = pad;
  /** @type {(event: PointerEvent) => [number, number]} */
  const dotOf = (event) => {
    const edge = canvas.getBoundingClientRect();
    return [((event.clientX - edge.left) / edge.width) * DOTS, ((event.clientY - edge.top) / edge.height) * DOTS];
  };
  /** @type {(event: PointerEvent) => void} */
  const draw = (event) => {
    const at = dotOf(event);
    stroke(pad, pad.last ?? at, at);
    pad.last = at;
    send(pad);
  };
  canvas.addEventListener("pointerdown", (event) => {
    if (event.button) return;
    canvas.setPointerCapture(event.pointerId);
    draw(event);
  });
  canvas.addEventListener("pointermove", (event) => pad.last && draw(event));
  for (const kind of /** @type {const} */ (["pointerup", "pointercancel"]))
    canvas.addEventListener(kind, () => (pad.last = null));
  canvas.addEventListener("keydown", (event) => {
    const way = STEPS[event.key];
    if (!way && event.key !== " ") return;
    event.preventDefault();
    const [x, y] = [pad.cursor % SIDE, Math.floor(pad.cursor / SIDE)];
    if (way) pad.cursor = clamped(y + way[1]) * SIDE + clamped(x + way[0]);
    else dab(pad, (x + 0.5) * FINE, (y + 0.5) * FINE);
    canvas.style.setProperty("--column", String(pad.cursor % SIDE));
    canvas.setAttribute("aria-description", `Row ${Math.floor(pad.cursor / SIDE) + 1}, column ${(pad.cursor % SIDE) + 1}`);
    if (!way) send(pad);
  });
}

/** @type {(place: number) => number} */
const clamped = (place) => Math.min(SIDE - 1, Math.max(0, place));
