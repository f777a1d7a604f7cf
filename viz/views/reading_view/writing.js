// The words as they were typed, a node each.

import { element } from "../../shared/element.js";
import { rove } from "../../shared/rove.js";
import { fill } from "../../shared/token.js";

/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Token} Token */
/** @typedef {import("../../shared/types").Pieces} Pieces */

const KINDS = ["", "special", "fragment"];

/** @type {(state: State) => HTMLElement[]} */
export const nodesOf = ({ tokens }) => tokens.map(({ node }) => node);

// The words. Only a token that differs from the one that stood there is written again.
/** @type {(state: State) => void} */
export function write(state) {
  const { text, tokens, header, toggle } = state;
  state.boxes = new Map(); // where words stand; measuring it at every hover would make the browser lay out again
  toggle.node.hidden = !header.toggle;
  text.setAttribute("aria-label", header.label);
  for (const token of tokens.splice(header.tokens.length)) token.node.remove();
  header.tokens.forEach((pieces, i) => {
    const key = pieces.join("\u0000") + header.kinds[i];
    const token = (tokens[i] ??= blank(text, i));
    token.node.classList.toggle("second", i === header.second);
    token.node.classList.toggle("said", header.said !== undefined && i >= header.said); // never where nothing is said of it
    if (token.key === key) return;
    token.key = key;
    spell(token, pieces, KINDS[header.kinds[i]]);
    token.node.setAttribute("aria-label", header.names[i]);
  });
  rove(state, nodesOf(state), Math.min(state.focus, tokens.length - 1));
}

/** @type {(text: HTMLElement, position: number) => Token} */
function blank(text, position) {
  const node = element("span", "token");
  node.setAttribute("role", "button");
  node.tabIndex = -1;
  node.dataset.position = String(position);
  text.append(node);
  return { node, word: node, key: "", shaded: 0, ink: "", faint: false, asked: false, pressed: null, strips: "" };
}

// Spaces before a word stand outside of what is shaded, so that a shade fits its word; line breaks come after their mark.
/** @type {(token: Token, pieces: Pieces, kind: string) => void} */
function spell(token, pieces, kind) {
  const first = pieces[0];
  const before = pieces.length > 1 || first.trim() ? (first.match(/^ */)?.[0] ?? "") : "";
  const word = element("span", "word");
  const rest = [first.slice(before.length), ...pieces.slice(1)];
  const broken = rest.join("").includes("\n");
  const lines = rest.map((piece, i) => (i % 2 ? piece : piece.replaceAll("\n", "")));
  if (kind === "special") word.append(/^([<[]\|?)?(.+?)(\|?[>\]])?$/.exec(lines.join(""))?.[2] ?? lines.join(""));
  else fill(word, lines);
  if (broken) {
    // Shown where the line ends; the breaks themselves follow outside of the box.
    word.append(element("i", "mark", "↵"));
  } else if (!word.textContent?.trim()) word.classList.add("blank");
  word.classList.toggle("special", kind === "special");
  word.classList.toggle("fragment", kind === "fragment");
  const breaks = (rest.join("").match(/\n/g) ?? []).join("");
  token.node.replaceChildren(...[before, word, breaks].filter((part) => part !== ""));
  token.word = word;
  token.node.classList.remove("faint");
  Object.assign(token, { shaded: 0, ink: "", faint: false, asked: false, strips: "" });
}
