// Rows of boxes over the letters of a word, all in one grid, so that a box stands below those that it was made of. The player shows
// the rows up to a step; a table has all of them in words.

import { unpack } from "../../shared/bytes.js";
import { element, write } from "../../shared/element.js";
import { makePlayer, withSteps } from "../../shared/player.js";
import { stateOf } from "../../shared/state.js";
import { fillTable } from "../../shared/table.js";
import { fill } from "../../shared/token.js";

const BEAT = 1100; // milliseconds a step

export function mount({ parentElement, data }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
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

function make(state) {
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
  state.root.replaceChildren(player.node, sentence, scroll, kept);
  Object.assign(state, { player, sentence, scroll, grid, table });
}

// The boxes of each row, with what stands before them.
function build({ grid, table }, { letters, rows, label }) {
  grid.style.setProperty("--letters", letters);
  const parts = rows.flatMap((row, i) => {
    const note = { node: element("span", "note", row.note), step: row.step };
    const all = [note, ...row.boxes.map(boxOf)];
    for (const { node } of all) node.style.gridRow = i + 1;
    return all;
  });
  grid.replaceChildren(...parts.map(({ node }) => node));
  const words = ({ text, note }) => text.join("") + (note ? ` (${note})` : "");
  fillTable(
    table,
    label,
    [],
    rows.map(({ note, boxes }) => [note, boxes.map(words).join(" | ")]),
  );
  return parts;
}

function boxOf({ text, span, step, mark, note }) {
  const node = element("span", `box ${mark}`);
  node.style.gridColumn = `${span[0] + 2} / ${span[1] + 2}`; // the first column has the notes
  const word = element("bdi");
  fill(word, text);
  node.append(word);
  if (note) node.append(element("small", "", note));
  return { node, step };
}

function show(state) {
  const { parts, player, sentence, header, scroll } = state;
  if (!parts) return;
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
