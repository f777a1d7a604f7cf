// A slider through steps that are still being made. Only a person's moves are told, so that what a slow server sends late is
// never taken for one.

import { unpack } from "../../shared/bytes.js";
import { makePlayer } from "../../shared/player.js";
import { stateOf } from "../../shared/state.js";

const BEAT = 450; // milliseconds a step, when it plays
const PAUSE = 90; // milliseconds between two moves that are told
const HELD = 600; // milliseconds after a move in which data do not move it back

export function mount({ parentElement, data, setTriggerValue }) {
  const state = stateOf(parentElement, make);
  const { label, names, newest, at } = unpack(data);
  const { player } = state;
  state.tell = setTriggerValue;
  player.range.setAttribute("aria-label", label);
  const held = player.playing || performance.now() - state.moved <= HELD;
  player.set({ names, last: newest, at: held ? player.at : at });
}

function make(state) {
  state.player = makePlayer("", BEAT, () => moved(state));
  state.root.replaceChildren(state.player.node);
  Object.assign(state, { waiting: 0, moved: -Infinity });
}

function moved(state) {
  state.moved = performance.now();
  state.waiting ||= setTimeout(() => {
    state.waiting = 0;
    state.tell("chosen", state.player.at);
  }, PAUSE);
}
