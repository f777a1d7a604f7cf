// What each head is called, and the cells that a screen reader walks through.

import { element } from "../../shared/element.js";

/** @typedef {import("./types").State} State */

// The cells that a screen reader walks through; they have no size.
/** @type {(state: State) => void} */
export function cells(state) {
  const { table, layers, heads, count, order } = state;
  const id = "cell" + Math.random().toString(36).slice(2, 8);
  const [rows, columns] = order ? [1, count] : [layers, heads];
  table.replaceChildren(
    ...Array.from({ length: rows }, (_, row) => {
      const node = element("div");
      node.setAttribute("role", "row");
      for (let column = 0; column < columns; column++) {
        const cell = element("span");
        cell.setAttribute("role", "gridcell");
        cell.id = `${id}-${row * columns + column}`;
        node.append(cell);
      }
      return node;
    }),
  );
  state.cells = [...table.querySelectorAll("span")].map((node) => ({ node, words: "" }));
}

/** @type {(state: State) => void} */
export function describe(state) {
  const { cells, drawn, header } = state;
  drawn.forEach((head, i) => {
    const cell = cells[i];
    const out = header.arrays.faint?.data[head] ? ["left out"] : [];
    const words = [noteOf(state, head), valueOf(state, head), ...out].filter(Boolean).join(", ");
    const name = nameOf(state, head) + (words && ": " + words);
    if (cell.words !== name) cell.node.textContent = cell.words = name;
  });
}

// The cell of a head; null for none.
/** @type {(state: State, head: number) => HTMLElement | null} */
export function cellOf({ cells, drawn }, head) {
  return cells[drawn.indexOf(head)]?.node ?? null;
}

/** @type {(state: State, head: number) => string} */
export function nameOf({ header, heads }, head) {
  return `L${header.numbers[Math.floor(head / heads)]} H${head % heads}`;
}

/** @type {(state: State, head: number) => string} */
export function noteOf({ header, heads }, head) {
  return header.notes?.[Math.floor(head / heads)]?.[head % heads] ?? "";
}

/** @type {(state: State, head: number) => string} */
export function valueOf({ header, heads }, head) {
  return header.quantity?.words[Math.floor(head / heads)][head % heads] ?? "";
}
