// A number taken apart: a row for each product, the rest in one, and the total. Rows whose source is known are buttons.

import { unpack } from "../../shared/bytes.js";
import { element, makeButton } from "../../shared/element.js";
import { figure } from "../../shared/number.js";
import { stateOf } from "../../shared/state.js";

/** @typedef {import("./types").Choice} Choice */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

const SHOWN = 6; // steps of a trail; of a longer one the first and the last ones, until a press shows all
const LOOKS = [400, 1000, 2000]; // milliseconds after which it is brought into sight: what stands around it may still move
const HANDS = ["wheel", "touchmove", "pointerdown", "keydown"]; // after these nothing moves by itself any more

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, setTriggerValue));
  state.tell = setTriggerValue;
  state.table.setAttribute("aria-label", header.label);
  if (header.trail.length <= SHOWN) state.unfolded = false;
  walk(state, header);
  fill(state, header);
  if (document.followedSum) comeIntoSight(state.root);
  document.followedSum = false;
}

/** @type {(root: HTMLElement) => void} */
function comeIntoSight(root) {
  const taken = new AbortController();
  const { signal } = taken;
  HANDS.forEach((kind) => addEventListener(kind, () => taken.abort(), { signal, capture: true, passive: true }));
  LOOKS.forEach((after) => setTimeout(() => signal.aborted || root.scrollIntoView({ block: "nearest" }), after));
  setTimeout(() => taken.abort(), Math.max(...LOOKS) + 1);
}

/** @type {(root: HTMLElement, tell: Tell) => State} */
function make(root, tell) {
  const trail = element("nav", "trail");
  trail.setAttribute("aria-label", "The numbers that you came from");
  const table = element("div", "terms");
  table.setAttribute("role", "table");
  root.replaceChildren(trail, table);
  return { root, tell, trail, table, unfolded: false, n: 0 };
}

// n grows: the same press twice is two.
/** @type {(state: State, choice: Choice) => void} */
function tell(state, choice) {
  state.n = Math.max(state.n + 1, Date.now());
  state.tell("chosen", { ...choice, n: state.n });
}

// Who follows a number looks at the next sum: it comes into sight, however long what stands above it is.
/** @type {(state: State, choice: Choice) => void} */
function go(state, choice) {
  document.followedSum = true;
  tell(state, choice);
}

/** @type {(state: State, header: Header) => void} */
function walk(state, header) {
  const { trail, name } = header;
  state.trail.hidden = !trail.length;
  const steps = trail.map((text, i) => makeButton("", text, () => go(state, { back: i })));
  if (trail.length > SHOWN && !state.unfolded) {
    const unfold = () => {
      state.unfolded = true;
      walk(state, header);
      state.trail.querySelectorAll("button")[1].focus(); // the first of those that were hidden
    };
    const hidden = trail.length - SHOWN + 1;
    steps.splice(1, hidden, makeButton("fold", `${hidden} more`, unfold));
  }
  const here = element("b", "", name);
  here.setAttribute("aria-current", "step");
  state.trail.replaceChildren(...steps.flatMap((step) => [step, element("span", "arrow", "→")]), here);
}

/** @type {(state: State, header: Header) => void} */
function fill(state, { name, labels, open, factors, more, lookup, arrays }) {
  const { data } = arrays.terms;
  const [value, others] = arrays.sums.data;
  const most = Math.max(...labels.map((_, i) => Math.abs(data[3 * i + 2])), Math.abs(others), 1e-30);
  const titles = lookup ? ["", factors[0], "", "", "", factors[1]] : ["", factors[0], "", factors[1], "", "product"];
  const { row: head } = line("head", titles, null, "columnheader");
  const rows = labels.map((label, i) => {
    const [left, right, product] = data.subarray(3 * i, 3 * i + 3);
    const cells = lookup
      ? [label, figure(left), "", "", "", figure(product)]
      : [label, figure(left), "×", figure(right), "=", figure(product)];
    const { row, numbers } = line("row", cells, lookup ? null : product / most);
    open[i].forEach((may, side) => may && follow(state, numbers[1 + 2 * side], i, side));
    return row;
  });
  if (more) {
    const cells = [`and ${more.toLocaleString("en")} more`, "", "", "", "", figure(others)];
    rows.push(line("row rest", cells, others / most).row);
  }
  const { row: total } = line("row total", [labels.length ? "together" : name, "", "", "", "", figure(value)], null);
  total.setAttribute("aria-label", `${name}: ${figure(value)}`);
  state.table.replaceChildren(...(labels.length ? [head] : []), ...rows, ...(lookup ? [] : [total]));
}

// A row of the table, and the texts in its cells.
/** @type {(className: string, cells: string[], share: number | null, role?: string) => { row: HTMLElement, numbers: HTMLElement[] }} */
function line(className, cells, share, role = "cell") {
  const row = element("div", className);
  row.setAttribute("role", "row");
  const numbers = cells.map((text, i) => {
    const cell = element("span", `c${i}`);
    const number = element("bdi", "", text);
    cell.append(number);
    cell.setAttribute("role", i ? role : role === "cell" ? "rowheader" : role);
    row.append(cell);
    return number;
  });
  const track = element("span", "track");
  track.setAttribute("aria-hidden", "true");
  if (share !== null) {
    const bar = element("i", share < 0 ? "minus" : "plus");
    bar.style.width = (50 * Math.min(1, Math.abs(share) || 0)).toFixed(2) + "%";
    track.append(bar);
  }
  row.append(track);
  return { row, numbers };
}

// A number that can be followed.
/** @type {(state: State, number: HTMLElement, term: number, side: number) => void} */
function follow(state, number, term, side) {
  number.className = "follow";
  number.tabIndex = 0;
  number.setAttribute("role", "button");
  number.title = "Where this number comes from";
  const press = () => go(state, { term, side });
  number.addEventListener("click", press);
  number.addEventListener("keydown", (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press();
  });
}
