// An image in patches. Each token is an element over the image, so that a pointer changes a colour and nothing is drawn again.

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { element, makeTool } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";
import { makeToggle } from "../../shared/toggle.js";
import { draw, nameOf } from "./drawing.js";
import { listen, show, writeHidden } from "./pointing.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  const before = state.header;
  Object.assign(state, { header, tell: setTriggerValue, link: header.link });
  if (state.drag === null) state.hidden = new Set(header.hidden);
  if (!header.writes) state.hides = false;
  if (!state.nodes.length || shapeOf(before) !== shapeOf(header)) build(state);
  paint(state);
  draw(state);
  show(state);
}

/** @type {(header: Header) => string} */
const shapeOf = ({ rows, columns, leading }) => JSON.stringify([rows, columns, leading]);

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const toggle = makeToggle("What a press does", { look: "look from a patch", hide: "hide patches" }, (way) => {
    state.hides = way === "hide";
    show(state);
  });
  const all = makeTool("all", "Show all patches", () => {
    state.hidden.clear();
    writeHidden(state);
  });
  const tools = element("div", "tools");
  tools.dataset.take = "no";
  tools.append(toggle.node, all);
  const list = element("div", "tokens");
  list.setAttribute("role", "listbox");
  const [leading, frame, grid] = [element("div", "leading"), element("div", "frame"), element("div", "grid")];
  for (const group of [leading, grid]) group.setAttribute("role", "group");
  leading.setAttribute("aria-label", "Tokens that the model adds");
  grid.setAttribute("aria-label", "Patches");
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  frame.setAttribute("role", "presentation");
  frame.append(canvas, grid);
  list.append(leading, frame);
  const [sentence, legend] = [element("p", "sentence"), element("p", "legend")];
  root.replaceChildren(tools, list, sentence, legend);
  const places = { nodes: [], pointed: -1, focus: 0, hides: false, hidden: new Set(header.hidden), drag: null, later: 0 };
  /** @type {State} */
  const state = {
    root,
    link: header.link,
    header,
    tell,
    toggle,
    all,
    list,
    leading,
    frame,
    grid,
    canvas,
    sentence,
    legend,
    ...places,
  };
  listen(state);
  return state;
}

// The elements of the tokens.
/** @type {(state: State) => void} */
function build(state) {
  const { header, list, leading, grid } = state;
  const { rows, columns } = header;
  const count = header.leading.length + rows * columns;
  state.nodes = Array.from({ length: count }, (_, i) => {
    const before = i < header.leading.length;
    const node = element("div", before ? "chip" : "patch", before ? header.leading[i] : "");
    node.setAttribute("role", "option");
    node.setAttribute("aria-selected", "false");
    node.tabIndex = -1;
    node.dataset.token = String(i);
    return node;
  });
  state.nodes.forEach((node, i) => node.setAttribute("aria-label", nameOf(state, i)));
  leading.replaceChildren(...state.nodes.slice(0, header.leading.length));
  leading.hidden = !header.leading.length;
  grid.replaceChildren(...state.nodes.slice(header.leading.length));
  grid.style.gridTemplate = `repeat(${rows}, 1fr) / repeat(${columns}, 1fr)`;
  grid.classList.toggle("fine", columns > 10);
  state.root.classList.toggle("small", header.small);
  list.setAttribute("aria-label", header.label);
  state.focus = Math.min(state.focus, count - 1);
  state.nodes[state.focus].tabIndex = 0;
}

// The image itself, at its own size; the style makes it as large as the page has room.
/** @type {(state: State) => void} */
function paint({ header, canvas, frame }) {
  const { shape, data } = header.arrays.picture;
  const [height, width] = shape;
  if (canvas.width !== width || canvas.height !== height) Object.assign(canvas, { width, height });
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    image.data.set(data.subarray(3 * i, 3 * i + 3), 4 * i);
    image.data[4 * i + 3] = 255;
  }
  penOn(canvas).putImageData(image, 0, 0);
  frame.classList.toggle("coarse", width < 100);
  frame.style.aspectRatio = `${width} / ${height}`;
}
