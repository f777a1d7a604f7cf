// A paragraph whose words are shaded by how much the word one points at looks at them, in one head or in several, or by a number.

import { fromRows, unpack } from "../../shared/bytes.js";
import { colours, inkOn, isDark, shade, shadesOf, stripOf } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { onHover } from "../../shared/hover.js";
import { onPoint, point } from "../../shared/link.js";
import { counted, percent, roughly } from "../../shared/number.js";
import { rove } from "../../shared/rove.js";
import { stateOf } from "../../shared/state.js";
import { fillTable } from "../../shared/table.js";
import { makeToggle } from "../../shared/toggle.js";
import { fill } from "../../shared/token.js";

const KINDS = ["", "special", "fragment"];
const FULL = 0.8; // of the accent: text on it stays readable
const NUMBERED = 3; // so many of the strongest carry their number
const NUMBER_FROM = 0.05;
const STRIP = 5; // CSS pixels of a head's strip with the gap below it; fewer where there are many
const SAID = 4; // so many heads have their own words in the sentence
const ROOM = 30; // CSS pixels between the middles of two numbers
const STEPS = 50; // of shade: a hover repaints only the words that change by one

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  const chosenMoved = header.chosen !== state.header?.chosen;
  if (header.direction !== state.header?.direction) state.direction = header.direction;
  Object.assign(state, { header, tell: setTriggerValue, link: header.link, theme: theme(state.root) });
  if (header.packed)
    for (const [name, maps] of [
      ["weights", 1],
      ["heads", header.heads?.names.length],
    ])
      if (maps) header.arrays[name].data = fromRows(header.arrays[name].data, maps, header.tokens.length);
  write(state);
  explain(state);
  if (chosenMoved && !state.text.contains(state.root.getRootNode().activeElement))
    rove(state, state.text.children, header.chosen);
  if (chosenMoved || state.pointed >= header.tokens.length) state.pointed = -1;
  draw(state);
}

function make(state) {
  const toggle = makeToggle("Direction", { from: "looks at", to: "is looked at by" }, (direction) => {
    state.direction = direction;
    draw(state);
  });
  const text = element("div", "text");
  text.dir = "auto";
  text.setAttribute("role", "group");
  const sentence = element("p", "sentence");
  const below = element("div", "below");
  below.setAttribute("aria-hidden", "true"); // the sentence and the table say them too
  const legend = element("p", "legend");
  const spoken = element("p", "hidden");
  spoken.setAttribute("aria-live", "polite");
  const table = element("table");
  const unseen = element("div", "hidden"); // a table itself would keep its height
  unseen.append(table);
  state.root.replaceChildren(toggle.node, below, text, sentence, legend, spoken, unseen);
  Object.assign(state, {
    toggle,
    text,
    below,
    sentence,
    legend,
    spoken,
    table,
    tokens: [],
    pointed: -1,
    focus: 0,
    direction: "from",
  });
  listen(state);
}

function listen(state) {
  const { text } = state;
  const place = (event) => event.target.closest?.(".token")?.position ?? -1;
  onHover(text, (event) => {
    const at = place(event);
    if (at < 0 || at === state.pointed) return;
    show(state, at);
    point(state, at);
  });
  text.addEventListener("pointerleave", () => {
    show(state, -1);
    point(state, -1);
  });
  text.addEventListener("focusin", (event) => {
    const at = place(event);
    if (at < 0 || !event.target.matches(":focus-visible")) return; // a mouse press is not a step
    show(state, at);
    state.spoken.textContent = sentenceOf(state, at).join("");
  });
  text.addEventListener("focusout", () => show(state, -1));
  text.addEventListener("click", (event) => press(state, place(event)));
  text.addEventListener("keydown", (event) => {
    const at = place(event);
    if (at < 0) return;
    if (event.key === "Enter" || event.key === " ") press(state, at);
    else {
      const to = step(state, at, event.key);
      if (to < 0) return;
      rove(state, text.children, to);
      state.tokens[to].node.focus();
    }
    event.preventDefault();
  });
  onPoint(state, (position) => show(state, position));
  new ResizeObserver(() => {
    state.boxes = new Map();
    if (state.values) number(state);
  }).observe(text);
}

function press(state, position) {
  if (position < 0) return;
  state.header.chosen = position;
  rove(state, state.text.children, position);
  draw(state);
  state.tell("chosen", position);
}

function show(state, position) {
  if (position === state.pointed || position >= state.tokens.length) return;
  state.pointed = position;
  draw(state);
}

