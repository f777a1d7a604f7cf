// One query against every key. A row a key: q × k as a strip of cells, then q·k, score and weight; above, one key's bars at large.
// Rows are written only while they are in sight, so a thousand keys cost what fourteen do.

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { shade, shadesOf, stripOf } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { onPoint, point } from "../../shared/link.js";
import { exactly, percent, signed } from "../../shared/number.js";
import { stateOf } from "../../shared/state.js";
import { fillTable } from "../../shared/table.js";
import { makeToggle } from "../../shared/toggle.js";
import { fill } from "../../shared/token.js";
import { active } from "./active.js";
import { dialsOf, makeDials, tabulateTurns } from "./dials.js";

const ROW = 24; // CSS pixels
const MOST_ROWS = 14; // beyond, the rows scroll
const LEAST_CELL = 4; // a dimension is never narrower; where there is no room for all, the strongest are shown
const LARGEST_CELL = 22;
const BARS = [
  ["q", 50],
  ["k", 50],
  ["q × k", 64],
]; // name and height of each line of bars
const TICKS = 14;
const NAMED = 3; // so many dimensions are named in the line below the bars
const WIDE = 720;
const OUTLIERS = 0.01; // so many of the products may lie beyond the end of the colour scale
const SAMPLE = 20000; // and so many are looked at to find that end

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  const { keys, position, title, query } = header;
  const subject = [title, position, query.join(""), keys.length].join("\u0000");
  const fresh = subject !== state.subject;
  Object.assign(state, {
    header,
    subject,
    tell: setTriggerValue,
    link: header.link,
    count: keys.length,
    dims: header.arrays.q.data.length,
  });
  state.names = keys.map((pieces) => pieces.join(""));
  if (fresh || header.chosen !== state.given) state.chosen = state.given = header.chosen;
  if (fresh) state.at = state.dim = -1;
  calculate(state);
  state.box.setAttribute("aria-label", header.label);
  theme(state);
  state.key = "";
  if (fresh) state.formula.style.minHeight = state.tall = "";
  arrange(state);
  order(state);
  if (fresh) centre(state, state.chosen);
  draw(state);
  tabulateSoon(state, true);
}

function make(state) {
  const formula = element("p", "formula");
  const readout = element("p", "readout");
  const legend = element("p", "legend");
  const notes = element("p", "notes");
  const spoken = element("p", "hidden");
  spoken.setAttribute("aria-live", "polite");
  const unseen = element("div", "hidden");
  const keyTable = element("table");
  const dimTable = element("table");
  unseen.append(keyTable, dimTable);
  Object.assign(state, { formula, readout, legend, notes, spoken, unseen, keyTable, dimTable });
  Object.assign(state, { at: -1, dim: -1, chosen: -1, keySort: "position", dimSort: "contribution" });
  state.id = "key" + Math.random().toString(36).slice(2, 8);
  const controls = makeControls(state);
  makeBars(state);
  makeRows(state);
  makeDials(state);
  const { bars, head, box, dials } = state;
  state.root.replaceChildren(controls, formula, bars, readout, head, box, legend, dials, notes, spoken, unseen);
  listen(state);
}

function makeControls(state) {
  const node = element("div", "controls");
  const title = element("p", "title");
  const keySort = makeToggle("Order of the keys", { position: "keys in order", weight: "by weight" }, (value) => {
    state.keySort = value;
    order(state);
    centre(state, state.chosen);
    draw(state);
  });
  const dimSort = makeToggle("Order of the dimensions", { contribution: "dimensions by size", index: "in order" }, (value) => {
    state.dimSort = value;
    order(state);
    draw(state);
  });
  node.append(title, keySort.node, dimSort.node);
  Object.assign(state, { title, groups: { keySort, dimSort } });
  return node;
}

// The three lines of bars of one key, with their names at the left and how far they reach at the right.
function makeBars(state) {
  const bars = element("div", "bars");
  bars.setAttribute("aria-hidden", "true");
  const line = (words, height) => {
    const node = element("span", "", words);
    node.style.height = node.style.lineHeight = height + "px";
    return node;
  };
  const names = element("div", "names");
  names.append(...BARS.map(([name, height]) => line(name, height)));
  const barCanvas = element("canvas");
  barCanvas.redraw = () => barsOf(state);
  const extents = element("div", "extents");
  extents.append(...BARS.map(([, height]) => line("", height)));
  bars.append(names, barCanvas, extents);
  Object.assign(state, { bars, barCanvas, extents });
}

