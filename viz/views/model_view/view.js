// Every head as a thumbnail, on one canvas. Outlines, labels and what a screen reader needs are ordinary elements above it.
// A head is a number here: layer * heads + head.

import { fromRows, unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { CIVIDIS, cividis, css, shadesOf, stripOf, tintsOf } from "../../shared/colours.js";
import { element, write } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { stateOf } from "../../shared/state.js";

const LABEL = 26; // the column of L0, L1, ...
const EDGE = 4; // room for the outermost frames
const TOP = 16; // the line of H0, H1, ...; only where each layer takes one line
const NAME = 14; // the line of a name under each thumbnail
const SMALLEST = 18; // CSS pixels a side; below this, a layer's heads take several lines
const NAMED = 38; // the least where each carries its name
const FAINT = 0.14;

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  const [layers, heads, rows, columns] = header.shape;
  const order = header.arrays.order?.data ?? null;
  const shape = layers !== state.layers || heads !== state.heads || !order !== !state.order;
  const chosen = header.chosen ? header.chosen[0] * heads + header.chosen[1] : -1;
  if (shape) state.at = -1;
  const sent = header.arrays.maps.data;
  if (header.causal) state.whole = fromRows(sent, layers * heads, rows, state.whole);
  state.maps = header.causal ? state.whole : sent;
  Object.assign(state, { header, tell: setTriggerValue, layers, heads, rows, columns, order, chosen, count: layers * heads });
  state.drawn = order ? [...order] : Array.from({ length: layers * heads }, (_, i) => i);
  state.box.setAttribute("aria-label", header.label);
  if (shape) cells(state);
  describe(state);
  explain(state);
  arrange(state);
  draw(state);
  outline(state);
}

function make(state) {
  const box = element("div", "box");
  box.setAttribute("role", "grid");
  box.tabIndex = 0;
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  canvas.redraw = () => draw(state);
  const labels = element("div", "labels");
  labels.setAttribute("aria-hidden", "true");
  const chosen = element("div", "chosen");
  const pointed = element("div", "pointed");
  const table = element("div", "hidden");
  table.setAttribute("role", "rowgroup");
  const large = element("div", "large");
  large.setAttribute("aria-hidden", "true");
  box.append(canvas, labels, pointed, chosen, table, large);
  const left = element("p", "left");
  left.setAttribute("role", "status");
  const legend = element("p", "legend");
  state.root.replaceChildren(box, left, legend);
  Object.assign(state, { box, canvas, labels, legend, left, large, marks: { chosen, pointed }, table, at: -1, chosen: -1 });

  onMove(box, (event) => aim(state, under(state, event)));
  box.addEventListener("pointerleave", () => aim(state, -1));
  box.addEventListener("click", (event) => press(state, under(state, event)));
  box.addEventListener("focus", () => box.matches(":focus-visible") && aim(state, here(state)));
  box.addEventListener("blur", () => aim(state, -1));
  box.addEventListener("keydown", (event) => {
    if (event.key === "Enter" || event.key === " ") press(state, here(state));
    else if (event.key === "Escape" && state.at >= 0) aim(state, -1);
    else {
      const to = step(state, here(state), event.key);
      if (to < 0) return;
      aim(state, to);
      state.marks.pointed.scrollIntoView({ block: "nearest", inline: "nearest" });
    }
    event.preventDefault();
  });
  new ResizeObserver(() => {
    if (!state.header || !arrange(state)) return;
    draw(state);
    outline(state);
  }).observe(state.root);
}

// Where the keyboard is: what it points at, else what is chosen, else the first.
function here({ at, chosen, drawn }) {
  return at >= 0 ? at : chosen >= 0 ? chosen : drawn[0];
}

