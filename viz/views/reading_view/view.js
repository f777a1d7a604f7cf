// A paragraph whose words are shaded by how much the word one points at looks at them, in one head or in several, or by a number.

import { fromRows, unpack } from "../../shared/bytes.js";
import { colours } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { rove } from "../../shared/rove.js";
import { stateOf } from "../../shared/state.js";
import { makeToggle } from "../../shared/toggle.js";
import { draw } from "./drawing.js";
import { explain } from "./legend.js";
import { listen } from "./pointing.js";
import { write } from "./writing.js";

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  const chosenMoved = header.chosen !== state.header?.chosen;
  if (header.direction !== state.header?.direction) state.direction = header.direction;
  Object.assign(state, { header, tell: setTriggerValue, link: header.link, theme: theme(state.root) });
  if (header.packed)
    for (const [name, maps] of [
      ["weights", 1],
      ["heads", header.heads?.names.length],
    ])
      if (maps) header.arrays[name].data = fromRows(header.arrays[name].data, maps, header.tokens.length);
  write(state);
  explain(state);
  if (chosenMoved && !state.text.contains(state.root.getRootNode().activeElement))
    rove(state, state.text.children, header.chosen);
  if (chosenMoved || state.pointed >= header.tokens.length) state.pointed = -1;
  draw(state);
}

function make(state) {
  const toggle = makeToggle("Direction", { from: "looks at", to: "is looked at by" }, (direction) => {
    state.direction = direction;
    draw(state);
  });
  const text = element("div", "text");
  text.dir = "auto";
  text.setAttribute("role", "group");
  const sentence = element("p", "sentence");
  const below = element("div", "below");
  below.setAttribute("aria-hidden", "true"); // the sentence and the table say them too
  const legend = element("p", "legend");
  const spoken = element("p", "hidden");
  spoken.setAttribute("aria-live", "polite");
  const table = element("table");
  const unseen = element("div", "hidden"); // a table itself would keep its height
  unseen.append(table);
  state.root.replaceChildren(toggle.node, below, text, sentence, legend, spoken, unseen);
  Object.assign(state, {
    toggle,
    text,
    below,
    sentence,
    legend,
    spoken,
    table,
    tokens: [],
    pointed: -1,
    focus: 0,
    direction: "from",
  });
  listen(state);
}

function theme(root) {
  const palette = colours(root);
  palette.inks = new Map();
  return palette;
}
