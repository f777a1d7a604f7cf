// The elements above the canvas: headings, tokens, layers, heads and chances; and the tables for who cannot see the picture.

import { element, makeButton, write } from "../../shared/element.js";
import { lookUp } from "../../shared/lookup.js";
import { fillTable } from "../../shared/table.js";
import { fill } from "../../shared/token.js";
import { capitalized, focusOf, isAlone, namesOf, weightsOf } from "./data.js";
import { ABOUT_ALL } from "./drawing.js";
import { gazeOf, strongest } from "./words.js";

/** @typedef {import("../../shared/types").PackedBytes} PackedBytes */
/** @typedef {import("./types").Answer} Answer */
/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Card} Card */
/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Token} Token */

// Of a line: the looked-at token stands at its left end, because what is read there flows to the token that looks.
const ENDS = [
  ["to (key)", "from (query)"],
  ["looked at", "looks"],
];
const ROOM = 124; // CSS pixels that these words need
const PLACED_ENDS = "the lower end of a line looks at the upper end";
const STRIPS = ["work", "new list"]; // the sign and the strips of the feed-forward part

/** @type {(stage: HTMLElement) => Pick<State, "groups" | "panelNode" | "besideNode" | "noneNode" | "keyNode" | "stripesNode" | "endsNode" | "workNode" | "listNode" | "nodes">} */
export function build(stage) {
  /** @type {(name: string) => HTMLElement} */
  const group = (name) => {
    const node = element("div", name);
    node.setAttribute("role", "group");
    stage.append(node);
    return node;
  };
  const [heads, tokens, thumbs, cards, outcomes] = ["heads", "tokens", "thumbs", "cards", "outcomes"].map(group);
  const groups = { heads, tokens, thumbs, cards, outcomes };
  groups.tokens.setAttribute("aria-label", "Tokens");
  groups.thumbs.setAttribute("aria-label", "Heads");
  groups.cards.setAttribute("aria-label", "Layers");
  groups.outcomes.setAttribute("aria-label", "Chances");
  const [panel, beside, none, key, ends] = ["panel", "beside", "none", "key", "ends"].map((name) => element("p", name));
  const stripes = element("span");
  ends.append(element("span"), element("span"));
  key.append(stripes, element("i"), "below 0", element("i", "plus"), "above 0");
  const [work, list] = STRIPS.map((words) => element("p", "label", words));
  stage.append(panel, beside, none, key, ends, work, list);
  for (const node of [tokens, thumbs, cards, outcomes]) node.addEventListener("keydown", (event) => walk(node, event));
  const nodes = { heads: [], tokens: [], thumbs: [], cards: [], outcomes: [] };
  return {
    groups,
    panelNode: panel,
    besideNode: beside,
    noneNode: none,
    keyNode: key,
    stripesNode: stripes,
    endsNode: ends,
    workNode: work,
    listNode: list,
    nodes,
  };
}

/** @type {(group: HTMLElement, event: KeyboardEvent) => void} */
function walk(group, event) {
  const move = lookUp({ ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }, event.key);
  const nodes = /** @type {HTMLElement[]} */ ([...group.children]);
  const at = nodes.findIndex((node) => node === event.target);
  if (!move || at < 0) return;
  nodes[Math.max(0, Math.min(nodes.length - 1, at + move))].focus();
  event.preventDefault();
}

// As many nodes as there are things, each made once.
/** @type {<Thing extends { node: HTMLElement }>(things: Thing[], group: HTMLElement, count: number, make: (i: number) => Thing) => Thing[]} */
function pool(things, group, count, make) {
  for (const { node } of things.splice(count)) node.remove();
  while (things.length < count) {
    const thing = make(things.length);
    things.push(thing);
    group.append(thing.node);
  }
  return things;
}

/** @type {(node: HTMLElement, box: Box) => void} */
function put(node, { x, y, w, h }) {
  const { style } = node;
  const [left, top, width, height] = [x, y, w, h].map((side) => (side === undefined ? "" : `${Math.round(10 * side) / 10}px`));
  if (style.left !== left) style.left = left;
  if (style.top !== top) style.top = top;
  if (style.width !== width) style.width = width;
  if (style.height !== height) style.height = height;
}

/** @type {(state: State) => void} */
export function dress(state) {
  headings(state);
  tokens(state);
  thumbs(state);
  cards(state);
  outcomes(state);
}

/** @type {(state: State, key: string) => boolean} */
const waits = (state, key) => state.progress < state.header.stations.findIndex((station) => station.key === key) - 0.5;

