// A table of texts: the numbers behind a picture, for who cannot see it.

import { element } from "./element.js";

// heads: what the columns are called; none gives no such row. lines: the cells of each row, of which the first names it; a cell is
// a text, or an element that is one.
/** @type {(node: HTMLTableElement, caption: string, heads: string[], lines: (string | HTMLElement)[][]) => void} */
export function fillTable(node, caption, heads, lines) {
  const body = element("tbody");
  body.append(...lines.map((cells) => rowOf(cells.map((cell, i) => (i ? cellOf(cell) : headOf("row", String(cell)))))));
  node.replaceChildren(element("caption", "", caption), body);
  if (!heads.length) return;
  const head = element("thead");
  head.append(rowOf(heads.map((text) => (text ? headOf("col", text) : element("td")))));
  node.insertBefore(head, body);
}

/** @type {(cells: HTMLElement[]) => HTMLTableRowElement} */
function rowOf(cells) {
  const row = element("tr");
  row.append(...cells);
  return row;
}

/** @type {(scope: string, text: string) => HTMLTableCellElement} */
function headOf(scope, text) {
  return Object.assign(element("th", "", text), { scope });
}

/** @type {(cell: string | HTMLElement) => HTMLElement} */
function cellOf(cell) {
  return cell instanceof Node ? cell : element("td", "", cell);
}