// The words. Only a token that differs from the one that stood there is written again.
function write(state) {
  const { text, tokens, header, toggle } = state;
  state.boxes = new Map(); // where words stand; measuring it at every hover would make the browser lay out again
  toggle.node.hidden = !header.toggle;
  text.setAttribute("aria-label", header.label);
  while (tokens.length > header.tokens.length) tokens.pop().node.remove();
  header.tokens.forEach((pieces, i) => {
    const key = pieces.join("\u0000") + header.kinds[i];
    const token = (tokens[i] ??= blank(text, i));
    token.node.classList.toggle("second", i === header.second);
    token.node.classList.toggle("said", i >= header.said); // never where nothing is said of it
    if (token.key === key) return;
    token.key = key;
    spell(token, pieces, KINDS[header.kinds[i]]);
    token.node.setAttribute("aria-label", header.names[i]);
  });
  rove(state, text.children, Math.min(state.focus, tokens.length - 1));
}

// What the strips or the shades mean; nothing where attention of one head is shown.
function explain(state) {
  const { legend, header, text } = state;
  const { heads, quantity } = header;
  legend.hidden = !heads && !quantity && !header.broken;
  const strip = heads ? Math.max(2, Math.min(STRIP, Math.floor(28 / heads.names.length))) : 0;
  text.style.setProperty("--strips", heads ? heads.names.length * strip + "px" : "0px");
  text.style.setProperty("--strip", Math.max(1, strip - 1) + "px");
  text.strip = strip;
  const parts = [];
  if (heads) {
    parts.push(element("span", "", "shade: the mean; strips:"));
    const colours = inks(state);
    heads.names.forEach((name, i) => {
      const node = element("span", "key");
      const box = element("i");
      box.style.background = colours[i];
      node.append(box, name);
      parts.push(node);
    });
  } else if (quantity) {
    const node = element("span", "key");
    const box = element("i", "scale");
    box.style.background = stripOf(shadesOf("accent", FULL));
    node.append(quantity.low, box, `${quantity.high} ${quantity.unit}`.trim());
    parts.push(node);
  }
  const { broken } = header;
  if (broken)
    parts.push(`${counted(broken, "weight is not a number", "weights are not numbers")} here, so nothing is drawn for them.`);
  legend.replaceChildren(...parts);
}

// The colours of several heads on this page; none where one is shown.
function inks({ header, theme }) {
  return header.heads ? (isDark(theme) ? header.heads.dark : header.heads.light) : [];
}

const SHARES = Uint8Array.from({ length: 256 }, (_, byte) => 4 * Math.round(25 * shade(byte / 255))); // a head's opacity in per cent

// A strip a head under the word, as opaque as the head's weight is large; `rows` has the weights of each head, as bytes.
function strips({ text }, colours, token, rows, position) {
  let key = ""; // in steps: most words of a long text stay as they are
  for (let head = 0; head < rows.length; head++) {
    const share = SHARES[rows[head][position]];
    if (share) key += `${colours[head]} ${share} ${head},`;
  }
  if (colours.length) key += "|";
  if (token.strips === key) return;
  token.strips = key;
  const layers = [];
  for (let head = 0; head < rows.length; head++) {
    const share = SHARES[rows[head][position]];
    if (!share) continue;
    const seen = `color-mix(in srgb, ${colours[head]} ${share}%, transparent)`;
    const down = (colours.length - 1 - head) * text.strip;
    layers.push(`linear-gradient(${seen}, ${seen}) 0 calc(100% - ${down}px) / 100% var(--strip) no-repeat`);
  }
  const behind = "color-mix(in srgb, var(--accent) var(--shade, 0%), transparent)"; // only the word, not the strips
  layers.push(`linear-gradient(${behind}, ${behind}) 0 0 / 100% calc(100% - var(--strips) - 1px) no-repeat`);
  token.word.style.background = colours.length ? layers.join() : "";
}

function blank(text, position) {
  const node = element("span", "token");
  node.setAttribute("role", "button");
  node.tabIndex = -1;
  node.position = position;
  text.append(node);
  return { node, opacity: 0, ink: "", faint: false, asked: false, strips: "" };
}

