// The text of a token as it is drawn.

import { element } from "./element.js";

/** @typedef {import("./types").Pieces} Pieces */

const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US SP DEL".split(
    " ",
  );

// A token's drawn text: strings that alternate between its own text and marks of ours ("·", "↵", "U+200D", "␀").
/** @type {(node: HTMLElement, pieces: Pieces) => void} */
export function fill(node, pieces) {
  node.replaceChildren();
  pieces.forEach((piece, i) => {
    if (i % 2 === 0) node.append(piece);
    else for (const mark of piece.match(/U\+[0-9A-F]{4,6}|[^]/gu) ?? []) node.append(markOf(mark));
  });
}

/** @type {(text: string) => HTMLElement} */
function markOf(text) {
  const mark = element("i", "mark", text);
  if (text.length > 2) mark.classList.add("code");
  const control = CONTROLS[text.charCodeAt(0) - 0x2400];
  if (control) mark.dataset.name = control; // few fonts have a readable ␀: CSS draws NUL in its place
  return mark;
}
