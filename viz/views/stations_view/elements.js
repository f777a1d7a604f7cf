// The elements above the canvas: headings, tokens, layers, heads and chances; and the tables for who cannot see the picture.

import { element, makeButton, write } from "../../shared/element.js";
import { roughly } from "../../shared/number.js";
import { fillTable } from "../../shared/table.js";
import { fill } from "../../shared/token.js";
import { focusOf, weightsOf } from "./data.js";
import { gazeOf, strongest } from "./words.js";

// The groups of elements, and the notes, on a stage.
export function build(stage) {
  const groups = Object.fromEntries(
    ["heads", "tokens", "thumbs", "cards", "outcomes"].map((name) => {
      const node = element("div", name);
      node.setAttribute("role", "group");
      stage.append(node);
      return [name, node];
    }),
  );
  groups.tokens.setAttribute("aria-label", "Tokens");
  groups.thumbs.setAttribute("aria-label", "Heads");
  groups.cards.setAttribute("aria-label", "Layers");
  groups.outcomes.setAttribute("aria-label", "Chances");
  const [panel, heads, none, key] = ["panel", "beside", "none", "key"].map((name) => element("p", name));
  key.append(element("i"), "below 0", element("i", "plus"), "above 0");
  stage.append(panel, heads, none, key);
  const nodes = { heads: [], tokens: [], thumbs: [], cards: [], outcomes: [] };
  for (const name of ["tokens", "thumbs", "cards", "outcomes"]) groups[name].addEventListener("keydown", walk);
  return { groups, panelNode: panel, besideNode: heads, noneNode: none, keyNode: key, nodes };
}

function walk(event) {
  const move = { ArrowDown: 1, ArrowRight: 1, ArrowUp: -1, ArrowLeft: -1 }[event.key];
  const nodes = [...event.currentTarget.children];
  const at = nodes.indexOf(event.target);
  if (!move || at < 0) return;
  const way = event.currentTarget.classList.contains("cards") && event.currentTarget.dataset.up ? -move : move;
  nodes[Math.max(0, Math.min(nodes.length - 1, at + way))].focus();
  event.preventDefault();
}

// As many nodes as there are things, each made once.
function pool(state, name, count, make) {
  const nodes = state.nodes[name];
  while (nodes.length > count) nodes.pop().remove();
  while (nodes.length < count) {
    const node = make(nodes.length);
    nodes.push(node);
    state.groups[name].append(node);
  }
  return nodes;
}

function put(node, { x, y, w, h }) {
  const { style } = node;
  const [left, top, width, height] = [x, y, w, h].map((side) => (side === undefined ? "" : `${Math.round(10 * side) / 10}px`));
  if (style.left !== left) style.left = left;
  if (style.top !== top) style.top = top;
  if (style.width !== width) style.width = width;
  if (style.height !== height) style.height = height;
}

export function dress(state) {
  headings(state);
  tokens(state);
  thumbs(state);
  cards(state);
  outcomes(state);
}

const waits = (state, key) => state.progress < state.header.stations.findIndex((station) => station.key === key) - 0.5;

