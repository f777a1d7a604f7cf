// A transformer as boxes from top to bottom. Everything is text in the document, so that it is read, searched and enlarged as such.

import { unpack } from "../../shared/bytes.js";
import { element } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("../../shared/types").Mount} Mount */

/** @type {Mount} */
export function mount({ parentElement, data }) {
  /** @type {Header} */
  const header = unpack(data);
  const { root } = stateOf(parentElement, (root) => ({ root }));
  root.setAttribute("role", "group");
  root.setAttribute("aria-label", header.label);
  root.classList.toggle("two", header.columns.length > 1);
  root.replaceChildren(
    ...header.columns.map(({ name, boxes }) => {
      const column = element("div", "column");
      if (name) column.append(element("h6", "", name));
      column.append(listOf(boxes));
      return column;
    }),
  );
}

/** @type {(boxes: Box[]) => HTMLElement} */
function listOf(boxes) {
  const list = element("ol");
  for (const box of boxes) {
    const item = element("li", box.parts.length ? "block" : "box");
    if (box.added) item.classList.add("added");
    if (box.past) item.classList.add("past");
    const line = element("div", "line");
    line.append(element("b", "", box.name));
    if (box.times > 1) line.append(element("span", "times", "× " + box.times));
    if (box.shape) line.append(element("span", "shape", box.shape));
    item.append(line);
    if (box.note) item.append(element("p", "", box.note));
    if (box.beside) item.append(element("p", "beside", "← " + box.beside));
    if (box.parts.length) item.append(listOf(box.parts));
    list.append(item);
  }
  return list;
}
