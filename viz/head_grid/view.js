// Every head as a thumbnail, on one canvas. Outlines, labels and what a screen reader needs are ordinary elements above it.

const GAP = 4;
const LARGEST = 48; // CSS pixels a side
const SMALLEST = 18; // below this, a layer's heads take several lines
const LABEL = 26; // the column of L0, L1, ...
const EDGE = 2; // room for the outermost frames
const TOP = 16; // the line of H0, H1, ...; only where each layer takes one line

function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  const [layers, heads, rows, columns] = header.arrays.maps.shape;
  const shape = layers !== state.layers || heads !== state.heads;
  Object.assign(state, { header, tell: setTriggerValue, layers, heads, rows, columns, chosen: header.chosen });
  state.box.setAttribute("aria-label", header.label);
  state.legend.hidden = !header.legend;
  if (shape) cells(state);
  describe(state);
  if (shape || !state.side) arrange(state);
  draw(state);
  outline(state);
}

function make(state) {
  const box = element("div", "box");
  box.setAttribute("role", "grid");
  box.tabIndex = 0;
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const labels = element("div", "labels");
  labels.setAttribute("aria-hidden", "true");
  const chosen = element("div", "chosen");
  const pointed = element("div", "pointed");
  const tip = element("div", "tip");
  const table = element("div", "hidden");
  table.setAttribute("role", "rowgroup");
  box.append(canvas, labels, pointed, chosen, tip, table);
  const legend = element("p", "legend");
  legend.append(element("span", "", "down: from (query)"), element("span", "", "across: to (key)"), scale());
  state.root.replaceChildren(box, legend);
  Object.assign(state, { box, canvas, labels, legend, marks: { chosen, pointed }, tip, table, at: null });

  box.addEventListener("pointermove", (event) => aim(state, under(state, event)));
  box.addEventListener("pointerleave", () => aim(state, null));
  box.addEventListener("click", (event) => press(state, under(state, event)));
  box.addEventListener("focus", () => box.matches(":focus-visible") && aim(state, state.at ?? state.chosen ?? [0, 0]));
  box.addEventListener("blur", () => aim(state, null));
  box.addEventListener("keydown", (event) => {
    const at = state.at ?? state.chosen ?? [0, 0];
    if (event.key === "Enter" || event.key === " ") press(state, at);
    else {
      const to = step(state, at, event.key);
      if (!to) return;
      aim(state, to);
    }
    event.preventDefault();
  });
  new ResizeObserver(() => {
    if (!state.header || !arrange(state)) return;
    draw(state);
    outline(state);
  }).observe(state.root);
}

// The shades from 0 to 100 %, as they are drawn.
function scale() {
  const node = element("span", "scale");
  const strip = element("i");
  const stops = Array.from({ length: 11 }, (_, i) => `color-mix(in srgb, var(--accent) ${100 * shade(i / 10)}%, transparent)`);
  strip.style.background = `linear-gradient(to right, ${stops.join()})`;
  node.append("0 %", strip, "100 %");
  return node;
}

// The cells that a screen reader walks through; they have no size.
function cells({ table, layers, heads, box }) {
  const id = "cell" + Math.random().toString(36).slice(2, 8);
  box.cell = (layer, head) => `${id}-${layer}-${head}`;
  table.replaceChildren(
    ...Array.from({ length: layers }, (_, layer) => {
      const row = element("div");
      row.setAttribute("role", "row");
      for (let head = 0; head < heads; head++) {
        const cell = element("span");
        cell.setAttribute("role", "gridcell");
        cell.id = box.cell(layer, head);
        row.append(cell);
      }
      return row;
    }),
  );
}

function describe({ table, header, layers, heads }) {
  for (let layer = 0; layer < layers; layer++) {
    const row = table.children[layer].children;
    for (let head = 0; head < heads; head++) {
      const words = name(header, layer, head);
      if (row[head].words !== words) row[head].textContent = row[head].words = words;
    }
  }
}

