// A paragraph whose words are shaded by how much the word one points at looks at them, in one head or in several, or by a number.

import { fromRows, unpack } from "../../shared/bytes.js";
import { colours } from "../../shared/colours.js";
import { activeIn, element } from "../../shared/element.js";
import { rove } from "../../shared/rove.js";
import { stateOf } from "../../shared/state.js";
import { makeToggle } from "../../shared/toggle.js";
import { draw } from "./drawing.js";
import { explain } from "./legend.js";
import { listen } from "./pointing.js";
import { nodesOf, write } from "./writing.js";

/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  const chosenMoved = !state.tokens.length || header.chosen !== state.header.chosen;
  if (header.direction !== state.header.direction) state.direction = header.direction;
  Object.assign(state, { header, tell: setTriggerValue, link: header.link, theme: colours(state.root), inks: new Map() });
  const { weights, heads } = header.arrays;
  if (header.packed && weights) weights.data = fromRows(weights.data, 1, header.tokens.length);
  if (header.packed && heads && header.heads) heads.data = fromRows(heads.data, header.heads.names.length, header.tokens.length);
  write(state);
  explain(state);
  if (chosenMoved && !state.text.contains(activeIn(state.root))) rove(state, nodesOf(state), header.chosen);
  if (chosenMoved || state.pointed >= header.tokens.length) state.pointed = -1;
  draw(state);
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const toggle = makeToggle("Direction", { from: "looks at", to: "is looked at by" }, (direction) => {
    state.direction = direction === "to" ? "to" : "from";
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
  root.replaceChildren(toggle.node, below, text, sentence, legend, spoken, unseen);
  /** @type {State} */
  const state = {
    root,
    link: header.link,
    header,
    tell,
    theme: colours(root),
    inks: new Map(),
    direction: header.direction,
    pointed: -1,
    focus: 0,
    tokens: [],
    values: null,
    numbered: [],
    boxes: new Map(),
    strip: 0,
    toggle,
    text,
    below,
    sentence,
    legend,
    spoken,
    table,
    later: 0,
  };
  listen(state);
  return state;
}
