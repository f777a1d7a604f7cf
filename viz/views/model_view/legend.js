// The lines below: what the filter leaves, the axes, the scales.

import { CIVIDIS, css, shadesOf, stripOf } from "../../shared/colours.js";
import { element, write } from "../../shared/element.js";

/** @typedef {import("./types").State} State */

// The lines below: what the filter leaves, the axes, the scales.
/** @type {(state: State) => void} */
export function explain(state) {
  const { legend, left, header, count } = state;
  const faint = header.arrays.faint?.data;
  const kept = faint ? count - faint.reduce((sum, flag) => sum + flag, 0) : count;
  const sentence = !faint
    ? ""
    : kept
      ? `${kept} of ${count} heads pass the filter.`
      : "No head passes the filter: all are drawn faint.";
  write(left, sentence);
  left.hidden = !sentence;
  legend.hidden = !header.legend;
  /** @type {HTMLElement[]} */
  const parts = [
    element("span", "", header.simple ? "down: from" : "down: from (query)" + (header.chooses ? ", choosing" : "")),
    element("span", "", header.simple ? "across: to" : "across: to (key)"),
    scale("0\u00a0%", shadesOf("accent"), "100\u00a0%"),
  ];
  const { quantity } = header;
  if (quantity?.names) quantity.names.forEach((name, i) => parts.push(swatch(quantity.colours[i], name)));
  else if (quantity) parts.push(scale(quantity.low, CIVIDIS.map(css), `${quantity.high} ${quantity.unit}`.trim(), "frame: "));
  legend.replaceChildren(...parts);
}

/** @type {(low: string, stops: string[], high: string, before?: string) => HTMLElement} */
function scale(low, stops, high, before = "") {
  const node = element("span", "scale");
  const strip = element("i");
  strip.style.background = stripOf(stops);
  node.append(before + low, strip, high);
  return node;
}

/** @type {(colour: string, name: string) => HTMLElement} */
export function swatch(colour, name) {
  const node = element("span", "swatch");
  const box = element("i");
  box.style.borderColor = colour;
  node.append(box, name);
  return node;
}
