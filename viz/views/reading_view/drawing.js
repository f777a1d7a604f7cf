// Shades, strips and numbers of the token that one points at, or that is chosen.

import { inkOn, shade } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { FULL, inks } from "./legend.js";
import { NUMBER_FROM, named, sentenceOf, tabulate } from "./sentence.js";
import { seen, strongest, wayOf } from "./weights.js";

/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Token} Token */
/** @typedef {import("./types").Values} Values */

const NUMBERED = 3; // so many of the strongest carry their number
const ROOM = 30; // CSS pixels between the middles of two weights
const WIDE = 44; // and of two numbers of a token, which have more digits
const STEPS = 50; // of shade: a hover repaints only the words that change by one

const SHARES = Uint8Array.from({ length: 256 }, (_, byte) => 4 * Math.round(25 * shade(byte / 255))); // a head's opacity in per cent

/** @type {(state: State) => void} */
export function draw(state) {
  const { header, tokens, theme, sentence } = state;
  state.toggle.show(state.direction);
  const asked = state.pointed >= 0 ? state.pointed : header.chosen;
  const direction = asked < 0 ? state.direction : wayOf(state, asked);
  if (asked < 0) {
    sentence.textContent = "";
    state.below.replaceChildren();
    state.numbered = [];
    state.table.replaceChildren();
    return;
  }
  const values = seen(state, asked);
  const each = (header.heads?.names ?? []).map((_, head) => seen(state, asked, direction, head));
  const coloured = inks(state);
  const more = header.quantity?.diverging ? { ...theme, accent: theme.plus } : theme;
  tokens.forEach((token, i) => {
    const below = values[i] < 0; // of a number that may be: in the colour of less than nothing
    const size = i === header.quantity?.apart ? 0 : Math.abs(values[i]);
    const opacity = (Math.round(STEPS * shade(size)) / STEPS) * FULL;
    const shaded = below ? -opacity : opacity;
    if (token.shaded !== shaded) {
      token.shaded = shaded;
      token.word.style.setProperty("--shade", 100 * opacity + "%");
      token.word.style.setProperty("--tint", below ? "var(--minus)" : "var(--more)");
    }
    let ink = state.inks.get(shaded);
    if (ink === undefined) state.inks.set(shaded, (ink = inkOn(below ? { ...theme, accent: theme.minus } : more, opacity)));
    if (token.ink !== ink) token.word.style.color = token.ink = ink;
    const unseen = header.causal && values[i] === 0 && (direction === "from" ? i > asked : i < asked);
    const faint = unseen || header.quantity?.words[i] === "–"; // a token without a number is grey
    if (token.faint !== faint) token.node.classList.toggle("faint", (token.faint = faint));
    if (token.asked !== (i === asked)) {
      token.asked = i === asked;
      token.word.classList.toggle("asked", token.asked);
    }
    strips(state, coloured, token, each, i);
    if (token.pressed !== (i === header.chosen)) {
      token.pressed = i === header.chosen;
      token.node.setAttribute("aria-pressed", String(token.pressed));
    }
  });
  const sizes = header.quantity ? values.map((value, i) => (i === header.quantity?.apart ? 0 : Math.abs(value))) : values;
  Object.assign(state, { values, numbered: strongest(sizes, NUMBERED) });
  number(state);
  sentence.hidden = !header.summary;
  sentence.replaceChildren(...sentenceOf(state, asked).map((part, i) => (i % 2 ? named(part) : part)));
  clearTimeout(state.later);
  state.later = setTimeout(() => tabulate(state, asked, values), 300); // nobody reads it at fifteen keys a second
}

// The strongest carry their number below them. The numbers stand apart from the text, of which the browser would lay out every
// line again for each. One below 0 is as strong as its size. Where two would touch, under narrow neighbours, the larger stays and no
// smaller one follows: else a word without a number would stand beside one with a smaller number.
/** @type {(state: State) => void} */
export function number(state) {
  const { header, tokens, boxes, below, numbered, values } = state;
  if (!values) return;
  /** @type {Box[]} */
  const kept = [];
  const room = header.quantity ? WIDE : ROOM;
  for (const i of numbered) {
    if (!(Math.abs(values[i]) >= NUMBER_FROM)) continue;
    const { word } = tokens[i];
    let box = boxes.get(i);
    if (!box) {
      const top = word.offsetTop - below.offsetTop; // both move together when what stands above them leaves the picture
      box = { middle: word.offsetLeft + word.offsetWidth / 2, top, bottom: top + word.offsetHeight };
      boxes.set(i, box);
    }
    const { top, middle, bottom } = box;
    if (kept.some((other) => Math.abs(other.top - top) <= 4 && Math.abs(other.middle - middle) <= room)) break;
    kept.push(box);
    const node = numbersOf(below)[kept.length - 1] ?? below.appendChild(element("b"));
    node.hidden = false;
    node.textContent = header.quantity ? header.quantity.words[i] : Math.round(100 * values[i]) + "\u00a0%";
    node.style.translate = `calc(${middle}px - 50%) ${bottom + 1}px`;
  }
  for (const node of [...numbersOf(below)].slice(kept.length)) node.hidden = true;
}

/** @type {(below: HTMLElement) => HTMLCollectionOf<HTMLElement>} */
const numbersOf = (below) => below.getElementsByTagName("b");

// A strip a head under the word, as opaque as the head's weight is large; `rows` has the weights of each head, as bytes.
/** @type {(state: State, colours: string[], token: Token, rows: Values[], position: number) => void} */
function strips({ strip }, colours, token, rows, position) {
  let key = ""; // in steps: most words of a long text stay as they are
  for (let head = 0; head < rows.length; head++) {
    const share = SHARES[rows[head][position]];
    if (share) key += `${colours[head]} ${share} ${head},`;
  }
  if (colours.length) key += "|";
  if (token.strips === key) return;
  token.strips = key;
  /** @type {string[]} */
  const layers = [];
  for (let head = 0; head < rows.length; head++) {
    const share = SHARES[rows[head][position]];
    if (!share) continue;
    const seen = `color-mix(in srgb, ${colours[head]} ${share}%, transparent)`;
    const down = (colours.length - 1 - head) * strip;
    layers.push(`linear-gradient(${seen}, ${seen}) 0 calc(100% - ${down}px) / 100% var(--strip) no-repeat`);
  }
  const behind = "color-mix(in srgb, var(--accent) var(--shade, 0%), transparent)"; // only the word, not the strips
  layers.push(`linear-gradient(${behind}, ${behind}) 0 0 / 100% calc(100% - var(--strips) - 1px) no-repeat`);
  token.word.style.background = colours.length ? layers.join() : "";
}
