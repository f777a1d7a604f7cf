// A pen that writes down as SVG what a canvas is told to draw: as much of CanvasRenderingContext2D as our views use.
// A view draws on `penOn(canvas)` and says in `canvas.redraw` how to draw again; paths that it keeps come from `pen.path()`.

import { penOn } from "../../shared/canvas.js";
import { lookUp } from "../../shared/lookup.js";

/** @typedef {import("./types").Attributes} Attributes */
/** @typedef {import("./types").Matrix} Matrix */

export const SVG = "http://www.w3.org/2000/svg";
const PEN = {
  fillStyle: "#000",
  strokeStyle: "#000",
  lineWidth: 1,
  globalAlpha: 1,
  font: "10px sans-serif",
  textAlign: "start",
  textBaseline: "alphabetic",
  lineCap: "butt",
  lineJoin: "miter",
  imageSmoothingEnabled: true,
};
const ANCHORS = { center: "middle", right: "end", end: "end", left: "start", start: "start" };

class Trail {
  constructor() {
    /** @type {string[]} */
    this.d = [];
  }
  /** @type {(letter: string, ...numbers: number[]) => Trail} */
  add(letter, ...numbers) {
    this.d.push(letter + numbers.map(short).join(" "));
    return this;
  }
  /** @type {(x: number, y: number) => void} */
  moveTo(...to) {
    this.add("M", ...to);
  }
  /** @type {(x: number, y: number) => void} */
  lineTo(...to) {
    this.add("L", ...to);
  }
  /** @type {(...to: Matrix) => void} */
  bezierCurveTo(...to) {
    this.add("C", ...to);
  }
  /** @type {(...to: [number, number, number, number]) => void} */
  quadraticCurveTo(...to) {
    this.add("Q", ...to);
  }
  closePath() {
    this.d.push("Z");
  }
  /** @type {(x: number, y: number, w: number, h: number) => void} */
  rect(x, y, w, h) {
    this.add("M", x, y).add("h", w).add("v", h).add("h", -w).closePath();
  }
  /** @type {(x: number, y: number, w: number, h: number, radius?: number | number[]) => void} */
  roundRect(x, y, w, h, radius = 0) {
    this.d.push(rounded(x, y, w, h, Array(4).fill(Number(Array.isArray(radius) ? radius[0] : radius))));
  }
  /** @type {(x: number, y: number, r: number, start: number, end: number, back?: boolean) => void} */
  arc(x, y, r, start, end, back = false) {
    const turn = Math.min(2 * Math.PI, Math.abs(end - start)) * (back ? -1 : 1);
    /** @type {(angle: number) => [number, number]} */
    const at = (angle) => [x + r * Math.cos(angle), y + r * Math.sin(angle)];
    this.add(this.d.length ? "L" : "M", ...at(start));
    for (const part of [0.5, 1]) this.add("A", r, r, 0, 0, back ? 0 : 1, ...at(start + part * turn));
  }
}