// The rows of all keys, which scroll, and what their columns are called.
function makeRows(state) {
  const head = element("div", "line head");
  head.setAttribute("aria-hidden", "true");
  const captions = ["key", "cells", "sum", "score", "weight", "value"].map((name) => element("span", name));
  head.append(...captions);
  const box = element("div", "box");
  box.tabIndex = 0;
  box.setAttribute("role", "listbox");
  const spacer = element("div", "spacer");
  const pane = element("div", "pane");
  spacer.setAttribute("role", "presentation");
  pane.setAttribute("role", "presentation");
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  canvas.redraw = () => rows(state);
  pane.append(canvas);
  spacer.append(pane);
  box.append(spacer);
  Object.assign(state, { head, captions, box, spacer, pane, canvas, rows: [] });
}

function listen(state) {
  const { box, barCanvas } = state;
  onMove(box, (event) => aim(state, ...under(state, event), true));
  box.addEventListener("pointerleave", () => aim(state, -1, -1, true));
  onMove(barCanvas, (event) => aim(state, state.at, dimUnder(state, event)));
  barCanvas.addEventListener("pointerleave", () => aim(state, state.at, -1));
  box.addEventListener("click", (event) => press(state, under(state, event)[0]));
  box.addEventListener("scroll", () => rows(state));
  box.addEventListener("focus", () => box.matches(":focus-visible") && walk(state, active(state), state.dim));
  box.addEventListener("blur", () => aim(state, -1, -1, true));
  box.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || !state.count) return;
    if (event.key === "Enter" || event.key === " ") press(state, active(state));
    else if (event.key === "Escape") aim(state, -1, -1, true);
    else {
      const to = step(state, event.key);
      if (!to) return;
      walk(state, ...to);
    }
    event.preventDefault();
  });
  new ResizeObserver(() => {
    if (!state.header || !arrange(state)) return;
    order(state);
    draw(state);
  }).observe(state.root);
  onPoint(state, (key) => key < state.count && aim(state, key, -1));
}

// What follows from the arrays, once for new data.
function calculate(state) {
  const { header, count, dims } = state;
  const { q, k, weight, v_norm: lengths, score, mask, sink } = header.arrays;
  const products = new Float32Array(count * dims); // float32, as they are in analysis.query_key
  for (let key = 0, i = 0; key < count; key++) for (let dim = 0; dim < dims; dim++, i++) products[i] = q.data[dim] * k.data[i];
  const allowed = Array.from(mask.data, (added) => added !== -Infinity);
  const seen = allowed.some(Boolean) ? products.filter((_, i) => allowed[Math.floor(i / dims)]) : products;
  const scaleEnd = endOf(seen);
  let shares = null;
  if (lengths) {
    const moved = Float64Array.from(weight.data, (share, key) => share * lengths.data[key]);
    const total = moved.reduce((a, b) => a + b, 0);
    shares = total ? moved.map((one) => one / total) : moved;
  }
  const logits = [...Array.from(score.data, (one, key) => one + mask.data[key]), ...sink.data];
  const top = Math.max(...logits.map((one) => (one > -Infinity ? one : -Infinity)));
  const total = logits.reduce((sum, one) => sum + (one === -Infinity ? 0 : Math.exp(one - top)), 0);
  const full = Math.max(largest(weight.data), shares ? largest(shares) : 0);
  Object.assign(state, {
    products,
    allowed,
    scaleEnd,
    beyond: largest(seen) > scaleEnd,
    shares,
    full,
    bottom: top + Math.log(total),
  });
}

// The largest size of a number that is one.
function largest(values) {
  let most = 0;
  for (const value of values) if (Math.abs(value) > most && Math.abs(value) < Infinity) most = Math.abs(value);
  return most;
}

// Where the colours end: a few outlying dimensions, as large models have them, must not leave the others without any.
function endOf(products) {
  const stride = Math.ceil(products.length / SAMPLE);
  const sizes = products
    .filter((_, i) => i % stride === 0)
    .map(Math.abs)
    .filter((size) => size < Infinity)
    .sort();
  return sizes[Math.floor((1 - OUTLIERS) * sizes.length)] || largest(products);
}

