// Versions of a text. Text is always set as text, and line breaks in it stay.

import { unpack } from "../../shared/bytes.js";
import { element, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

export function mount({ parentElement, data }) {
  const state = stateOf(parentElement, make);
  const { label, names, texts } = unpack(data);
  state.list.setAttribute("aria-label", label);
  while (state.rows.length > names.length) for (const node of Object.values(state.rows.pop())) node.remove();
  names.forEach((name, i) => {
    const row = (state.rows[i] ??= blank(state));
    write(row.name, name);
    row.text.replaceChildren(...texts[i].map((piece, j) => element(j % 2 ? "strong" : "span", "", piece)));
  });
}

function make(state) {
  state.list = element("dl");
  state.rows = [];
  state.root.replaceChildren(state.list);
}

function blank({ list }) {
  const row = { name: element("dt"), text: element("dd") };
  list.append(row.name, row.text);
  return row;
}
