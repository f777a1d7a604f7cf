// What the picture says in words, and the table behind it.

import { element, write } from "../../shared/element.js";
import { number } from "../../shared/number.js";
import { fillTable } from "../../shared/table.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */

const LONGEST_TABLE = 1100;

// The nearest of a token in all dimensions, at the stage that is shown.
/** @type {(state: State, i: number) => number[]} */
export function nearOf(state, i) {
  const near = state.header.arrays.near;
  if (!near) return [];
  const each = near.shape[2];
  const start = (Math.round(state.at) * state.count + i) * each;
  return [...near.data.subarray(start, start + each)];
}

/** @type {(state: State, i: number) => string} */
function valueOf(state, i) {
  const { header, count, at } = state;
  const values = header.arrays.values?.data;
  if (!values || !header.colours) return "";
  const value = values[Math.round(at) * count + i];
  if (Number.isNaN(value)) return "";
  if (header.colours.names) return header.colours.names[value];
  return number(value, header.colours.unit);
}

/** @type {(header: Header) => string} */
function nearest({ near_by, simple }) {
  if (simple) return "Really nearest";
  return "Nearest in all dimensions" + (near_by ? `, ${near_by}` : "");
}

/** @type {(state: State, i: number) => string[]} */
function factsOf(state, i) {
  const { header } = state;
  const value = valueOf(state, i);
  const facts = [header.notes?.[i] ?? "", value && (header.quantity ? `${header.quantity}: ${value}` : value)].filter(Boolean);
  const near = nearOf(state, i).map((other) => `“${header.names[other]}”`);
  if (near.length) facts.push(`${nearest(header).toLowerCase()}: ${near.join(", ")}`);
  return facts;
}

// The words beside the point that is pointed at.
/** @type {(state: State) => void} */
export function pointOut(state) {
  const { tip, pointed, spots, wide, header, scene } = state;
  scene.classList.toggle("over", pointed >= 0);
  tip.hidden = pointed < 0;
  if (pointed < 0) return;
  const { x, y } = spots[pointed];
  tip.replaceChildren(
    element("b", "", header.names[pointed]),
    ...factsOf(state, pointed).map((fact) => element("span", "", fact)),
  );
  const left = x > wide - 280 ? Math.max(4, x - 16 - tip.offsetWidth) : x + 16;
  tip.style.left = left + "px";
  tip.style.top = Math.max(4, Math.min(state.high - tip.offsetHeight - 4, y - 12)) + "px";
}

// The token that is followed, in words.
/** @type {(state: State) => void} */
export function speak(state) {
  const { header, chosen, said, at } = state;
  const text =
    chosen < 0
      ? ""
      : `“${header.names[chosen]}”, ${header.stages[Math.round(at)]}: ${factsOf(state, chosen).join("; ") || "no more is known"}.`;
  write(said, text);
}

/** @type {(state: State) => void} */
export function tabulate(state) {
  const { header, rows, count, dimensions, xyz, details } = state;
  if (!details.open) return rows.replaceChildren();
  const at = Math.round(state.at);
  const axes = header.simple ? [] : (header.axes ?? ["x", "y", "z"].slice(0, dimensions));
  const heads = ["Token", ...axes];
  if (header.colours) heads.push(header.quantity || "value");
  if (header.arrays.near) heads.push(nearest(header));
  const lines = Array.from({ length: Math.min(count, LONGEST_TABLE) }, (_, i) => {
    const place = axes.map((_, d) => number(xyz[(at * count + i) * dimensions + d]));
    const cells = [`${i} ${header.names[i]}`, ...place];
    if (header.colours) cells.push(valueOf(state, i));
    if (header.arrays.near)
      cells.push(
        nearOf(state, i)
          .map((other) => header.names[other])
          .join(", "),
      );
    return cells;
  });
  const table = element("table");
  fillTable(table, header.stages[at], heads, lines);
  rows.replaceChildren(table);
}