function theme(state) {
  const { legend, header, scaleEnd, beyond } = state;
  const strip = element("span", "scale");
  const [minus, plus] = [element("i", "minus"), element("i", "plus")];
  minus.style.background = stripOf(shadesOf("minus"), "left");
  plus.style.background = stripOf(shadesOf("plus"));
  strip.append((beyond ? "≤ " : "") + exactly(-scaleEnd), minus, plus, (beyond ? "≥ " : "") + exactly(scaleEnd));
  legend.replaceChildren(strip, element("span", "", "blue lowers the score, red raises it"));
  const style = (node) => getComputedStyle(node).color;
  const line = getComputedStyle(state.head).borderBottomColor;
  state.paints = {
    plus: style(plus),
    minus: style(minus),
    ink: style(state.root),
    soft: style(legend),
    paper: getComputedStyle(state.root).columnRuleColor,
    line,
  };
  legend.append(element("span", "", `bars at the right: the longest is ${percent(state.full)}`));
  if (state.shares) legend.append(element("span", "thin", "thin bar: weight × ‖v‖"));
  const notes = [`The softmax divides e^score by the sum over all keys, here e^${exactly(state.bottom)}.`];
  const sink = header.arrays.sink.data;
  if (sink.length)
    notes.push(
      `A sink, which is a key that brings nothing (score ${exactly(sink[0])}), takes ${percent(Math.exp(sink[0] - state.bottom))} of this query’s attention.`,
    );
  const hidden = state.allowed.filter((may) => !may).length;
  if (hidden)
    notes.push(
      `${hidden} ${hidden === 1 ? "key is" : "keys are"} masked: the products are there, but the softmax never sees them.`,
    );
  state.fixed = notes;
}

// Where everything stands for the width there is; says whether that has changed.
function arrange(state) {
  const { root, box, canvas, barCanvas, count, dims } = state;
  const width = root.clientWidth;
  if (!width) return false;
  const ratio = devicePixelRatio || 1;
  const key = [width, ratio, count, dims, Boolean(state.shares)].join();
  if (key === state.key) return false;
  if (width !== state.width) state.formula.style.minHeight = state.tall = "";
  const height = Math.max(1, Math.min(count, MOST_ROWS)) * ROW;
  box.style.height = height + "px";
  state.spacer.style.height = count * ROW + "px";
  state.pane.style.height = height + "px";
  const bar = box.offsetWidth - box.clientWidth;
  const wide = width >= WIDE;
  const columns = wide
    ? { key: 132, sum: 60, score: 60, weight: 130, value: state.shares ? 130 : 0 }
    : { key: 74, sum: 0, score: 44, weight: 80, value: 0 };
  const gap = wide ? 10 : 6;
  const taken = Object.values(columns).reduce((sum, one) => sum + one + (one ? gap : 0), 0) + bar;
  const room = Math.max(LEAST_CELL, width - taken);
  const shown = Math.min(dims, Math.max(1, Math.floor(room / LEAST_CELL)));
  const cell = Math.min(LARGEST_CELL, Math.floor(room / Math.max(1, shown)));
  const cells = Math.max(1, shown * cell);
  const ends = wide && columns.value ? 2 : 1;
  const spare = Math.min(110, Math.floor((room - cells) / ends)); // goes to the bars at the right
  columns.weight += spare;
  if (columns.value) columns.value += spare;
  for (const [name, value] of Object.entries({ ...columns, cells, gap })) root.style.setProperty(`--${name}`, value + "px");
  root.classList.toggle("narrow", !wide);
  root.classList.toggle("plain", !columns.value);
  const barHeight = BARS.reduce((sum, [, one]) => sum + one, 0) + TICKS;
  for (const [one, high] of [
    [canvas, height],
    [barCanvas, barHeight],
  ]) {
    one.width = Math.round(cells * ratio);
    one.height = Math.round(high * ratio);
    one.style.width = cells + "px";
    one.style.height = high + "px";
  }
  canvas.style.left = columns.key + gap + "px";
  Object.assign(state, { key, width, ratio, columns, cells, cell, shown, height, barHeight });
  return true;
}

