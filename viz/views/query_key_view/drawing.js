// The whole picture, and what of it is about the key that one points at: the formula with its numbers, and the bars.

import { penOn } from "../../shared/canvas.js";
import { element } from "../../shared/element.js";
import { lookUp } from "../../shared/lookup.js";
import { exactly, percent } from "../../shared/number.js";
import { active } from "./active.js";
import { dialsOf } from "./dials.js";
import { factor, placesOf, rounded } from "./digits.js";
import { BARS, TICKS } from "./places.js";
import { largest } from "./products.js";
import { rows } from "./rows.js";
import { dimensionOf, strongestOf, tabulateSoon, tokenOf } from "./words.js";

/** @typedef {import("./types").State} State */

/** @type {(state: State) => void} */
export function draw(state) {
  const { title, header } = state;
  const from = header.row ? [header.row] : ["from (query) ", tokenOf(header.query)];
  title.replaceChildren(...(header.title ? [element("b", "", header.title), " "] : []), ...from);
  if (header.position >= 0 && !header.row) title.append(element("small", "", String(header.position)));
  captions(state);
  rows(state);
  detail(state);
}

/** @type {(state: State) => void} */
function captions({ captions, header, shown, dims, columns, dimSort, chosen, names }) {
  const some =
    shown !== null && shown < dims ? `the ${shown} strongest of ${dims} dimensions` : `a cell for each of ${dims} dimensions`;
  const first = columns?.sum && dimSort === "contribution" ? `, strongest for ${names[chosen]} first` : "";
  const words = {
    key: "to (key)",
    cells: `q × k: ${some}${first}`,
    sum: "q·k",
    score: "score",
    weight: "weight",
    value: "weight × ‖v‖",
  };
  for (const node of captions) {
    node.textContent = lookUp(words, node.className) ?? "";
    node.hidden = Boolean(columns && lookUp({ ...columns }, node.className) === 0);
  }
  if (header.keys.length === 0) captions.forEach((node) => (node.hidden = true));
}

// All that is about the key one points at: the formula with its numbers, the bars, the line below them.
/** @type {(state: State) => void} */
export function detail(state) {
  formulaOf(state);
  barsOf(state);
  readout(state);
  dialsOf(state);
  tabulateSoon(state);
}

// A number of the formula with what it is below.
/** @type {(value: string, caption: string, className?: string) => HTMLElement} */
function piece(value, caption, className = "") {
  const node = element("span", "piece " + className);
  node.append(element("b", "", value), element("small", "", caption));
  return node;
}

/** @type {(text: string) => HTMLElement} */
const sign = (text) => element("span", "sign", text);