/** @type {(state: State) => void} */
function headings(state) {
  const { header, g, inApp, at, last, main } = state;
  const nodes = pool(state.nodes.heads, state.groups.heads, header.stations.length, () => {
    const node = element("a", "head");
    const [title, note] = [element("strong"), element("span", "note")];
    node.append(title, note);
    for (const name of ["pointerenter", "focus"]) node.addEventListener(name, () => headings(state)); // the address may have changed
    node.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || !node.getAttribute("href")) return;
      event.preventDefault();
      state.tell({ open: node.dataset.key });
    });
    return { node, title, note };
  });
  header.stations.forEach(({ key, title, note, link }, i) => {
    const { node, title: titleNode, note: noteNode } = nodes[i];
    node.dataset.key = key;
    write(titleNode, title);
    const head = namesOf(state, key === "bridge" ? "bridge" : main === "bridge" ? `lane${last}` : main);
    write(noteNode, note.replace("{head}", head.short).replace("{head_words}", capitalized(head.words)));
    if (link && inApp) node.setAttribute("href", addressOf(link));
    else node.removeAttribute("href");
    node.classList.toggle("now", !state.pointed && state.player.at === i && state.progress < Infinity);
    node.classList.toggle("wait", waits(state, key));
    put(node, g.heads[key]);
  });
  const { numbers } = header.lanes[last];
  write(state.panelNode, (header.simple ? panelInWords : panelOf)(numbers, at[`lane${last}`].layer));
  put(state.panelNode, { x: g.panel.x + 14, y: g.panel.y + 2 });
  const { thumbs } = g;
  const all = thumbs.count === 1 ? "its head" : `its ${thumbs.count} heads`;
  const names = header.simple && thumbs.count > 1 ? `,\nH0 to H${thumbs.count - 1}` : "";
  write(state.besideNode, all + names);
  put(state.besideNode, { x: g.panel.x + 14, y: thumbs.y + Math.min(30, thumbs.side) / 2 - (names ? 17 : 9) });
}

// The layer that is open, and those whose work its numbers have had already.
/** @type {(numbers: number[], layer: number) => string} */
function panelOf(numbers, layer) {
  const count = numbers.length;
  if (count === 1) return `Layer L${numbers[0]}, the only one`;
  const before = layer ? ` (after L${numbers[0]}${layer > 1 ? `${layer > 2 ? " to" : " and"} L${numbers[layer - 1]}` : ""})` : "";
  return `Layer L${numbers[layer]}, one of ${count}${before}`;
}

// The same in words, for who does not know yet how layers are numbered.
/** @type {(numbers: number[], layer: number) => string} */
function panelInWords(numbers, layer) {
  const number = numbers[layer];
  if (numbers.length === 1) return `Layer ${number} (L${number}), the only one`;
  const counts = number === layer ? ": counting begins at 0" : "";
  return `Layer ${number} (L${number}), the ${ordinal(layer + 1)} of ${numbers.length}${counts}`;
}

/** @type {(n: number) => string} */
function ordinal(n) {
  const teens = n % 100 > 10 && n % 100 < 14;
  return n + ((!teens && ["", "st", "nd", "rd"][n % 10]) || "th");
}

// A page of the app, with all that the address of this one says.
/** @type {(link: string) => string} */
function addressOf(link) {
  const [page, more = ""] = link.split("?");
  const choices = new URLSearchParams(location.search);
  for (const [name, value] of new URLSearchParams(more)) choices.set(name, value);
  return choices.size ? `${page}?${choices}` : page;
}

/** @type {(state: State) => void} */
function tokens(state) {
  const { header, g } = state;
  const focus = focusOf(state);
  const played = state.progress < header.stations.length - 1 ? (state.player.at ?? 0) : 0;
  const alone = isAlone(state) && (Boolean(state.pointed) || played > ABOUT_ALL);
  const name = gazeOf(state, focus);
  const weights = weightsOf(state, name, focus[1]);
  const from = name === "bridge" ? 0 : focus[0];
  const all = header.lanes.flatMap(({ tokens: texts }, lane) => texts.map((text, row) => ({ lane, row, text })));
  const nodes = pool(state.nodes.tokens, state.groups.tokens, all.length, () => {
    const node = makeButton("token", "", () => token.place && choose(state, token.place));
    const word = element("bdi");
    node.append(word);
    node.addEventListener("focus", () => node.matches(":focus-visible") && state.point(token.place));
    node.addEventListener("blur", () => state.point(null));
    /** @type {Token} */
    const token = { node, word, patch: null, pixels: null, place: null, key: null, spoken: "" };
    return token;
  });
  const [start, end] = g.bands.tokens;
  all.forEach(({ lane, row, text }, i) => {
    const token = nodes[i];
    const { node, word } = token;
    const { names, omitted } = header.lanes[lane];
    const more = g.wide || g.pitch >= 64 ? `… ${omitted} more` : `+${omitted}`;
    const key = text === null ? more : text.join("\u0000");
    token.place = text === null ? null : [lane, row];
    if (token.key !== key) {
      token.key = key;
      if (text === null) word.textContent = key;
      else fill(word, text);
    }
    paintPatch(token, header.lanes[lane].pictured[row] ? header.arrays[`images-lane${lane}`] : null, row);
    const mine = lane === focus[0] && row === focus[1];
    node.classList.toggle("more", text === null);
    node.classList.toggle("focus", mine);
    const near = lane === from && weights[row] >= 13;
    node.classList.toggle("dim", alone && !mine && !near);
    node.disabled = text === null;
    const high = g.wide ? Math.min(27, g.pitch - 2) : end - start;
    const wide = g.wide ? end - start : g.pitch - 3;
    const across = g.across[lane][row];
    put(
      node,
      g.wide ? { x: start, y: across - high / 2, w: wide, h: high } : { x: across - wide / 2, y: start, w: wide, h: high },
    );
    const spoken = text === null ? `${omitted} more` : `${names[row]}${mine ? ", followed" : ""}`;
    if (token.spoken !== spoken) node.setAttribute("aria-label", (token.spoken = spoken));
  });
}