// Which key stands in which row, and which dimension in which column.
function order(state) {
  const { header, count, dims, keySort, dimSort, products, chosen, allowed, shown } = state;
  const weight = header.arrays.weight.data;
  const key = Array.from({ length: count }, (_, i) => i);
  const rank = (i) => (allowed[i] ? weight[i] || 0 : -1);
  if (keySort === "weight") key.sort((a, b) => rank(b) - rank(a) || a - b);
  const size = (dim) => Math.abs(products[Math.max(0, chosen) * dims + dim]) || 0;
  let dim = Array.from({ length: dims }, (_, i) => i);
  if (count) dim.sort((a, b) => size(b) - size(a) || a - b);
  dim = dim.slice(0, shown ?? dims);
  if (dimSort === "index") dim.sort((a, b) => a - b);
  const row = new Int32Array(count);
  key.forEach((one, i) => (row[one] = i));
  Object.assign(state, { keyAt: key, rowOf: row, dimAt: dim });
  for (const [name, group] of Object.entries(state.groups)) group.show(state[name]);
}

function draw(state) {
  const { title, header } = state;
  const from = header.row ? [header.row] : ["from (query) ", tokenOf(header.query)];
  title.replaceChildren(...(header.title ? [element("b", "", header.title), " "] : []), ...from);
  if (header.position >= 0 && !header.row) title.append(element("small", "", String(header.position)));
  captions(state);
  rows(state);
  detail(state);
}

function captions({ captions, header, shown, dims, columns, dimSort, chosen, names }) {
  const some = shown < dims ? `the ${shown} strongest of ${dims} dimensions` : `a cell for each of ${dims} dimensions`;
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
    const name = node.className;
    node.textContent = words[name];
    node.hidden = Boolean(columns && name in columns && !columns[name]);
  }
  if (header.keys.length === 0) captions.forEach((node) => (node.hidden = true));
}

// The rows in sight, on elements that are used again, and their cells.
function rows(state) {
  const { box, pane, header, count, height, keyAt, chosen, at, columns, shares, full, allowed } = state;
  if (!columns) return;
  const { raw, score, weight } = header.arrays;
  const first = Math.max(0, Math.floor(box.scrollTop / ROW));
  const shift = box.scrollTop - first * ROW;
  const need = Math.min(count - first, Math.ceil((height + shift) / ROW));
  while (state.rows.length < need) state.rows.push(blankRow(pane));
  state.rows.forEach((row, i) => (row.node.hidden = i >= need));
  for (let i = 0; i < need; i++) {
    const key = keyAt[first + i];
    const row = state.rows[i];
    row.node.style.transform = `translateY(${i * ROW - shift}px)`;
    row.node.id = state.id + key;
    row.node.setAttribute("aria-posinset", first + i + 1);
    row.node.setAttribute("aria-setsize", count);
    row.node.setAttribute("aria-selected", key === chosen);
    row.node.classList.toggle("pointed", key === at);
    row.node.classList.toggle("masked", !allowed[key]);
    if (row.key === key && row.header === header && row.layout === state.key) continue;
    Object.assign(row, { key, header, layout: state.key });
    row.node.setAttribute("aria-label", sentenceOf(state, key));
    row.number.textContent = key;
    fill(row.name, header.keys[key]);
    row.name.classList.toggle("special", header.kinds[key] === 1);
    row.sum.textContent = exactly(raw.data[key]);
    row.score.textContent = exactly(score.data[key]);
    row.sum.hidden = !columns.sum;
    row.value.hidden = !columns.value;
    gauge(
      row.weight,
      weight.data[key],
      full,
      allowed[key] ? percent(weight.data[key]) : "masked",
      columns.value ? null : shares?.[key],
    );
    if (columns.value) gauge(row.value, shares[key], full, allowed[key] ? percent(shares[key]) : "");
  }
  const now = active(state);
  const here = state.rows.some(({ node, key }) => key === now && !node.hidden);
  if (here && box.getRootNode().activeElement === box) box.setAttribute("aria-activedescendant", state.id + now);
  else box.removeAttribute("aria-activedescendant");
  cellsOf(state, first, shift, need);
}

