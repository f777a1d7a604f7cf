// Shares of each token by several methods, as a shaded table; a slider moves through the frames, and "Play" moves the slider.

import { unpack } from "../../shared/bytes.js";
import { colours, inkOn, shade } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { makePlayer } from "../../shared/player.js";
import { stateOf } from "../../shared/state.js";
import { fill } from "../../shared/token.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */

const FULL = 0.8; // of the accent: text on it stays readable
const PACE = 900; // milliseconds a frame

/** @type {Mount} */
export function mount({ parentElement, data }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header));
  const fresh = !state.key || state.header.frames.length !== header.frames.length;
  Object.assign(state, { header, theme: colours(state.root) });
  if (fresh) state.player.stop();
  state.player.set({ names: header.frames, at: fresh ? header.first : undefined });
  build(state);
  draw(state);
}

/** @type {(root: HTMLElement, header: Header) => State} */
function make(root, header) {
  const player = makePlayer("Frame", PACE, () => draw(state));
  const scroll = element("div", "scroll");
  const table = element("table");
  scroll.append(table);
  root.replaceChildren(player.node, scroll);
  /** @type {State} */
  const state = { root, header, theme: colours(root), player, table, cells: [], key: "" };
  return state;
}

// Rows and columns; written again only where something differs.
/** @type {(state: State) => void} */
function build(state) {
  const { header, table } = state;
  const key = JSON.stringify([header.names, header.tokens, header.kinds, header.label, header.chosen]);
  if (key === state.key) return;
  state.key = key;
  const caption = element("caption", "hidden", header.label);
  const head = element("thead");
  const names = element("tr");
  names.append(element("td"));
  for (const name of header.names) {
    const cell = element("th", "", name);
    cell.scope = "col";
    names.append(cell);
  }
  head.append(names);
  const body = element("tbody");
  state.cells = header.tokens.map((pieces, i) => {
    const row = element("tr", i === header.chosen ? "asked" : "");
    const token = element("th", ["", "special", "fragment"][header.kinds[i]]);
    token.scope = "row";
    const word = element("span");
    fill(word, pieces);
    token.append(word);
    if (i === header.chosen) token.append(element("span", "hidden", " (the token asked about)"));
    row.append(token);
    const cells = header.names.map(() => row.appendChild(element("td")));
    body.append(row);
    return cells;
  });
  table.replaceChildren(caption, head, body);
}

/** @type {(state: State) => void} */
function draw(state) {
  const { header, cells, player, theme } = state;
  const { shape, data } = header.arrays.values;
  const [frames, columns, rows] = shape;
  for (let column = 0; column < columns; column++) {
    let [most, largest] = [0, 0];
    for (let frame = 0; frame < frames; frame++) {
      for (let row = 0; row < rows; row++) {
        const value = data[(frame * columns + column) * rows + row];
        if (value > most) most = value;
        if (frame === player.at && value > largest) largest = value;
      }
    }
    for (let row = 0; row < rows; row++) {
      const value = data[(player.at * columns + column) * rows + row];
      const opacity = value > 0 ? Math.round(100 * FULL * shade(value / most)) / 100 : 0;
      const cell = cells[row][column];
      cell.textContent = Number.isNaN(value) ? "–" : written(value);
      cell.style.setProperty("--shade", 100 * opacity + "%");
      cell.style.color = inkOn(theme, opacity);
      cell.classList.toggle("leads", value > 0 && value === largest);
    }
  }
}

// A share in a narrow cell: to one decimal.
/** @type {(value: number) => string} */
function written(value) {
  return (value > 0 && value < 0.0005 ? "<0.1" : (100 * value).toFixed(1)) + "\u00a0%";
}
