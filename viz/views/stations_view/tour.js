// Play opens the layers one after the other, and at its end the head that looks hardest at what the model says next.

import { focusOf } from "./data.js";
import { arrange } from "./places.js";

/** @typedef {import("./types").Looker} Looker */
/** @typedef {import("./types").State} State */

/** @type {(state: State) => string} */
const nameOf = ({ last }) => `lane${last}`;

// How many layers Play goes through: all, or none where they were not all sent.
/** @type {(state: State) => number} */
export function layersOf(state) {
  const { layers } = state.header.gazes[nameOf(state)];
  const count = state.header.lanes[state.last].numbers.length;
  return state.header.lanes.length === 1 && layers.length === count ? count : 0;
}

/** @type {(state: State, layer: number, head?: number) => void} */
function open(state, layer, head) {
  const name = nameOf(state);
  const { layers, counts } = state.header.gazes[name];
  state.home ??= { ...state.at[name] };
  const most = counts[layers.indexOf(layer)] - 1;
  const next = { layer, head: Math.min(most, head ?? state.home.head) };
  if (next.layer === state.at[name].layer && next.head === state.at[name].head) return;
  state.at[name] = next;
  arrange(state);
}

// part: how much of the station of the layers has been played, from 0 to 1.
/** @type {(state: State, part: number) => void} */
export function openLayer(state, part) {
  const count = layersOf(state);
  if (count) open(state, Math.min(count - 1, Math.floor(part * count)));
}

// What was open before Play.
/** @type {(state: State) => void} */
export function goHome(state) {
  if (!state.home) return;
  open(state, state.home.layer, state.home.head);
  state.home = null;
}

/** @type {(state: State) => void} */
export function openLooker(state) {
  const looker = lookerOf(state);
  if (looker) open(state, looker.layer, looker.head);
  else goHome(state);
}

// The head that looks hardest from the followed token at the tokens that the model says next, where they stand in the text and get
// more than an even share.
/** @type {(state: State) => Looker | null} */
export function lookerOf(state) {
  const { header, last, pointed } = state;
  const best = header.outcomes[0];
  const count = layersOf(state);
  if (!best || !count || pointed) return null;
  const [, row] = focusOf(state);
  const { names, tokens } = header.lanes[last];
  const rows = names.flatMap((name, i) => (tokens[i] && i !== row && name === best.name ? [i] : []));
  if (!rows.length || tokens.includes(null)) return null;
  const { shape, data } = header.arrays[`weights-${nameOf(state)}`];
  const [slots, heads, queries, keys] = shape;
  /** @type {Looker} */
  const looker = { layer: 0, head: 0, share: 0, even: rows.length / (row + 1), heads: 0 };
  for (let slot = 0; slot < slots; slot++) {
    looker.heads += header.gazes[nameOf(state)].counts[slot];
    for (let head = 0; head < heads; head++) {
      const start = ((slot * heads + head) * queries + row) * keys;
      const share = rows.reduce((sum, key) => sum + data[start + key] / 255, 0);
      if (share > looker.share) Object.assign(looker, { layer: slot, head, share });
    }
  }
  return looker.share > looker.even ? looker : null;
}
