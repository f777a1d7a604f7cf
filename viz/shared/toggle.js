// Buttons beside each other, of which one is pressed.

import { element, makeButton } from "./element.js";

/** @typedef {import("./types").Toggle} Toggle */

// choices: the words on the button of each value. `show(value)` presses the button of a value; a click calls `act(value)`, which shows it.
/** @type {(label: string, choices: Record<string, string>, act: (value: string) => void) => Toggle} */
export function makeToggle(label, choices, act) {
  const node = element("div", "toggle");
  node.setAttribute("role", "group");
  node.setAttribute("aria-label", label);
  const buttons = Object.entries(choices).map(([value, words]) => ({ value, button: makeButton("", words, () => act(value)) }));
  node.append(...buttons.map(({ button }) => button));
  /** @type {Toggle["show"]} */
  const show = (pressed) =>
    buttons.forEach(({ value, button }) => button.setAttribute("aria-pressed", String(value === pressed)));
  return { node, show };
}