function blankRow(pane) {
  const node = element("div", "line row");
  node.setAttribute("role", "option");
  const key = element("span", "key");
  const number = element("small");
  const name = element("bdi");
  key.append(number, name);
  const [sum, score] = [element("span", "sum"), element("span", "score")];
  const [weight, value] = ["weight", "value"].map((name) => {
    const cell = element("span", name);
    const track = element("span", "track");
    track.append(element("i"), element("i"));
    cell.append(track, element("span", "number"));
    return cell;
  });
  node.append(key, element("span", "cells"), sum, score, weight, value);
  pane.append(node);
  return { node, number, name, sum, score, weight, value };
}

// A bar with its number; where there is no column for it, the second share is a thin bar below the first.
function gauge(cell, share, full, words, second) {
  const [bar, thin] = cell.firstChild.children;
  const long = (part) => (full && part > 0 ? Math.min(100, (100 * part) / full) : 0) + "%";
  bar.style.width = long(share);
  thin.hidden = second == null;
  thin.style.width = long(second ?? 0);
  cell.lastChild.textContent = words;
}

function cellsOf(state, first, shift, need) {
  const { canvas, ratio, cell, cells, height, keyAt, dimAt, products, dims, scaleEnd, allowed, paints, dim } = state;
  const pen = penOn(canvas);
  pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  pen.clearRect(0, 0, cells, height);
  const most = scaleEnd || 1;
  const inset = cell >= 6 ? 1 : 0;
  pen.fillStyle = paints.paper; // under the colours, so that they are the same in a row that is marked
  for (let i = 0; i < need; i++) pen.fillRect(0, i * ROW - shift + 3, dimAt.length * cell - inset, ROW - 6);
  for (const raised of [true, false]) {
    pen.fillStyle = raised ? paints.plus : paints.minus;
    for (let i = 0; i < need; i++) {
      const key = keyAt[first + i];
      const from = key * dims;
      const strength = allowed[key] ? 1 : 0.35;
      for (let column = 0; column < dimAt.length; column++) {
        const value = products[from + dimAt[column]];
        if (!(raised ? value > 0 : value < 0)) continue;
        pen.globalAlpha = strength * shade(Math.abs(value) / most);
        pen.fillRect(column * cell, i * ROW - shift + 3, cell - inset, ROW - 6);
      }
    }
  }
  pen.globalAlpha = 1;
  const column = dimAt.indexOf(dim);
  if (column < 0) return;
  pen.strokeStyle = paints.ink;
  pen.strokeRect(column * cell - 0.5 * (inset ? 1 : -1), 0.5, cell - inset + (inset ? 1 : -1), height - 1);
}

// All that is about the key one points at: the formula with its numbers, the bars, the line below them.
function detail(state) {
  formulaOf(state);
  barsOf(state);
  readout(state);
  dialsOf(state);
  tabulateSoon(state);
}

// q·k × scale = score → softmax → weight, with what this model puts between.
function formulaOf(state) {
  const { formula, header, shares, allowed, bottom } = state;
  const key = active(state);
  if (key < 0) return formula.replaceChildren();
  const { raw, score, weight, bias, v_norm: lengths, mask } = header.arrays;
  const piece = (value, caption, className = "") => {
    const node = element("span", "piece " + className);
    node.append(element("b", "", value), element("small", "", caption));
    return node;
  };
  const sign = (text) => element("span", "sign", text);
  const to = piece("", "to (key)", "to");
  to.firstChild.append(tokenOf(header.keys[key]), element("small", "", String(key)));
  const parts = [to, piece(exactly(raw.data[key]), "q·k"), sign("×"), piece(exactly(header.scale), "scale")];
  const scaled = raw.data[key] * header.scale;
  if (header.softcap !== null) {
    const bent = header.softcap * Math.tanh(scaled / header.softcap);
    parts.push(
      sign("="),
      piece(exactly(scaled), "scaled"),
      sign("→"),
      piece(exactly(bent), `soft cap ±${exactly(header.softcap)}`),
    );
  }
  if (bias) parts.push(sign(bias.data[key] < 0 ? "−" : "+"), piece(exactly(Math.abs(bias.data[key])), "position bias"));
  if (bias || header.softcap === null) parts.push(sign("="), piece(exactly(score.data[key]), "score"));
  else parts.at(-1).lastChild.textContent = `score, soft cap ±${exactly(header.softcap)}`;
  if (allowed[key]) {
    const added = mask.data[key];
    if (added) parts.push(sign(added < 0 ? "−" : "+"), piece(exactly(Math.abs(added)), "mask"));
    const exponent = element("sup", "", `${exactly(score.data[key] + added)} − ${exactly(bottom)}`.replace("− −", "+ "));
    const softmax = piece("e", "softmax");
    softmax.firstChild.append(exponent);
    parts.push(sign("→"), softmax, sign("="), piece(percent(weight.data[key]), "weight", "weight"));
    if (shares)
      parts.push(sign("×"), piece(exactly(lengths.data[key]), "‖v‖"), sign("→"), piece(percent(shares[key]), "of weight × ‖v‖"));
  } else
    parts.push(sign("→"), piece("masked", "the query may not look there"), sign("="), piece(percent(weight.data[key]), "weight"));
  formula.replaceChildren(...parts);
  const tall = formula.offsetHeight; // a longer formula takes another line, a shorter one leaves it: the rows must not jump
  if (tall > (state.tall ?? 0)) formula.style.minHeight = (state.tall = tall) + "px";
  const about = [...state.fixed];
  state.notes.textContent = about.join(" ");
}

