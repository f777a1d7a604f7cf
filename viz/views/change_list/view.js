// Buttons of what is changed. They stay where they are: a press changes words and states, and makes nothing again.

import { unpack } from "../../shared/bytes.js";
import { element, makeButton, makeTool, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

export function mount({ parentElement, data, setTriggerValue }) {
  const state = stateOf(parentElement, make);
  const header = unpack(data);
  Object.assign(state, { header, tell: (value) => setTriggerValue("chosen", value) });
  state.undo.disabled = !header.back;
  state.reset.disabled = !header.names.length;
  const had = state.items.map((item) => item.name);
  const on = state.items.findIndex((item) => item.node === state.root.getRootNode().activeElement);
  header.names.forEach((name, i) => {
    if (had[i] === name) return;
    const item = state.items[i] ?? blank(state, i);
    item.name = name;
    item.node.replaceChildren(element("span", "cross", "×"), name);
    item.node.setAttribute("aria-label", name);
  });
  while (state.items.length > header.names.length) state.items.pop().node.remove();
  if (on >= state.items.length) (state.items.at(-1)?.node ?? state.reset).focus(); // the one that was pressed is gone
  write(state.more, header.more);
}

function make(state) {
  const row = element("div", "row");
  row.setAttribute("role", "group");
  row.setAttribute("aria-label", "What is changed");
  const undo = makeTool("", "Undo", () => state.tell("undo"));
  const reset = makeTool("", "As it was", () => state.tell("reset"));
  const more = element("span", "more");
  row.append(undo, reset, more);
  state.root.replaceChildren(row);
  Object.assign(state, { row, undo, reset, more, items: [] });
}

function blank(state, i) {
  const node = makeButton("item", "", () => state.tell(i));
  node.title = "Take this change back.";
  state.more.before(node);
  return (state.items[i] = { node, name: "" });
}
