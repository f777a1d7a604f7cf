// All thumbnails on one canvas.

import { penOn } from "../../shared/canvas.js";
import { cividis, css, tintsOf } from "../../shared/colours.js";

/** @typedef {import("./types").State} State */

const FAINT = 0.14;

// All thumbnails into one image at their own resolution, and each from there to its place. The accent's opacity is the weight.
/** @type {(state: State) => void} */
export function draw(state) {
  const { canvas, header, layers, heads, count, rows, columns, side, ratio, places, frame } = state;
  if (!side) return;
  const pen = penOn(canvas);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  state.tint = tintsOf(state.root);
  const faint = header.arrays.faint?.data;
  const pixels = Math.round(side * ratio);
  /** @type {(head: number) => { x: number, y: number }} */
  const at = (head) => {
    const [x, y] = places[head];
    return { x: Math.round(x * ratio), y: Math.round(y * ratio) };
  };
  if (rows && columns) {
    const [high, wide] = [Math.min(rows, pixels), Math.min(columns, pixels)];
    state.sheet.width = wide * heads; // also clears it
    state.sheet.height = high * layers;
    penOn(state.sheet).putImageData(sheet(state, high, wide), 0, 0);
    pen.imageSmoothingEnabled = false;
    for (let head = 0; head < count; head++) {
      pen.globalAlpha = faint?.[head] ? FAINT : 1;
      const { x, y } = at(head);
      pen.drawImage(state.sheet, (head % heads) * wide, Math.floor(head / heads) * high, wide, high, x, y, pixels, pixels);
    }
  }
  // Frames: the thin ones in one stroke, those of a quantity in its colour.
  const radius = Math.min(4, side / 8) * ratio;
  /** @type {(head: number, width: number) => void} */
  const ring = (head, width) => {
    const { x, y } = at(head);
    pen.roundRect(x - width / 2, y - width / 2, pixels + width, pixels + width, radius);
  };
  pen.globalAlpha = 1;
  pen.strokeStyle = getComputedStyle(state.labels).borderTopColor;
  pen.lineWidth = Math.max(1, Math.round(ratio));
  pen.beginPath();
  for (let head = 0; head < count; head++) ring(head, pen.lineWidth);
  pen.stroke();
  if (!frame) return;
  pen.lineWidth = Math.round(frame * ratio);
  for (let head = 0; head < count; head++) {
    const colour = colourOf(state, head);
    if (!colour || faint?.[head]) continue;
    pen.strokeStyle = colour;
    pen.beginPath();
    ring(head, pen.lineWidth);
    pen.stroke();
  }
}

// Where there are fewer pixels than cells, a pixel shows the largest of its cells: a spike is never lost.
/** @type {(state: State, high: number, wide: number) => ImageData} */
function sheet(state, high, wide) {
  const { layers, heads, rows, columns, tint } = state;
  const stride = wide * heads;
  const image = new ImageData(stride, high * layers);
  const out = new Uint32Array(image.data.buffer);
  const small = high < rows || wide < columns ? new Uint8Array(high * wide) : null;
  for (let head = 0; head < layers * heads; head++) {
    let from = mapOf(state, head);
    if (small) from = shrink(from, rows, columns, small.fill(0), high, wide);
    let at = Math.floor(head / heads) * high * stride + (head % heads) * wide;
    for (let y = 0, i = 0; y < high; y++, at += stride) for (let x = 0; x < wide; x++, i++) out[at + x] = tint[from[i]];
  }
  return image;
}

/** @type {(from: Uint8Array, rows: number, columns: number, to: Uint8Array, high: number, wide: number) => Uint8Array} */
function shrink(from, rows, columns, to, high, wide) {
  for (let y = 0; y < rows; y++) {
    const line = Math.floor((y * high) / rows) * wide;
    for (let x = 0; x < columns; x++) {
      const at = line + Math.floor((x * wide) / columns);
      const value = from[y * columns + x];
      if (value > to[at]) to[at] = value;
    }
  }
  return to;
}

/** @type {(state: State, head: number) => Uint8Array} */
export function mapOf({ maps, rows, columns }, head) {
  return maps.subarray(head * rows * columns, (head + 1) * rows * columns);
}

// The colour of a head's frame; empty where it has no value.
/** @type {(state: State, head: number) => string} */
export function colourOf({ header }, head) {
  const value = header.arrays.values?.data[head];
  if (value === undefined || Number.isNaN(value)) return "";
  if (header.quantity?.names) return header.quantity.colours[value];
  return css(cividis(value));
}
