// Two buttons that take away a picture of the page as it is drawn at this moment.

import { unpack } from "../../shared/bytes.js";
import { element, makeButton } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";
import { makeToggle } from "../../shared/toggle.js";
import { AS_IT_IS, lookOf } from "./look.js";
import { pngOf } from "./png.js";
import { pictureOf } from "./walk.js";

/** @typedef {import("./types").Chosen} Chosen */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

/** @type {Record<"ground" | "colours", [words: string, values: Record<string, string>]>} */
const CHOICES = {
  ground: ["Background", { page: "as the page", white: "white", none: "transparent" }],
  colours: ["Colours", { screen: "as on screen", light: "light", dark: "dark" }],
};
const chosen = { ...AS_IT_IS }; // for all pictures: who wants one on white wants the next one on white too

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  Object.assign(state, { header, tell: setTriggerValue });
  for (const { kind, button } of state.buttons) button.title = `${header.name}.${kind}`;
  show(state);
}

/** @type {(state: State) => void} */
function show({ toggles }) {
  toggles.ground.show(chosen.ground);
  toggles.colours.show(chosen.colours);
}

// On white only the light colours can be read, so each of the two takes the other with it.
/** @type {(state: State, name: "ground" | "colours", value: string) => void} */
function choose(state, name, value) {
  chosen[name] = value;
  if (chosen.ground === "white" && chosen.colours !== "light") {
    if (name === "ground") chosen.colours = "light";
    else chosen.ground = "page";
  }
  show(state);
  state.tell("chosen", chosen.colours); // a page of a figure has them too
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const buttons = ["png", "svg"].map((kind) => ({ kind, button: makeButton("", kind.toUpperCase(), () => take(state, kind)) }));
  const row = element("div", "row");
  row.append(...buttons.map(({ button }) => button));
  /** @type {(name: "ground" | "colours") => { line: HTMLElement, toggle: import("../../shared/types").Toggle }} */
  const choice = (name) => {
    const [label, values] = CHOICES[name];
    const line = element("div", "choice");
    const toggle = makeToggle(label, values, (value) => choose(state, name, value));
    line.append(element("span", "", label), toggle.node);
    return { line, toggle };
  };
  const [ground, colours] = [choice("ground"), choice("colours")];
  const status = element("p", "said");
  status.setAttribute("role", "status");
  root.replaceChildren(ground.line, colours.line, row, status);
  /** @type {State} */
  const state = { root, header, tell, buttons, toggles: { ground: ground.toggle, colours: colours.toggle }, status };
  return state;
}

/** @type {(state: State, kind: string) => Promise<void>} */
async function take(state, kind) {
  const { key, name, title, caption, provenance, part, themes } = state.header;
  state.status.textContent = "";
  try {
    const place = /** @type {HTMLElement | null} */ (document.querySelector("." + classOf(key)));
    const root = part && place ? partOf(place, part) : place;
    if (!root) throw new Error("It is not on the page.");
    const look = await lookOf(root, chosen, themes);
    const picture = pictureOf(root, { title, heading: title, words: caption, metadata: provenance, look });
    const notes = { Title: title, Description: caption, Software: "Headlight", Provenance: provenance };
    const blob = kind === "svg" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await pngOf(picture, notes);
    save(blob, `${name}.${kind}`);
  } catch (error) {
    console.error(error);
    state.status.textContent = `This picture could not be taken away as ${kind.toUpperCase()}. ${error instanceof Error ? error.message : error}`;
  }
}

// The class of an element that Streamlit holds under a key: whatever a class cannot be written with is a hyphen in it.
/** @type {(key: string) => string} */
function classOf(key) {
  return "st-key-" + key.trim().replace(/[^\w-]/g, "-");
}

// The view in a part of a board, which may stand in a shadow root; null where there is none.
/** @type {(node: Element, name: string) => HTMLElement | null} */
function partOf(node, name) {
  if (node instanceof HTMLElement && node.dataset.part === name) return node.querySelector(".slot");
  for (const child of (node.shadowRoot ?? node).children) {
    const part = partOf(child, name);
    if (part) return part;
  }
  return null;
}

/** @type {(blob: Blob, name: string) => void} */
function save(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
