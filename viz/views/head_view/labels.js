// The labels of the tokens on both sides: as many as there is room for.

import { element } from "../../shared/element.js";
import { roughly } from "../../shared/number.js";
import { fill } from "../../shared/token.js";
import { SPACE } from "./places.js";
import { best, canSee, NUMBER_FROM } from "./state.js";

export function label(state, side, place) {
  const { values, stage, options } = state;
  const other = place && place[0] !== side.i;
  const ranked = !place ? [] : other ? best(values, 64) : [place[1]];
  const wanted = choose(state, side, ranked);
  const drawn = state.drawn[side.i];
  const free = state.free[side.i];
  for (const [position, node] of drawn)
    if (!wanted.has(position)) {
      drawn.delete(position);
      free.push(node);
      node.style.display = "none";
      node.shown = false;
    }
  const rows = options.layout === "rows";
  for (const position of wanted) {
    let node = drawn.get(position);
    if (!node) {
      node = free.pop() ?? blank(state.boxes[side.i]);
      drawn.set(position, node);
    }
    writeLabel(node, side, position);
    if (!node.shown) {
      node.style.display = "";
      node.shown = true;
    }
    const at = Math.round(2 * (side.at[position] - (rows && !state.upright ? side.pitch : side.height) / 2)) / 2;
    const where = rows ? `${at}px 0` : `0 ${at}px`;
    if (node.where !== where) node.style.translate = node.where = where;
    const number = other && !(values[position] < NUMBER_FROM) ? roughly(values[position]) : ""; // also for what is not a number
    if (node.number.words !== number) node.number.textContent = node.number.words = number;
    const unseen = other && !(place[0] === 0 ? canSee(state, place[1], position) : canSee(state, position, place[1]));
    const mine = place && !other && place[1] === position;
    const looks = (mine ? "asked " : "") + (unseen ? "unseen " : "") + (place && !number ? "dim" : "");
    if (node.looks !== looks) node.className = "label " + (node.looks = looks) + node.kind;
  }
  const size = `${side.height}px|${side.pitch}`;
  if (stage["size" + side.i] !== size) {
    stage["size" + side.i] = size;
    const box = state.boxes[side.i];
    box.style.setProperty("--high", side.height + "px");
    box.style.setProperty("--pitch", side.pitch + "px");
    box.style.setProperty("--type", Math.max(10.5, Math.min(14, 0.68 * side.height)) + "px");
  }
  const box = state.boxes[side.i];
  const now = state.at?.[side.i] ?? 0;
  box.setAttribute("aria-valuemin", 1);
  box.setAttribute("aria-valuemax", Math.max(1, side.count));
  box.setAttribute("aria-valuenow", Math.min(now + 1, Math.max(1, side.count)));
  brackets(state, side);
}

function blank(box) {
  const node = element("span", "label");
  node.word = element("bdi", "word");
  node.number = element("b", "number");
  node.append(node.word, node.number);
  node.shown = true;
  node.kind = node.looks = "";
  box.append(node);
  return node;
}

function writeLabel(node, side, position) {
  const pieces = side.tokens[position];
  const kind = ["", " special", " fragment"][side.kinds[position]];
  const key = pieces.join("\u0000") + kind;
  if (node.key === key) return;
  node.key = key;
  node.kind = kind;
  node.looks = null;
  fill(node.word, pieces);
}

// As many labels as there is room for: the ones that matter first, then one every so often.
function choose(state, side, ranked) {
  const { extent } = state;
  const visible = (i) => side.at[i] > -side.height && side.at[i] < extent + side.height;
  const wanted = new Set();
  const first = Math.max(0, Math.floor(side.offset / side.pitch) - 1);
  const last = Math.min(side.count, Math.ceil((side.offset + extent) / side.pitch) + 1);
  if (side.pitch >= SPACE) {
    for (let i = first; i < last; i++) if (visible(i)) wanted.add(i);
    return wanted;
  }
  const taken = new Uint8Array(Math.ceil(extent) + 2);
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
function brackets(state, side) {
  const box = state.boxes[side.i];
  const runs = [];
  if (state.paired)
    for (let i = 0; i < side.count; i++) {
      const segment = side.segments?.[i] ?? 0;
      if (runs.at(-1)?.segment === segment) runs.at(-1).last = i;
      else runs.push({ segment, first: i, last: i });
    }
  const words = JSON.stringify([runs, side.pitch, side.offset, state.options.layout]);
  if (side.i in (state.bracketed ??= {}) && state.bracketed[side.i] === words) return;
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