function headings(state) {
  const { header, g, inApp, at, last, main } = state;
  const nodes = pool(state, "heads", header.stations.length, () => {
    const node = element("a", "head");
    node.append(element("strong"), element("span", "note"));
    for (const name of ["pointerenter", "focus"]) node.addEventListener(name, () => headings(state)); // the address may have changed
    node.addEventListener("click", (event) => {
      if (event.ctrlKey || event.metaKey || event.shiftKey || !node.getAttribute("href")) return;
      event.preventDefault();
      state.tell({ open: node.dataset.key });
    });
    return node;
  });
  const name = (gaze) => `L${header.lanes[gaze === "lane0" ? 0 : last].numbers[at[gaze].layer]} H${at[gaze].head}`;
  header.stations.forEach(({ key, title, note, link }, i) => {
    const node = nodes[i];
    node.dataset.key = key;
    write(node.firstChild, title);
    write(node.lastChild, note.replace("{head}", name(key === "bridge" ? "bridge" : main === "bridge" ? `lane${last}` : main)));
    if (link && inApp) node.setAttribute("href", addressOf(link));
    else node.removeAttribute("href");
    node.classList.toggle("now", !state.pointed && state.player.at === i && state.progress < Infinity);
    node.classList.toggle("wait", waits(state, key));
    put(node, g.heads[key]);
  });
  const { numbers } = header.lanes[last];
  const count = numbers.length;
  write(state.panelNode, `Layer L${numbers[at[`lane${last}`].layer]}, ${count === 1 ? "the only one" : `one of ${count}`}`);
  put(state.panelNode, { x: g.panel.x + 14, y: g.panel.y + 2 });
  const { thumbs } = g;
  write(state.besideNode, thumbs.count === 1 ? "its head" : `its ${thumbs.count} heads`);
  put(state.besideNode, { x: g.panel.x + 14, y: thumbs.y + Math.min(30, thumbs.side) / 2 - 9 });
}

// A page of the app, with all that the address of this one says.
function addressOf(link) {
  const [page, more = ""] = link.split("?");
  const choices = new URLSearchParams(location.search);
  for (const [name, value] of new URLSearchParams(more)) choices.set(name, value);
  return choices.size ? `${page}?${choices}` : page;
}

function tokens(state) {
  const { header, g } = state;
  const focus = focusOf(state);
  const alone = Boolean(state.pointed) || state.progress < header.stations.length - 1;
  const name = gazeOf(state, focus);
  const weights = weightsOf(state, name, focus[1]);
  const from = name === "bridge" ? 0 : focus[0];
  const all = header.lanes.flatMap(({ tokens: texts }, lane) => texts.map((text, row) => [lane, row, text]));
  const nodes = pool(state, "tokens", all.length, () => {
    const node = makeButton("token", "", () => node.text !== null && choose(state, node.place));
    node.append(element("bdi"));
    node.addEventListener("focus", () => node.matches(":focus-visible") && state.point(node.place));
    node.addEventListener("blur", () => state.point(null));
    return node;
  });
  const [start, end] = g.bands.tokens;
  all.forEach(([lane, row, text], i) => {
    const node = nodes[i];
    const { names, omitted } = header.lanes[lane];
    const more = g.wide || g.pitch >= 64 ? `… ${omitted} more` : `+${omitted}`;
    const key = text === null ? more : text.join("\u0000");
    Object.assign(node, { place: text === null ? null : [lane, row], text });
    if (node.key !== key) {
      node.key = key;
      if (text === null) node.firstChild.textContent = key;
      else fill(node.firstChild, text);
    }
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
    if (node.spoken !== spoken) node.setAttribute("aria-label", (node.spoken = spoken));
  });
}

function choose(state, [lane, row]) {
  state.tell({ token: [lane, state.header.lanes[lane].places[row]] });
}

function thumbs(state) {
  const { g, at, main, groups } = state;
  const { count, each, side, x, y } = g.thumbs;
  const nodes = pool(state, "thumbs", count, (head) =>
    makeButton("thumb", "", () => state.turn(state.at[state.main].layer, head)),
  );
  groups.thumbs.hidden = !state.header.gazes[main].layers.includes(at[main].layer);
  nodes.forEach((node, head) => {
    put(node, {
      x: x + (head % each) * (side + 4) - 2,
      y: y + Math.floor(head / each) * (side + 4) - 2,
      w: side + 4,
      h: side + 4,
    });
    node.setAttribute("aria-label", `Head H${head}`);
    node.title = `H${head}`;
    node.setAttribute("aria-pressed", head === at[main].head);
  });
}