export class Pen {
  /** @param {HTMLCanvasElement} canvas */
  constructor(canvas) {
    this.canvas = canvas;
    /** @type {string[]} */
    this.parts = [];
    this.trail = new Trail();
    /** @type {Partial<Pen>[]} */
    this.kept = [];
    /** @type {Matrix} */
    this.matrix = [1, 0, 0, 1, 0, 0];
    /** @type {number[]} */
    this.dash = [];
    this.fillStyle = PEN.fillStyle;
    this.strokeStyle = PEN.strokeStyle;
    this.lineWidth = PEN.lineWidth;
    this.globalAlpha = PEN.globalAlpha;
    this.font = PEN.font;
    this.textAlign = PEN.textAlign;
    this.textBaseline = PEN.textBaseline;
    this.lineCap = PEN.lineCap;
    this.lineJoin = PEN.lineJoin;
    this.imageSmoothingEnabled = PEN.imageSmoothingEnabled;
  }
  path() {
    return new Trail();
  }
  save() {
    const { matrix, dash, trail, kept, parts, canvas, ...look } = this;
    kept.push({ ...look, matrix: [...matrix], dash: [...dash] });
  }
  restore() {
    Object.assign(this, this.kept.pop());
  }
  /** @type {(...matrix: Matrix) => void} */
  setTransform(...matrix) {
    this.matrix = matrix;
  }
  /** @type {(a: number, b: number, c: number, d: number, e: number, f: number) => void} */
  transform(a, b, c, d, e, f) {
    const [A, B, C, D, E, F] = this.matrix;
    this.matrix = [A * a + C * b, B * a + D * b, A * c + C * d, B * c + D * d, A * e + C * f + E, B * e + D * f + F];
  }
  /** @type {(x: number, y: number) => void} */
  translate(x, y) {
    this.transform(1, 0, 0, 1, x, y);
  }
  /** @type {(x: number, y: number) => void} */
  scale(x, y) {
    this.transform(x, 0, 0, y, 0, 0);
  }
  /** @type {(angle: number) => void} */
  rotate(angle) {
    const [c, s] = [Math.cos(angle), Math.sin(angle)];
    this.transform(c, s, -s, c, 0, 0);
  }
  /** @type {(dash: number[]) => void} */
  setLineDash(dash) {
    this.dash = dash;
  }
  clearRect() {} // a view clears its canvas before it draws, and here nothing was drawn yet
  beginPath() {
    this.trail = new Trail();
  }
  /** @type {(path?: Trail) => void} */
  fill(path = this.trail) {
    this.put("path", { d: path.d.join(""), ...this.filled() });
  }
  /** @type {(path?: Trail) => void} */
  stroke(path = this.trail) {
    this.put("path", { d: path.d.join(""), fill: "none", ...this.stroked() });
  }
  /** @type {(x: number, y: number, width: number, height: number) => void} */
  fillRect(x, y, width, height) {
    this.put("rect", { x, y, width, height, ...this.filled() });
  }
  /** @type {(x: number, y: number, width: number, height: number) => void} */
  strokeRect(x, y, width, height) {
    this.put("rect", { x, y, width, height, fill: "none", ...this.stroked() });
  }
  /** @type {(text: string) => TextMetrics} */
  measureText(text) {
    scratch().font = this.font;
    return scratch().measureText(text);
  }
  /** @type {(text: string, x: number, y: number) => void} */
  fillText(text, x, y) {
    this.write(text, x, y, this.filled());
  }
  /** @type {(text: string, x: number, y: number) => void} */
  strokeText(text, x, y) {
    this.write(text, x, y, { fill: "none", ...this.stroked() });
  }
  /** @type {(text: string, x: number, y: number, painting: Attributes) => void} */
  write(text, x, y, painting) {
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = this.measureText("x");
    const shifts = { middle: (up - down) / 2, top: up, hanging: up, bottom: -down, ideographic: -down };
    const shift = lookUp(shifts, this.textBaseline) ?? 0;
    const look = {
      "text-anchor": lookUp(ANCHORS, this.textAlign) ?? "start",
      style: `font:${this.font};white-space:pre`,
      ...painting,
    };
    this.put("text", { x, y: y + shift, ...look }, String(text));
  }
  /** @type {(source: HTMLCanvasElement | HTMLImageElement, ...places: number[]) => void} */
  drawImage(source, ...places) {
    const [sx, sy, sw, sh, x, y, width, height] = places.length === 8 ? places : [0, 0, source.width, source.height, ...places];
    if (!(sw > 0 && sh > 0)) return;
    const cut = document.createElement("canvas");
    Object.assign(cut, { width: Math.round(sw), height: Math.round(sh) });
    penOn(cut).drawImage(source, sx, sy, sw, sh, 0, 0, cut.width, cut.height);
    /** @type {Attributes} */
    const look = { href: cut.toDataURL(), preserveAspectRatio: "none", opacity: this.globalAlpha };
    if (!this.imageSmoothingEnabled) look.style = "image-rendering:pixelated";
    this.put("image", { x, y, width: width ?? sw, height: height ?? sh, ...look });
  }
  /** @type {() => Attributes} */
  filled() {
    return painted("fill", this.fillStyle, this.globalAlpha);
  }
  /** @type {() => Attributes} */
  stroked() {
    /** @type {Attributes} */
    const look = { "stroke-width": this.lineWidth };
    if (this.dash.length) look["stroke-dasharray"] = this.dash.join(" ");
    if (this.lineCap !== PEN.lineCap) look["stroke-linecap"] = this.lineCap;
    if (this.lineJoin !== PEN.lineJoin) look["stroke-linejoin"] = this.lineJoin;
    return { ...painted("stroke", this.strokeStyle, this.globalAlpha), ...look };
  }
  /** @type {(x: number, y: number) => void} */
  moveTo(x, y) {
    this.trail.moveTo(x, y);
  }
  /** @type {(x: number, y: number) => void} */
  lineTo(x, y) {
    this.trail.lineTo(x, y);
  }
  /** @type {(...to: Matrix) => void} */
  bezierCurveTo(...to) {
    this.trail.bezierCurveTo(...to);
  }
  /** @type {(...to: [number, number, number, number]) => void} */
  quadraticCurveTo(...to) {
    this.trail.quadraticCurveTo(...to);
  }
  closePath() {
    this.trail.closePath();
  }
  /** @type {(x: number, y: number, w: number, h: number) => void} */
  rect(x, y, w, h) {
    this.trail.rect(x, y, w, h);
  }
  /** @type {(x: number, y: number, w: number, h: number, radius?: number | number[]) => void} */
  roundRect(x, y, w, h, radius = 0) {
    this.trail.roundRect(x, y, w, h, radius);
  }
  /** @type {(x: number, y: number, r: number, start: number, end: number, back?: boolean) => void} */
  arc(x, y, r, start, end, back = false) {
    this.trail.arc(x, y, r, start, end, back);
  }
  /** @type {(name: string, attributes: Attributes, text?: string) => void} */
  put(name, attributes, text = "") {
    const plain = this.matrix.join() === "1,0,0,1,0,0";
    this.parts.push(
      tag(name, plain ? attributes : { ...attributes, transform: `matrix(${this.matrix.map(short).join(" ")})` }, safe(text)),
    );
  }
}