// The cells that a screen reader walks through; they have no size.
function cells({ table, layers, heads, count, order, box }) {
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

function describe(state) {
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

function nameOf({ heads }, head) {
  return `L${Math.floor(head / heads)} H${head % heads}`;
}

function noteOf({ header, heads }, head) {
  return header.notes?.[Math.floor(head / heads)]?.[head % heads] ?? "";
}

function valueOf({ header, heads }, head) {
  return header.quantity?.words[Math.floor(head / heads)][head % heads] ?? "";
}

// The lines below: what the filter leaves, the axes, the scales.
function explain(state) {
  const { legend, left, header, count } = state;
  const faint = header.arrays.faint?.data;
  const kept = faint ? count - faint.reduce((sum, one) => sum + one, 0) : count;
  const said = !faint
    ? ""
    : kept
      ? `${kept} of ${count} heads pass the filter.`
      : "No head passes the filter: all are drawn faint.";
  write(left, said);
  left.hidden = !said;
  legend.hidden = !header.legend;
  const parts = [
    element("span", "", "down: from (query)" + (header.chooses ? ", choosing" : "")),
    element("span", "", "across: to (key)"),
    scale("0 %", shadesOf("accent"), "100 %"),
  ];
  const { quantity } = header;
  if (quantity?.names) quantity.names.forEach((name, i) => parts.push(swatch(quantity.colours[i], name)));
  else if (quantity) parts.push(scale(quantity.low, CIVIDIS.map(css), `${quantity.high} ${quantity.unit}`.trim(), "frame: "));
  legend.replaceChildren(...parts);
}

function scale(low, stops, high, before = "") {
  const node = element("span", "scale");
  const strip = element("i");
  strip.style.background = stripOf(stops);
  node.append(before + low, strip, high);
  return node;
}

function swatch(colour, name) {
  const node = element("span", "swatch");
  const box = element("i");
  box.style.borderColor = colour;
  node.append(box, name);
  return node;
}

// Where each thumbnail stands for the width there is; says whether that has changed.
function arrange(state) {
  const { root, canvas, labels, layers, heads, count, order, drawn, header, rows, columns } = state;
  const width = root.clientWidth;
  if (!width) return false;
  const ratio = devicePixelRatio || 1;
  const framed = Boolean(header.quantity);
  const faint = header.arrays.faint?.data;
  const margin = order ? EDGE : LABEL;
  const room = width - margin - EDGE;
  const gapFor = (across) => (across > 16 ? 2 : across > 10 ? 3 : 4) + (framed ? (across > 16 || room / across < 46 ? 4 : 6) : 0);
  const least = order ? NAMED : SMALLEST;
  const most = Math.max(least, Math.min(header.largest, order && count > 400 ? 40 : Infinity));
  let across = heads;
  if (order) across = Math.max(1, Math.min(count, Math.floor((room + 8) / (most + 8))));
  const fits = Math.max(1, Math.floor((room + gapFor(across)) / (least + gapFor(across))));
  let lines = 1; // of each layer
  if (order) across = Math.max(across, Math.min(count, fits, Math.floor(room / 56)));
  else {
    lines = Math.ceil(heads / fits);
    across = Math.ceil(heads / lines);
  }
  const gap = order ? Math.max(8, gapFor(1)) : gapFor(across);
  let side = Math.max(8, Math.min(most, Math.floor((room + gap) / across) - gap));
  side = snap(side, Math.max(rows, columns), ratio, Math.min(side, least));
  const named = order ? NAME : 0;
  const top = order || lines > 1 ? EDGE : TOP + (framed ? 3 : 0);
  const key = [width, side, across, lines, layers, heads, ratio, framed, top, order && drawn.join(), faint?.join("")].join(";");
  if (key === state.key) return false;

  const places = [];
  const between = lines > 1 ? 3 * gap : gap;
  const layerHeight = lines * (side + gap) - gap + between;
  drawn.forEach((head, i) => {
    const column = order ? i % across : (head % heads) % across;
    const line = order ? Math.floor(i / across) : Math.floor((head % heads) / across);
    const y = order ? line * (side + gap + named) : Math.floor(head / heads) * layerHeight + line * (side + gap);
    places[head] = [margin + column * (side + gap), top + y];
  });
  const height = (order ? Math.ceil(count / across) * (side + gap + named) - gap : layers * layerHeight - between) + top + EDGE;
  const wide = margin + Math.min(count, across) * (side + gap) - gap + EDGE;
  const frame = framed ? Math.max(2, Math.min(4, Math.floor((gap - 1) / 2))) : 0;
  Object.assign(state, { key, side, gap, across, lines, layerHeight, ratio, places, wide, height, frame });
  state.legend.style.marginLeft = state.left.style.marginLeft = margin + "px";
  state.box.style.width = wide + "px";
  state.box.style.height = height + "px";
  canvas.width = Math.round(wide * ratio);
  canvas.height = Math.round(height * ratio);
  labels.replaceChildren(...namesOf(state));
  return true;
}

// What the thumbnails are called: each under itself, or its layer and its head at the edges, as many as there is room for.
function namesOf(state) {
  const { layers, heads, order, drawn, header, side, gap, lines, layerHeight, places, frame } = state;
  const faint = header.arrays.faint?.data;
  const mark = (text, left, top, className) => {
    const node = element("span", className, text);
    node.style.left = left + "px";
    node.style.top = top + "px";
    return node;
  };
  if (order)
    return drawn.map((head) => {
      const [x, y] = places[head];
      return mark(nameOf(state, head), x + side / 2, y + side + frame + 2, faint?.[head] ? "both faint" : "both");
    });
  const names = [];
  const every = Math.ceil(24 / (side + gap));
  if (lines === 1)
    for (let head = 0; head < heads; head += every) names.push(mark("H" + head, places[head][0] + side / 2, 0, "head"));
  const each = Math.ceil(14 / layerHeight);
  for (let layer = 0; layer < layers; layer += each)
    names.push(mark("L" + layer, 0, places[layer * heads][1] + Math.min(side, layerHeight) / 2, "layer"));
  return names;
}

// A side that is a whole number of pixels a cell, where that costs little: then all cells are of one size.
function snap(side, cells, ratio, least) {
  const pixels = Math.round(side * ratio);
  const whole = Math.floor(pixels / Math.max(1, cells)) * cells;
  return whole >= 0.7 * pixels && whole >= least * ratio ? whole / ratio : side;
}

function mapOf({ maps, rows, columns }, head) {
  return maps.subarray(head * rows * columns, (head + 1) * rows * columns);
}

// All thumbnails into one image at their own resolution, and each from there to its place. The accent's opacity is the weight.
function draw(state) {
  const { canvas, header, layers, heads, count, rows, columns, side, ratio, places, frame } = state;
  if (!side) return;
  const pen = penOn(canvas);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  state.tint = tintsOf(state.root);
  const faint = header.arrays.faint?.data;
  const pixels = Math.round(side * ratio);
  const at = (head) => places[head].map((v) => Math.round(v * ratio));
  if (rows && columns) {
    const [high, wide] = [Math.min(rows, pixels), Math.min(columns, pixels)];
    state.sheet ??= document.createElement("canvas");
    state.sheet.width = wide * heads; // also clears it
    state.sheet.height = high * layers;
    state.sheet.getContext("2d").putImageData(sheet(state, high, wide), 0, 0);
    pen.imageSmoothingEnabled = false;
    for (let head = 0; head < count; head++) {
      pen.globalAlpha = faint?.[head] ? FAINT : 1;
      const from = [(head % heads) * wide, Math.floor(head / heads) * high];
      pen.drawImage(state.sheet, ...from, wide, high, ...at(head), pixels, pixels);
    }
  }
  // Frames: the thin ones in one stroke, those of a quantity in its colour.
  const radius = Math.min(4, side / 8) * ratio;
  const ring = (head, width) => pen.roundRect(...at(head).map((v) => v - width / 2), pixels + width, pixels + width, radius);
  pen.globalAlpha = 1;
  pen.strokeStyle = getComputedStyle(state.labels).borderTopColor;
  pen.lineWidth = Math.max(1, Math.round(ratio));
  pen.beginPath();
  for (let head = 0; head < count; head++) ring(head, pen.lineWidth);
  pen.stroke();
  if (!frame) return;
  pen.lineWidth = Math.round(frame * ratio);
  for (let head = 0; head < count; head++) {
    const colour = colourOf(state, head);
    if (!colour || faint?.[head]) continue;
    pen.strokeStyle = colour;
    pen.beginPath();
    ring(head, pen.lineWidth);
    pen.stroke();
  }
}

// Where there are fewer pixels than cells, a pixel shows the largest of its cells: a spike is never lost.
function sheet(state, high, wide) {
  const { layers, heads, rows, columns, tint } = state;
  const stride = wide * heads;
  const image = new ImageData(stride, high * layers);
  const out = new Uint32Array(image.data.buffer);
  const small = high < rows || wide < columns ? new Uint8Array(high * wide) : null;
  for (let head = 0; head < layers * heads; head++) {
    let from = mapOf(state, head);
    if (small) from = shrink(from, rows, columns, small.fill(0), high, wide);
    let at = Math.floor(head / heads) * high * stride + (head % heads) * wide;
    for (let y = 0, i = 0; y < high; y++, at += stride) for (let x = 0; x < wide; x++, i++) out[at + x] = tint[from[i]];
  }
  return image;
}

function shrink(from, rows, columns, to, high, wide) {
  for (let y = 0; y < rows; y++) {
    const line = Math.floor((y * high) / rows) * wide;
    for (let x = 0; x < columns; x++) {
      const at = line + Math.floor((x * wide) / columns);
      const value = from[y * columns + x];
      if (value > to[at]) to[at] = value;
    }
  }
  return to;
}

// The colour of a head's frame; empty where it has no value.
function colourOf({ header }, head) {
  const value = header.arrays.values?.data[head];
  if (value === undefined || Number.isNaN(value)) return "";
  if (header.quantity.names) return header.quantity.colours[value];
  return css(cividis(value));
}

function outline(state) {
  const { marks, chosen, at, side, frame, box, places } = state;
  for (const [mark, head] of [
    [marks.chosen, chosen],
    [marks.pointed, at],
  ]) {
    mark.hidden = head < 0 || !side;
    if (mark.hidden) continue;
    const [x, y] = places[head].map((v) => v - frame);
    mark.style.transform = `translate(${x}px, ${y}px)`;
    mark.style.width = mark.style.height = side + 2 * frame + "px";
  }
  state.selected?.removeAttribute("aria-selected");
  state.selected = box.place[chosen];
  state.selected?.setAttribute("aria-selected", "true");
  const active = box.place[here(state)];
  if (active) box.setAttribute("aria-activedescendant", active.id);
  enlarge(state);
}

// The head that is pointed at, larger, with its words; beside it where there is room.
function enlarge(state) {
  const { large, at, side, gap, places, rows, columns, root, tint } = state;
  large.hidden = at < 0 || !side;
  if (large.hidden) return;
  const title = element("div");
  title.append(element("b", "", nameOf(state, at)), noteOf(state, at));
  const parts = [title];
  if (valueOf(state, at)) {
    const value = swatch(colourOf(state, at), valueOf(state, at));
    value.classList.add("value");
    parts.push(value);
  }
  if (state.header.arrays.faint?.data[at]) parts.push(element("div", "", "left out by the filter"));
  if (rows && columns) {
    const canvas = element("canvas");
    Object.assign(canvas, { width: columns, height: rows });
    const image = new ImageData(columns, rows);
    const out = new Uint32Array(image.data.buffer);
    mapOf(state, at).forEach((weight, i) => (out[i] = tint[weight]));
    canvas.getContext("2d").putImageData(image, 0, 0);
    parts.push(canvas);
  }
  large.replaceChildren(...parts);
  const [x, y] = places[at];
  const [wide, high] = [large.offsetWidth, large.offsetHeight];
  const beside = state.wide + 10;
  let left = beside + wide <= root.clientWidth ? beside : x + side + gap + 6; // it covers no other head where there is room
  let top = y + side / 2 - high / 2;
  if (left + wide > root.clientWidth) left = x - gap - 6 - wide;
  if (left < 0) {
    left = Math.max(0, Math.min(x + side / 2 - wide / 2, root.clientWidth - wide)); // no room at either side: below
    top = y + side + gap + 8;
  } else top = Math.max(0, Math.min(top, state.height - high));
  large.style.transform = `translate(${left}px, ${top}px)`;
}

function under({ box, places, side, gap }, event) {
  if (!side) return -1;
  const edge = box.getBoundingClientRect();
  const [x, y] = [event.clientX - edge.left + gap / 2, event.clientY - edge.top + gap / 2];
  return places.findIndex(([left, top]) => x >= left && x < left + side + gap && y >= top && y < top + side + gap);
}

function aim(state, head) {
  if (state.at === head) return;
  state.at = head;
  outline(state);
}

function press(state, head) {
  if (head < 0) return;
  state.chosen = state.at = head;
  outline(state);
  state.tell("chosen", [Math.floor(head / state.heads), head % state.heads]);
}

// The arrows go along what is drawn: up and down by a layer, or by a line where heads have another order.
function step({ heads, order, drawn, across }, head, key) {
  const width = order ? across : heads;
  const at = drawn.indexOf(head);
  const start = at - (at % width);
  const last = Math.min(start + width, drawn.length) - 1;
  const to = {
    ArrowLeft: order ? Math.max(0, at - 1) : Math.max(start, at - 1),
    ArrowRight: order ? Math.min(drawn.length - 1, at + 1) : Math.min(last, at + 1),
    ArrowUp: at - width < 0 ? at : at - width,
    ArrowDown: at + width < drawn.length ? at + width : at,
    Home: start,
    End: last,
  }[key];
  return to === undefined ? -1 : drawn[to];
}