// The patch that a row is, before its name; nothing where it is a piece of text.
/** @type {(token: Token, images: PackedBytes | null, row: number) => void} */
function paintPatch(token, images, row) {
  token.node.classList.toggle("pictured", images !== null);
  if (!images) {
    token.patch?.remove();
    token.patch = token.pixels = null;
    return;
  }
  const [, height, width] = images.shape;
  const size = 3 * height * width;
  const pixels = images.data.subarray(row * size, (row + 1) * size);
  if (token.pixels?.every((value, i) => value === pixels[i]) && token.pixels.length === size) return;
  token.pixels = pixels;
  if (!token.patch) {
    token.patch = element("canvas", "patch");
    token.patch.setAttribute("aria-hidden", "true");
    token.node.prepend(token.patch);
  }
  Object.assign(token.patch, { width, height });
  const painted = new ImageData(width, height);
  for (let i = 0; i < height * width; i++) painted.data.set([...pixels.subarray(3 * i, 3 * i + 3), 255], 4 * i);
  /** @type {CanvasRenderingContext2D} */ (token.patch.getContext("2d")).putImageData(painted, 0, 0);
}

/** @type {(state: State, place: Row) => void} */
function choose(state, [lane, row]) {
  state.tell({ token: [lane, state.header.lanes[lane].places[row]] });
}

/** @type {(state: State) => void} */
function thumbs(state) {
  const { g, at, main, groups } = state;
  const { count, each, side, x, y } = g.thumbs;
  const nodes = pool(state.nodes.thumbs, groups.thumbs, count, (head) => {
    const node = makeButton("thumb", "", () => state.turn(state.at[state.main].layer, head));
    for (const name of ["pointerenter", "focus"]) node.addEventListener(name, () => state.hover(head));
    for (const name of ["pointerleave", "blur"]) node.addEventListener(name, () => state.hover(null));
    return { node };
  });
  groups.thumbs.classList.toggle("named", each === count);
  groups.thumbs.hidden = !state.header.gazes[main].layers.includes(at[main].layer);
  nodes.forEach(({ node }, head) => {
    put(node, {
      x: x + (head % each) * (side + 4) - 2,
      y: y + Math.floor(head / each) * (side + 4) - 2,
      w: side + 4,
      h: side + 4,
    });
    node.setAttribute("aria-label", `Head H${head}`);
    node.dataset.name = `H${head}`;
    node.setAttribute("aria-pressed", String(head === at[main].head));
  });
}

/** @type {(state: State) => void} */
function cards(state) {
  const { header, g, at, last, main, groups } = state;
  const { numbers } = header.lanes[last];
  const station = header.stations.findIndex(({ key }) => key === "layers");
  const nodes = pool(state.nodes.cards, groups.cards, g.cards.length, () => {
    const node = makeButton("card", "", () => card.layer >= 0 && state.turn(card.layer, state.at[state.main].head));
    const [number, guess] = [element("span", "number"), element("bdi", "guess")];
    const [chance, bar] = [element("span", "chance"), element("i", "bar")];
    node.append(number, guess, chance, bar);
    /** @type {Card} */
    const card = { node, number, guess, chance, bar, layer: -1, key: null };
    return card;
  });
  const sent = header.gazes[main === "lane0" && last ? "bridge" : main].layers;
  g.cards.forEach((stage, i) => {
    const card = nodes[i];
    const { node, number, guess: text, chance, bar } = card;
    const guess = header.guesses[stage];
    const name = stage ? `L${numbers[stage - 1]}` : "input";
    card.layer = stage - 1;
    write(number, name);
    const key = guess ? guess.text.join("\u0000") : "";
    if (card.key !== key) {
      card.key = key;
      fill(text, guess?.text ?? []);
    }
    write(chance, guess?.number ?? "");
    bar.style.width = `calc(${guess ? guess.share.toFixed(3) : 0} * (100% - 16px))`; // between the corners
    const chosen = stage - 1 === at[`lane${last}`].layer;
    node.classList.toggle("final", guess !== undefined && guess.name === header.outcomes[0]?.name);
    node.classList.toggle("small", g.cardPlaces[i].h < 30);
    node.classList.toggle("input", !stage);
    node.disabled = stage === 0 || !(sent.includes(stage - 1) || header.leads);
    node.setAttribute("aria-pressed", String(chosen));
    node.setAttribute("aria-label", `${name}${guess ? `: ${guess.name}, ${guess.number}` : ""}`);
    const lights = station - 1 + (i + 1) / g.cards.length;
    node.classList.toggle("wait", state.progress < Math.min(lights, station));
    node.classList.toggle("dim", Boolean(state.pointed) && String(state.pointed) !== String([last, header.row]));
    put(node, g.cardPlaces[i]);
  });
}