function name({ notes }, layer, head) {
  const note = notes?.[layer]?.[head];
  return `L${layer} H${head}` + (note ? `: ${note}` : "");
}

// Where each thumbnail stands for the width there is; says whether that has changed.
function arrange(state) {
  const { root, canvas, labels, layers, heads } = state;
  const width = root.clientWidth;
  if (!width) return false;
  const ratio = devicePixelRatio || 1;
  const room = width - LABEL - EDGE;
  const fits = Math.max(1, Math.floor((room + GAP) / (SMALLEST + gapFor(heads))));
  const lines = Math.ceil(heads / fits);
  const across = Math.ceil(heads / lines);
  const gap = gapFor(across);
  const side = Math.max(8, Math.min(LARGEST, Math.floor((room + gap) / across) - gap));
  const key = [side, across, lines, layers, heads, ratio].join();
  if (key === state.key) return false;
  const layerGap = lines > 1 ? 3 * gap : gap;
  const layerHeight = lines * (side + gap) - gap + layerGap;
  const top = lines > 1 ? EDGE : TOP;
  const height = top + layers * layerHeight - layerGap + EDGE;
  const wide = LABEL + across * (side + gap) - gap + EDGE;
  Object.assign(state, { key, top, side, across, lines, gap, ratio, layerHeight, wide, height });
  state.box.style.width = wide + "px";
  state.box.style.height = height + "px";
  canvas.width = Math.round(wide * ratio);
  canvas.height = Math.round(height * ratio);

  const mark = (text, left, top, className) => {
    const node = element("span", className, text);
    node.style.left = left + "px";
    node.style.top = top + "px";
    return node;
  };
  const every = Math.ceil(24 / (side + gap)); // as many labels as there is room for
  const names = [];
  if (lines === 1)
    for (let head = 0; head < heads; head += every) names.push(mark("H" + head, LABEL + head * (side + gap) + side / 2, 0, "head"));
  const each = Math.ceil(14 / layerHeight);
  for (let layer = 0; layer < layers; layer += each)
    names.push(mark("L" + layer, 0, top + layer * layerHeight + Math.min(side, layerHeight) / 2, "layer"));
  labels.replaceChildren(...names);
  return true;
}

function gapFor(count) {
  return count > 16 ? 2 : count > 10 ? 3 : GAP;
}

function corner({ top, side, gap, across, layerHeight }, layer, head) {
  const line = Math.floor(head / across);
  return [LABEL + (head % across) * (side + gap), top + layer * layerHeight + line * (side + gap)];
}

// All thumbnails into one image at their own resolution, and each from there to its place. The accent's opacity is the weight.
function draw(state) {
  const { canvas, header, layers, heads, rows, columns, side, ratio } = state;
  if (!side) return;
  const pen = canvas.getContext("2d");
  pen.clearRect(0, 0, canvas.width, canvas.height);
  if (!rows || !columns) return;
  const { accent } = colours(state.root);
  const tint = new Uint32Array(256);
  const tintBytes = new Uint8Array(tint.buffer);
  for (let i = 0; i < 256; i++) tintBytes.set([...accent, Math.round(255 * shade(i / 255))], 4 * i);

  // Where there are fewer pixels than cells, a pixel shows the largest of its cells: a spike is never lost.
  const pixels = Math.round(side * ratio);
  const [high, wide] = [Math.min(rows, pixels), Math.min(columns, pixels)];
  const values = header.arrays.maps.data;
  const stride = wide * heads;
  const image = new ImageData(stride, high * layers);
  const out = new Uint32Array(image.data.buffer);
  const size = rows * columns;
  const small = high < rows || wide < columns ? new Uint8Array(high * wide) : null;
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      let from = values.subarray((layer * heads + head) * size, (layer * heads + head + 1) * size);
      if (small) from = shrink(from, rows, columns, small.fill(0), high, wide);
      let at = layer * high * stride + head * wide;
      for (let y = 0, i = 0; y < high; y++, at += stride) for (let x = 0; x < wide; x++, i++) out[at + x] = tint[from[i]];
    }
  state.sheet ??= document.createElement("canvas");
  state.sheet.width = image.width; // also clears it
  state.sheet.height = image.height;
  state.sheet.getContext("2d").putImageData(image, 0, 0);

  pen.imageSmoothingEnabled = false;
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const [x, y] = corner(state, layer, head).map((v) => Math.round(v * ratio));
      pen.drawImage(state.sheet, head * wide, layer * high, wide, high, x, y, pixels, pixels);
    }
  // Frames in one stroke.
  pen.strokeStyle = getComputedStyle(state.labels).borderTopColor;
  pen.lineWidth = Math.max(1, Math.round(ratio));
  pen.beginPath();
  const radius = Math.min(4, side / 8) * ratio;
  const inset = pen.lineWidth / 2;
  for (let layer = 0; layer < layers; layer++)
    for (let head = 0; head < heads; head++) {
      const [x, y] = corner(state, layer, head).map((v) => Math.round(v * ratio));
      pen.roundRect(x - inset, y - inset, pixels + 2 * inset, pixels + 2 * inset, radius);
    }
  pen.stroke();
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

