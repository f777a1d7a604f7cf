// The labels of the tokens on both sides: as many as there is room for.

import { element } from "../../shared/element.js";
import { roughly } from "../../shared/number.js";
import { fill } from "../../shared/token.js";
import { SPACE } from "./places.js";
import { best, canSee, NUMBER_FROM } from "./state.js";

/** @typedef {import("./types").Label} Label */
/** @typedef {import("./types").Place} Place */
/** @typedef {import("./types").Side} Side */
/** @typedef {import("./types").State} State */

/** @type {(state: State, side: Side, place: Place | null) => void} */
export function label(state, side, place) {
  const { values, options } = state;
  const other = place && place[0] !== side.i;
  const ranked = !place ? [] : other ? best(values, 64) : [place[1]];
  /** @type {Set<number>} */
  const wanted = choose(state, side, ranked);
  const drawn = state.drawn[side.i];
  const free = state.free[side.i];
  for (const [position, old] of drawn)
    if (!wanted.has(position)) {
      drawn.delete(position);
      free.push(old);
      old.node.style.display = "none";
      old.shown = false;
    }
  const rows = options.layout === "rows";
  for (const position of wanted) {
    let here = drawn.get(position);
    if (!here) {
      here = free.pop() ?? blank(state.boxes[side.i]);
      drawn.set(position, here);
    }
    writeLabel(here, side, position);
    if (!here.shown) {
      here.node.style.display = "";
      here.shown = true;
    }
    const at = Math.round(2 * (side.at[position] - (rows && !state.upright ? side.pitch : side.height) / 2)) / 2;
    const where = rows ? `${at}px 0` : `0 ${at}px`;
    if (here.where !== where) here.node.style.translate = here.where = where;
    const number = other && !(values[position] < NUMBER_FROM) ? roughly(values[position]) : ""; // also for what is not a number
    if (here.numberWords !== number) here.number.textContent = here.numberWords = number;
    const unseen = other && !(place[0] === 0 ? canSee(state, place[1], position) : canSee(state, position, place[1]));
    const mine = place && !other && place[1] === position;
    const looks = (mine ? "asked " : "") + (unseen ? "unseen " : "") + (place && !number ? "dim" : "");
    if (here.looks !== looks) here.node.className = "label " + (here.looks = looks) + here.kind;
  }
  measure(state, side);
  brackets(state, side);
}

// The size of labels, and what a screen reader is told of where the keyboard stands.
/** @type {(state: State, side: Side) => void} */
function measure(state, side) {
  const box = state.boxes[side.i];
  const size = `${side.height}px|${side.pitch}`;
  if (state.sizes[side.i] !== size) {
    state.sizes[side.i] = size;
    box.style.setProperty("--high", side.height + "px");
    box.style.setProperty("--pitch", side.pitch + "px");
    box.style.setProperty("--type", Math.max(10.5, Math.min(14, 0.68 * side.height)) + "px");
  }
  const now = state.at?.[side.i] ?? 0;
  const last = Math.max(1, side.count);
  box.setAttribute("aria-valuemin", "1");
  box.setAttribute("aria-valuemax", String(last));
  box.setAttribute("aria-valuenow", String(Math.min(now + 1, last)));
}

/** @type {(box: HTMLElement) => Label} */
function blank(box) {
  const node = element("span", "label");
  const [word, number] = [element("bdi", "word"), element("b", "number")];
  node.append(word, number);
  box.append(node);
  return { node, word, number, numberWords: "", shown: true, key: "", kind: "", looks: "", where: "" };
}

/** @type {(label: Label, side: Side, position: number) => void} */
function writeLabel(label, side, position) {
  const pieces = side.tokens[position];
  const kind = ["", " special", " fragment"][side.kinds[position]];
  const key = pieces.join("\u0000") + kind;
  if (label.key === key) return;
  label.key = key;
  label.kind = kind;
  label.looks = null;
  fill(label.word, pieces);
}

// As many labels as there is room for: the ones that matter first, then one every so often.
/** @type {(state: State, side: Side, ranked: number[]) => Set<number>} */
function choose(state, side, ranked) {
  const { extent } = state;
  /** @type {(i: number) => boolean} */
  const visible = (i) => side.at[i] > -side.height && side.at[i] < extent + side.height;
  const wanted = new Set();
  const first = Math.max(0, Math.floor(side.offset / side.pitch) - 1);
  const last = Math.min(side.count, Math.ceil((side.offset + extent) / side.pitch) + 1);
  if (side.pitch >= SPACE) {
    for (let i = first; i < last; i++) if (visible(i)) wanted.add(i);
    return wanted;
  }
  const taken = new Uint8Array(Math.ceil(extent) + 2);
  /** @type {(i: number) => void} */
  const take = (i) => {
    const at = Math.round(side.at[i]);
    for (let a = Math.max(0, at - SPACE + 1); a < at + SPACE && a < taken.length; a++) if (taken[a]) return;
    taken[Math.max(0, Math.min(taken.length - 1, at))] = 1;
    wanted.add(i);
  };
  for (const i of ranked) take(i);
  const every = Math.ceil(SPACE / side.pitch);
  for (let i = 0; i < side.count; i += every) take(i);
  return wanted;
}

// Which text of a pair the tokens belong to.
/** @type {(state: State, side: Side) => void} */
function brackets(state, side) {
  const box = state.boxes[side.i];
  /** @type {{ segment: number, first: number, last: number }[]} */
  const runs = [];
  if (state.paired)
    for (let i = 0; i < side.count; i++) {
      const segment = side.segments?.[i] ?? 0;
      const run = runs.at(-1);
      if (run?.segment === segment) run.last = i;
      else runs.push({ segment, first: i, last: i });
    }
  const words = JSON.stringify([runs, side.pitch, side.offset, state.options.layout]);
  if (state.bracketed[side.i] === words) return;
  state.bracketed[side.i] = words;
  for (const old of box.querySelectorAll(".bracket")) old.remove();
  for (const { segment, first, last } of runs) {
    const node = element("i", "bracket", segment ? "B" : "A");
    const rows = state.options.layout === "rows";
    node.style[rows ? "left" : "top"] = side.at[first] - side.pitch / 2 + 1 + "px";
    node.style[rows ? "width" : "height"] = (last - first + 1) * side.pitch - 2 + "px";
    box.append(node);
  }
}
