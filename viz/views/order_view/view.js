// Words as chips in an order of one's own. A chip is dragged with a mouse, or with a finger that rests on it first, so that a page can
// still be scrolled by it; or it is pressed and then the place where it is to go; or it is picked up and moved with the keyboard.

import { unpack } from "../../shared/bytes.js";
import { makeEcho } from "../../shared/echo.js";
import { activeIn, closest, element, write } from "../../shared/element.js";
import { fade } from "../../shared/fade.js";
import { lookUp } from "../../shared/lookup.js";
import { rove } from "../../shared/rove.js";
import { stateOf } from "../../shared/state.js";
import { fill } from "../../shared/token.js";
import { makeDrag } from "./drag.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

const STEPS = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 };

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  state.tell = setTriggerValue;
  const same = JSON.stringify(header.words) === state.words;
  const news = state.echo.isNews(header.order);
  if (!same) build(state, header);
  if (!same || news) {
    state.picked = -1;
    state.order = header.order;
  }
  state.header = header;
  state.list.setAttribute("aria-label", header.label);
  show(state);
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const list = element("div", "chips scrolls fades");
  list.setAttribute("role", "group");
  const hint = element(
    "p",
    "hidden",
    "Press Space to pick a word up, the arrow keys to move it, and Space again to put it down.",
  );
  hint.id = "order" + Math.random().toString(36).slice(2, 9);
  const told = element("p", "hidden");
  told.setAttribute("aria-live", "assertive");
  root.replaceChildren(list, hint, told);
  /** @type {State} */
  const state = {
    root,
    header,
    tell,
    list,
    hint,
    told,
    words: "",
    chips: [],
    order: [],
    picked: -1,
    began: [],
    moving: false,
    focus: 0,
    n: 0,
    echo: makeEcho(),
  };
  listen(state);
  return state;
}

/** @type {(state: State) => void} */
function listen(state) {
  const { list } = state;
  const drag = makeDrag(list, (from, to) => place(state, from, to));
  list.addEventListener("click", (event) => {
    const at = placeOf(state, event);
    if (at >= 0 && !drag.justEnded()) press(state, at, event.detail === 0);
  });
  list.addEventListener("keydown", (event) => {
    const at = placeOf(state, event);
    if (at >= 0 && key(state, at, event.key)) event.preventDefault();
  });
  list.addEventListener("scroll", () => fade(list));
  new ResizeObserver(() => fade(list)).observe(list);
  list.addEventListener("focusout", (event) => {
    if (state.moving || list.contains(/** @type {Node | null} */ (event.relatedTarget))) return;
    putDown(state);
  });
}

// A chip for each word, by the word's own number.
/** @type {(state: State, header: Header) => void} */
function build(state, { words }) {
  state.words = JSON.stringify(words);
  state.chips = words.map((text, word) => {
    const node = element("button", "chip");
    node.type = "button";
    node.tabIndex = -1;
    node.dataset.word = String(word);
    node.setAttribute("aria-describedby", state.hint.id);
    const name = element("bdi", "text");
    fill(name, text);
    const from = element("small");
    node.append(name, from);
    return { node, from, name: text.join("") };
  });
  state.list.replaceChildren();
  state.order = [];
}

/** @type {(state: State) => void} */
function show(state) {
  const { list, order, chips, header, picked } = state;
  const held = activeIn(state.list);
  const nodes = order.map((word) => chips[word].node);
  if (nodes.some((node, i) => list.children[i] !== node)) {
    state.moving = true; // a node that is moved loses the focus for a moment, and is not let go for that
    list.replaceChildren(...nodes);
    nodes.find((node) => node === held)?.focus();
    state.moving = false;
  }
  order.forEach((word, at) => {
    const { node, from, name } = chips[word];
    const moved = word !== at;
    node.classList.toggle("moved", moved);
    node.classList.toggle("changed", Boolean(header.changed[word]));
    node.title = header.changed[word] ? "It became other tokens in its new place." : "";
    node.setAttribute("aria-pressed", String(word === picked));
    write(from, moved ? String(word + 1) : "");
    const was = moved ? `, typed as word ${word + 1}` : "";
    node.setAttribute("aria-label", `${name}, word ${at + 1} of ${order.length}${was}`);
    node.tabIndex = -1;
  });
  const focused = nodes.findIndex((node) => node === held);
  rove(state, nodes, focused >= 0 ? focused : Math.min(state.focus, nodes.length - 1));
}

/** @type {(state: State, event: Event) => number} */
function placeOf(state, event) {
  const chip = closest(event, ".chip");
  return chip ? state.order.indexOf(Number(chip.dataset.word)) : -1;
}

// Picks a word up, or puts the one that is picked up here; the keyboard puts it where it has been moved to.
/** @type {(state: State, at: number, byKeys: boolean) => void} */
function press(state, at, byKeys) {
  const from = state.order.indexOf(state.picked);
  if (from < 0) {
    state.picked = state.order[at];
    state.began = [...state.order];
    say(state, `${nameOf(state, at)} is picked up.`);
    show(state);
  } else if (byKeys || from === at) putDown(state);
  else {
    state.picked = -1;
    place(state, from, at);
  }
}

/** @type {(state: State, at: number, pressed: string) => boolean} */
function key(state, at, pressed) {
  const last = state.order.length - 1;
  const step = lookUp(STEPS, pressed);
  const to = step ? Math.min(last, Math.max(0, at + step)) : lookUp({ Home: 0, End: last }, pressed);
  if (pressed === "Escape" && state.picked >= 0) {
    state.order = state.began;
    state.picked = -1;
    say(state, "It is back where it was.");
    show(state);
    return true;
  }
  if (to === undefined) return false;
  if (state.order[at] === state.picked) {
    state.order = moved(state.order, at, to);
    say(state, `${nameOf(state, to)}, now word ${to + 1} of ${last + 1}.`);
    show(state);
  } else {
    const nodes = state.order.map((word) => state.chips[word].node);
    rove(state, nodes, to);
    nodes[to].focus();
  }
  return true;
}

/** @type {(state: State) => void} */
function putDown(state) {
  if (state.picked < 0) return;
  state.picked = -1;
  say(state, "It is put down.");
  const news = String(state.order) !== String(state.began);
  show(state);
  if (news) tell(state);
}

/** @type {(state: State, from: number, to: number) => void} */
function place(state, from, to) {
  state.picked = -1;
  if (from === to) return show(state);
  state.order = moved(state.order, from, to);
  say(state, `${nameOf(state, to)}, now word ${to + 1} of ${state.order.length}.`);
  show(state);
  tell(state);
}

/** @type {(state: State) => void} */
function tell(state) {
  state.n = Math.max(state.n + 1, Date.now()); // grows through reloads too
  state.echo.told(state.order);
  state.tell("chosen", { order: state.order, n: state.n });
}

/** @type {(order: number[], from: number, to: number) => number[]} */
function moved(order, from, to) {
  const made = order.toSpliced(from, 1);
  made.splice(to, 0, order[from]);
  return made;
}

/** @type {(state: State, at: number) => string} */
function nameOf({ chips, order }, at) {
  return chips[order[at]].name;
}

/** @type {(state: State, words: string) => void} */
function say({ told }, words) {
  write(told, words);
}