/** @type {(state: State) => void} */
function outcomes(state) {
  const { header, g, last } = state;
  const nodes = pool(state.nodes.outcomes, state.groups.outcomes, header.outcomes.length, () => {
    const node = makeButton("outcome", "", () => state.tell({ outcome: answer.outcome }));
    const [word, track, bar] = [element("bdi"), element("span", "track"), element("i", "bar")];
    const number = element("span", "number");
    track.append(bar);
    node.append(word, track, number);
    /** @type {Answer} */
    const answer = { node, word, bar, number, outcome: null, key: null };
    return answer;
  });
  header.outcomes.forEach(({ text, name, number, share, id }, i) => {
    const answer = nodes[i];
    const { node } = answer;
    answer.outcome = id;
    const key = text.join("\u0000");
    if (answer.key !== key) {
      answer.key = key;
      fill(answer.word, text);
    }
    answer.bar.style.width = `${(100 * (share || 0)).toFixed(1)}%`;
    write(answer.number, number);
    node.setAttribute("aria-label", `${name}, ${number}`);
    node.classList.toggle("wait", waits(state, "chances"));
    node.classList.toggle("dim", Boolean(state.pointed) && String(state.pointed) !== String([last, header.row]));
    put(node, g.outcomePlaces[i]);
  });
  const none = header.outcomes.length ? header.others : (header.rest["no guess"] ?? "");
  write(state.noneNode, none);
  state.noneNode.hidden = !none;
  state.noneNode.classList.toggle("wait", waits(state, "chances"));
  if (none) put(state.noneNode, g.none);
  put(state.keyNode, g.key);
  put(state.endsNode, g.ends);
  state.endsNode.hidden = (g.ends.w ?? 0) < ROOM;
  const [to, from] = ENDS[Number(header.simple)];
  const [left, right] = /** @type {Iterable<HTMLElement>} */ (state.endsNode.children);
  write(left, g.wide ? to : PLACED_ENDS);
  write(right, g.wide ? from : "");
  write(state.stripesNode, header.rest.stripes ?? "");
  for (const [node, box] of /** @type {const} */ ([[state.workNode, g.work], [state.listNode, g.list]])) {
    node.hidden = !g.wide || !header.simple;
    put(node, box);
  } // prettier-ignore
}

// The numbers of the picture as tables, for who cannot see it.
/** @type {(state: State) => void} */
export function tabulate(state) {
  const { header, last, tables } = state;
  const looks = header.lanes.flatMap(({ names, tokens: texts }, lane) =>
    texts.flatMap((text, row) => {
      if (text === null) return [];
      const name = gazeOf(state, [lane, row]);
      const [key, share] = strongest(state, name, [lane, row]);
      return [[names[row], key, share]];
    }),
  );
  const { numbers } = header.lanes[last];
  const guesses = header.guesses
    .map(({ name, number }, i) => [i ? `L${numbers[i - 1]}` : "input", name, number])
    .slice(header.simple ? 1 : 0);
  const answers = header.outcomes.map(({ name, number }) => [name, number]);
  const wanted = [
    { caption: header.label, heads: ["token", "looks most at", "share"], rows: looks },
    { caption: "The guess after each layer", heads: ["layer", "guess", "chance"], rows: guesses },
    { caption: "Chances", heads: ["token", "chance"], rows: answers },
  ].filter(({ rows }) => rows.length);
  const nodes = tables.getElementsByTagName("table");
  while (nodes.length > wanted.length) nodes[nodes.length - 1].remove();
  while (nodes.length < wanted.length) tables.append(element("table"));
  wanted.forEach(({ caption, heads, rows }, i) => fillTable(nodes[i], caption, heads, rows));
}
