// Examples, a drawing, or an image of one's own. What is chosen is a name in the text box of the page.

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { closest, element, makeTool, write } from "../../shared/element.js";
import { rove } from "../../shared/rove.js";
import { stateOf } from "../../shared/state.js";
import { writeText } from "../../shared/write_text.js";
import { makePad, showLevels } from "./pad.js";
import { shrunk } from "./own.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").PackedBytes} PackedBytes */
/** @typedef {import("../../shared/types").Tell} Tell */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  Object.assign(state, { header, tell: setTriggerValue });
  const key = JSON.stringify(header.names);
  if (state.key !== key) fill(state);
  state.key = key;
  state.nodes.forEach((node, i) => node.setAttribute("aria-checked", String(i === header.chosen)));
  state.pad.node.hidden = !header.draws;
  showLevels(state.pad, header.arrays.levels?.data);
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const list = element("div", "examples");
  list.setAttribute("role", "radiogroup");
  list.setAttribute("aria-label", header.label);
  const input = Object.assign(element("input"), { type: "file", accept: "image/*", hidden: true });
  const notice = element("p", "notice");
  notice.setAttribute("role", "status");
  const own = element("div", "own");
  own.append(
    makeTool("", "Your own picture …", () => input.click()),
    input,
    notice,
  );
  const pad = makePad();
  const left = element("div", "left");
  left.append(list, own);
  root.replaceChildren(left, pad.node);
  /** @type {State} */
  const state = { root, header, tell, list, pad, input, notice, nodes: [], focus: 0, key: "" };
  listen(state);
  return state;
}

/** @type {(state: State) => void} */
function listen(state) {
  const { list, input } = state;
  /** @type {(event: Event) => number} */
  const placeOf = (event) => Number(closest(event, "[data-place]")?.dataset.place ?? -1);
  /** @type {(at: number) => void} */
  const choose = (at) => {
    rove(state, state.nodes, at);
    writeText(state.header.names[at]);
  };
  list.addEventListener("click", (event) => placeOf(event) >= 0 && choose(placeOf(event)));
  list.addEventListener("keydown", (event) => {
    const [at, last] = [placeOf(event), state.nodes.length - 1];
    const way = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[event.key];
    if (at < 0 || !(way || event.key === "Enter" || event.key === " ")) return;
    const to = way ? (at + way + last + 1) % (last + 1) : at;
    choose(to);
    state.nodes[to].focus();
    event.preventDefault();
  });
  input.addEventListener("change", () => read(state));
}

/** @type {(state: State) => void} */
function fill(state) {
  const { header, list } = state;
  state.nodes = header.names.map((name, i) => {
    const node = element("div", "example");
    node.setAttribute("role", "radio");
    node.setAttribute("aria-label", name);
    node.title = name;
    node.tabIndex = i === Math.max(0, header.chosen) ? 0 : -1;
    node.dataset.place = String(i);
    node.append(pictureOf(header.arrays[`image${i}`]));
    return node;
  });
  state.focus = Math.max(0, header.chosen);
  list.replaceChildren(...state.nodes);
}

/** @type {(image: PackedBytes) => HTMLCanvasElement} */
function pictureOf({ shape, data }) {
  const [height, width] = shape;
  const canvas = Object.assign(element("canvas", width < 40 ? "coarse" : ""), { width, height });
  const image = new ImageData(width, height);
  for (let i = 0; i < width * height; i++) {
    image.data.set(data.subarray(3 * i, 3 * i + 3), 4 * i);
    image.data[4 * i + 3] = 255;
  }
  penOn(canvas).putImageData(image, 0, 0);
  return canvas;
}

/** @type {(state: State) => Promise<void>} */
async function read(state) {
  const { input, header, notice } = state;
  const file = input.files?.[0];
  input.value = ""; // so that the same file can be chosen again
  if (!file) return;
  write(notice, "Opening …");
  try {
    state.tell("chosen", { picture: await shrunk(file, header.largest), n: Date.now() });
    write(notice, "");
  } catch {
    write(notice, `“${file.name}” is not an image that your browser can open. Save it as PNG or JPEG.`);
  }
}
