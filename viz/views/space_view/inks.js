// The colours of the points, for the page as it is, light or dark.

import { cividis, colours, contrast, isDark, mix, rgbOf } from "../../shared/colours.js";

/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").RGB} RGB */

// The colours for the page as it is, light or dark.
/** @type {(state: State) => void} */
export function paint(state) {
  const { header, root } = state;
  state.theme = colours(root);
  const { ink, paper } = state.theme;
  state.soft = mix(paper, ink, 0.55);
  state.dark = isDark(state.theme);
  const hexes = header.colours?.inks ?? [];
  state.inks = hexes.map((hex) => legible(rgbOf(hex), state));
  if (header.colours?.names && header.colours.rest) state.inks[header.colours.names.length - 1] = state.soft;
}

// A colour mixed with the ink until a point of it is easy to see on the page: 3 : 1, as WCAG asks of graphics. A pure blue would
// sink into a dark page.
/** @type {(colour: RGB, state: State) => RGB} */
function legible(colour, { theme: { ink, paper } }) {
  for (let part = 0; part < 1; part += 0.1) {
    const mixed = mix(colour, ink, part);
    if (contrast(mixed, paper) >= 3) return mixed;
  }
  return ink;
}

// The colour of a token now.
/** @type {(state: State, i: number) => RGB} */
export function colourOf(state, i) {
  const { header, count, at } = state;
  const values = header.arrays.values?.data;
  if (!values || !header.colours) return state.theme.accent;
  const [from, to] = [Math.floor(at), Math.ceil(at)];
  const value = values[from * count + i];
  if (Number.isNaN(value)) return state.soft;
  if (header.colours.names) return state.inks[value];
  const there = value + (values[to * count + i] - value) * (at - from);
  const { low, high, log } = header.colours;
  /** @type {(value: number) => number} */
  const on = log ? Math.log : (v) => v;
  return even(state, Math.min(1, Math.max(0, (on(there) - on(low)) / (on(high) - on(low) || 1))));
}

// The even scale, less the end that would sink into the page.
/** @type {(state: State, part: number) => RGB} */
export function even(state, part) {
  const [first, last] = state.dark ? [0.24, 1] : [0, 0.9];
  return cividis(first + (last - first) * part);
}
