// What there is to see at a moment; playing moves it from each stage to the next.

import { penOn } from "../../shared/canvas.js";
import { write } from "../../shared/element.js";
import { labelPlay } from "../../shared/player.js";
import { draw } from "./drawing.js";
import { home } from "./places.js";
import { pointOut, speak, tabulate } from "./words.js";

const MOVE = 800; // ms from a stage to the next
const REST = 450; // ms at each

// Draw what there is to see now, and say it.
export function show(state) {
  if (!state.wide) return;
  const { header, at, stage, scrub, play, scene } = state;
  const here = Math.min(state.stages - 1, Math.max(0, Math.floor(at + 1e-6)));
  const name = header.stages[here];
  write(stage, name);
  scene.classList.toggle("between", at - here > 0.01);
  scrub.value = at;
  if (scrub.said !== name) scrub.setAttribute("aria-valuetext", (scrub.said = name));
  labelPlay(play, state.playing);
  draw(state, penOn(state.canvas), state.ratio);
  pointOut(state);
  if (!state.playing) {
    speak(state);
    if (state.details.open) tabulate(state);
  }
}

export function reset(state) {
  home(state);
  show(state);
}

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

export function stop(state, at) {
  state.playing = false;
  state.at = at;
  show(state);
}

export function press(state, name) {
  state[name] = !state[name];
  state.buttons[name].setAttribute("aria-pressed", state[name]);
  show(state);
}

export function choose(state, i) {
  state.chosen = i;
  state.follow.value = i;
  state.tell("chosen", i < 0 ? null : i);
  show(state);
}
