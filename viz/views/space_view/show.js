// What there is to see at a moment; playing moves it from each stage to the next.

import { penOn } from "../../shared/canvas.js";
import { write } from "../../shared/element.js";
import { labelPlay } from "../../shared/player.js";
import { draw } from "./drawing.js";
import { home } from "./places.js";
import { pointOut, speak, tabulate } from "./words.js";

/** @typedef {import("./types").State} State */

const MOVE = 800; // ms from a stage to the next
const REST = 450; // ms at each

// Draw what there is to see now, and say it.
/** @type {(state: State) => void} */
export function show(state) {
  if (!state.wide) return;
  const { header, at, stage, scrub, play, scene } = state;
  const here = Math.min(state.stages - 1, Math.max(0, Math.floor(at + 1e-6)));
  const name = header.stages[here];
  write(stage, name);
  scene.classList.toggle("between", at - here > 0.01);
  scrub.value = String(at);
  if (state.stageSpoken !== name) scrub.setAttribute("aria-valuetext", (state.stageSpoken = name));
  labelPlay(play, state.playing);
  draw(state, penOn(state.canvas), state.ratio);
  pointOut(state);
  if (!state.playing) {
    speak(state);
    if (state.details.open) tabulate(state);
  }
}

/** @type {(state: State) => void} */
export function reset(state) {
  Object.assign(state, home());
  show(state);
}

/** @type {(state: State) => void} */
export function toggle(state) {
  state.playing = !state.playing;
  if (state.playing) {
    if (state.at >= state.stages - 1) state.at = 0;
    state.from = Math.floor(state.at);
    state.clock = (state.at - state.from) * MOVE;
    state.last = performance.now();
    if (state.clock === 0 && state.at === 0) state.clock = -REST;
    requestAnimationFrame((now) => tick(state, now));
  } else state.at = Math.round(state.at);
  show(state);
}

/** @type {(state: State, now: number) => void} */
function tick(state, now) {
  if (!state.playing || !state.root.isConnected) return;
  state.clock += Math.min(100, Math.max(0, now - state.last));
  state.last = now;
  while (state.clock >= MOVE + REST && state.from < state.stages - 1) {
    state.clock -= MOVE + REST;
    state.from++;
  }
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const part = Math.min(1, Math.max(0, state.clock / MOVE));
  const eased = still ? Math.floor(part) : part * part * (3 - 2 * part);
  state.at = Math.min(state.stages - 1, state.from + eased);
  if (state.at >= state.stages - 1) state.playing = false;
  show(state);
  if (state.playing) requestAnimationFrame((next) => tick(state, next));
}

/** @type {(state: State, at: number) => void} */
export function stop(state, at) {
  state.playing = false;
  state.at = at;
  show(state);
}

/** @type {(state: State, name: "trails" | "labels") => void} */
export function press(state, name) {
  state[name] = !state[name];
  state.buttons[name].setAttribute("aria-pressed", String(state[name]));
  show(state);
}

/** @type {(state: State, i: number) => void} */
export function choose(state, i) {
  state.chosen = i;
  state.follow.value = String(i);
  state.tell("chosen", i < 0 ? null : i);
  show(state);
}