function outline(state) {
  const { marks, chosen, at, side, box, table } = state;
  for (const [mark, place] of [[marks.chosen, chosen], [marks.pointed, at]]) {
    mark.hidden = !place || !side;
    if (mark.hidden) continue;
    const [x, y] = corner(state, ...place);
    mark.style.transform = `translate(${x}px, ${y}px)`;
    mark.style.width = mark.style.height = side + "px";
  }
  if (state.selected) state.selected.removeAttribute("aria-selected");
  state.selected = chosen && table.children[chosen[0]].children[chosen[1]];
  state.selected?.setAttribute("aria-selected", "true");
  const active = at ?? chosen;
  if (active) box.setAttribute("aria-activedescendant", box.cell(...active));
  tip(state);
}

function tip({ tip, header, at, root, side, ...state }) {
  tip.hidden = !at;
  if (!at) return;
  tip.textContent = name(header, ...at);
  const [x, y] = corner({ side, ...state }, ...at);
  const left = Math.max(0, Math.min(x + side / 2 - tip.offsetWidth / 2, root.clientWidth - tip.offsetWidth));
  const above = y - tip.offsetHeight - 5;
  tip.style.transform = `translate(${left}px, ${above < -8 ? y + side + 5 : above}px)`;
}

function under(state, event) {
  const box = state.box.getBoundingClientRect();
  const { top, side, gap, across, layerHeight, layers, heads } = state;
  const x = event.clientX - box.left - LABEL;
  const y = event.clientY - box.top - top;
  if (!side || x < 0 || y < 0) return null;
  const layer = Math.floor(y / layerHeight);
  const line = Math.floor((y - layer * layerHeight) / (side + gap));
  const head = line * across + Math.floor(x / (side + gap));
  return layer < layers && x < across * (side + gap) && line < state.lines && head < heads ? [layer, head] : null;
}

function aim(state, place) {
  if (String(state.at) === String(place)) return;
  state.at = place;
  outline(state);
}

function press(state, place) {
  if (!place) return;
  state.chosen = place;
  state.at = place;
  outline(state);
  state.tell("chosen", place);
}

function step({ layers, heads }, [layer, head], key) {
  const clamp = (value, count) => Math.min(count - 1, Math.max(0, value));
  if (key === "ArrowLeft") return [layer, clamp(head - 1, heads)];
  if (key === "ArrowRight") return [layer, clamp(head + 1, heads)];
  if (key === "ArrowUp") return [clamp(layer - 1, layers), head];
  if (key === "ArrowDown") return [clamp(layer + 1, layers), head];
  if (key === "Home") return [layer, 0];
  if (key === "End") return [layer, heads - 1];
  return null;
}
