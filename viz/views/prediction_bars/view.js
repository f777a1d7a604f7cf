// What comes next, a button a row. Rows stay where they are and change their words. Bars do not glide: a bar on its way
// is a number that nobody computed, and fifteen frames of it a key press cost more than all else on the page.

import { unpack } from "../../shared/bytes.js";
import { closest, element, write } from "../../shared/element.js";
import { lookUp } from "../../shared/lookup.js";
import { stateOf } from "../../shared/state.js";
import { fill } from "../../shared/token.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  state.tell = setTriggerValue;
  state.header = header;
  update(state);
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const head = element("div", "head");
  const [second, last] = [element("span", "logit", "logit"), element("span", "", "probability")];
  const first = element("span", "", "token");
  head.append(first, element("span"), second, last);
  const list = element("div", "rows");
  list.setAttribute("role", "group");
  root.replaceChildren(head, list);
  /** @type {State} */
  const state = { root, header, tell, list, first, second, last, rows: [], n: 0 };
  listen(state);
  return state;
}

/** @type {(state: State) => void} */
function listen(state) {
  const { list } = state;
  /** @type {(event: Event) => number} */
  const placeOf = (event) => state.rows.findIndex(({ node }) => node === closest(event, "button"));
  list.addEventListener("click", (event) => {
    const index = placeOf(event);
    if (index < 0) return;
    state.n = Math.max(state.n + 1, Date.now()); // grows through reloads too
    state.tell("chosen", { index, id: state.header.ids?.[index] ?? null, n: state.n });
  });
  list.addEventListener("keydown", (event) => {
    const at = placeOf(event);
    const last = state.rows.length - 1;
    const to = lookUp({ ArrowDown: Math.min(last, at + 1), ArrowUp: Math.max(0, at - 1), Home: 0, End: last }, event.key);
    if (to === undefined || at < 0) return;
    state.rows[to].node.focus();
    event.preventDefault();
  });
}

/** @type {(state: State) => void} */
function update({ root, list, first, second, last, rows, header }) {
  const { tokens, names, fragments, probabilities, numbers, before, befores, stages, struck, marked, label, heads, below } =
    header;
  const logits = befores ?? header.logits;
  second.textContent = before ? (stages?.[0] ?? "before") : "logit";
  first.textContent = heads?.[0] ?? header.of ?? "token";
  last.textContent = heads?.[1] ?? (before ? (stages?.[1] ?? "after") : "probability");
  root.classList.toggle("with-heads", Boolean(heads));
  root.classList.toggle("signed", Boolean(header.signed));
  root.classList.toggle("with-before", Boolean(before));
  list.setAttribute("aria-label", label);
  root.classList.toggle("with-logits", Boolean(logits));
  for (const row of rows.splice(tokens.length)) row.node.remove();
  const largest = Math.max(...probabilities, ...(before ?? []), header.full ?? 0, 1e-30);
  /** @type {(p: number) => string} */
  const wide = (p) => Math.min(100, (100 * p) / largest).toFixed(2) + "%";
  tokens.forEach((text, i) => {
    const row = (rows[i] ??= blank(list));
    const key = text.join("\u0000") + fragments[i];
    if (row.key !== key) {
      row.key = key;
      fill(row.text, text);
      row.text.classList.toggle("mono", fragments[i]);
      row.text.title = text.join("");
    }
    const width = wide(probabilities[i]);
    const ghost = before ? wide(before[i]) : "";
    if (row.ghost !== ghost) row.track.style.setProperty("--before", (row.ghost = ghost));
    row.node.classList.toggle("struck", Boolean(struck?.[i]));
    row.node.classList.toggle("marked", marked === i);
    row.node.disabled = Boolean(header.still);
    row.node.classList.toggle("below", Boolean(below?.[i]));
    if (row.width !== width) row.bar.style.width = row.width = width;
    write(row.number, numbers[i]);
    const logit = logits ? logits[i] : "";
    write(row.logit, logit);
    const now = struck?.[i] ? "struck out" : numbers[i];
    const more = before ? `, ${second.textContent} ${logit}` : logits ? `, logit ${logit}` : "";
    const spoken = `${names[i]}, ${now}${more}${marked === i ? ", chosen" : ""}`;
    if (row.spoken !== spoken) row.node.setAttribute("aria-label", (row.spoken = spoken));
  });
}

/** @type {(list: HTMLElement) => Row} */
function blank(list) {
  const node = element("button", "row");
  node.type = "button";
  const text = element("bdi", "text");
  const track = element("span", "track");
  const bar = element("span", "bar");
  const logit = element("span", "logit");
  const number = element("span", "number");
  track.append(bar);
  node.append(text, track, logit, number);
  list.append(node);
  return { node, text, track, bar, logit, number, key: "", ghost: "", width: "", spoken: "" };
}
