// The colours of the points, for the page as it is, light or dark.

import { cividis, colours, isDark, mix, rgbOf } from "../../shared/colours.js";

// The colours for the page as it is, light or dark.
export function paint(state) {
  const { header, root } = state;
  state.theme = colours(root);
  const { ink, paper } = state.theme;
  state.soft = mix(paper, ink, 0.55);
  state.dark = isDark(state.theme);
  const hexes = header.colours?.inks ?? [];
  state.inks = hexes.map(rgbOf);
  if (header.colours?.rest) state.inks[header.colours.names.length - 1] = state.soft;
}

// The colour of a token now.
export function colourOf(state, i) {
  const { header, count, at } = state;
  const values = header.arrays.values?.data;
  if (!values) return state.theme.accent;
  const [from, to] = [Math.floor(at), Math.ceil(at)];
  const value = values[from * count + i];
  if (Number.isNaN(value)) return state.soft;
  if (header.colours.names) return state.inks[value];
  const there = value + (values[to * count + i] - value) * (at - from);
  const { low, high, log } = header.colours;
  const on = log ? Math.log : (v) => v;
  return even(state, Math.min(1, Math.max(0, (on(there) - on(low)) / (on(high) - on(low) || 1))));
}

// The even scale, less the end that would sink into the page.
export function even(state, part) {
  const [first, last] = state.dark ? [0.24, 1] : [0, 0.9];
  return cividis(first + (last - first) * part);
}
