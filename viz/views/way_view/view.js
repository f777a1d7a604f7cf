// The stages of a way, as buttons: small ones side by side, in groups, or a line each with its shape and a strip of its numbers.

import { unpack } from "../../shared/bytes.js";
import { css, divergingOf, scaleOf } from "../../shared/colours.js";
import { element, makeButton, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

const SETTLED = 250; // milliseconds until what was opened below a line is there
const SIGN = "M3 1.5 8 6 3 10.5"; // points to the right; CSS turns it down at the stage that is open

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  Object.assign(state, { header, tell: setTriggerValue });
  state.root.setAttribute("aria-label", header.label);
  state.root.classList.toggle("strip", header.strip);
  const shape = JSON.stringify([header.keys, header.groups, header.strip]);
  if (shape !== state.shape) build(state, shape);
  const before = state.chosen;
  state.chosen = header.chosen;
  header.keys.forEach((key, i) => dress(state, state.stops[i], key, i));
  paint(state);
  if (before !== undefined && before !== header.chosen) reveal(state);
}

function make(state) {
  state.root.setAttribute("role", "group");
  Object.assign(state, { stops: [], n: 0 });
  state.root.addEventListener("keydown", (event) => {
    const nodes = state.stops.map(({ node }) => node);
    const at = nodes.indexOf(event.target);
    const move = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (at < 0 || !move) return;
    nodes[Math.min(nodes.length - 1, Math.max(0, at + move))].focus();
    event.preventDefault();
  });
  state.root.addEventListener("scroll", () => fadeSides(state.root));
  new ResizeObserver(() => state.header && paint(state)).observe(state.root);
}

function build(state, shape) {
  const { keys, groups, strip } = state.header;
  state.shape = shape;
  state.stops = keys.map((key) => blank(state, key, strip));
  const blocks = [];
  state.stops.forEach((stop, i) => {
    if (!i || groups[i] !== groups[i - 1]) {
      const block = element("div", groups[i] ? "group named" : "group");
      if (groups[i]) block.append(element("span", "name-of-group", groups[i]));
      block.append(element("div", "stops"));
      blocks.push(block);
    }
    blocks.at(-1).lastChild.append(stop.node);
  });
  state.root.replaceChildren(...blocks);
}

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

function dress({ header }, stop, key, i) {
  const open = key === header.chosen;
  write(stop.name, header.names[i]);
  if (header.strip) stop.node.setAttribute("aria-pressed", open);
  else {
    write(stop.gist, header.gists[i]);
    write(stop.shape, header.shapes[i]);
    stop.node.setAttribute("aria-expanded", open);
  }
}

function paint(state) {
  const { header, stops, root } = state;
  fadeSides(root);
  const [both, sequential] = [divergingOf(root), scaleOf(root)].map((scale) => scale.map(css));
  const bytes = header.arrays.shades.data;
  let at = 0;
  header.counts.forEach((count, i) => {
    const { canvas } = stops[i];
    const cells = bytes.subarray(at, (at += count));
    canvas.hidden = !count;
    const { clientWidth: width, clientHeight: height } = canvas;
    if (!count || !width) return;
    const sharp = devicePixelRatio || 1;
    canvas.width = Math.round(width * sharp);
    canvas.height = Math.round(height * sharp);
    const pen = canvas.getContext("2d");
    const scale = header.signed[i] ? both : sequential;
    const edge = (cell) => Math.round((cell * canvas.width) / count);
    cells.forEach((cell, j) => {
      pen.fillStyle = scale[cell];
      pen.fillRect(edge(j), 0, Math.max(1, edge(j + 1) - edge(j)), canvas.height);
    });
  });
}

function fadeSides(root) {
  root.classList.toggle("before", root.scrollLeft > 2);
  root.classList.toggle("after", root.scrollLeft + root.clientWidth < root.scrollWidth - 2);
}

// What was opened elsewhere comes into sight: in a strip sideways only, so that the page stays where it is.
function reveal({ header, stops, root }) {
  const stop = stops[header.keys.indexOf(header.chosen)];
  if (!stop) return;
  if (header.strip) {
    const [outer, inner] = [root.getBoundingClientRect(), stop.node.getBoundingClientRect()];
    root.scrollLeft += inner.left + inner.width / 2 - outer.left - outer.width / 2;
  } else setTimeout(() => stop.node.scrollIntoView({ block: "nearest" }), SETTLED);
}