// q·k × scale = score → softmax → weight, with what this model puts between.
/** @type {(state: State) => void} */
function formulaOf(state) {
  const { formula, header, shares, allowed, bottom } = state;
  const key = active(state);
  if (key < 0) return formula.replaceChildren();
  const { raw, score, weight, bias, v_norm: lengths, mask } = header.arrays;
  const to = piece("", "to (key)", "to");
  to.querySelector("b")?.append(tokenOf(header.keys[key]), element("small", "", String(key)));
  const places = placesOf({
    raw: raw.data[key],
    scale: header.scale,
    bias: bias?.data[key] ?? 0,
    cap: header.softcap,
    score: score.data[key],
    heat: header.temperature,
    added: mask.data[key],
    bottom,
    weight: allowed[key] ? weight.data[key] : null,
  });
  /** @type {(value: number) => string} */
  const digits = (value) => rounded(value, places);
  const parts = [to, piece(digits(raw.data[key]), "q·k"), sign("×"), piece(factor(header.scale, places), "scale")];
  const scaled = raw.data[key] * header.scale;
  if (header.softcap !== null) {
    const bent = header.softcap * Math.tanh(scaled / header.softcap);
    parts.push(
      sign("="),
      piece(digits(scaled), "scaled"),
      sign("→"),
      piece(digits(bent), `soft cap ±${exactly(header.softcap)}`),
    );
  }
  if (bias) parts.push(sign(bias.data[key] < 0 ? "−" : "+"), piece(digits(Math.abs(bias.data[key])), "position bias"));
  if (bias || header.softcap === null) parts.push(sign("="), piece(digits(score.data[key] * header.temperature), "score"));
  else parts[parts.length - 1].querySelectorAll("small")[0].textContent = `score, soft cap ±${exactly(header.softcap)}`;
  if (header.temperature !== 1) {
    const divided = piece(digits(score.data[key]), "sharpened or evened");
    parts.push(sign("÷"), piece(exactly(header.temperature), "temperature"), sign("="), divided);
  }
  if (header.replaced)
    parts.push(sign("·"), piece("put in", "this row was replaced"), piece(percent(weight.data[key]), "weight"));
  else if (allowed[key]) {
    const added = mask.data[key];
    if (added) parts.push(sign(added < 0 ? "−" : "+"), piece(digits(Math.abs(added)), "mask"));
    const softmax = piece("e", "softmax");
    const total = element("sup", "", digits(bottom));
    softmax.querySelector("b")?.append(element("sup", "", digits(score.data[key] + added)), " / e", total);
    parts.push(sign("→"), softmax, sign("="), piece(percent(weight.data[key]), "weight", "weight"));
    if (shares && lengths)
      parts.push(sign("×"), piece(exactly(lengths.data[key]), "‖v‖"), sign("→"), piece(percent(shares[key]), "of weight × ‖v‖"));
  } else
    parts.push(sign("→"), piece("masked", "the query may not look there"), sign("="), piece(percent(weight.data[key]), "weight"));
  formula.replaceChildren(...parts);
  const tall = formula.offsetHeight; // a longer formula takes another line, a shorter one leaves it: the rows must not jump
  if (tall > state.tall) formula.style.minHeight = (state.tall = tall) + "px";
  const about = [...state.fixed];
  state.notes.textContent = about.join(" ");
}

// q, k and q × k of one key, upwards where positive.
/** @type {(state: State) => void} */
export function barsOf(state) {
  const { barCanvas, ratio, cell, cells, barHeight, dimAt, dims, header, products, paints, dim, extents } = state;
  if (!ratio) return;
  const pen = penOn(barCanvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, cells, barHeight);
  const key = active(state);
  state.bars.hidden = key < 0;
  if (key < 0) return;
  const { q, k } = header.arrays;
  const from = key * dims;
  /** @type {(all: Float32Array) => Float32Array} */
  const own = (all) => all.subarray(from, from + dims);
  const values = [q.data, own(k.data), own(products)];
  const gap = cell >= 5 ? 1 : 0;
  let top = 0;
  BARS.forEach(([, high], line) => {
    const middle = top + high / 2;
    const reach = high / 2 - 3;
    const most = largest(values[line]);
    pen.fillStyle = paints.line;
    pen.fillRect(0, Math.round(middle) - 0.5, cells, 1);
    dimAt.forEach((dim, column) => {
      const value = values[line][dim];
      const long = (Math.min(most, Math.abs(value)) / most) * reach;
      if (!(long > 0)) return;
      pen.fillStyle = value > 0 ? paints.plus : paints.minus;
      pen.fillRect(column * cell, value > 0 ? middle - long : middle, cell - gap, long);
    });
    extents[line].textContent = "±" + exactly(most);
    top += high;
  });
  pen.fillStyle = paints.soft;
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "center";
  const every = Math.ceil((dims > 100 ? 26 : 20) / cell);
  for (let column = 0; column < dimAt.length; column += every) {
    const text = String(dimAt[column]);
    const half = pen.measureText(text).width / 2;
    pen.fillText(text, Math.min(cells - half, Math.max(half, column * cell + cell / 2)), barHeight - 3);
  }
  const column = dimAt.indexOf(dim);
  if (column < 0) return;
  pen.strokeStyle = paints.ink;
  pen.strokeRect(column * cell - 0.5, 0.5, Math.max(2, cell), barHeight - TICKS - 1);
}

/** @type {(state: State) => void} */
function readout(state) {
  const key = active(state);
  state.readout.textContent = key < 0 ? "" : state.dim >= 0 ? dimensionOf(state, key, state.dim) : strongestOf(state, key);
}
