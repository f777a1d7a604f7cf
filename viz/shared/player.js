// A row that plays through steps: a button, a slider, and what the step is called.

import { element, makeTool, write } from "./element.js";

/** @typedef {import("./types").Player} Player */

const SIGNS = { Play: "M2 1 11 6 2 11Z", Pause: "M2 1h3v10H2ZM7 1h3v10H7Z" };

// What the button of a player says: the word, and before it a sign that is drawn, since not every font has one.
/** @type {(button: HTMLButtonElement, playing: boolean) => void} */
export function labelPlay(button, playing) {
  const word = playing ? "Pause" : "Play";
  if (button.textContent === word) return;
  button.innerHTML = `<svg viewBox="0 0 12 12" class="sign" aria-hidden="true"><path d="${SIGNS[word]}"/></svg>`;
  button.append(word);
}

// A player of one step in `pace` milliseconds, or in as many as `pace` says for a step. `set` tells it what there is: `names` of the steps, `last`, the last that can be
// gone to, and `at`, where it is. It calls `go(at)` when it moves by itself or is moved.
/** @type {(label: string, pace: number | ((at: number) => number), go: (at: number) => void) => Player} */
export function makePlayer(label, pace, go) {
  const node = element("div", "player");
  const range = Object.assign(element("input"), { type: "range", min: "0", step: "1" });
  range.setAttribute("aria-label", label);
  const output = element("output");
  /** @type {Player} */
  const player = { node, range, ends: [], names: [], last: 0, at: 0, playing: false, stop, set, to };
  let timer = 0;

  const button = makeTool("", "", () => (player.playing ? stop() : start()));
  node.append(button, range, output);

  const show = () => {
    labelPlay(button, player.playing);
    const name = player.names[player.at] ?? "";
    range.value = String(player.at);
    range.setAttribute("aria-valuetext", name);
    write(output, name);
    player.ends.forEach((end, i) => (end.disabled = player.at === (i ? player.last : 0)));
  };
  /** @type {(at: number) => void} */
  const move = (at) => {
    player.at = Math.min(at, player.last);
    show();
    go(player.at);
  };
  const start = () => {
    if (player.at >= player.last) move(0);
    player.playing = true;
    wait();
    show();
  };
  const wait = () => (timer = setTimeout(step, typeof pace === "number" ? pace : pace(player.at)));
  const step = () => {
    if (!node.isConnected) return stop();
    if (player.at < player.last) move(player.at + 1);
    if (player.at >= player.last) stop();
    else if (player.playing) wait();
  };
  function stop() {
    clearTimeout(timer);
    player.playing = false;
    show();
  }
  /** @type {Player["set"]} */
  function set({ names, last = names.length - 1, at }) {
    Object.assign(player, { names, last, at: at ?? Math.min(player.at, last) });
    node.hidden = names.length < 2;
    range.max = String(names.length - 1);
    if (node.hidden) stop();
    else show();
  }
  /** @type {Player["to"]} */
  function to(at) {
    stop(); // which puts the slider where it was
    move(Math.max(0, at));
  }
  range.addEventListener("input", () => to(Number(range.value)));
  return player;
}

// The same player with buttons for one step back and one step on.
/** @type {(player: Player) => Player} */
export function withSteps(player) {
  /** @type {(way: number) => () => void} */
  const by = (way) => () => player.to(player.at + way);
  player.ends = [stepButton("One step back", "M8 1 3 6 8 11Z", by(-1)), stepButton("One step on", "M4 1 9 6 4 11Z", by(1))];
  player.range.before(player.ends[0]);
  player.range.after(player.ends[1]);
  return player;
}

/** @type {(words: string, sign: string, act: () => void) => HTMLButtonElement} */
function stepButton(words, sign, act) {
  const button = makeTool("one", "", act);
  button.title = words;
  button.setAttribute("aria-label", words);
  button.innerHTML = `<svg viewBox="0 0 12 12" class="sign" aria-hidden="true"><path d="${sign}"/></svg>`;
  return button;
}
