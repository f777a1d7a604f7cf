// Rows of boxes over the letters of a word, all in one grid, so that a box stands below those that it was made of. The player shows
// the rows up to a step; a table has all of them in words.

import { unpack } from "../../shared/bytes.js";
import { element, write } from "../../shared/element.js";
import { makePlayer, withSteps } from "../../shared/player.js";
import { stateOf } from "../../shared/state.js";
import { fillTable } from "../../shared/table.js";
import { fill } from "../../shared/token.js";

/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Part} Part */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */

const BEAT = 1100; // milliseconds a step

/** @type {Mount} */
export function mount({ parentElement, data }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header));
  const shape = JSON.stringify([header.letters, header.rows, header.names]);
  state.header = header;
  if (shape !== state.shape) {
    Object.assign(state, { shape, parts: build(state, header) });
    state.player.stop();
    state.player.set({ names: header.names, at: header.names.length - 1 });
  }
  state.grid.setAttribute("aria-label", header.label);
  show(state);
}

/** @type {(root: HTMLElement, header: Header) => State} */
function make(root, header) {
  const player = withSteps(makePlayer("Step", BEAT, () => show(state)));
  const sentence = element("p", "sentence");
  sentence.setAttribute("aria-live", "polite");
  const scroll = element("div", "scroll");
  scroll.tabIndex = 0;
  scroll.setAttribute("role", "group");
  scroll.setAttribute("aria-label", "The steps");
  const grid = element("div", "grid");
  grid.setAttribute("role", "img");
  scroll.append(grid);
  const table = element("table", "hidden");
  const kept = element("div", "kept");
  kept.append(table);
  root.replaceChildren(player.node, sentence, scroll, kept);
  /** @type {State} */
  const state = { root, header, player, sentence, scroll, grid, table, parts: [], shape: "" };
  return state;
}

// The boxes of each row, with what stands before them.
/** @type {(state: State, header: Header) => Part[]} */
function build({ grid, table }, { letters, rows, label }) {
  grid.style.setProperty("--letters", String(letters));
  const parts = rows.flatMap((row, i) => {
    const note = { node: element("span", "note", row.note), step: row.step };
    const all = [note, ...row.boxes.map(boxOf)];
    for (const { node } of all) node.style.gridRow = String(i + 1);
    return all;
  });
  grid.replaceChildren(...parts.map(({ node }) => node));
  /** @type {(box: Box) => string} */
  const words = ({ text, note }) => text.join("") + (note ? ` (${note})` : "");
  fillTable(
    table,
    label,
    [],
    rows.map(({ note, boxes }) => [note, boxes.map(words).join(" | ")]),
  );
  return parts;
}

/** @type {(box: Box) => Part} */
function boxOf({ text, span, step, mark, note }) {
  const node = element("span", `box ${mark}`);
  node.style.gridColumn = `${span[0] + 2} / ${span[1] + 2}`; // the first column has the notes
  const word = element("bdi");
  fill(word, text);
  node.append(word);
  if (note) node.append(element("small", "", note));
  return { node, step };
}

/** @type {(state: State) => void} */
function show(state) {
  const { parts, player, sentence, header, scroll } = state;
  if (!state.shape) return; // nothing was built yet
  /** @type {HTMLElement | null} */
  let last = null;
  for (const { step, node } of parts) {
    node.hidden = step > player.at;
    node.classList.toggle("now", step === player.at && header.names.length > 1);
    if (step === player.at) last = node;
  }
  write(sentence, header.sentences[player.at]);
  const below = last ? last.offsetTop + last.offsetHeight - scroll.clientHeight : 0;
  if (player.playing && below > scroll.scrollTop) scroll.scrollTop = below;
}
