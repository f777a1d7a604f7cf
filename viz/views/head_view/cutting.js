// Lines that a press cuts, and those that are cut.

import { asked, BAR, canSee, isPlaced } from "./state.js";

/** @typedef {import("./types").Lines} Lines */
/** @typedef {import("./types").Pair} Pair */
/** @typedef {import("./types").Place} Place */
/** @typedef {import("./types").State} State */

const NEAR = 9; // pixels from a line

// What is cut here of the heads that are on: [query, key]; place: only what concerns this token.
/** @type {(state: State, place: Place | null) => Pair[]} */
export function cutsOf({ header, sides, on }, place) {
  const here = (header.cuts ?? []).filter(
    ([head, query, key]) => on.includes(head) && query in sides[0].at && key in sides[1].at,
  );
  return here.map(([, query, key]) => pairOf(query, key)).filter((pair) => !place || pair[place[0]] === place[1]);
}

/** @type {(query: number, key: number) => Pair} */
const pairOf = (query, key) => [query, key];

// Tells that a query may not look at a key, in these heads; or, where it may not, that it may again.
/** @type {(state: State, pair: Pair, heads: number[]) => void} */
export function cut(state, [query, key], heads) {
  if (!heads.length || !canSee(state, query, key)) return;
  state.tell("chosen", { cut: [query + state.sides[0].first, key + state.sides[1].first], heads });
}

// The line under the pointer, as its pair and its heads; of several that are as near, the strongest.
/** @type {(state: State, event: MouseEvent) => { far: number, pair: Pair, heads: number[] } | null} */
export function lineUnder(state, event) {
  const { header, options, sides, room, across, on, planes } = state;
  if (!header.cuts || !isPlaced(state)) return null;
  const box = state.stage.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const [a, c] = options.layout === "rows" ? [x, y] : [y, x];
  const place = asked(state);
  const list = place ? state.focusedLines : state.lines;
  const left = room + 6 + (place?.[0] === 1 ? BAR : 0);
  const right = across - room - 6 - (place?.[0] === 0 ? BAR : 0);
  if (!list || c <= left + NEAR || c >= right - NEAR) return null;
  const share = (c - left) / (right - left);
  const bend = along(share);
  /** @type {{ far: number, pair: Pair, heads: number[] } | null} */
  let nearest = null;
  /** @type {(query: number, key: number, heads: number[], curve: number) => void} */
  const meet = (query, key, heads, curve) => {
    const [start, end] = [sides[0].at[query], sides[1].at[key]];
    const far = Math.abs(start + (end - start) * curve - a);
    if (far <= NEAR && (!nearest || far <= nearest.far + 1)) nearest = { far, pair: [query, key], heads };
  };
  const curved = list.curved ? bend : share;
  const own = options.mode === "each" || planes.length < 2;
  for (let i = 0; i < list.count; i++) meet(list.from[i], list.to[i], own ? [on[list.plane[i]]] : on, curved);
  for (const [query, key] of cutsOf(state, place)) meet(query, key, on, bend);
  return nearest;
}

// How far a curve has come from one side to the other, at this share of its width: the y of the Bézier curve whose x is given.
/** @type {(share: number) => number} */
function along(share) {
  let [low, high] = [0, 1];
  for (let i = 0; i < 20; i++) {
    const t = (low + high) / 2;
    if (1.5 * t * (1 - t) + t ** 3 < share) low = t;
    else high = t;
  }
  return 3 * low ** 2 - 2 * low ** 3;
}
