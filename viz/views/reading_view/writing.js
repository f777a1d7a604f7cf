// The words as they were typed, a node each.

import { element } from "../../shared/element.js";
import { rove } from "../../shared/rove.js";
import { fill } from "../../shared/token.js";

const KINDS = ["", "special", "fragment"];

// The words. Only a token that differs from the one that stood there is written again.
export function write(state) {
  const { text, tokens, header, toggle } = state;
  state.boxes = new Map(); // where words stand; measuring it at every hover would make the browser lay out again
  toggle.node.hidden = !header.toggle;
  text.setAttribute("aria-label", header.label);
  while (tokens.length > header.tokens.length) tokens.pop().node.remove();
  header.tokens.forEach((pieces, i) => {
    const key = pieces.join("\u0000") + header.kinds[i];
    const token = (tokens[i] ??= blank(text, i));
    token.node.classList.toggle("second", i === header.second);
    token.node.classList.toggle("said", i >= header.said); // never where nothing is said of it
    if (token.key === key) return;
    token.key = key;
    spell(token, pieces, KINDS[header.kinds[i]]);
    token.node.setAttribute("aria-label", header.names[i]);
  });
  rove(state, text.children, Math.min(state.focus, tokens.length - 1));
}

function blank(text, position) {
  const node = element("span", "token");
  node.setAttribute("role", "button");
  node.tabIndex = -1;
  node.position = position;
  text.append(node);
  return { node, shaded: 0, ink: "", faint: false, asked: false, strips: "" };
}

// Spaces before a word stand outside of what is shaded, so that a shade fits its word; line breaks come after their mark.
function spell(token, pieces, kind) {
  const first = pieces[0];
  const before = pieces.length > 1 || first.trim() ? first.match(/^ */)[0] : "";
  const word = element("span", "word");
  const rest = [first.slice(before.length), ...pieces.slice(1)];
  const broken = rest.join("").includes("\n");
  const lines = rest.map((piece, i) => (i % 2 ? piece : piece.replaceAll("\n", "")));
  if (kind === "special") word.append(/^([<[]\|?)?(.+?)(\|?[>\]])?$/.exec(lines.join(""))?.[2] ?? lines.join(""));
  else fill(word, lines);
  if (broken) {
    // Shown where the line ends; the breaks themselves follow outside of the box.
    word.append(element("i", "mark", "↵"));
  } else if (!word.textContent.trim()) word.classList.add("blank");
  word.classList.toggle("special", kind === "special");
  word.classList.toggle("fragment", kind === "fragment");
  const breaks = (rest.join("").match(/\n/g) ?? []).join("");
  token.node.replaceChildren(...[before, word, breaks].filter((part) => part !== ""));
  token.word = word;
  token.node.classList.remove("faint");
  Object.assign(token, { shaded: 0, ink: "", faint: false, asked: false, strips: "" });
}
