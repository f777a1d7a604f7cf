// What pointing, a press, a drag and the keyboard do.

import { closest } from "../../shared/element.js";
import { onHover } from "../../shared/hover.js";
import { onPoint, point } from "../../shared/link.js";
import { rove } from "../../shared/rove.js";
import { writeText } from "../../shared/write_text.js";
import { draw } from "./drawing.js";

/** @typedef {import("./types").State} State */

/** @type {(event: Event) => number} */
const tokenOf = (event) => Number(closest(event, "[data-token]")?.dataset.token ?? -1);

/** @type {(state: State) => void} */
export function listen(state) {
  const { list, grid } = state;
  list.addEventListener("click", (event) => {
    const at = tokenOf(event);
    if (at >= 0 && !(state.hides && at >= state.header.leading.length)) press(state, at);
  });
  list.addEventListener("keydown", (event) => {
    const at = tokenOf(event);
    if (at < 0) return;
    const to = step(state, at, event.key);
    if (event.key === "Enter" || event.key === " ") act(state, at);
    else if (to < 0) return;
    else {
      rove(state, state.nodes, to);
      state.nodes[to].focus();
      aim(state, to);
    }
    event.preventDefault();
  });
  list.addEventListener("focusout", () => aim(state, -1));
  onHover(list, (event) => {
    const at = tokenOf(event);
    if (at >= 0) aim(state, at);
  });
  list.addEventListener("pointerleave", () => aim(state, -1));
  onPoint(state, (position) => {
    state.pointed = position < state.nodes.length ? position : -1;
    draw(state);
  });
  listenToDrags(state, grid);
}

// A drag hides all patches that it comes over, or shows them, as it does with the first.
/** @type {(state: State, grid: HTMLElement) => void} */
function listenToDrags(state, grid) {
  grid.addEventListener("pointerdown", (event) => {
    const at = tokenOf(event) - state.header.leading.length;
    if (!state.hides || at < 0 || event.button) return;
    event.preventDefault();
    state.drag = !state.hidden.has(at);
    hide(state, at, state.drag);
  });
  grid.addEventListener("pointermove", ({ clientX, clientY }) => {
    if (state.drag === null) return;
    const around = /** @type {Document | ShadowRoot} */ (grid.getRootNode());
    const node = /** @type {HTMLElement | null} */ (around.elementFromPoint(clientX, clientY)?.closest("[data-token]") ?? null);
    const at = Number(node?.dataset.token ?? -1) - state.header.leading.length;
    if (at >= 0) hide(state, at, state.drag);
  });
  addEventListener("pointerup", () => (state.drag = null));
  addEventListener("pointercancel", () => (state.drag = null));
}

/** @type {(state: State, patch: number, hides: boolean) => void} */
function hide(state, patch, hides) {
  if (state.hidden.has(patch) === hides) return;
  if (hides) state.hidden.add(patch);
  else state.hidden.delete(patch);
  writeHidden(state);
}

// Writes which patches are hidden into the text box, behind the name of the image.
/** @type {(state: State) => void} */
export function writeHidden(state) {
  const { header, hidden } = state;
  const places = [...hidden]
    .sort((a, b) => a - b)
    .map((at) => `${Math.floor(at / header.columns) + 1}.${(at % header.columns) + 1}`);
  draw(state);
  show(state);
  writeText(header.writes + (places.length ? ` without ${places.join(" ")}` : ""));
}

/** @type {(state: State, at: number) => void} */
function act(state, at) {
  const patch = at - state.header.leading.length;
  if (state.hides && patch >= 0) hide(state, patch, !state.hidden.has(patch));
  else press(state, at);
}

/** @type {(state: State, at: number) => void} */
function press(state, at) {
  state.header.chosen = at;
  rove(state, state.nodes, at);
  draw(state);
  state.tell("chosen", at);
}

/** @type {(state: State, at: number) => void} */
function aim(state, at) {
  if (state.pointed === at) return;
  state.pointed = at;
  draw(state);
  point(state, at);
}

// Which switch is pressed, and what a finger does on the image.
/** @type {(state: State) => void} */
export function show(state) {
  const { toggle, all, grid, header, hides, hidden } = state;
  toggle.show(hides ? "hide" : "look");
  toggle.node.hidden = !header.writes;
  all.hidden = !header.writes;
  all.style.visibility = hidden.size ? "" : "hidden"; // it keeps its room: nothing moves below a pointer that drags
  grid.classList.toggle("hides", hides);
}

// The arrows go from patch to patch; above the first row stand the tokens that the model adds.
/** @type {(state: State, at: number, key: string) => number} */
function step({ header, nodes }, at, key) {
  const [before, across, last] = [header.leading.length, header.columns, nodes.length - 1];
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key === "ArrowRight") return Math.min(last, at + 1);
  if (key === "ArrowLeft") return Math.max(0, at - 1);
  if (key === "ArrowDown") return at < before ? before : Math.min(last, at + across);
  if (key === "ArrowUp") return at < before ? at : at - across < before ? Math.max(0, before - 1) : at - across;
  return -1;
}
