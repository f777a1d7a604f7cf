// Every head as a thumbnail, on one canvas. Outlines, labels and what a screen reader needs are ordinary elements above it.
// A head is a number here: layer * heads + head.

import { fromRows, unpack } from "../../shared/bytes.js";
import { element } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { onPoint } from "../../shared/link.js";
import { stateOf } from "../../shared/state.js";
import { draw } from "./drawing.js";
import { explain } from "./legend.js";
import { arrange } from "./places.js";
import { aim, here, outline, press, step, under } from "./pointing.js";
import { cells, describe } from "./words.js";

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  const [layers, heads, rows, columns] = header.shape;
  const order = header.arrays.order?.data ?? null;
  const shape = layers !== state.layers || heads !== state.heads || !order !== !state.order;
  const chosen = header.chosen ? header.chosen[0] * heads + header.chosen[1] : -1;
  if (shape) state.at = -1;
  const sent = header.arrays.maps.data;
  if (header.causal) state.whole = fromRows(sent, layers * heads, rows, state.whole);
  state.maps = header.causal ? state.whole : sent;
  Object.assign(state, {
    header,
    tell: setTriggerValue,
    link: header.link,
    layers,
    heads,
    rows,
    columns,
    order,
    chosen,
    count: layers * heads,
  });
  state.drawn = order ? [...order] : Array.from({ length: layers * heads }, (_, i) => i);
  state.box.setAttribute("aria-label", header.label);
  if (shape) cells(state);
  describe(state);
  explain(state);
  arrange(state);
  draw(state);
  outline(state);
}

function make(state) {
  const box = element("div", "box");
  box.setAttribute("role", "grid");
  box.tabIndex = 0;
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  canvas.redraw = () => draw(state);
  const labels = element("div", "labels");
  labels.setAttribute("aria-hidden", "true");
  const chosen = element("div", "chosen");
  const pointed = element("div", "pointed");
  const table = element("div", "hidden");
  table.setAttribute("role", "rowgroup");
  const large = element("div", "large");
  large.setAttribute("aria-hidden", "true");
  box.append(canvas, labels, pointed, chosen, table, large);
  const left = element("p", "left");
  left.setAttribute("role", "status");
  const legend = element("p", "legend");
  state.root.replaceChildren(box, left, legend);
  Object.assign(state, { box, canvas, labels, legend, left, large, marks: { chosen, pointed }, table, at: -1, chosen: -1 });

  onMove(box, (event) => aim(state, under(state, event)));
  box.addEventListener("pointerleave", () => aim(state, -1));
  box.addEventListener("click", (event) => press(state, under(state, event)));
  box.addEventListener("focus", () => box.matches(":focus-visible") && aim(state, here(state)));
  box.addEventListener("blur", () => aim(state, -1));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") press(state, here(state));
    else if (event.key === "Escape" && state.at >= 0) aim(state, -1);
    else {
      const to = step(state, here(state), event.key);
      if (to < 0) return;
      aim(state, to);
      state.marks.pointed.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    event.preventDefault();
  });
  onPoint(state, (head) => head < state.count && aim(state, head, true));
  new ResizeObserver(() => {
    if (!state.header || !arrange(state)) return;
    draw(state);
    outline(state);
  }).observe(state.root);
}
