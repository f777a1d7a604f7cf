// What comes next, a button a row. Rows stay where they are and change their words. Bars do not glide: a bar on its way
// is a number that nobody computed, and fifteen frames of it a key press cost more than all else on the page.

import { unpack } from "../../shared/bytes.js";
import { element, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";
import { fill } from "../../shared/token.js";

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  state.tell = setTriggerValue;
  state.header = header;
  update(state);
}

function make(state) {
  const head = element("div", "head");
  const [second, last] = [element("span", "logit", "logit"), element("span", "", "probability")];
  const first = element("span", "", "token");
  head.append(first, element("span"), second, last);
  const list = element("div", "rows");
  list.setAttribute("role", "group");
  state.root.replaceChildren(head, list);
  Object.assign(state, { list, first, second, last, rows: [], n: 0 });
  list.addEventListener("click", (event) => {
    const row = event.target.closest?.("button");
    if (!row) return;
    const index = row.index;
    state.n = Math.max(state.n + 1, Date.now()); // grows through reloads too
    state.tell("chosen", { index, id: state.header.ids?.[index] ?? null, n: state.n });
  });
  list.addEventListener("keydown", (event) => {
    const at = event.target.index;
    const last = state.rows.length - 1;
    const to = { ArrowDown: Math.min(last, at + 1), ArrowUp: Math.max(0, at - 1), Home: 0, End: last }[event.key];
    if (to === undefined || at === undefined) return;
    state.rows[to].node.focus();
    event.preventDefault();
  });
}

function update({ root, list, first, second, last, rows, header }) {
  const { tokens, names, fragments, probabilities, numbers, unit, before, befores, struck, marked, label, heads, below } = header;
  const logits = befores ?? header.logits;
  second.textContent = before ? "before" + unit : "logit";
  first.textContent = heads?.[0] ?? header.of ?? "token";
  last.textContent = heads?.[1] ?? (before ? "after" + unit : "probability");
  root.classList.toggle("with-heads", Boolean(heads));
  root.classList.toggle("in-words", !before && numbers.some((number) => number.length > 9)); // "under 1 in 100"
  root.classList.toggle("with-before", Boolean(before));
  list.setAttribute("aria-label", label);
  root.classList.toggle("with-logits", Boolean(logits));
  while (rows.length > tokens.length) rows.pop().node.remove();
  const largest = Math.max(...probabilities, ...(before ?? []), header.full ?? 0, 1e-30);
  const wide = (p) => Math.min(100, (100 * p) / largest).toFixed(2) + "%";
  tokens.forEach((text, i) => {
    const row = (rows[i] ??= blank(list, i));
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
    const now = struck?.[i] ? "struck out" : numbers[i] + unit;
    const more = before ? `, before ${logit}${unit}` : logits ? `, logit ${logit}` : "";
    const spoken = `${names[i]}, ${now}${more}${marked === i ? ", chosen" : ""}`;
    if (row.spoken !== spoken) row.node.setAttribute("aria-label", (row.spoken = spoken));
  });
}

function blank(list, index) {
  const node = element("button", "row");
  node.type = "button";
  node.index = index;
  const text = element("bdi", "text");
  const track = element("span", "track");
  const bar = element("span", "bar");
  const logit = element("span", "logit");
  const number = element("span", "number");
  track.append(bar);
  node.append(text, track, logit, number);
  list.append(node);
  return { node, text, track, bar, logit, number };
}
