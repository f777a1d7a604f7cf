// What moves: the way of a token, played station by station, and the run of a new one. Who wants less motion sees steps.

import { draw } from "./drawing.js";
import { dress } from "./elements.js";
import { goHome, layersOf, lookerOf, openLayer, openLooker } from "./tour.js";
import { say } from "./words.js";

/** @typedef {import("./types").State} State */

const STEP = 900; // milliseconds in which a station lights up
const LAYER = 700; // milliseconds in which a layer is open while all are gone through
const LAYERS = 6000; // the most for all of them
const LINGER = 3500; // milliseconds at the end of Play, until a narrow page shows the lines of the head that it names
const RUN = 130; // milliseconds a station in which a new token runs through
const still = () => matchMedia("(prefers-reduced-motion: reduce)").matches;

// The stations up to one are lit, the last of them step by step.
// tours: whether the station of the layers opens them.
/** @type {(state: State, at: number, tours?: boolean) => void} */
export function begin(state, at, tours = true) {
  stop(state);
  state.led = true;
  state.fresh = false;
  state.root.classList.remove("fresh");
  const ends = at >= state.header.stations.length - 1;
  const { key } = state.header.stations[at];
  const goes = key === "layers" && tours;
  if (key !== "layers" && key !== "chances") goHome(state);
  if (key === "chances") openLooker(state);
  const finish = () => {
    state.progress = ends ? Infinity : at;
    if (goes) openLayer(state, 1);
    show(state);
  };
  if (state.player.playing) {
    reveal(state, at);
    const look = state.header.stations.findIndex((station) => station.key === "look");
    if (key === "chances" && lookerOf(state)) state.later = setTimeout(() => reveal(state, look), LINGER);
  }
  if (still() || !state.player.playing) return finish();
  const light = (/** @type {number} */ part) => {
    state.progress = at - 1 + part;
    if (goes) openLayer(state, part);
  };
  run(state, goes ? timeOf(state) : STEP, light, finish);
}

// How long it takes to go through the layers.
/** @type {(state: State) => number} */
export const timeOf = (state) => Math.max(STEP, Math.min(LAYERS, LAYER * layersOf(state)));

// On a narrow page, where stations stand below each other, the one that lights up comes into sight.
/** @type {(state: State, at: number) => void} */
function reveal({ g, nodes }, at) {
  if (!g.wide) nodes.heads[at]?.node.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" });
}

// The whole picture, without anything that moves.
/** @type {(state: State) => void} */
export function settle(state) {
  stop(state);
  state.progress = Infinity;
  state.led = false;
  state.fresh = false;
  state.comet = null;
  state.home = null;
}

// The first station alone, until somebody plays or types.
/** @type {(state: State) => void} */
export function wait(state) {
  settle(state);
  state.progress = 0;
  state.fresh = true;
}

// The newest token runs through all stations, above numbers that are there at once.
/** @type {(state: State) => void} */
export function wave(state) {
  stop(state);
  state.comet = null;
  if (still() || document.hidden) return;
  const count = state.header.stations.length;
  const finish = () => {
    state.comet = null;
    draw(state);
  };
  run(state, RUN * count, (part) => (state.comet = part * count), finish, draw);
}

/** @type {(state: State) => void} */
function show(state) {
  dress(state);
  draw(state);
  say(state);
}

/** @type {(state: State) => void} */
function stop(state) {
  cancelAnimationFrame(state.frame);
  clearTimeout(state.later);
}

/** @type {(state: State, time: number, set: (part: number) => void, finish: () => void, each?: (state: State) => void) => void} */
function run(state, time, set, finish, each = show) {
  let began = 0;
  /** @type {(now: number) => void} */
  const step = (now) => {
    began ||= now;
    const part = (now - began) / time;
    if (part >= 1 || !state.root.isConnected) return finish();
    set(part);
    each(state);
    state.frame = requestAnimationFrame(step);
  };
  state.frame = requestAnimationFrame(step);
}
