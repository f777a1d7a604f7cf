// Versions of a text. Text is always set as text, and line breaks in it stay.

import { unpack } from "../../shared/bytes.js";
import { element, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */

/** @type {Mount} */
export function mount({ parentElement, data }) {
  const state = stateOf(parentElement, make);
  /** @type {Header} */
  const { label, names, texts } = unpack(data);
  state.list.setAttribute("aria-label", label);
  for (const row of state.rows.splice(names.length)) {
    row.name.remove();
    row.text.remove();
  }
  names.forEach((name, i) => {
    const row = (state.rows[i] ??= blank(state));
    write(row.name, name);
    row.text.replaceChildren(...texts[i].map((piece, j) => element(j % 2 ? "strong" : "span", "", piece)));
  });
}

/** @type {(root: HTMLElement) => State} */
function make(root) {
  const list = element("dl");
  root.replaceChildren(list);
  return { root, list, rows: [] };
}

/** @type {(state: State) => Row} */
function blank({ list }) {
  const row = { name: element("dt"), text: element("dd") };
  list.append(row.name, row.text);
  return row;
}