// q, k and q × k of one key, upwards where positive.
function barsOf(state) {
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
  const values = [q.data, k.data, products].map((all, i) => (i ? all.subarray(from, from + dims) : all));
  const gap = cell >= 5 ? 1 : 0;
  let top = 0;
  BARS.forEach(([, high], line) => {
    const middle = top + high / 2;
    const reach = high / 2 - 3;
    const most = largest(values[line]);
    pen.fillStyle = paints.line;
    pen.fillRect(0, Math.round(middle) - 0.5, cells, 1);
    dimAt.forEach((one, column) => {
      const value = values[line][one];
      const long = (Math.min(most, Math.abs(value)) / most) * reach;
      if (!(long > 0)) return;
      pen.fillStyle = value > 0 ? paints.plus : paints.minus;
      pen.fillRect(column * cell, value > 0 ? middle - long : middle, cell - gap, long);
    });
    extents.children[line].textContent = "±" + exactly(most);
    top += high;
  });
  pen.fillStyle = paints.soft;
  pen.font = "10px system-ui, sans-serif";
  pen.textAlign = "center";
  const every = Math.ceil((dims > 100 ? 26 : 20) / cell);
  for (let column = 0; column < dimAt.length; column += every) {
    const half = pen.measureText(dimAt[column]).width / 2;
    pen.fillText(dimAt[column], Math.min(cells - half, Math.max(half, column * cell + cell / 2)), barHeight - 3);
  }
  const column = dimAt.indexOf(dim);
  if (column < 0) return;
  pen.strokeStyle = paints.ink;
  pen.strokeRect(column * cell - 0.5, 0.5, Math.max(2, cell), barHeight - TICKS - 1);
}

function readout(state) {
  const key = active(state);
  state.readout.textContent = key < 0 ? "" : state.dim >= 0 ? dimensionOf(state, key, state.dim) : strongestOf(state, key);
}

function dimensionOf({ header, products, dims }, key, dim) {
  const { q, k } = header.arrays;
  return `Dimension ${dim}: q ${exactly(q.data[dim])} × k ${exactly(k.data[key * dims + dim])} = ${exactly(products[key * dims + dim])}`;
}

function strongestOf({ header, products, dims }, key) {
  const own = Array.from(products.subarray(key * dims, (key + 1) * dims));
  const best = [...own.keys()].sort((a, b) => Math.abs(own[b]) - Math.abs(own[a])).slice(0, NAMED);
  const sum = header.arrays.raw.data[key];
  const rest = best.reduce((left, dim) => left - own[dim], sum);
  const named = best.map((dim, i) => `${i ? "" : "dimension "}${dim} ${signed(own[dim])}`);
  const others = dims > best.length ? `; the other ${dims - best.length} together ${signed(rest)}` : "";
  return `q·k = ${exactly(sum)}: ${named.join(", ")}${others}`;
}

