// Cards of views. What has `late` set is drawn after the others are on screen: the words that one types come before the pictures of them.
// `mounts` has the mount function of each kind of view on the board; only a part whose bytes changed is drawn again.

import { unpack } from "../../shared/bytes.js";
import { element } from "../../shared/element.js";
import { hidden, holding, inline } from "../../shared/prose.js";
import { mountOn, stateOf } from "../../shared/state.js";
import { makeFold } from "./fold.js";
import { watchRows } from "./rows.js";

/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Mounts} Mounts */
/** @typedef {import("../../shared/types").Tell} Tell */
/** @typedef {import("./types").CardPlace} CardPlace */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Part} Part */
/** @typedef {import("./types").PartPlace} PartPlace */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Written} Written */

const GROWS = 1000; // milliseconds in which what a press has changed may still grow

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }, mounts = {}) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, setTriggerValue, mounts));
  const run = ++state.run;
  const { color } = getComputedStyle(state.root);
  const recoloured = state.color !== color; // the page has turned light or dark: what is drawn reads its colours again
  state.color = color;
  /** @type {(() => void)[]} */
  const late = [];
  Object.assign(state, { tell: setTriggerValue, mounts });
  state.root.setAttribute("aria-label", header.label);
  for (const card of state.cards.splice(header.cards.length)) card.node.remove();
  header.cards.forEach((card, i) => {
    const place = (state.cards[i] ??= blankCard(state.root));
    place.node.className = card.width ? "card" : "row";
    place.node.style.flexGrow = String(card.width || 1);
    heading(place.title, card.title);
    for (const part of place.parts.splice(card.parts.length)) part.node.remove();
    card.parts.forEach((part, j) => {
      const bytes = header.arrays.blocks.data.slice(part.start, part.end);
      const draw = () => drawPart(state, place.parts[j], part, bytes, recoloured);
      const fresh = !place.parts[j];
      if (fresh) state.rows.observe((place.parts[j] = blankPart(place.node)).node);
      if (part.late && !fresh) late.push(draw);
      else draw();
      const following = [...card.parts.slice(j + 1), ...(card.width ? [] : (header.cards[i + 1]?.parts ?? []))];
      place.parts[j].above.fold(Boolean(part.kind) || following.some(({ kind }) => kind));
    });
  });
  const rest = () => state.run === run && late.forEach((draw) => draw());
  if (late.length) requestAnimationFrame(() => setTimeout(rest));
  state.answers = header.answers;
}

/** @type {(root: HTMLElement, tell: Tell, mounts: Mounts) => State} */
function make(root, tell, mounts) {
  return { root, tell, mounts, cards: [], rows: watchRows(root), answers: "", color: "", pressed: false, n: 0, run: 0 };
}

// Where cards stand below each other, what a press has changed may lie beyond the end of the screen.
/** @type {(state: State, place: PartPlace) => void} */
function reveal(state, place) {
  if (!state.pressed) return;
  state.pressed = false;
  const bring = () => {
    const { top, bottom, height } = place.node.getBoundingClientRect();
    if (top > 0 && bottom > innerHeight) place.node.scrollIntoView({ block: height > innerHeight ? "start" : "end" });
  };
  requestAnimationFrame(bring);
  const growth = new ResizeObserver(bring); // its words may come a moment later
  growth.observe(state.root);
  setTimeout(() => growth.disconnect(), GROWS);
}

/** @type {(root: HTMLElement) => CardPlace} */
function blankCard(root) {
  const node = element("section");
  const title = element("h2");
  node.append(title);
  root.append(node);
  return { node, title: { node: title, words: null }, parts: [] };
}

/** @type {(card: HTMLElement) => PartPlace} */
function blankPart(card) {
  const node = element("div", "part");
  const above = makeFold();
  const slot = element("div", "slot");
  const below = element("div", "words");
  const more = element("details", "words unfolds");
  const [name, text] = [element("summary"), element("div")];
  more.dataset.take = "no";
  more.append(name, text);
  node.append(above.node, slot, below);
  card.append(node);
  const opens = element("details", "opens");
  const opener = element("summary");
  opens.append(opener);
  const folds = { node: opens, name: { node: opener, words: null } };
  const unfolds = { node: more, name: { node: name, words: null }, text: { node: text, words: null } };
  return { node, above, slot, below: { node: below, words: null }, more: unfolds, folds, kind: null, bytes: null };
}

/** @type {(place: PartPlace, more: Part["more"]) => void} */
function drawMore({ node, more: { node: unfolds, name, text } }, more) {
  if (!more) return unfolds.remove();
  heading(name, more[0]);
  words(text, more[1]);
  if (!unfolds.isConnected) node.append(unfolds);
}

/** @type {(place: PartPlace, folds: Part["folds"]) => void} */
function drawFolds({ above, slot, below, folds: { node, name } }, folds) {
  if (!folds) {
    if (node.isConnected) node.replaceWith(slot, below.node);
    return;
  }
  heading(name, folds);
  if (node.isConnected) return;
  above.node.after(node);
  node.append(slot, below.node);
}

/** @type {(state: State, place: PartPlace, part: Part, bytes: Uint8Array<ArrayBuffer>, recoloured: boolean) => void} */
function drawPart(state, place, part, bytes, recoloured) {
  place.node.dataset.part = part.name;
  place.above.node.hidden = !part.above;
  words(place.above.text, part.above);
  words(place.below, part.below);
  drawMore(place, part.more);
  drawFolds(place, part.folds);
  if (!recoloured && part.kind === place.kind && same(bytes, place.bytes)) return;
  if (part.kind !== place.kind) {
    place.slot.replaceChildren();
    if (part.kind) place.slot.append(element("div", "hl hl-" + part.kind.replaceAll("_", "-")));
  }
  Object.assign(place, { kind: part.kind, bytes });
  if (!part.kind) return;
  if (part.name === state.answers) reveal(state, place);
  /** @type {Tell} */
  const tell = (name, value) => {
    state.n = Math.max(state.n + 1, Date.now());
    state.pressed = part.name !== state.answers;
    state.tell(name, { part: part.name, value, n: state.n });
  };
  const args = { parentElement: place.slot, data: bytes, setTriggerValue: tell, setStateValue: tell, key: part.name };
  mountOn(state.mounts[part.kind], args);
}

/** @type {(a: Uint8Array, b: Uint8Array | null) => boolean} */
function same(a, b) {
  return b !== null && a.length === b.length && a.every((value, i) => value === b[i]);
}

/** @type {(written: Written, text: string) => void} */
function heading(written, text) {
  if (written.words === text) return;
  written.words = text;
  const { node } = written;
  node.replaceChildren(...inline(hidden(text)));
  node.hidden = !text;
}

// Plain text with **bold**, *italic*, `code` and [words](#w-name) that are explained; a blank line starts a paragraph, and lines that all
// begin with a hyphen are a list.
/** @type {(written: Written, text: string) => void} */
function words(written, text) {
  if (written.words === text) return;
  written.words = text;
  const { node } = written;
  node.hidden = !text;
  const paragraphs = text ? hidden(text).split(/\n\s*\n/) : [];
  node.replaceChildren(...paragraphs.map(block));
}

const BULLET = "- ";

/** @type {(paragraph: string) => HTMLElement} */
function block(paragraph) {
  const lines = paragraph.split("\n");
  if (!lines.every((line) => line.startsWith(BULLET))) return holding("p", inline(paragraph));
  return holding(
    "ul",
    lines.map((line) => holding("li", inline(line.slice(BULLET.length)))),
  );
}