// Spaces before a word stand outside of what is shaded, so that a shade fits its word; line breaks come after their mark.
function spell(token, pieces, kind) {
  const first = pieces[0];
  const before = pieces.length > 1 || first.trim() ? first.match(/^ */)[0] : "";
  const word = element("span", "word");
  const rest = [first.slice(before.length), ...pieces.slice(1)];
  const broken = rest.join("").includes("\n");
  const lines = rest.map((piece, i) => (i % 2 ? piece : piece.replaceAll("\n", "")));
  if (kind === "special") word.append(/^([<[]\|?)?(.+?)(\|?[>\]])?$/.exec(lines.join(""))?.[2] ?? lines.join(""));
  else fill(word, lines);
  if (broken) {
    // Shown where the line ends; the breaks themselves follow outside of the box.
    word.append(element("i", "mark", "↵"));
  } else if (!word.textContent.trim()) word.classList.add("blank");
  word.classList.toggle("special", kind === "special");
  word.classList.toggle("fragment", kind === "fragment");
  const breaks = (rest.join("").match(/\n/g) ?? []).join("");
  token.node.replaceChildren(...[before, word, breaks].filter((part) => part !== ""));
  token.word = word;
  token.node.classList.remove("faint");
  Object.assign(token, { opacity: 0, ink: "", faint: false, asked: false, strips: "" });
}

function theme(root) {
  const found = colours(root);
  found.inks = new Map();
  return found;
}

// Which way one token is shown: one that looks nowhere (the source, in cross-attention) by who looks at it.
function wayOf({ header, direction }, from) {
  if (header.quantity || header.after[from]) return "from"; // a word that was chosen means its row: nobody looks at it here
  const count = header.tokens.length;
  const row = header.arrays.weights.data.subarray(from * count, (from + 1) * count);
  return direction === "from" && count > 1 && row.every((weight) => weight === 0) ? "to" : direction;
}

// Weights as seen from one token: its row, or its column; of the mean, or of one of several heads (as bytes).
function seen(state, from, direction = wayOf(state, from), head = -1) {
  const { header } = state;
  if (header.quantity) return header.arrays.on.data;
  const count = header.tokens.length;
  const size = count * count;
  const values = head < 0 ? header.arrays.weights.data : header.arrays.heads.data.subarray(head * size, (head + 1) * size);
  if (direction === "from") return values.subarray(from * count, (from + 1) * count);
  const column = new values.constructor(count);
  for (let i = 0; i < count; i++) column[i] = values[i * count + from];
  return column;
}

// Where the `most` largest stand, the largest first; of equals, the first.
function strongest(values, most) {
  const best = [];
  for (let i = 0; i < values.length; i++) {
    if (best.length === most && values[i] <= values[best[most - 1]]) continue;
    let place = best.length;
    while (place > 0 && values[best[place - 1]] < values[i]) place--;
    best.splice(place, 0, i);
    if (best.length > most) best.pop();
  }
  return best;
}

function draw(state) {
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
  tokens.forEach((token, i) => {
    const opacity = (Math.round(STEPS * shade(values[i])) / STEPS) * FULL;
    if (token.opacity !== opacity) {
      token.opacity = opacity;
      token.word.style.setProperty("--shade", 100 * opacity + "%");
    }
    let ink = theme.inks.get(opacity);
    if (ink === undefined) theme.inks.set(opacity, (ink = inkOn(theme, opacity)));
    if (token.ink !== ink) token.word.style.color = token.ink = ink;
    const faint = header.causal && values[i] === 0 && (direction === "from" ? i > asked : i < asked);
    if (token.faint !== faint) token.node.classList.toggle("faint", (token.faint = faint));
    if (token.asked !== (i === asked)) {
      token.asked = i === asked;
      token.word.classList.toggle("asked", token.asked);
    }
    strips(state, coloured, token, each, i);
    if (token.pressed !== (i === header.chosen)) token.node.setAttribute("aria-pressed", (token.pressed = i === header.chosen));
  });
  Object.assign(state, { values, numbered: strongest(values, NUMBERED) });
  number(state);
  sentence.hidden = !header.summary;
  sentence.replaceChildren(...sentenceOf(state, asked).map((part, i) => (i % 2 ? named(part) : part)));
  clearTimeout(state.later);
  state.later = setTimeout(() => tabulate(state, asked, values), 300); // nobody reads it at fifteen keys a second
}

