// How rotary positions turned q and k: a dial a pair of dimensions, its hands before (faint) and after. Drawn by view.js.

import { penOn } from "../../shared/canvas.js";
import { colours, css } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { exactly, signed } from "../../shared/number.js";
import { fillTable } from "../../shared/table.js";
import { active } from "./active.js";

/** @typedef {import("./types").Hand} Hand */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Turn} Turn */
/** @typedef {import("./types").Turns} Turns */
/** @typedef {import("./types").Two<Hand>} Hands */

const DIAL = 52; // CSS pixels a side
const DIAL_TEXT = 30; // below it: which dimensions, and what turning adds

/** @type {() => Pick<State, "dials" | "dialWords" | "dialCanvas" | "turnTable">} */
export function makeDials() {
  const node = element("div", "dials");
  const words = element("p", "turns");
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  node.append(words, canvas);
  return { dials: node, dialWords: words, dialCanvas: canvas, turnTable: element("table") };
}

// How this model turns q and k; null where it does not.
/** @type {(state: State) => Turns | null} */
function turnsOf({ header }) {
  const { frequencies, pairs, unturned } = header.arrays;
  return frequencies && pairs && unturned ? { frequencies: frequencies.data, pairs: pairs.data, unturned: unturned.data } : null;
}

// One pair of dimensions of one key: hands [x, y] before and after, angles in radians, what the pair adds to q·k.
/** @type {(state: State, turns: Turns, key: number, pair: number) => Turn} */
function turnOf({ header, dims }, { frequencies, pairs }, key, pair) {
  const { q, k } = header.arrays;
  const [a, b] = pairs.subarray(2 * pair, 2 * pair + 2);
  /** @type {(hand: Hand, angle: number) => Hand} */
  const back = ([x, y], angle) => [x * Math.cos(angle) + y * Math.sin(angle), y * Math.cos(angle) - x * Math.sin(angle)];
  /** @type {[number, number]} */
  const angles = [header.position * frequencies[pair], key * frequencies[pair]];
  /** @type {[Hand, Hand]} */
  const after = [
    [q.data[a], q.data[b]],
    [k.data[key * dims + a], k.data[key * dims + b]],
  ];
  /** @type {[Hand, Hand]} */
  const before = [back(after[0], angles[0]), back(after[1], angles[1])];
  /** @type {(hands: Hands) => number} */
  const product = ([left, right]) => left[0] * right[0] + left[1] * right[1];
  return { a, b, angles, after, before, was: product(before), is: product(after) };
}

/** @type {(state: State) => void} */
export function dialsOf(state) {
  const { header, width, dials, dialWords, dialCanvas, ratio, paints } = state;
  const key = active(state);
  const turns = turnsOf(state);
  dials.hidden = !turns || key < 0 || !width;
  if (!turns || dials.hidden) return;
  const all = Array.from(turns.frequencies, (_, pair) => turnOf(state, turns, key, pair));
  const fit = Math.max(1, Math.min(all.length, Math.floor(width / DIAL)));
  const order = [...all.keys()].sort((a, b) => Math.abs(all[b].is - all[b].was) - Math.abs(all[a].is - all[a].was) || a - b);
  const some = order.slice(0, fit).sort((a, b) => a - b); // fast pairs first
  const [now, then] = [header.arrays.raw.data[key], turns.unturned[key]];
  dialWords.replaceChildren(
    element("b", "", "Turned by position. "),
    `Each pair of dimensions is like the hand of a clock: q turned by ${header.position} steps, k by ${key}; only their distance, ${Math.abs(header.position - key)}, counts. `,
    `Without turning, q·k would be ${exactly(then)}, so turning adds ${signed(now - then)}. `,
    dialKey("q", "accent", "q"),
    dialKey("k", "ink", "k"),
    `faint: before${some.length < all.length ? `; the ${some.length} of ${all.length} pairs that it changes most` : ""}, the fastest first`,
  );
  dialCanvas.width = Math.round(some.length * DIAL * ratio);
  dialCanvas.height = Math.round((DIAL + DIAL_TEXT) * ratio);
  dialCanvas.style.width = some.length * DIAL + "px";
  dialCanvas.style.height = DIAL + DIAL_TEXT + "px";
  const pen = penOn(dialCanvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  const { accent, ink } = colours(state.root);
  const paint = [accent, ink].map(css);
  const reach = DIAL / 2 - 4;
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "center";
  some.forEach((pair, column) => {
    const { a, b, before, after, is, was } = all[pair];
    const [x, y] = [column * DIAL + DIAL / 2, DIAL / 2];
    pen.strokeStyle = paints.line;
    pen.lineWidth = 1;
    pen.beginPath();
    pen.arc(x, y, reach, 0, 2 * Math.PI);
    pen.stroke();
    const most = after.map(([u, v]) => Math.hypot(u, v));
    for (const { hands, alpha, thick } of [
      { hands: before, alpha: 0.35, thick: 1.5 },
      { hands: after, alpha: 1, thick: 2.2 },
    ])
      hands.forEach(([u, v], i) => {
        if (!(most[i] > 0)) return;
        const long = reach * Math.sqrt(most[i] / Math.max(...most)); // the lengths of q and k differ a lot
        pen.globalAlpha = alpha;
        pen.strokeStyle = paint[i];
        pen.lineWidth = thick;
        pen.beginPath();
        pen.moveTo(x, y);
        pen.lineTo(x + (long * u) / most[i], y - (long * v) / most[i]);
        pen.stroke();
      });
    pen.globalAlpha = 1;
    pen.fillStyle = paints.soft;
    pen.fillText(`${a}, ${b}`, x, DIAL + 10);
    pen.fillText(signed(is - was, 2), x, DIAL + 24);
  });
}

/** @type {(name: string, colour: string, words: string) => HTMLElement} */
function dialKey(name, colour, words) {
  const node = element("span", "hand " + colour, words);
  node.prepend(element("i"));
  return node;
}

// The table behind the dials.
/** @type {(state: State, key: number) => void} */
export function tabulateTurns(state, key) {
  const { names, turnTable, unseen } = state;
  const turns = turnsOf(state);
  if (!turns || key < 0) return turnTable.remove();
  unseen.append(turnTable);
  const lines = Array.from(turns.frequencies, (frequency, pair) => {
    const { a, b, angles, was, is } = turnOf(state, turns, key, pair);
    return [`${a}, ${b}`, ...[frequency, ...angles, was, is].map(exactly)];
  });
  const heads = ["dimensions", "radians a step", "q turned by", "k turned by", "their product before", "after"];
  fillTable(turnTable, `How ${names[key]} was turned`, heads, lines);
}
