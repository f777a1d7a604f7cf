// A slider through steps that are still being made. Only a person's moves are told, so that what a slow server sends late is
// never taken for one.

const BEAT = 450; // milliseconds a step, when it plays
const PAUSE = 90; // milliseconds between two moves that are told
const HELD = 600; // milliseconds after a move in which data do not move it back

function mount({ parentElement, data, setTriggerValue }) {
  const state = stateOf(parentElement, make);
  const header = unpack(data);
  Object.assign(state, { header, tell: setTriggerValue });
  state.range.max = header.names.length - 1;
  state.range.setAttribute("aria-label", header.label);
  if (!state.timer && performance.now() - state.moved > HELD) state.at = header.at;
  named(state);
}

function make(state) {
  const player = element("div", "player");
  const button = element("button");
  button.type = "button";
  const range = element("input");
  Object.assign(range, { type: "range", min: 0, step: 1 });
  const output = element("output");
  player.append(button, range, output);
  state.root.replaceChildren(player);
  Object.assign(state, { button, range, output, at: 0, timer: 0, waiting: 0, moved: -Infinity });
  button.addEventListener("click", () => (state.timer ? stop(state) : play(state)));
  range.addEventListener("input", () => {
    const to = Number(range.value);
    stop(state); // which puts the slider where it was
    go(state, to);
  });
}

function play(state) {
  if (state.at >= state.header.newest) go(state, 0);
  state.timer = setInterval(() => {
    if (!state.root.isConnected) return clearInterval(state.timer);
    if (state.at >= state.header.newest) stop(state);
    else go(state, state.at + 1);
  }, BEAT);
  named(state);
}

function stop(state) {
  clearInterval(state.timer);
  state.timer = 0;
  named(state);
}

function go(state, to) {
  state.at = Math.min(to, state.header.newest);
  state.moved = performance.now();
  named(state);
  state.waiting ||= setTimeout(() => {
    state.waiting = 0;
    state.tell("chosen", state.at);
  }, PAUSE);
}

function named({ button, range, output, timer, at, header }) {
  const name = header?.names[at] ?? "";
  sayPlaying(button, timer);
  range.value = at;
  range.setAttribute("aria-valuetext", name);
  if (output.textContent !== name) output.textContent = name;
}