// The strongest carry their number below them. The numbers stand apart from the text, of which the browser would lay out every
// line again for each. Of two that would touch, under narrow neighbours, the larger stays.
function number(state) {
  const { header, tokens, boxes, below, numbered, values } = state;
  const kept = [];
  for (const i of numbered) {
    if (!(values[i] >= NUMBER_FROM)) continue;
    const { word } = tokens[i];
    if (!boxes.has(i)) {
      const top = word.offsetTop - below.offsetTop; // both move together when what stands above them leaves the picture
      boxes.set(i, { middle: word.offsetLeft + word.offsetWidth / 2, top, bottom: top + word.offsetHeight });
    }
    const box = boxes.get(i);
    if (kept.some(({ top, middle }) => Math.abs(top - box.top) <= 4 && Math.abs(middle - box.middle) <= ROOM)) continue;
    kept.push(box);
    const node = below.children[kept.length - 1] ?? below.appendChild(element("b"));
    node.hidden = false;
    node.textContent = header.quantity ? header.quantity.words[i] : Math.round(100 * values[i]) + " %";
    node.style.translate = `calc(${box.middle}px - 50%) ${box.bottom + 1}px`;
  }
  for (let i = kept.length; i < below.children.length; i++) below.children[i].hidden = true;
}

// A token's name in the sentence, its control characters drawn as they are in the text.
function named(name) {
  const node = element("bdi");
  fill(node, name.split(/([\u2400-\u2421])/));
  return node;
}

// The sentence, in parts: every second one names a token.
function sentenceOf(state, asked) {
  const { header } = state;
  const { names, kinds, chosen, quantity, after } = header;
  if (quantity) return ["", kinds[asked] === 1 ? names[asked] : `“${names[asked]}”`, `: ${amount(quantity, asked)}.`];
  const direction = wayOf(state, asked);
  const values = seen(state, asked, direction);
  const name = (i) => (kinds[i] === 1 ? names[i] : `“${names[i]}”`);
  const other = (i) => (i === asked ? "itself" : name(i));
  const [best, second] = strongest(values, 2);
  const from = direction === "from";
  const { heads } = header;
  // A row of cross-attention is told by what it has read and what it serves to choose: "After “le”, choosing “chat”, it looks …"
  const row = (i) => [after[i], ", choosing ", name(i)];
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
  const given = asked === chosen ? 0 : seen(state, chosen, direction)[asked];
  const unseen = header.causal && given === 0 && (from ? asked > chosen : asked < chosen);
  if (asked !== chosen && !unseen && wayOf(state, chosen) === direction) {
    if (from) {
      parts[parts.length - 1] += " ";
      parts.push(name(chosen), ` gives it ${share(given)}.`);
    } else {
      parts[parts.length - 1] += " It gives ";
      parts.push(name(chosen), ` ${share(given)}.`);
    }
  }
  return parts;
}

function amount({ words, unit }, position) {
  return words[position] === "–" ? "–" : `${words[position]} ${unit}`.trim();
}

// A share that no line break parts from its sign.
function share(weight) {
  return percent(weight).replaceAll(" ", "\u00a0");
}

// The numbers behind, for who cannot see the shades.
function tabulate(state, asked, values) {
  const { table, header } = state;
  const { heads, quantity } = header;
  const direction = wayOf(state, asked);
  const from = header.after[asked] ? `after ${header.after[asked]}, choosing` : "from";
  const said = quantity ? header.label : `Attention ${direction === "from" ? from : "to"} ${header.names[asked]}`;
  const each = (heads?.names ?? []).map((_, head) => seen(state, asked, direction, head));
  const lines = Array.from(values, (value, i) => [
    header.names[i],
    quantity ? amount(quantity, i) : percent(value),
    ...each.map((weights) => roughly(weights[i] / 255)),
  ]);
  fillTable(table, said, heads ? ["Token", "Mean", ...heads.names] : [], lines);
}

// Left and right follow the script; up and down go to the nearest token of the next line.
function step({ text, tokens }, at, key) {
  const last = tokens.length - 1;
  const forward = getComputedStyle(text).direction === "rtl" ? "ArrowLeft" : "ArrowRight";
  if (key === "ArrowLeft" || key === "ArrowRight") return Math.min(last, Math.max(0, at + (key === forward ? 1 : -1)));
  if (key === "Home") return 0;
  if (key === "End") return last;
  if (key !== "ArrowUp" && key !== "ArrowDown") return -1;
  const middle = (i) => {
    const box = tokens[i].word.getClientRects()[0];
    return { x: box.left + box.width / 2, y: box.top + box.height / 2, height: box.height };
  };
  const here = middle(at);
  const way = key === "ArrowUp" ? -1 : 1;
  let best = at;
  let line = null;
  let nearest = Infinity;
  for (let i = at + way; i >= 0 && i <= last; i += way) {
    const there = middle(i);
    if (way * (there.y - here.y) < here.height / 2) continue;
    line ??= there.y;
    if (Math.abs(there.y - line) > here.height / 2) break;
    const distance = Math.abs(there.x - here.x);
    if (distance < nearest) [best, nearest] = [i, distance];
  }
  return best;
}
