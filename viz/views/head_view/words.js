// What the picture says in words, and the table behind it.

import { element, write } from "../../shared/element.js";
import { counted, roughly } from "../../shared/number.js";
import { fillTable } from "../../shared/table.js";
import { asked, best, isMissing, nameOf, NAMES, valuesOf } from "./state.js";

/** @typedef {import("./types").Place} Place */
/** @typedef {import("./types").Side} Side */
/** @typedef {import("./types").State} State */

const POINT = globalThis.matchMedia?.("(hover: none)").matches ? "Press" : "Point at";
const HINT = ` ${POINT} a token to see only its own.`;
const PLAIN_HINT = ` ${POINT} a token to see only its lines.`;
const TABLED = 20;

/** @type {(state: State, place: Place | null) => void} */
export function say(state, place) {
  const { sentence, note, header, boxes, sides, planes } = state;
  const words = place ? sentenceOf(state, place) : resting(state);
  if (sentence.textContent !== words) {
    const ending = [HINT, PLAIN_HINT].find((tail) => words.endsWith(tail));
    const [before, hint] = ending ? [words.slice(0, -ending.length), element("span", "", ending)] : [words];
    sentence.replaceChildren(before);
    if (hint) {
      hint.dataset.take = "no"; // it says how to use the view, and goes into no picture of it
      sentence.append(hint);
    }
  }
  const notes = header.simple ? [] : ["The weights shown here are rounded, and exact to 0.2 %."];
  if (header.broken)
    notes.unshift(`${counted(header.broken, "weight is", "weights are")} not a number, so nothing is drawn there.`);
  const average = header.simple ? "average" : "mean";
  if (planes.length > 1)
    notes.unshift(`The bar beside a label is the ${average} of the heads that are on, with the part of each head in its colour.`);
  const text = notes.join(" ");
  write(note, text);
  if (place && state.focused) boxes[place[0]].setAttribute("aria-valuetext", words);
  else
    for (const side of sides) {
      const at = Math.min(state.at?.[side.i] ?? 0, side.count - 1);
      boxes[side.i].setAttribute("aria-valuetext", at < 0 ? "no token" : nameOf(side, at));
    }
  clearTimeout(state.later);
  state.later = setTimeout(() => tabulate(state), 250);
}

/** @type {(state: State) => string} */
function resting({ lines, on, options, sides, header }) {
  if (!sides[0].count || !sides[1].count) return "No text.";
  if (!on.length) return "No head is on: press one above, or “all”.";
  if (!lines.total) return `No weight of ${options.least}\u00a0% or more here.`;
  const all = counted(lines.total, "line", "lines");
  const some = lines.count < lines.total;
  const drawn = some ? `the strongest ${lines.count.toLocaleString("en")} of ${all}` : all;
  const from = some ? Math.max(options.least, Math.floor(lines.cut / 2.55)) : options.least;
  const heads = options.mode === "each" ? `${on.length} heads` : `the ${options.mode} of ${on.length} heads`;
  const layer = header.layer === null ? "" : `L${header.layer}`;
  const named = on.length === 1 ? [layer, `H${on[0]}`].filter(Boolean).join(" ") : [layer, heads].filter(Boolean).join(", ");
  return `${named}: ${drawn}, of ${from}\u00a0% and more.${header.simple ? PLAIN_HINT : HINT}`;
}

/** @type {(state: State, place: Place) => string} */
function sentenceOf(state, [side, position]) {
  const { sides, values, on, options } = state;
  const me = nameOf(sides[side], position);
  if (!on.length) return `${me}: no head is on.`;
  const order = best(values, 2);
  const verb = side === 0 ? "looks most at" : `is looked at most${sides[0].rows ? "" : " by"}`;
  /** @type {(i: number, side: number) => string} */
  const number = (i, side) => (sides[side].rows || state.header.simple ? "" : ` (${sides[side].first + i})`); // the position in the text
  const rows = sides[0].rows && (side === 0 ? `${capital(me)}, it` : me); // in cross-attention: "After “le”, choosing “chat”, it looks …"
  if (!order.length)
    return `${rows || me}${number(position, side)} ${side === 0 ? "looks at nothing here" : "is looked at by nothing here"}.`;
  /** @type {(i: number) => string} */
  const other = (i) =>
    state.header.to === null && i === position ? "itself" : `${nameOf(sides[1 - side], i)}${number(i, 1 - side)}`;
  const parts = order.map((i) => `${other(i)}: ${roughly(values[i])}`);
  let more = "";
  if (on.length > 1) {
    const [head, weight] = strongestHead(state, side, position, order[0]);
    more = options.mode === "max" ? ` (H${head})` : ` on average of ${on.length} heads, ${roughly(weight)} in H${head}`;
  }
  return `${rows || me}${number(position, side)} ${verb} ${parts[0]}${more}${parts[1] ? `; then ${parts[1]}` : ""}.`;
}

/** @type {(words: string) => string} */
const capital = (words) => words[0].toUpperCase() + words.slice(1);

/** @type {(state: State, side: number, position: number, other: number) => [head: number, weight: number]} */
function strongestHead({ header, weights, on }, side, position, other) {
  const [, rows, columns] = header.shape;
  const [row, column] = side === 0 ? [position, other] : [other, position];
  /** @type {(head: number) => number} */
  const at = (head) => weights[(head * rows + row) * columns + column];
  const head = on.reduce((a, b) => (at(b) > at(a) ? b : a));
  return [head, at(head) / 255];
}

// Where the keyboard stands among the queries, or the last of them.
/** @type {(state: State, rows: number) => Place} */
const firstOf = ({ at }, rows) => [0, at && at[0] < rows ? at[0] : rows - 1];

// The numbers behind the picture, of the token that is asked about or of the last one.
/** @type {(state: State) => void} */
export function tabulate(state) {
  const { table, sides, on, header, numbers, options } = state;
  const [, rows, columns] = header.shape;
  const place = asked(state) ?? (rows && columns ? firstOf(state, rows) : null);
  if (!numbers.open || !place || !on.length) return table.replaceChildren();
  const [side, position] = place;
  const values = valuesOf(state, place);
  const order = [...values.keys()].sort((a, b) => values[b] - values[a] || a - b).slice(0, TABLED);
  /** @type {(side: Side, i: number) => string} */
  const placed = (side, i) => nameOf(side, i) + (side.rows || header.simple ? "" : ` (${side.first + i})`);
  const caption = `Attention ${sides[side].rows ? "" : NAMES[side] + " "}${placed(sides[side], position)}`;
  const few = values.length > TABLED ? `, the strongest ${TABLED} of ${values.length}` : "";
  const joint = on.length > 1 ? [options.mode === "max" ? "max" : "mean"] : [];
  const lines = order.map((i) => {
    /** @type {(head: number) => string} */
    const weight = (head) => {
      const index = (head * rows + (side === 0 ? position : i)) * columns + (side === 0 ? i : position);
      return isMissing(state, index) ? "–" : roughly(state.weights[index] / 255);
    };
    return [placed(sides[1 - side], i), ...joint.map(() => roughly(values[i])), ...on.map(weight)];
  });
  fillTable(table, caption + few, [state.axes[1 - side], ...joint, ...on.map((head) => "H" + head)], lines);
}
