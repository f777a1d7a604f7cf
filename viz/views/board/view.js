// Cards of views. What has `late` set is drawn after the others are on screen: the words that one types come before the pictures of them.
// `mounts` has the mount function of each kind of view on the board; only a part whose bytes changed is drawn again.

import { unpack } from "../../shared/bytes.js";
import { element } from "../../shared/element.js";
import { mountOn, stateOf } from "../../shared/state.js";
import { makeFold } from "./fold.js";

export function mount({ parentElement, data, setTriggerValue }, mounts) {
  const header = unpack(data);
  const state = stateOf(parentElement, (blank) => Object.assign(blank, { cards: [], n: 0, run: 0 }));
  const run = ++state.run;
  const { color } = getComputedStyle(state.root);
  const recoloured = state.color !== color; // the page has turned light or dark: what is drawn reads its colours again
  state.color = color;
  const late = [];
  Object.assign(state, { tell: setTriggerValue, mounts });
  state.root.setAttribute("aria-label", header.label);
  while (state.cards.length > header.cards.length) state.cards.pop().node.remove();
  header.cards.forEach((card, i) => {
    const place = (state.cards[i] ??= blankCard(state.root));
    place.node.className = card.width ? "card" : "row";
    place.node.style.flexGrow = card.width || 1;
    heading(place.title, card.title);
    while (place.parts.length > card.parts.length) place.parts.pop().node.remove();
    card.parts.forEach((part, j) => {
      const bytes = header.arrays.blocks.data.slice(part.start, part.end);
      const draw = () => drawPart(state, place.parts[j], part, bytes, recoloured);
      const fresh = !place.parts[j];
      place.parts[j] ??= blankPart(place.node);
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

// Where cards stand below each other, what a press has changed may lie beyond the end of the screen.
function reveal(state, place) {
  if (!state.pressed) return;
  state.pressed = false;
  requestAnimationFrame(() => {
    const { top, bottom, height } = place.node.getBoundingClientRect();
    if (top > 0 && bottom > innerHeight) place.node.scrollIntoView({ block: height > innerHeight ? "start" : "end" });
  });
}

function blankCard(root) {
  const node = element("section");
  const title = element("h2");
  node.append(title);
  root.append(node);
  return { node, title, parts: [] };
}

function blankPart(card) {
  const node = element("div", "part");
  const above = makeFold();
  const slot = element("div", "slot");
  const below = element("div", "words");
  node.append(above, slot, below);
  card.append(node);
  return { node, above, slot, below, kind: null, bytes: null };
}

function drawPart(state, place, part, bytes, recoloured) {
  place.node.dataset.part = part.name;
  place.above.hidden = !part.above;
  words(place.above.text, part.above);
  words(place.below, part.below);
  if (!recoloured && part.kind === place.kind && same(bytes, place.bytes)) return;
  if (part.kind !== place.kind) {
    place.slot.replaceChildren();
    if (part.kind) place.slot.append(element("div", "hl hl-" + part.kind.replaceAll("_", "-")));
  }
  Object.assign(place, { kind: part.kind, bytes });
  if (!part.kind) return;
  if (part.name === state.answers) reveal(state, place);
  const tell = (name, value) => {
    state.n = Math.max(state.n + 1, Date.now());
    state.pressed = part.name !== state.answers;
    state.tell(name, { part: part.name, value, n: state.n });
  };
  const args = { parentElement: place.slot, data: bytes, setTriggerValue: tell, setStateValue: tell, key: part.name };
  mountOn(state.mounts[part.kind], args);
}

function same(a, b) {
  return b !== null && a.length === b.length && a.every((value, i) => value === b[i]);
}

function heading(node, text) {
  if (node.text === text) return;
  node.text = text;
  node.replaceChildren(...inline(hidden(text)));
  node.hidden = !text;
}

// Plain text with **bold**, *italic*, `code` and [words](#w-name) that are explained; a blank line starts a paragraph.
function words(node, text) {
  if (node.text === text) return;
  node.text = text;
  node.hidden = !text;
  const paragraphs = text ? hidden(text).split(/\n\s*\n/) : [];
  node.replaceChildren(
    ...paragraphs.map((paragraph) => {
      const p = element("p");
      p.append(...inline(paragraph));
      return p;
    }),
  );
}

const STAR = "\u0001"; // a backslash makes a star a star, and a bracket a bracket
const BRACKET = "\u0002";
const hidden = (text) => text.replaceAll("\\*", STAR).replaceAll("\\[", BRACKET);
const plain = (piece) => piece.replaceAll(STAR, "*").replaceAll(BRACKET, "[");
const EXPLAINED = /^\[([^\]]*)\]\((#w-[a-z0-9-]+)\)$/;

function inline(text) {
  return text.split(/(\*\*[^*]+\*\*|\*[^*]+\*|`[^`]+`|\[[^\]]*\]\(#w-[a-z0-9-]+\))/).map((piece) => {
    if (/^\*\*.+\*\*$/.test(piece)) return holding("strong", inline(piece.slice(2, -2)));
    if (/^\*.+\*$/.test(piece)) return holding("em", inline(piece.slice(1, -1)));
    if (/^`.+`$/.test(piece)) return element("code", "", plain(piece.slice(1, -1)));
    const [, word, href] = piece.match(EXPLAINED) ?? [];
    return href ? Object.assign(element("a", "", plain(word)), { href }) : plain(piece);
  });
}

function holding(tag, nodes) {
  const node = element(tag);
  node.append(...nodes);
  return node;
}
