// Two buttons that take away a picture of the page as it is drawn at this moment.

import { unpack } from "../../shared/bytes.js";
import { element, makeButton } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";
import { makeToggle } from "../../shared/toggle.js";
import { AS_IT_IS, lookOf } from "./look.js";
import { pngOf } from "./png.js";
import { pictureOf } from "./walk.js";

const CHOICES = {
  ground: ["Background", { page: "as the page", white: "white", none: "transparent" }],
  colours: ["Colours", { screen: "as on screen", light: "light", dark: "dark" }],
};
const chosen = { ...AS_IT_IS }; // for all pictures: who wants one on white wants the next one on white too

export function mount({ parentElement, data, setTriggerValue }) {
  const state = stateOf(parentElement, make);
  state.tell = setTriggerValue;
  state.header = unpack(data);
  for (const [kind, button] of Object.entries(state.buttons)) button.title = `${state.header.name}.${kind}`;
  show(state);
}

function show({ toggles }) {
  for (const [name, toggle] of Object.entries(toggles)) toggle.show(chosen[name]);
}

// On white only the light colours can be read, so each of the two takes the other with it.
function choose(state, name, value) {
  chosen[name] = value;
  if (chosen.ground === "white" && chosen.colours !== "light") {
    if (name === "ground") chosen.colours = "light";
    else chosen.ground = "page";
  }
  show(state);
  state.tell("chosen", chosen.colours); // a page of a figure has them too
}

function make(state) {
  const buttons = {};
  const row = element("div", "row");
  for (const kind of ["png", "svg"]) {
    buttons[kind] = makeButton("", kind.toUpperCase(), () => take(state, kind));
    row.append(buttons[kind]);
  }
  const toggles = {};
  const choices = Object.entries(CHOICES).map(([name, [label, values]]) => {
    const line = element("div", "choice");
    toggles[name] = makeToggle(label, values, (value) => choose(state, name, value));
    line.append(element("span", "", label), toggles[name].node);
    return line;
  });
  const status = element("p", "said");
  status.setAttribute("role", "status");
  state.root.replaceChildren(...choices, row, status);
  Object.assign(state, { buttons, toggles, status });
}

async function take(state, kind) {
  const { key, name, title, caption, provenance, part, themes } = state.header;
  state.status.textContent = "";
  try {
    const place = document.querySelector("." + classOf(key));
    const root = part && place ? partOf(place, part) : place;
    if (!root) throw new Error("It is not on the page.");
    const look = await lookOf(root, chosen, themes);
    const picture = pictureOf(root, { title, words: caption, metadata: provenance, look });
    const notes = { Title: title, Description: caption, Software: "Headlight", Provenance: provenance };
    const blob = kind === "svg" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await pngOf(picture, notes);
    save(blob, `${name}.${kind}`);
  } catch (error) {
    console.error(error);
    state.status.textContent = `This picture could not be taken away as ${kind.toUpperCase()}. ${error.message}`;
  }
}

// The class of an element that Streamlit holds under a key: whatever a class cannot be written with is a hyphen in it.
function classOf(key) {
  return "st-key-" + key.trim().replace(/[^\w-]/g, "-");
}

// The view in a part of a board, which may stand in a shadow root; null where there is none.
function partOf(node, name) {
  if (node.dataset.part === name) return node.querySelector(".slot");
  for (const child of (node.shadowRoot ?? node).children) {
    const part = partOf(child, name);
    if (part) return part;
  }
  return null;
}

function save(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
