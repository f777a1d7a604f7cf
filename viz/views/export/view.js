// Two buttons that take away a picture of the page as it is drawn at this moment.

import { unpack } from "../../shared/bytes.js";
import { element, makeButton } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";
import { pngOf } from "./png.js";
import { pictureOf } from "./walk.js";

export function mount({ parentElement, data }) {
  const state = stateOf(parentElement, make);
  state.header = unpack(data);
  for (const [kind, button] of Object.entries(state.buttons)) button.title = `${state.header.name}.${kind}`;
}

function make(state) {
  const buttons = {};
  const row = element("div", "row");
  for (const kind of ["png", "svg"]) {
    buttons[kind] = makeButton("", kind.toUpperCase(), () => take(state, kind));
    row.append(buttons[kind]);
  }
  const said = element("p", "said");
  said.setAttribute("role", "status");
  state.root.replaceChildren(row, said);
  Object.assign(state, { buttons, said });
}

async function take(state, kind) {
  const { key, name, title, caption, provenance } = state.header;
  state.said.textContent = "";
  try {
    const root = document.querySelector(".st-key-" + CSS.escape(key));
    if (!root) throw new Error("It is not on the page.");
    const picture = pictureOf(root, { title, words: caption, metadata: provenance });
    const notes = { Title: title, Description: caption, Software: "Headlight", Provenance: provenance };
    const blob = kind === "svg" ? new Blob([picture.svg], { type: "image/svg+xml" }) : await pngOf(picture, notes);
    save(blob, `${name}.${kind}`);
  } catch (error) {
    console.error(error);
    state.said.textContent = `This picture could not be taken away as ${kind.toUpperCase()}. ${error.message}`;
  }
}

function save(blob, name) {
  const link = element("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 10000);
}
