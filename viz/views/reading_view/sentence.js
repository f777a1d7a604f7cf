// The same in words: a sentence, and a table for who cannot see the shades.

import { element } from "../../shared/element.js";
import { percent, roughly } from "../../shared/number.js";
import { fillTable } from "../../shared/table.js";
import { fill } from "../../shared/token.js";
import { seen, strongest, unseen, wayOf } from "./weights.js";

/** @typedef {import("./types").Quantity} Quantity */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Values} Values */

export const NUMBER_FROM = 0.05;
const SAID = 4; // so many heads have their own words in the sentence

// A token's name in the sentence, its control characters drawn as they are in the text.
/** @type {(name: string) => HTMLElement} */
export function named(name) {
  const node = element("bdi");
  fill(node, name.split(/([\u2400-\u2421])/));
  return node;
}

// The sentence, in parts: every second one names a token.
/** @type {(state: State, asked: number) => string[]} */
export function sentenceOf(state, asked) {
  const { header } = state;
  const { names, kinds, chosen, quantity, after } = header;
  if (quantity) return ["", kinds[asked] === 1 ? names[asked] : `“${names[asked]}”`, `: ${amount(quantity, asked)}.`];
  const direction = wayOf(state, asked);
  const values = seen(state, asked, direction);
  /** @type {(i: number) => string} */
  const name = (i) => (kinds[i] === 1 ? names[i] : `“${names[i]}”`);
  /** @type {(i: number) => string} */
  const other = (i) => (i === asked ? "itself" : name(i));
  const [best, second] = strongest(values, 2);
  const from = direction === "from";
  const { heads } = header;
  // A row of cross-attention is told by what it has read and what it serves to choose: "After “le”, choosing “chat”, it looks …"
  /** @type {(i: number) => string[]} */
  const row = (i) =>
    header.names[i] === "…" ? [after[i], ", to choose the next token", ""] : [after[i], ", choosing ", name(i)];
  const rows = from ? after[asked] : after[best];
  const mean = heads ? "On average, " : "";
  const parts = !rows
    ? [mean, name(asked), from ? " looks most at " : " is looked at most by ", other(best)]
    : from
      ? [heads ? mean + "after " : "After ", ...row(asked), ", it looks most at ", name(best)]
      : [mean, name(asked), " is looked at most after ", ...row(best)];
  parts.push(` (${share(values[best])})`);
  if (second !== undefined && values[second] >= NUMBER_FROM) {
    parts[parts.length - 1] += rows && !from ? ", then after " : ", then ";
    parts.push(...(rows && !from ? row(second) : [other(second)]), ` (${share(values[second])})`);
  }
  parts[parts.length - 1] += ".";
  if (heads) {
    heads.names.slice(0, SAID).forEach((head, i) => {
      const row = seen(state, asked, direction, i);
      const [most] = strongest(row, 1);
      parts[parts.length - 1] += ` ${head}: `;
      parts.push(other(most), ` (${roughly(row[most] / 255)})${i + 1 < Math.min(SAID, heads.names.length) ? "," : "."}`);
    });
    return parts;
  }
  if (rows) return parts; // what another row gives it would be a second row to name
  const weight = asked === chosen ? 0 : seen(state, chosen, direction)[asked];
  const unseen = header.causal && weight === 0 && (from ? asked > chosen : asked < chosen);
  if (asked !== chosen && !unseen && wayOf(state, chosen) === direction) {
    if (from) {
      parts[parts.length - 1] += " ";
      parts.push(name(chosen), ` gives it ${share(weight)}.`);
    } else {
      parts[parts.length - 1] += " It gives ";
      parts.push(name(chosen), ` ${share(weight)}.`);
    }
  }
  return parts;
}

/** @type {(quantity: Quantity, position: number) => string} */
function amount({ words, unit }, position) {
  return words[position] === "–" ? "–" : `${words[position]} ${unit}`.trim();
}

// A share that no line break parts from its sign.
/** @type {(weight: number) => string} */
function share(weight) {
  return percent(weight).replaceAll(" ", "\u00a0");
}

// The numbers behind, for who cannot see the shades.
/** @type {(state: State, asked: number, values: Values) => void} */
export function tabulate(state, asked, values) {
  const { table, header } = state;
  const { heads, quantity } = header;
  const direction = wayOf(state, asked);
  const from = header.after[asked] ? `after ${header.after[asked]}, choosing` : "from";
  const caption = quantity ? header.label : `Attention ${direction === "from" ? from : "to"} ${header.names[asked]}`;
  const each = (heads?.names ?? []).map((_, head) => seen(state, asked, direction, head));
  const lines = Array.from(values, (value, i) => {
    const never = value === 0 && unseen(header, asked, i, direction);
    const share = never ? "–" : percent(value);
    const heads = each.map((weights) => (never ? "–" : roughly(weights[i] / 255)));
    return [header.names[i], quantity ? amount(quantity, i) : share, ...heads];
  });
  fillTable(table, caption, heads ? ["Token", "Mean", ...heads.names] : [], lines);
}
