// The stages of a way, as buttons: small ones side by side, in groups, or a line each with its shape and a strip of its numbers.

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { css, divergingOf, scaleOf, stripOf } from "../../shared/colours.js";
import { element, makeButton, write } from "../../shared/element.js";
import { lookUp } from "../../shared/lookup.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Stop} Stop */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").RGB} RGB */
/** @typedef {import("../../shared/types").Tell} Tell */

const SETTLED = 250; // milliseconds until what was opened below a line is there
const BUSY = "input:focus, textarea:focus, [aria-haspopup][aria-expanded=true]"; // somebody types, or has opened a menu
const SIGN = "M3 1.5 8 6 3 10.5"; // points to the right; CSS turns it down at the stage that is open

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  Object.assign(state, { header, tell: setTriggerValue });
  state.root.setAttribute("aria-label", header.label);
  state.root.classList.toggle("strip", header.strip);
  state.root.classList.toggle("plain", !header.shapes.some(Boolean));
  const shape = JSON.stringify([header.keys, header.groups, header.strip]);
  if (shape !== state.shape) build(state, shape);
  explain(state);
  const before = state.chosen;
  state.chosen = header.chosen;
  header.keys.forEach((key, i) => dress(state, state.stops[i], key, i));
  paint(state);
  if (before !== header.chosen && (before !== null || !header.strip)) reveal(state); // a link too opens a line
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  root.setAttribute("role", "group");
  const [legend, body] = [element("div", "key"), element("div", "body")];
  root.append(legend, body);
  /** @type {State} */
  const state = { root, header, tell, legend, body, stops: [], shape: "", chosen: null, n: 0 };
  root.addEventListener("keydown", (event) => {
    const nodes = state.stops.map(({ node }) => node);
    const at = nodes.findIndex((node) => node === event.target);
    const move = lookUp({ ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }, event.key);
    if (at < 0 || !move) return;
    nodes[Math.min(nodes.length - 1, Math.max(0, at + move))].focus();
    event.preventDefault();
  });
  root.addEventListener("scroll", () => fadeSides(root));
  new ResizeObserver(() => {
    paint(state);
    if (state.header.strip) tellHeight(root);
  }).observe(root);
  return state;
}

// The small ones may stand at the top however far one scrolls: a line that is opened comes into sight below them (see view.css).
/** @type {(root: HTMLElement) => void} */
function tellHeight(root) {
  document.documentElement.style.setProperty("--height-of-strip", `${root.offsetHeight}px`);
}

/** @type {(state: State, shape: string) => void} */
function build(state, shape) {
  const { keys, groups, strip } = state.header;
  state.shape = shape;
  state.stops = keys.map((key) => blank(state, key, strip));
  /** @type {HTMLElement[]} */
  const blocks = [];
  let row = element("div", "stops");
  state.stops.forEach((stop, i) => {
    if (!i || groups[i] !== groups[i - 1]) {
      const block = element("div", groups[i] ? "group named" : "group");
      if (groups[i]) block.append(element("span", "name-of-group", groups[i]));
      row = element("div", "stops");
      block.append(row);
      blocks.push(block);
    }
    row.append(stop.node);
  });
  state.body.replaceChildren(...blocks);
}

// What the colours of the strips mean, for those that are there.
/** @param {State} state */
function explain({ header, legend, root }) {
  legend.hidden = !header.key;
  if (!header.key) return;
  const { before, signed, counts } = header.key;
  legend.replaceChildren(before);
  if (signed) legend.append(bar(signed, divergingOf(root)));
  if (counts) legend.append(bar(counts, scaleOf(root)));
}

/** @type {(ends: [string, string], scale: RGB[]) => HTMLElement} */
function bar([low, high], scale) {
  const node = element("span", "scale");
  const strip = element("i");
  strip.style.background = stripOf(scale.filter((_, i) => i % 15 === 0).map(css));
  node.append(low, strip, high);
  return node;
}

