// Buttons of what is changed. They stay where they are: a press changes words and states, and makes nothing again.

import { unpack } from "../../shared/bytes.js";
import { activeIn, element, makeButton, makeTool, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  state.tell = (value) => setTriggerValue("chosen", value);
  state.undo.disabled = !header.back;
  state.reset.disabled = !header.names.length;
  const had = state.items.map((item) => item.name);
  const on = state.items.findIndex((item) => item.node === activeIn(state.root));
  header.names.forEach((name, i) => {
    if (had[i] === name) return;
    const item = state.items[i] ?? blank(state, i);
    item.name = name;
    item.node.replaceChildren(element("span", "cross", "×"), name);
    item.node.setAttribute("aria-label", name);
  });
  for (const item of state.items.splice(header.names.length)) item.node.remove();
  if (on >= state.items.length) (state.items.at(-1)?.node ?? state.reset).focus(); // the one that was pressed is gone
  write(state.more, header.more);
}

/** @type {(root: HTMLElement) => State} */
function make(root) {
  const row = element("div", "row");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", "What is changed");
  const undo = makeTool("", "Undo", () => state.tell("undo"));
  const reset = makeTool("", "As it was", () => state.tell("reset"));
  const more = element("span", "more");
  row.append(undo, reset, more);
  root.replaceChildren(row);
  /** @type {State} */
  const state = { root, tell: () => {}, undo, reset, more, items: [] };
  return state;
}

/** @type {(state: State, i: number) => State["items"][number]} */
function blank(state, i) {
  const node = makeButton("item", "", () => state.tell(i));
  node.title = "Take this change back.";
  state.more.before(node);
  return (state.items[i] = { node, name: "" });
}
