// The tokens as chips. Keystrokes come fifteen a second, so only a chip that differs from the one before it is touched.

import { unpack } from "../../shared/bytes.js";
import { activeIn, closest, element } from "../../shared/element.js";
import { fade } from "../../shared/fade.js";
import { onHover } from "../../shared/hover.js";
import { onPoint, point } from "../../shared/link.js";
import { rove } from "../../shared/rove.js";
import { stateOf } from "../../shared/state.js";
import { fill } from "../../shared/token.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Pieces} Pieces */
/** @typedef {import("../../shared/types").Tell} Tell */

/** @type {Record<string, string>} */
const TITLES = { special: "special token, added by the model", fragment: "a piece of one character" };
const KINDS = ["", "special", "fragment"];
const FULL_BITS = 16; // the surprise that fills a chip's bar: one in 65,536

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header.link, setTriggerValue));
  state.tell = setTriggerValue;
  state.link = header.link;
  state.list.setAttribute("aria-label", header.label);
  const first = !state.chips.length;
  update(state, header);
  choose(state, header.chosen);
  if (first && header.chosen >= 0 && header.chosen < state.chips.length - 1) reveal(state, header.chosen);
}

/** @type {(root: HTMLElement, link: string, tell: Tell) => State} */
function make(root, link, tell) {
  const list = element("div", "chips scrolls fades");
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-orientation", "horizontal");
  root.replaceChildren(list);
  /** @type {State} */
  const state = { root, link, tell, list, chips: [], chosen: -1, focus: 0, follow: false, typed: false };
  listen(state);
  return state;
}

/** @type {(state: State) => void} */
function listen(state) {
  const { list } = state;
  /** @type {(event: Event) => number} */
  const place = (event) => Number(closest(event, ".chip")?.dataset.position ?? -1);
  /** @type {(position: number) => void} */
  const press = (position) => {
    if (position < 0) return;
    choose(state, position);
    rove(state, nodesOf(state), position);
    state.tell("chosen", position);
  };
  list.addEventListener("click", (event) => press(place(event)));
  list.addEventListener("keydown", (event) => {
    const at = place(event);
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") press(at);
    else {
      const to = step(state, at, event.key);
      if (to < 0) return;
      rove(state, nodesOf(state), to);
      state.chips[to].node.focus();
    }
    event.preventDefault();
  });
  onHover(list, (event) => {
    const at = place(event);
    if (at >= 0) point(state, at);
  });
  list.addEventListener("pointerleave", () => point(state, -1));
  onPoint(state, (position) => {
    state.list.querySelector(".pointed")?.classList.remove("pointed");
    state.chips[position]?.node.classList.add("pointed");
  });

  // A text opens at its beginning. While one types, the last chips stay in view, unless the person has scrolled up.
  list.addEventListener("scroll", () => {
    state.follow = list.scrollTop + list.clientHeight > list.scrollHeight - 12;
    fade(list);
  });
  new ResizeObserver(() => settle(state)).observe(list);
}

/** @type {(state: State) => HTMLElement[]} */
const nodesOf = ({ chips }) => chips.map(({ node }) => node);

/** @type {(state: State, header: Header) => void} */
function update(state, { tokens, kinds, ids, positions, surprise, notes }) {
  const { list, chips } = state;
  const open = chips.length > 0;
  let changed = tokens.length !== chips.length;
  for (const chip of chips.splice(tokens.length)) chip.node.remove();
  tokens.forEach((text, i) => {
    /** @type {string[]} */
    const below = [];
    if (positions) below.push("#" + i);
    if (ids) below.push("id\u00a0" + ids[i]);
    if (notes?.[i]) below.push(notes[i]);
    const bits = surprise ? surprise[i] : undefined;
    const key = JSON.stringify([text, kinds[i], below, bits]);
    const old = chips[i];
    if (old?.key === key) return;
    changed = true;
    const node = old ? old.node : list.appendChild(blank(i));
    chips[i] = { key, node };
    write(node, text, KINDS[kinds[i]], below, bits);
  });
  list.classList.toggle("tall", Boolean(surprise));
  rove(state, nodesOf(state), Math.min(state.focus, chips.length - 1));
  if (changed && open && !state.typed) state.follow = state.typed = true;
  if (changed) requestAnimationFrame(() => settle(state)); // not now: it asks for a layout, and others still draw
}

/** @type {(position: number) => HTMLElement} */
function blank(position) {
  const node = element("div", "chip");
  node.setAttribute("role", "option");
  node.setAttribute("aria-selected", "false");
  node.tabIndex = -1;
  node.dataset.position = String(position);
  return node;
}

/** @type {(node: HTMLElement, text: Pieces, kind: string, below: string[], bits: number | null | undefined) => void} */
function write(node, text, kind, below, bits) {
  const word = element("bdi", "text");
  fill(word, text);
  node.replaceChildren(word);
  node.classList.toggle("special", kind === "special");
  node.classList.toggle("fragment", kind === "fragment");
  node.title = TITLES[kind] ?? "";
  if (below.length) node.append(element("small", "", below.join(" · ")));
  if (bits !== undefined) {
    node.append(element("small", "bits", bits === null ? "–" : bits.toFixed(1) + " bits"));
    const bar = element("span", "surprise");
    bar.style.width = (100 * Math.min(1, (bits ?? 0) / FULL_BITS)).toFixed(1) + "%";
    node.append(bar);
  }
}

/** @type {(state: State, position: number) => void} */
function choose(state, position) {
  if (state.chosen !== position) {
    state.chips[state.chosen]?.node.setAttribute("aria-selected", "false");
    state.chosen = position;
    if (!state.list.contains(activeIn(state.root))) rove(state, nodesOf(state), position);
  }
  state.chips[position]?.node.setAttribute("aria-selected", "true");
}

/** @type {(state: State, at: number, key: string) => number} */
function step({ chips }, at, key) {
  const last = chips.length - 1;
  if (key === "ArrowRight") return Math.min(last, at + 1);
  if (key === "ArrowLeft") return Math.max(0, at - 1);
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key !== "ArrowUp" && key !== "ArrowDown") return -1;
  const here = chips[at].node;
  const way = key === "ArrowUp" ? -1 : 1;
  let best = at;
  /** @type {number | null} */
  let row = null;
  for (let i = at + way; i >= 0 && i <= last; i += way) {
    const node = chips[i].node;
    if (node.offsetTop === here.offsetTop) continue;
    if (row !== null && node.offsetTop !== row) break;
    row = node.offsetTop;
    /** @type {(n: HTMLElement) => number} */
    const distance = (n) => Math.abs(n.offsetLeft + n.offsetWidth / 2 - here.offsetLeft - here.offsetWidth / 2);
    if (best === at || distance(node) < distance(chips[best].node)) best = i;
  }
  return best;
}

// The chip of a link that somebody sent: in view, even if it is not the last.
/** @type {(state: State, position: number) => void} */
function reveal({ list, chips }, position) {
  const { node } = chips[position];
  list.scrollTop = node.offsetTop - (list.clientHeight - node.offsetHeight) / 2;
}

/** @type {(state: State) => void} */
function settle(state) {
  if (state.follow) state.list.scrollTop = state.list.scrollHeight;
  fade(state.list);
}