/** @type {(state: State, key: string, strip: boolean) => Stop} */
function blank(state, key, strip) {
  const node = makeButton("stop", "", () => {
    state.n = Math.max(state.n + 1, Date.now());
    state.tell("chosen", { key, n: state.n });
  });
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const name = element("span", "name");
  const [gist, shape] = [element("span", "gist"), element("span", "shape")];
  if (strip) node.append(canvas, name);
  else {
    const sign = element("span", "turn");
    sign.innerHTML = `<svg viewBox="0 0 12 12" aria-hidden="true"><path d="${SIGN}"/></svg>`;
    const words = element("span", "words");
    words.append(name, gist);
    node.append(sign, words, shape, canvas);
  }
  return { node, canvas, name, gist, shape };
}

/** @type {(state: State, stop: Stop, key: string, i: number) => void} */
function dress({ header }, stop, key, i) {
  const open = key === header.chosen;
  write(stop.name, header.names[i]);
  if (header.strip) stop.node.setAttribute("aria-pressed", String(open));
  else {
    write(stop.gist, header.gists[i]);
    write(stop.shape, header.shapes[i]);
    stop.node.setAttribute("aria-expanded", String(open));
  }
}

// Sizes are all read before anything is changed: the browser lays the page out once, and not once for each strip.
/** @type {(state: State) => void} */
function paint(state) {
  const { header, stops, root } = state;
  fadeSides(root);
  const [both, sequential] = [divergingOf(root), scaleOf(root)].map(pixelsOf);
  const bytes = header.arrays.shades.data;
  const sharp = devicePixelRatio || 1;
  stops.forEach(({ canvas }, i) => {
    if (canvas.hidden !== !header.counts[i]) canvas.hidden = !header.counts[i];
  });
  const sizes = stops.map(({ canvas }) => [canvas.clientWidth, canvas.clientHeight].map((side) => Math.round(side * sharp)));
  let at = 0;
  header.counts.forEach((count, i) => {
    const cells = bytes.subarray(at, (at += count));
    const [width, height] = sizes[i];
    if (count && width && height) fill(stops[i].canvas, width, height, cells, header.signed[i] ? both : sequential);
  });
}

// The cells side by side, each as wide as the others: one row of pixels, written again and again.
/** @type {(canvas: HTMLCanvasElement, width: number, height: number, cells: Uint8Array, scale: Uint32Array) => void} */
function fill(canvas, width, height, cells, scale) {
  if (canvas.width !== width) canvas.width = width;
  if (canvas.height !== height) canvas.height = height;
  const image = new ImageData(width, height);
  const pixels = new Uint32Array(image.data.buffer);
  for (let x = 0; x < width; x++) pixels[x] = scale[cells[Math.floor(((x + 0.5) * cells.length) / width)]];
  for (let row = 1; row < height; row++) pixels.copyWithin(row * width, 0, width);
  penOn(canvas).putImageData(image, 0, 0);
}

/** @type {(scale: RGB[]) => Uint32Array} */
function pixelsOf(scale) {
  const pixels = new Uint32Array(scale.length);
  const bytes = new Uint8Array(pixels.buffer);
  scale.forEach((rgb, i) => bytes.set([...rgb, 255], 4 * i));
  return pixels;
}

/** @type {(root: HTMLElement) => void} */
function fadeSides(root) {
  root.classList.toggle("before", root.scrollLeft > 2);
  root.classList.toggle("after", root.scrollLeft + root.clientWidth < root.scrollWidth - 2);
}

// What was opened elsewhere comes into sight: in a strip sideways only, so that the page stays where it is.
// It stays too where somebody has begun something else by then: that would be scrolled away from under the hand.
/** @type {(state: State) => void} */
function reveal({ header, stops, root }) {
  const stop = stops[header.keys.indexOf(header.chosen)];
  if (!stop) return;
  if (header.strip) {
    const [outer, inner] = [root.getBoundingClientRect(), stop.node.getBoundingClientRect()];
    root.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  } else setTimeout(() => document.querySelector(BUSY) || stop.node.scrollIntoView({ block: "nearest" }), SETTLED);
}
