// What each head is called, and the cells that a screen reader walks through.

import { element } from "../../shared/element.js";

// The cells that a screen reader walks through; they have no size.
export function cells({ table, layers, heads, count, order, box }) {
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
  box.cells = [...table.querySelectorAll("span")];
}

export function describe(state) {
  const { box, drawn, header } = state;
  box.place = []; // where each head stands among the cells
  drawn.forEach((head, i) => {
    const cell = box.cells[i];
    box.place[head] = cell;
    const out = header.arrays.faint?.data[head] ? ["left out"] : [];
    const words = [noteOf(state, head), valueOf(state, head), ...out].filter(Boolean).join(", ");
    const name = nameOf(state, head) + (words && ": " + words);
    if (cell.words !== name) cell.textContent = cell.words = name;
  });
}

export function nameOf({ header, heads }, head) {
  return `L${header.numbers[Math.floor(head / heads)]} H${head % heads}`;
}

export function noteOf({ header, heads }, head) {
  return header.notes?.[Math.floor(head / heads)]?.[head % heads] ?? "";
}

export function valueOf({ header, heads }, head) {
  return header.quantity?.words[Math.floor(head / heads)][head % heads] ?? "";
}
