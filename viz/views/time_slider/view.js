// A slider through steps that are still being made. Only a person's moves are told, so that what a slow server sends late is
// never taken for one.

import { unpack } from "../../shared/bytes.js";
import { makePlayer } from "../../shared/player.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

const BEAT = 450; // milliseconds a step, when it plays
const PAUSE = 90; // milliseconds between two moves that are told
const HELD = 600; // milliseconds after a move in which data do not move it back

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  const state = stateOf(parentElement, (root) => make(root, setTriggerValue));
  /** @type {Header} */
  const { label, names, newest, at } = unpack(data);
  const { player } = state;
  state.tell = setTriggerValue;
  player.range.setAttribute("aria-label", label);
  const held = player.playing || performance.now() - state.moved <= HELD;
  player.set({ names, last: newest, at: held ? player.at : at });
}

/** @type {(root: HTMLElement, tell: Tell) => State} */
function make(root, tell) {
  const player = makePlayer("", BEAT, () => moved(state));
  root.replaceChildren(player.node);
  /** @type {State} */
  const state = { root, tell, player, waiting: 0, moved: -Infinity };
  return state;
}

/** @type {(state: State) => void} */
function moved(state) {
  state.moved = performance.now();
  state.waiting ||= setTimeout(() => {
    state.waiting = 0;
    state.tell("chosen", state.player.at);
  }, PAUSE);
}