function cards(state) {
  const { header, g, at, last, main, groups } = state;
  const { numbers } = header.lanes[last];
  const station = header.stations.findIndex(({ key }) => key === "layers");
  const nodes = pool(state, "cards", g.cards.length, () => {
    const node = makeButton("card", "", () => node.layer >= 0 && state.turn(node.layer, state.at[state.main].head));
    node.append(element("span", "number"), element("bdi", "guess"), element("span", "chance"), element("i", "bar"));
    return node;
  });
  groups.cards.dataset.up = g.wide ? "1" : "";
  const sent = header.gazes[main === "lane0" && last ? "bridge" : main].layers;
  g.cards.forEach((stage, i) => {
    const node = nodes[i];
    const guess = header.guesses[stage];
    const name = stage ? `L${numbers[stage - 1]}` : "start";
    node.layer = stage - 1;
    const [number, text, chance, bar] = node.children;
    write(number, name);
    const key = guess ? guess.text.join("\u0000") : "";
    if (node.key !== key) {
      node.key = key;
      fill(text, guess?.text ?? []);
    }
    write(chance, guess ? shortly(guess) : "");
    bar.style.width = `${guess ? (100 * guess.share).toFixed(1) : 0}%`;
    const chosen = stage - 1 === at[`lane${last}`].layer;
    node.classList.toggle("final", guess !== undefined && guess.name === header.outcomes[0]?.name);
    node.classList.toggle("small", g.cardPlaces[i].h < 30);
    node.disabled = stage === 0 || !(sent.includes(stage - 1) || header.leads);
    node.setAttribute("aria-pressed", chosen);
    node.setAttribute("aria-label", `${name}${guess ? `: ${guess.name}, ${guess.number}` : ""}`);
    const lights = station - 1 + (i + 1) / g.cards.length;
    node.classList.toggle("wait", state.progress < Math.min(lights, station));
    node.classList.toggle("dim", Boolean(state.pointed) && String(state.pointed) !== String([last, header.row]));
    put(node, g.cardPlaces[i]);
  });
}

function outcomes(state) {
  const { header, g, last } = state;
  const nodes = pool(state, "outcomes", header.outcomes.length, () => {
    const node = makeButton("outcome", "", () => node.id !== null && state.tell({ outcome: node.outcome }));
    const track = element("span", "track");
    track.append(element("i", "bar"));
    node.append(element("bdi"), track, element("span", "number"));
    return node;
  });
  header.outcomes.forEach(({ text, name, number, share, id }, i) => {
    const node = nodes[i];
    node.outcome = id;
    const key = text.join("\u0000");
    if (node.key !== key) {
      node.key = key;
      fill(node.firstChild, text);
    }
    node.children[1].firstChild.style.width = `${header.largest ? ((100 * share) / header.largest).toFixed(1) : 0}%`;
    write(node.lastChild, number);
    node.setAttribute("aria-label", `${name}, ${number}`);
    node.classList.toggle("wait", waits(state, "chances"));
    node.classList.toggle("dim", Boolean(state.pointed) && String(state.pointed) !== String([last, header.row]));
    put(node, g.outcomePlaces[i]);
  });
  const none = header.outcomes.length ? header.others : (header.rest["no guess"] ?? "");
  write(state.noneNode, none);
  state.noneNode.hidden = !none;
  if (none) put(state.noneNode, g.none);
  put(state.keyNode, g.key);
}

// A chance in few letters.
function shortly({ share, number }) {
  if (!number.endsWith("%")) return number;
  return share >= 0.995 ? ">99\u00a0%" : roughly(share);
}

// The numbers of the picture as tables, for who cannot see it.
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
  const guesses = header.guesses.map(({ name, number }, i) => [i ? `L${numbers[i - 1]}` : "start", name, number]);
  const answers = header.outcomes.map(({ name, number }) => [name, number]);
  const wanted = [
    [header.label, ["token", "looks most at", "share"], looks],
    ["The guess after each layer", ["layer", "guess", "chance"], guesses],
    ["Chances", ["token", "chance"], answers],
  ].filter(([, , rows]) => rows.length);
  while (tables.children.length > wanted.length) tables.lastChild.remove();
  while (tables.children.length < wanted.length) tables.append(element("table"));
  wanted.forEach(([caption, heads, rows], i) => fillTable(tables.children[i], caption, heads, rows));
}