/** @type {CanvasRenderingContext2D | undefined} */
let ground; // to measure text on, and to ask what a colour is

/** @type {() => CanvasRenderingContext2D} */
export function scratch() {
  if (!ground) {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    ground = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d", { willReadFrequently: true }));
  }
  return ground;
}

/** @type {Map<string, { hex: string, opacity: number }>} */
const known = new Map();

// A colour as every program reads it: "#rrggbb" and an opacity.
/** @type {(css: string) => { hex: string, opacity: number }} */
export function colour(css) {
  let paint = known.get(css);
  if (paint) return paint;
  const numbers = (css.match(/[\d.]+(?:e-?\d+)?%?/g) ?? []).map((part) =>
    part.endsWith("%") ? parseFloat(part) / 100 : Number(part),
  );
  let rgb, opacity;
  if (/^rgba?\(/.test(css)) [rgb, opacity] = [numbers.slice(0, 3), numbers[3] ?? 1];
  else if (css.startsWith("color(srgb ")) [rgb, opacity] = [numbers.slice(0, 3).map((v) => 255 * v), numbers[3] ?? 1];
  else {
    const pen = scratch();
    pen.clearRect(0, 0, 1, 1);
    pen.fillStyle = "#000";
    pen.fillStyle = css;
    pen.fillRect(0, 0, 1, 1);
    const [r, g, b, a] = pen.getImageData(0, 0, 1, 1).data;
    [rgb, opacity] = [[r, g, b], a / 255];
  }
  const hex =
    "#" +
    rgb
      .map((v) =>
        Math.round(Math.min(255, Math.max(0, v)))
          .toString(16)
          .padStart(2, "0"),
      )
      .join("");
  known.set(css, (paint = { hex, opacity }));
  return paint;
}

/** @type {(name: string, css: string, alpha?: number) => Attributes} */
export function painted(name, css, alpha = 1) {
  const { hex, opacity } = colour(String(css));
  const seen = opacity * alpha;
  return seen < 1 ? { [name]: hex, [name + "-opacity"]: seen } : { [name]: hex };
}

/** @type {(number: number | string) => string} */
export function short(number) {
  return typeof number === "number" ? String(Math.round(1000 * number) / 1000) : number;
}

// Text without what XML cannot hold: control characters, and half of a character.
/** @type {(text: string) => string} */
export function legal(text) {
  // oxlint-disable-next-line no-control-regex
  return String(text).replace(/[\0-\x08\x0b\x0c\x0e-\x1f\ufffe\uffff]|\p{Cs}/gu, "\ufffd");
}

// Text as it may stand in XML.
/** @type {(text: string) => string} */
export function safe(text) {
  return legal(text).replace(/[&<>"]/g, (sign) => `&#${sign.charCodeAt(0)};`);
}

/** @type {(name: string, attributes: Attributes, inside?: string) => string} */
export function tag(name, attributes, inside = "") {
  const written = Object.entries(attributes).map(([key, value]) => ` ${key}="${safe(short(value))}"`);
  return `<${name}${written.join("")}${inside ? `>${inside}</${name}>` : "/>"}`;
}

// A rectangle whose corners have radii: top left, top right, bottom right, bottom left.
/** @type {(x: number, y: number, w: number, h: number, radii: number[]) => string} */
export function rounded(x, y, w, h, radii) {
  const [a, b, c, d] = radii.map((r) => Math.max(0, Math.min(r, w / 2, h / 2)));
  /** @type {(r: number, dx: number, dy: number) => string} */
  const corner = (r, dx, dy) => (r ? `a${short(r)} ${short(r)} 0 0 1 ${short(dx)} ${short(dy)}` : "");
  /** @type {(letter: string, by: number) => string} */
  const along = (letter, by) => letter + short(by);
  return [
    `M${short(x + a)} ${short(y)}`,
    along("h", w - a - b) + corner(b, b, b),
    along("v", h - b - c) + corner(c, -c, c),
    along("h", d + c - w) + corner(d, -d, -d),
    along("v", a + d - h) + corner(a, a, -a) + "Z",
  ].join("");
}
