// The tokens as chips. Keystrokes come fifteen a second, so only a chip that differs from the one before it is touched.

import { unpack } from "../../shared/bytes.js";
import { element } from "../../shared/element.js";
import { fade } from "../../shared/fade.js";
import { onHover } from "../../shared/hover.js";
import { onPoint, point } from "../../shared/link.js";
import { rove } from "../../shared/rove.js";
import { stateOf } from "../../shared/state.js";
import { fill } from "../../shared/token.js";

const KINDS = ["", "special", "fragment"];
const FULL_BITS = 16; // the surprise that fills a chip's bar: one in 65,536

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  state.tell = setTriggerValue;
  state.link = header.link;
  state.list.setAttribute("aria-label", header.label);
  const first = !state.chips.length;
  update(state, header);
  choose(state, header.chosen);
  if (first && header.chosen >= 0 && header.chosen < state.chips.length - 1) reveal(state, header.chosen);
}

function make(state) {
  const list = element("div", "chips scrolls fades");
  list.setAttribute("role", "listbox");
  list.setAttribute("aria-orientation", "horizontal");
  state.root.replaceChildren(list);
  Object.assign(state, { list, chips: [], chosen: -1, focus: 0, follow: false, typed: false });

  const place = (event) => event.target.closest?.(".chip")?.position ?? -1;
  const press = (position) => {
    if (position < 0) return;
    choose(state, position);
    rove(state, list.children, position);
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
      rove(state, list.children, to);
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

function update(state, { tokens, kinds, ids, positions, surprise, notes }) {
  const { list, chips } = state;
  const open = chips.length > 0;
  let changed = tokens.length !== chips.length;
  while (chips.length > tokens.length) chips.pop().node.remove();
  tokens.forEach((text, i) => {
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
  rove(state, list.children, Math.min(state.focus, chips.length - 1));
  if (changed && open && !state.typed) state.follow = state.typed = true;
  if (changed) requestAnimationFrame(() => settle(state)); // not now: it asks for a layout, and others still draw
}

function blank(position) {
  const node = element("div", "chip");
  node.setAttribute("role", "option");
  node.setAttribute("aria-selected", "false");
  node.tabIndex = -1;
  node.position = position;
  return node;
}

function write(node, text, kind, below, bits) {
  const word = element("bdi", "text");
  fill(word, text);
  node.replaceChildren(word);
  node.classList.toggle("special", kind === "special");
  node.classList.toggle("fragment", kind === "fragment");
  node.title = { special: "special token, added by the model", fragment: "a piece of one character" }[kind] ?? "";
  if (below.length) node.append(element("small", "", below.join(" · ")));
  if (bits !== undefined) {
    node.append(element("small", "bits", bits === null ? "–" : bits.toFixed(1) + " bits"));
    const bar = element("span", "surprise");
    bar.style.width = (100 * Math.min(1, (bits ?? 0) / FULL_BITS)).toFixed(1) + "%";
    node.append(bar);
  }
}

function choose(state, position) {
  if (state.chosen !== position) {
    state.chips[state.chosen]?.node.setAttribute("aria-selected", "false");
    state.chosen = position;
    if (!state.list.contains(state.root.getRootNode().activeElement)) rove(state, state.list.children, position);
  }
  state.chips[position]?.node.setAttribute("aria-selected", "true");
}

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
  let row = null;
  for (let i = at + way; i >= 0 && i <= last; i += way) {
    const node = chips[i].node;
    if (node.offsetTop === here.offsetTop) continue;
    if (row !== null && node.offsetTop !== row) break;
    row = node.offsetTop;
    const distance = (n) => Math.abs(n.offsetLeft + n.offsetWidth / 2 - here.offsetLeft - here.offsetWidth / 2);
    if (best === at || distance(node) < distance(chips[best].node)) best = i;
  }
  return best;
}

// The chip of a link that somebody sent: in view, even if it is not the last.
function reveal({ list, chips }, position) {
  const { node } = chips[position];
  list.scrollTop = node.offsetTop - (list.clientHeight - node.offsetHeight) / 2;
}

function settle(state) {
  if (state.follow) state.list.scrollTop = state.list.scrollHeight;
  fade(state.list);
}
