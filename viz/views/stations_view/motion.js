// What moves: the way of a token, played station by station, and the run of a new one. Who wants less motion sees steps.

import { draw } from "./drawing.js";
import { dress } from "./elements.js";
import { goHome, layersOf, lookerOf, openLayer, openLooker } from "./tour.js";
import { say } from "./words.js";

/** @typedef {import("./types").State} State */

const PACE = 1700; // milliseconds a station, at least
const READ = 40; // milliseconds a character of its sentence
const SOON = 1200; // milliseconds from Play to the second station, where the first was there to read already
const STEP = 900; // milliseconds in which a station lights up, at least
const LIGHTS = 0.4; // of the time of a station, while it lights up
const LAYER = 2000; // milliseconds in which a layer is open while all are gone through
const LAYERS = 16_000; // the most for all of them
const HOLD = 2500; // milliseconds for which the last one stays open after that
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
  const { stations } = state.header;
  const whole = at >= stations.length;
  const key = stations[at]?.key ?? "";
  const goes = key === "layers" && tours;
  if (whole) openLooker(state);
  else if (key === "chances") openLayer(state, 1);
  else if (key !== "layers") goHome(state);
  const finish = () => {
    state.progress = whole ? Infinity : at;
    if (goes) tour(state, 1);
    show(state);
  };
  if (state.player.playing) {
    const look = stations.findIndex((station) => station.key === "look");
    reveal(state, state.nodes.heads[whole && lookerOf(state) ? look : Math.min(at, stations.length - 1)]);
  }
  if (still() || !state.player.playing) return finish();
  const light = (/** @type {number} */ part) => {
    state.progress = at - 1 + part;
    if (goes) tour(state, part);
  };
  run(state, goes ? timeOf(state) : Math.max(STEP, LIGHTS * readingTime(state, at)), light, finish);
}

// How long a station stays while all are played: as long as its sentence takes to read.
/** @type {(state: State, at: number) => number} */
export function paceAt(state, at) {
  if (state.fresh) return SOON;
  const goes = state.header.stations[at]?.key === "layers" && !still();
  return Math.max(readingTime(state, at), goes ? timeOf(state) + HOLD : 0);
}

/** @type {(state: State, at: number) => number} */
const readingTime = ({ header }, at) => Math.max(PACE, READ * (header.stations[at]?.step.length ?? 0));

// How long it takes to go through the layers.
/** @type {(state: State) => number} */
const timeOf = (state) => Math.max(STEP, Math.min(LAYERS, LAYER * layersOf(state)));

// Opens the layer that is reached, and brings its guess into sight.
/** @type {(state: State, part: number) => void} */
function tour(state, part) {
  const name = `lane${state.last}`;
  const { layer } = state.at[name];
  openLayer(state, part);
  if (state.at[name].layer !== layer) reveal(state, state.nodes.cards[state.g.cards.indexOf(state.at[name].layer + 1)]);
}

// On a narrow page, where stations stand below each other, what lights up comes into sight.
/** @type {(state: State, thing: { node: HTMLElement } | undefined) => void} */
function reveal({ g }, thing) {
  if (!g.wide) thing?.node.scrollIntoView({ block: "nearest", behavior: still() ? "auto" : "smooth" });
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
