// Text with **bold**, *italic*, `code` and [words](#w-name) that are explained, as elements.

import { element } from "./element.js";

// Writes a text of one paragraph into a node, if it is another one.
const written = new WeakMap();
/** @type {(node: HTMLElement, text: string) => void} */
export function writeProse(node, text) {
  if (written.get(node) === text) return;
  written.set(node, text);
  node.replaceChildren(...inline(hidden(text)));
}

const STAR = "\u0001";
const BRACKET = "\u0002";

// A text in which a star or a bracket behind a backslash means nothing.
/** @type {(text: string) => string} */
export const hidden = (text) => text.replaceAll("\\*", STAR).replaceAll("\\[", BRACKET);
/** @type {(piece: string) => string} */
const plain = (piece) => piece.replaceAll(STAR, "*").replaceAll(BRACKET, "[");
const EXPLAINED = /^\[([^\]]*)\]\((#w-[a-z0-9-]+)\)$/;

// What a text that `hidden` has prepared becomes.
/** @type {(text: string) => (string | HTMLElement)[]} */
export function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`|\[[^\]]*\]\(#w-[a-z0-9-]+\))/).map((piece) => {
    if (/^\*\*.+\*\*$/.test(piece)) return holding("strong", inline(piece.slice(2, -2)));
    if (/^\*.+\*$/.test(piece)) return holding("em", inline(piece.slice(1, -1)));
    if (/^`.+`$/.test(piece)) return element("code", "", plain(piece.slice(1, -1)));
    const [, word, href] = piece.match(EXPLAINED) ?? [];
    return href ? Object.assign(element("a", "", plain(word)), { href }) : plain(piece);
  });
}

/** @type {(tag: "strong" | "em" | "p" | "ul" | "li", nodes: (string | HTMLElement)[]) => HTMLElement} */
export function holding(tag, nodes) {
  const node = element(tag);
  node.append(...nodes);
  return node;
}
