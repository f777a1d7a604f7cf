// A file of text, read in the browser.

import { unpack } from "../../shared/bytes.js";
import { element, makeButton, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  Object.assign(state, { header, tell: setTriggerValue });
  write(state.button, header.label);
  state.input.accept = header.ends;
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const input = element("input");
  Object.assign(input, { type: "file", hidden: true });
  const button = makeButton("", header.label, () => input.click());
  const said = element("p", "said");
  said.setAttribute("role", "status");
  root.replaceChildren(button, input, said);
  /** @type {State} */
  const state = { root, header, tell, button, input, said };
  input.addEventListener("change", () => read(state));
  return state;
}

/** @type {(state: State) => Promise<void>} */
async function read(state) {
  const file = state.input.files?.[0];
  state.input.value = ""; // so that the same file can be chosen again
  if (!file) return;
  const { largest } = state.header;
  if (file.size > largest) {
    write(state.said, `“${file.name}” has more than ${largest.toLocaleString("en")} bytes, so it was not opened.`);
    return;
  }
  write(state.said, "");
  try {
    state.tell("chosen", { text: await file.text(), n: Date.now() });
  } catch {
    write(state.said, `“${file.name}” cannot be read.`);
  }
}