// What is said of a row, and of the place in it that the keyboard has come to.
function sentenceOf({ header, names, allowed, shares, count }, key) {
  const { raw, score, weight } = header.arrays;
  const numbers = `q·k ${exactly(raw.data[key])}, score ${exactly(score.data[key])}`;
  const end = allowed[key] ? `weight ${percent(weight.data[key])}` : "masked";
  const moved = allowed[key] && shares ? `, with the length of its value ${percent(shares[key])}` : "";
  return `${names[key]}, ${key + 1} of ${count}: ${numbers}, ${end}${moved}`;
}

function tokenOf(pieces) {
  const node = element("bdi");
  fill(node, pieces);
  return node;
}

function under(state, event) {
  const box = state.box.getBoundingClientRect();
  const row = Math.floor((event.clientY - box.top + state.box.scrollTop) / ROW);
  const inside = event.clientX - box.left < state.box.clientWidth; // not on the scroll bar
  return [inside ? (state.keyAt[row] ?? -1) : -1, dimUnder(state, event)];
}

function dimUnder(state, event) {
  const left = state.canvas.getBoundingClientRect().left;
  return state.dimAt[Math.floor((event.clientX - left) / state.cell)] ?? -1;
}

// Points at a key and a dimension; -1 is none. `tell` where this view's own pointer moved.
function aim(state, key, dim, tell = false) {
  if (key === state.at && dim === state.dim) return;
  const other = key !== state.at;
  Object.assign(state, { at: key, dim });
  rows(state);
  detail(state);
  if (tell && other) point(state, key);
}

function press(state, key) {
  if (key < 0) return;
  state.chosen = key;
  order(state);
  draw(state);
  state.tell("chosen", { key });
}

// The keyboard's step: to a key in sight, and said.
function walk(state, key, dim) {
  if (key < 0) return;
  const turned = dim !== state.dim && dim >= 0;
  reveal(state, key);
  aim(state, key, dim, true);
  rows(state);
  state.spoken.textContent = turned ? dimensionOf(state, key, dim) : "";
}

function step(state, key) {
  const { rowOf, keyAt, dimAt, count, dim } = state;
  const now = active(state);
  const by = { ArrowUp: -1, ArrowDown: 1, PageUp: -(MOST_ROWS - 1), PageDown: MOST_ROWS - 1, Home: -count, End: count }[key];
  if (by) return [keyAt[Math.min(count - 1, Math.max(0, rowOf[now] + by))], dim];
  const side = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (!side || !dimAt.length) return null;
  const column = dimAt.indexOf(dim);
  return [now, dimAt[column < 0 ? 0 : Math.min(dimAt.length - 1, Math.max(0, column + side))]];
}

function centre({ box, rowOf, height }, key) {
  if (key >= 0 && height) box.scrollTop = Math.round(rowOf[key] - height / ROW / 2) * ROW;
}

function reveal({ box, rowOf, height }, key) {
  if (key < 0 || !height) return;
  const top = rowOf[key] * ROW;
  if (top < box.scrollTop) box.scrollTop = top;
  else if (top + ROW > box.scrollTop + height) box.scrollTop = top + ROW - height;
}

// The tables behind, for who cannot see the cells. Nobody reads them while the pointer runs.
function tabulateSoon(state, all = false) {
  state.stale ||= all;
  clearTimeout(state.later);
  state.later = setTimeout(() => tabulate(state), 300);
}

function tabulate(state) {
  const { header, names, dims, products, allowed, shares, keyTable, dimTable } = state;
  const { q, k, raw, score, weight } = header.arrays;
  if (state.stale) {
    const lines = names.map((name, key) => [
      `${name} (${key})`,
      exactly(raw.data[key]),
      exactly(score.data[key]),
      allowed[key] ? percent(weight.data[key]) : "masked",
      ...(shares ? [percent(shares[key])] : []),
    ]);
    const heads = ["to (key)", "q·k", "score", "weight", ...(shares ? ["weight × ‖v‖"] : [])];
    fillTable(keyTable, header.label, heads, lines);
    state.stale = false;
  }
  const key = active(state);
  tabulateTurns(state, key);
  if (key < 0) return dimTable.replaceChildren();
  const at = key * dims;
  const lines = Array.from(q.data, (value, dim) => [String(dim), ...[value, k.data[at + dim], products[at + dim]].map(exactly)]);
  fillTable(dimTable, `Dimensions of ${names[key]}`, ["dimension", "q", "k", "q × k"], lines);
}
