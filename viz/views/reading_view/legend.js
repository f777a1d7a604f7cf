// What the strips and the shades mean, and their colours.

import { shadesOf, stripOf } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { counted } from "../../shared/number.js";

/** @typedef {import("./types").State} State */

export const FULL = 0.8; // of the accent: text on it stays readable
const STRIP = 5; // CSS pixels of a head's strip with the gap below it; fewer where there are many

// What the strips or the shades mean; nothing where attention of one head is shown.
/** @type {(state: State) => void} */
export function explain(state) {
  const { legend, header, text } = state;
  const { heads, quantity } = header;
  legend.hidden = !heads && !quantity && !header.broken;
  const strip = heads ? Math.max(2, Math.min(STRIP, Math.floor(28 / heads.names.length))) : 0;
  text.style.setProperty("--strips", heads ? heads.names.length * strip + "px" : "0px");
  text.style.setProperty("--more", `var(--${moreOf(state)})`);
  text.style.setProperty("--strip", Math.max(1, strip - 1) + "px");
  state.strip = strip;
  /** @type {(string | HTMLElement)[]} */
  const parts = [];
  if (heads) {
    parts.push(element("span", "", "shade: the mean; strips:"));
    const colours = inks(state);
    heads.names.forEach((name, i) => {
      const node = element("span", "key");
      const box = element("i");
      box.style.background = colours[i];
      node.append(box, name);
      parts.push(node);
    });
  } else if (quantity) {
    const node = element("span", "key");
    const box = element("i", "scale");
    const below = quantity.signed ? shadesOf("minus", FULL).toReversed() : [];
    box.style.background = stripOf([...below, ...shadesOf(moreOf(state), FULL)]);
    node.append(quantity.low, box, `${quantity.high} ${quantity.unit}`.trim());
    parts.push(node);
    const { apart } = quantity;
    if (apart !== undefined) parts.push(`${header.names[apart]}: ${quantity.words[apart]}, beyond these shades`);
  }
  const { broken } = header;
  if (broken)
    parts.push(`${counted(broken, "weight is not a number", "weights are not numbers")} here, so nothing is drawn for them.`);
  legend.replaceChildren(...parts);
}

// The colour of what is above zero, by its name in CSS.
/** @type {(state: State) => string} */
const moreOf = ({ header }) => (header.quantity?.diverging ? "plus" : "accent");

// The colours of several heads on this page; none where one is shown.
/** @type {(state: State) => string[]} */
export function inks({ header }) {
  return header.heads?.colours ?? [];
}
