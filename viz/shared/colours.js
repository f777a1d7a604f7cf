// The colours that pictures are mixed from, and which text can be read on them.

/** @typedef {import("./types").RGB} RGB */
/** @typedef {import("./types").Theme} Theme */

const SHADE_EXPONENT = 0.7; // the same as in palette.py
export const GROUND = [128, 136, 150, 0.1]; // and this

// How opaque the accent is for an attention weight in [0, 1].
/** @type {(weight: number) => number} */
export function shade(weight) {
  return Math.min(1, Math.max(0, weight)) ** SHADE_EXPONENT;
}

// "#rrggbb" as [r, g, b].
/** @type {(hex: string) => RGB} */
export function rgbOf(hex) {
  return [1, 3, 5].map((at) => parseInt(hex.slice(at, at + 2), 16));
}

// [r, g, b] as CSS.
/** @type {(rgb: RGB) => string} */
export function css(rgb) {
  return `rgb(${rgb.map(Math.round).join(" ")})`;
}

// Part of the way from one colour to another.
/** @type {(from: RGB, to: RGB, part: number) => RGB} */
export function mix(from, to, part) {
  return from.map((v, i) => v + (to[i] - v) * part);
}

// Even in lightness and the same to red-green colour-blind eyes: cividis (Nuñez, Anderton and Renslow 2018), at ten steps.
export const CIVIDIS = "#00224e #123570 #3b496c #575d6d #707173 #8a8678 #a59c74 #c3b369 #e1cc55 #fee838".split(" ").map(rgbOf);

// The colour of this scale at a part of its length, from 0 to 1.
/** @type {(part: number) => RGB} */
export function cividis(part) {
  const place = Math.min(1, Math.max(0, part)) * (CIVIDIS.length - 1);
  const low = Math.min(CIVIDIS.length - 2, Math.floor(place));
  return mix(CIVIDIS[low], CIVIDIS[low + 1], place - low);
}

// A strip from one end of a scale to the other, for a legend, as a background in CSS.
/** @type {(stops: string[], to?: string) => string} */
export function stripOf(stops, to = "right") {
  return `linear-gradient(to ${to}, ${stops.join()})`;
}

// The shades of a colour of the page, given by its name in CSS, from nothing to all; `most`: of the colour at the end.
/** @type {(name: string, most?: number, steps?: number) => string[]} */
export function shadesOf(name, most = 1, steps = 11) {
  const parts = Array.from({ length: steps }, (_, i) => 100 * most * shade(i / (steps - 1)));
  return parts.map((part) => `color-mix(in srgb, var(--${name}) ${part}%, transparent)`);
}

// The accent at the opacity of each weight in a byte, as pixels of an ImageData.
/** @type {(root: HTMLElement) => Uint32Array} */
export function tintsOf(root) {
  const { accent } = colours(root);
  const tints = new Uint32Array(256);
  const bytes = new Uint8Array(tints.buffer);
  for (let i = 0; i < 256; i++) bytes.set([...accent, Math.round(255 * shade(i / 255))], 4 * i);
  return tints;
}

// From a trace of grey, which tells 0 from a blank, to the accent, at 256 steps: dark is much on a light page, and bright on a dark one.
/** @type {(root: HTMLElement) => RGB[]} */
export function scaleOf(root) {
  const { accent, paper } = colours(root);
  const zero = mix(paper, GROUND, GROUND[3]);
  return Array.from({ length: 256 }, (_, i) => mix(zero, accent, shade(i / 255)).map(Math.round));
}

// From blue through the trace of grey, which is zero and stands at 128, to red, at 256 steps.
/** @type {(root: HTMLElement) => RGB[]} */
export function divergingOf(root) {
  const { paper, plus, minus } = colours(root);
  const zero = mix(paper, GROUND, GROUND[3]);
  return Array.from({ length: 256 }, (_, i) => mix(zero, i < 128 ? minus : plus, shade(Math.abs(i - 128) / 127)).map(Math.round));
}

// The colours that pictures are mixed from, as [r, g, b], and those of more and less than nothing; view.css puts them where computed
// style resolves them. A node that has left the page has no style: a picture may come when the visitor has gone on, and nobody sees it.
/** @type {(root: HTMLElement) => Theme} */
export function colours(root) {
  const style = getComputedStyle(root);
  const [ink, accent, paper] = [style.color, style.caretColor, style.columnRuleColor].map(resolved);
  const [plus, minus] = [style.floodColor, style.lightingColor].map(resolved);
  return { ink, accent, paper, plus, minus, name: [ink, accent, paper].join() };
}

// A colour of a computed style as [r, g, b].
/** @type {(text: string) => RGB} */
function resolved(text) {
  const numbers = (text.match(/[\d.]+/g) ?? [0, 0, 0]).slice(0, 3).map(Number);
  return text.startsWith("color(") ? numbers.map((v) => 255 * v) : numbers;
}

// Whether the page is dark.
/** @type {(theme: Pick<Theme, "ink" | "paper">) => boolean} */
export function isDark({ ink, paper }) {
  return luminance(paper) < luminance(ink);
}

/** @type {(rgb: RGB) => number} */
export function luminance(rgb) {
  const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

/** @type {(a: RGB, b: RGB) => number} */
export function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// Black or white, whichever reads better on a colour.
/** @type {(under: RGB) => string} */
export function blackOrWhite(under) {
  return contrast([0, 0, 0], under) > contrast([255, 255, 255], under) ? "#000" : "#fff";
}

// The text colour on the accent at this opacity: the ink while it reads well (5 : 1, since the ground below may differ a little from
// the paper), then black or white; one of them always does.
/** @type {(theme: Pick<Theme, "ink" | "accent" | "paper">, opacity: number) => string} */
export function inkOn({ ink, accent, paper }, opacity) {
  const under = mix(paper, accent, opacity);
  return contrast(ink, under) >= 5 ? "" : blackOrWhite(under);
}
