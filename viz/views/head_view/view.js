// The heads of one layer: tokens on two sides, a line for each weight. One canvas holds all lines, one above it those of the token
// that is pointed at, so that pointing repaints little. Labels, numbers and controls are ordinary elements.
// "Along" runs from token to token and "across" from one side to the other: down and right in columns, right and down in rows.

const NAMES = ["from", "to"];
const AXES = ["from (query)", "to (key)"];
const PLAIN_AXES = ["from", "to"]; // for beginners
const CHOOSING = ", choosing"; // in cross-attention, whose rows are named by what they serve to choose
const DEFAULTS = { layout: "columns", style: "lines", mode: "each", least: 2, top: 0, pairs: "all", zoom: false };
const CHOICES = {
  mode: ["Heads", [["each", "each head"], ["mean", "mean"], ["max", "max"]]],
  style: ["Drawn as", [["lines", "lines"], ["ribbons", "ribbons"]]],
  layout: ["Layout", [["columns", "columns"], ["rows", "rows"]]],
  zoom: ["Size", [[false, "whole text"], [true, "every label"]]],
};
const LINES = 4000; // at most, the strongest first: more are a solid area
const FOCUSED_LINES = 1000; // of one token
const CURVED = 1500; // more lines than this are straight, which is quicker
const CHUNK = 250; // lines in one path: canvases slow down with longer ones
const LEVELS = 12; // steps of opacity
const TALL = 620; // CSS pixels: the longest that the columns get
const BROAD = 880; // and the broadest: lines that run nearly side by side cannot be told apart
const PAD = 8; // before the first token and after the last
const PITCH = 25; // pixels from token to token at most, in columns
const WIDE = 110; // in rows
const SPACE = 13; // between two labels at least
const READABLE = 18; // the pitch of "every label"
const BAR = 40; // the longest bar beside a label
const NUMBER_FROM = 0.005;
const TABLED = 20;
const HINT = " Point at a token to see only its own.";
const PLAIN_HINT = " Point at a word to see only its lines.";

function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  const before = state.header;
  Object.assign(state, { header, tell: setTriggerValue, link: header.link, theme: themeOf(state.root, header) });
  const sent = header.arrays.weights.data;
  if (header.causal) state.whole = fromRows(sent, header.shape[0], header.shape[1], state.whole);
  state.weights = header.causal ? state.whole : sent; // [head, query, key] as bytes
  state.sides = [header.from, header.to ?? header.from].map((side, i) => ({ ...side, count: header.shape[i + 1], first: header.starts[i], i }));
  const [from, to] = header.simple ? PLAIN_AXES : AXES;
  state.axes = [from + (header.from.rows ? CHOOSING : ""), to];
  if (header.simple) state.options = { ...DEFAULTS, least: state.options.least }; // what has no control here is as it begins
  state.named.forEach((node, i) => (node.textContent = state.axes[i]));
  state.boxes.forEach((box, i) => box.setAttribute("aria-label", state.axes[i]));
  state.paired = new Set(state.sides.flatMap((side) => side.segments ?? [0])).size > 1;
  adopt(state, before);
  if (String(header.shape) !== String(before?.shape)) state.scroll = 0;
  chips(state);
  refresh(state);
}

// What the app sends counts, unless it is an echo of what the reader chose here: a late one would undo the choice after it.
function adopt(state, before) {
  const { header, sent } = state;
  const fresh = (name, value) => {
    const words = JSON.stringify(value);
    const mine = sent[name].lastIndexOf(words);
    if (mine >= 0) sent[name].splice(0, mine); // the newest stays: the next data may say it again
    const own = mine < 0 && words !== JSON.stringify(before?.[name]);
    if (own) sent[name] = []; // from here on the same words are no echo
    return own;
  };
  if (fresh("heads", header.heads) || header.shape[0] !== before.shape[0]) state.on = header.heads.slice();
  if (fresh("chosen", header.chosen)) state.pinned = header.chosen && [NAMES.indexOf(header.chosen[0]), header.chosen[1]];
  for (const name of ["pinned", "hovered", "focused", "linked"])
    if (state[name] && state[name][1] >= state.sides[state[name][0]].count) state[name] = null;
}

function themeOf(root, header) {
  const theme = colours(root);
  const dark = luminance(theme.paper) < luminance(theme.ink);
  return { ...theme, heads: header.colours[dark ? "dark" : "light"], all: `rgb(${theme.accent.join()})` };
}

const colourOf = ({ theme }, head) => theme.heads[head % theme.heads.length];

function isMissing({ header }, index) {
  const bits = header.arrays.missing?.data;
  return Boolean(bits && (bits[index >> 3] >> (index & 7)) & 1);
}

// ---------------------------------------------------------------- what stands on the page

function make(state) {
  const heads = element("div", "heads");
  heads.setAttribute("role", "toolbar");
  heads.setAttribute("aria-label", "Heads");
  const options = element("div", "options");
  const picture = element("div", "picture");
  const axes = AXES.map((words, i) => element("div", "axis " + NAMES[i], words));
  const scroller = element("div", "scroller");
  const spacer = element("div", "spacer");
  const stage = element("div", "stage");
  const canvases = ["all", "focus"].map((name) => element("canvas", name));
  for (const canvas of canvases) canvas.setAttribute("aria-hidden", "true");
  canvases[0].redraw = () => drawAll(state);
  canvases[1].redraw = () => asked(state) && drawFocus(state, asked(state));
  const boxes = NAMES.map((name, i) => {
    const box = element("div", "side " + name);
    box.setAttribute("role", "slider"); // one token after the other, at any length of text
    box.tabIndex = 0;
    return box;
  });
  stage.append(...canvases, ...boxes);
  spacer.append(stage);
  scroller.append(spacer);
  picture.append(axes[0], scroller, axes[1]);
  const sentence = element("p", "sentence");
  const note = element("p", "note");
  const numbers = element("details", "numbers");
  const holder = element("div", "holder");
  holder.tabIndex = 0;
  holder.setAttribute("role", "region");
  holder.setAttribute("aria-label", "Numbers");
  const table = element("table");
  holder.append(table);
  numbers.append(element("summary", "", "The numbers as a table"), holder);
  state.root.replaceChildren(heads, options, picture, sentence, note, numbers);
  Object.assign(state, {
    ...{ named: axes, heads, picture, scroller, spacer, stage, canvases, boxes, sentence, note, numbers, table },
    ...{ options: { ...DEFAULTS }, on: [], pinned: null, hovered: null, focused: null, linked: null, scroll: 0 },
    ...{ drawn: [new Map(), new Map()], free: [[], []], sent: { heads: [], chosen: [] }, roved: 0 },
  });
  state.controls = controls(state, options);
  listen(state);
}

function listen(state) {
  const { stage, scroller, boxes } = state;
  let rest = ""; // browsers also tell of a page that moved under a mouse at rest: that is not pointing
  stage.addEventListener("pointermove", (event) => {
    const place = event.screenX + "," + event.screenY;
    if (place !== rest) aim(state, under(state, event));
    rest = place;
  });
  stage.addEventListener("pointerleave", () => aim(state, null));
  stage.addEventListener("click", (event) => pin(state, under(state, event)));
  scroller.addEventListener("scroll", () => {
    const to = state.options.layout === "rows" ? scroller.scrollLeft : scroller.scrollTop;
    if (to === state.scroll) return;
    state.scroll = to;
    soon(state, () => locate(state) || draw(state));
  });
  boxes.forEach((box, i) => {
    box.addEventListener("focus", () => box.matches(":focus-visible") && step(state, i, state.at?.[i] ?? 0));
    box.addEventListener("blur", () => {
      state.focused = null;
      draw(state);
    });
    box.addEventListener("keydown", (event) => press(state, i, event));
  });
  new ResizeObserver(() => state.header && arrange(state) && draw(state)).observe(state.root);
  state.numbers.addEventListener("toggle", () => tabulate(state));
  onPoint(state, (position) => {
    state.linked = position >= 0 && position < state.sides[0].count ? [0, position] : null;
    draw(state);
  });
}

// At most once a frame.
function soon(state, act) {
  cancelAnimationFrame(state.frame);
  state.frame = requestAnimationFrame(act);
}

function controls(state, node) {
  const made = {};
  for (const [name, [label, values]] of Object.entries(CHOICES)) {
    const group = element("div", "toggle");
    group.setAttribute("role", "group");
    group.setAttribute("aria-label", label);
    for (const [value, words] of values) {
      const button = element("button", "", words);
      button.type = "button";
      button.value_ = value;
      button.addEventListener("click", () => set(state, name, value));
      group.append(button);
    }
    made[name] = group;
    node.append(group);
  }
  const field = (name, words, input, ...after) => {
    const label = element("label", "field");
    label.append(element("span", "", words), input, ...after);
    input.addEventListener("input", () => set(state, name, name === "pairs" ? input.value : Number(input.value)));
    made[name] = input;
    node.append(label);
  };
  const range = element("input");
  Object.assign(range, { type: "range", min: "1", max: "60", step: "1", value: String(DEFAULTS.least) });
  made.leastWords = element("output");
  field("least", "weights from", range, made.leastWords);
  field("top", "a token’s strongest", select([[0, "all"], ...[1, 2, 3, 5, 10].map((n) => [n, String(n)])]));
  const pairs = [["all", "all"], ["00", "A to A"], ["01", "A to B"], ["10", "B to A"], ["11", "B to B"]];
  field("pairs", "sentences", select(pairs));
  return made;
}

function select(values) {
  const node = element("select");
  for (const [value, words] of values) node.append(Object.assign(element("option", "", words), { value }));
  return node;
}

function set(state, name, value) {
  state.options[name] = value;
  if (name === "layout" || name === "zoom") state.scroll = 0;
  if (name === "least") {
    state.controls.leastWords.textContent = value + " %"; // the picture follows once a frame
    soon(state, () => refresh(state));
  } else refresh(state);
}

// ---------------------------------------------------------------- heads

function chips(state) {
  const { heads, header } = state;
  const count = header.shape[0];
  if (heads.children.length !== count + 1) {
    const all = element("button", "whole", "all");
    all.type = "button";
    all.addEventListener("click", () => turn(state, state.sides && Array.from({ length: header.shape[0] }, (_, i) => i)));
    heads.replaceChildren(...Array.from({ length: count }, (_, head) => chip(state, head)), all);
    all.onkeydown = (event) => rove(state, count, event);
    state.roved = 0;
  }
  [...heads.children].forEach((node, i) => {
    node.tabIndex = i === state.roved ? 0 : -1;
    if (i < count) node.style.setProperty("--head", colourOf(state, i));
  });
}

function chip(state, head) {
  const node = element("button", "head", "H" + head);
  node.type = "button";
  node.title = "Click: on or off. Double click, or S: only this head, and again: all.";
  let before = []; // what was on when a double click began
  node.addEventListener("click", (event) => {
    if (event.detail === 2) return alone(state, head, before);
    before = state.on;
    turn(state, before.includes(head) ? before.filter((one) => one !== head) : [...before, head].sort((a, b) => a - b));
  });
  node.addEventListener("keydown", (event) => {
    if (event.key !== "s" && event.key !== "S") rove(state, head, event);
    else if (!event.ctrlKey && !event.metaKey && !event.altKey) alone(state, head, state.on);
  });
  return node;
}

function alone(state, head, before) {
  const only = before.length === 1 && before[0] === head;
  turn(state, only ? Array.from({ length: state.header.shape[0] }, (_, i) => i) : [head]);
}

function turn(state, on) {
  state.on = on;
  refresh(state);
  tell(state, "heads", on);
}

function rove(state, at, event) {
  const nodes = state.heads.children;
  const to = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: nodes.length - 1 }[event.key];
  if (to === undefined) return;
  event.preventDefault();
  nodes[state.roved].tabIndex = -1;
  state.roved = Math.max(0, Math.min(nodes.length - 1, to));
  nodes[state.roved].tabIndex = 0;
  nodes[state.roved].focus();
}

function tell(state, name, value) {
  state.sent[name].push(JSON.stringify(value));
  if (state.sent[name].length > 20) state.sent[name].shift();
  state.tell("chosen", name === "heads" ? { heads: value } : { token: value });
}

// ---------------------------------------------------------------- pointing

const asked = (state) => state.hovered ?? state.focused ?? state.linked ?? state.pinned;

function under(state, event) {
  const { options, sides, room, across } = state;
  if (!sides?.[0].at) return null;
  const box = state.stage.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  const [a, c] = options.layout === "rows" ? [x, y] : [y, x];
  const side = c < room + 14 ? 0 : c > across - room - 14 ? 1 : -1;
  if (side < 0) return null;
  const position = Math.floor((a + sides[side].offset) / sides[side].pitch);
  return position >= 0 && position < sides[side].count ? [side, position] : null;
}

function aim(state, place) {
  if (String(place) === String(state.hovered)) return;
  state.hovered = place;
  draw(state);
  const same = !state.header.to;
  point(state, place && (place[0] === 0 || same) ? place[1] : -1);
}

function pin(state, place) {
  if (!place && !state.pinned) return;
  const off = !place || String(place) === String(state.pinned);
  state.pinned = off ? null : place;
  if (place) (state.at ??= [0, 0])[place[0]] = place[1];
  draw(state);
  tell(state, "chosen", off ? null : [NAMES[place[0]], place[1]]);
}

function step(state, side, position) {
  const { count, pitch } = state.sides[side];
  if (!count) return;
  position = Math.max(0, Math.min(count - 1, position));
  (state.at ??= [0, 0])[side] = position;
  state.focused = [side, position];
  state.hovered = null;
  const { span, extent, long } = state;
  const full = count * pitch;
  if (full > span + 1) {
    const middle = (position + 0.5) * pitch;
    const seen = middle - state.sides[side].offset;
    if (seen < 2 * pitch || seen > extent - 2 * pitch) {
      const to = Math.max(0, Math.min(full - span, middle - span / 2));
      state.scroller[state.options.layout === "rows" ? "scrollLeft" : "scrollTop"] = (to * (long - extent)) / (full - span);
    }
  }
  draw(state);
}

function press(state, side, event) {
  const here = state.at?.[side] ?? 0;
  const rows = state.options.layout === "rows";
  const [back, on, left, right] = rows
    ? ["ArrowLeft", "ArrowRight", "ArrowUp", "ArrowDown"]
    : ["ArrowUp", "ArrowDown", "ArrowLeft", "ArrowRight"];
  const to = { [back]: here - 1, [on]: here + 1, PageUp: here - 10, PageDown: here + 10, Home: 0, End: Infinity }[event.key];
  if (to !== undefined) step(state, side, to);
  else if ((event.key === left && side === 1) || (event.key === right && side === 0)) {
    state.boxes[1 - side].focus();
    step(state, 1 - side, state.at?.[1 - side] ?? 0);
  } else if (event.key === "Enter" || event.key === " ") pin(state, here < state.sides[side].count ? [side, here] : null);
  else if (event.key === "Escape" && state.pinned) pin(state, null);
  else return;
  event.preventDefault();
}

// ---------------------------------------------------------------- which lines

// After any change but pointing: which lines there are, where all stands, and the whole picture.
function refresh(state) {
  const { controls, options, heads, header, on } = state;
  for (const name of Object.keys(CHOICES))
    for (const button of controls[name].children) button.setAttribute("aria-pressed", button.value_ === options[name]);
  controls.least.value = options.least;
  controls.leastWords.textContent = options.least + " %";
  const { simple } = header;
  controls.style.hidden = controls.layout.hidden = controls.top.parentElement.hidden = simple;
  controls.least.previousSibling.textContent = simple ? "lines from" : "weights from";
  controls.pairs.parentElement.hidden = simple || !state.paired;
  controls.mode.hidden = simple || header.shape[0] < 2;
  heads.hidden = header.shape[0] < 2;
  [...heads.children].slice(0, -1).forEach((node, i) => node.setAttribute("aria-pressed", on.includes(i)));
  state.planes = planesOf(state);
  state.kept = null;
  if (options.top) {
    const kept = [];
    scan(state, (plane, row, column) => kept.push(plane, row, column));
    state.kept = Int32Array.from(kept);
  }
  state.lines = gather(state, (act) => scan(state, act), LINES);
  arrange(state);
  draw(state);
}

// What is drawn, each with its colour: the heads that are on, or the one plane that they make together.
function planesOf(state) {
  const { header, weights, on, options } = state;
  const size = header.shape[1] * header.shape[2];
  const plane = (head) => ({ colour: colourOf(state, head), data: weights.subarray(head * size, (head + 1) * size) });
  const planes = on.map(plane);
  if (options.mode === "each" || planes.length < 2) return planes;
  const joint = new Uint8Array(size);
  if (options.mode === "max") {
    for (const { data } of planes) for (let i = 0; i < size; i++) if (data[i] > joint[i]) joint[i] = data[i];
  } else {
    const sum = new Uint32Array(size);
    for (const { data } of planes) for (let i = 0; i < size; i++) sum[i] += data[i];
    for (let i = 0; i < size; i++) joint[i] = Math.round(sum[i] / planes.length);
  }
  return [{ colour: state.theme.all, data: joint }];
}

const leastByte = ({ options }) => Math.max(1, Math.ceil((255 * options.least) / 100 - 0.5));

// Whether the pair filter lets lines from this query through, and if so to which keys (null: all).
function open(state, row) {
  const { pairs } = state.options;
  if (pairs === "all" || !state.paired) return { from: true, to: null };
  const [from, to] = state.sides;
  const segment = (side, i) => String(side.segments?.[i] ?? 0);
  const keys = (to["open" + pairs[1]] ??= Uint8Array.from({ length: to.count }, (_, i) => segment(to, i) === pairs[1]));
  return { from: segment(from, row) === pairs[0], to: keys };
}

// Calls act(plane, row, column, weight as a byte) for every line that the threshold, the filter and "strongest" let through.
function scan(state, act) {
  const { planes, header, options } = state;
  const [, rows, columns] = header.shape;
  const least = leastByte(state);
  for (let plane = 0; plane < planes.length; plane++) {
    const { data } = planes[plane];
    for (let row = 0; row < rows; row++) {
      const { from, to } = open(state, row);
      if (!from) continue;
      const start = row * columns;
      const end = start + (header.causal ? row + 1 : columns);
      if (options.top) {
        for (const i of strongestOf(data, start, end, options.top, least, to)) act(plane, row, i - start, data[i]);
      } else {
        for (let i = start; i < end; i++) if (data[i] >= least && (!to || to[i - start])) act(plane, row, i - start, data[i]);
      }
    }
  }
}

// Where the `most` largest of data[start..end) stand; of equals, the first.
function strongestOf(data, start, end, most, least, to) {
  const best = [];
  for (let i = start; i < end; i++) {
    const value = data[i];
    if (value < least || (to && !to[i - start]) || (best.length === most && value <= data[best[most - 1]])) continue;
    let place = best.length;
    while (place > 0 && data[best[place - 1]] < value) place--;
    best.splice(place, 0, i);
    if (best.length > most) best.pop();
  }
  return best;
}

// The lines of one token.
function scanOf(state, [side, position], act) {
  const { planes, header, kept } = state;
  const [, rows, columns] = header.shape;
  if (kept) {
    for (let i = 0; i < kept.length; i += 3)
      if (kept[i + 1 + side] === position)
        act(kept[i], kept[i + 1], kept[i + 2], planes[kept[i]].data[kept[i + 1] * columns + kept[i + 2]]);
    return;
  }
  const least = leastByte(state);
  planes.forEach(({ data }, plane) => {
    const check = (row, column, { from, to }) => {
      const value = data[row * columns + column];
      if (value >= least && from && (!to || to[column])) act(plane, row, column, value);
    };
    if (side === 0) for (let column = 0, gate = open(state, position); column < columns; column++) check(position, column, gate);
    else for (let row = 0; row < rows; row++) check(row, position, open(state, row));
  });
}

// The lines that `each` tells of, sorted by weight, at most `most` of them, the weakest level thinned out evenly.
function gather(state, each, most) {
  const [, rows, columns] = state.header.shape;
  const counts = new Uint32Array(257);
  let codes = new Int32Array(1 << 12);
  let total = 0;
  each((plane, row, column, value) => {
    if (total === codes.length) {
      const longer = new Int32Array(2 * total);
      longer.set(codes);
      codes = longer;
    }
    codes[total++] = (plane * rows + row) * columns + column;
    counts[value]++;
  });
  let cut = 255;
  let room = most;
  while (cut > 0 && counts[cut] <= room) room -= counts[cut--];
  const count = Math.min(total, most);
  const share = cut > 0 ? room / counts[cut] : 0;
  const places = new Uint32Array(257);
  for (let value = Math.max(1, cut), next = 0; value < 256; value++) {
    places[value] = next;
    next += value === cut ? room : counts[value];
  }
  const list = { count, total, cut: Math.max(1, cut), from: new Uint16Array(count), to: new Uint16Array(count) };
  Object.assign(list, { plane: new Uint16Array(count), value: new Uint8Array(count), start: new Float32Array(count) });
  const filled = new Float32Array(rows); // of each query's slot, by the ribbons before
  const width = 1 / 255 / Math.max(1, state.planes.length);
  let met = 0;
  const size = rows * columns;
  for (let n = 0; n < total; n++) {
    const plane = Math.floor(codes[n] / size);
    const cell = codes[n] - plane * size;
    const value = state.planes[plane].data[cell];
    if (value < cut) continue;
    if (value === cut && Math.floor(share * (met + 1)) === Math.floor(share * met++)) continue;
    const i = places[value]++;
    if (i >= count) continue;
    const row = Math.floor(cell / columns);
    list.plane[i] = plane;
    list.from[i] = row;
    list.to[i] = cell - row * columns;
    list.value[i] = value;
    list.start[i] = filled[row];
    filled[row] += value * width;
  }
  return list;
}

// ---------------------------------------------------------------- where things stand

// Sizes for the width there is; says whether there is any.
function arrange(state) {
  const { root, options, sides, stage, spacer, scroller, canvases, picture, controls } = state;
  const rows = options.layout === "rows";
  const most = Math.max(1, ...sides.map(({ count }) => count));
  const width = root.clientWidth;
  if (!width) return false;
  const roomy = ((rows ? width : TALL) - 2 * PAD) / most;
  const crowded = roomy < SPACE;
  controls.zoom.hidden = !crowded || state.header.simple;
  const zoomed = crowded && options.zoom;
  picture.className = `picture ${options.layout}${zoomed ? " zoomed" : ""}`;
  picture.style.maxWidth = rows ? "" : BROAD + "px";
  const inner = scroller.clientWidth || width;
  state.extent = rows ? inner : zoomed ? TALL : Math.min(TALL, PITCH * most + 2 * PAD);
  state.span = state.extent - 2 * PAD;
  for (const side of sides) side.pitch = zoomed ? READABLE : Math.min(rows ? WIDE : PITCH, state.span / Math.max(1, side.count));
  state.long = Math.max(state.span, ...sides.map(({ count, pitch }) => count * pitch)) + 2 * PAD;
  state.upright = rows && Math.min(...sides.map(({ pitch }) => pitch)) < 64;
  state.room = rows ? (state.upright ? 104 : 44) : Math.round(Math.max(104, Math.min(190, 0.24 * inner)));
  state.across = rows ? 2 * state.room + 240 : inner;
  picture.classList.toggle("upright", state.upright);
  const [wide, high] = rows ? [state.extent, state.across] : [state.across, state.extent];
  stage.style.width = wide + "px";
  stage.style.height = high + "px";
  spacer.style.width = (rows ? state.long : wide) + "px";
  spacer.style.height = (rows ? high : state.long) + "px";
  scroller.style.maxHeight = rows ? "" : state.extent + "px";
  picture.style.setProperty("--room", state.room + "px");
  scroller[rows ? "scrollLeft" : "scrollTop"] = state.scroll;
  const ratio = Math.min(devicePixelRatio || 1, 2);
  for (const canvas of canvases) {
    const size = [Math.round(wide * ratio), Math.round(high * ratio)];
    if (canvas.width !== size[0]) canvas.width = size[0];
    if (canvas.height !== size[1]) canvas.height = size[1];
  }
  state.ratio = ratio;
  state.stale = true;
  locate(state);
  return true;
}

// Where each token stands along, for how far the view is scrolled. The shorter side comes along in proportion.
function locate(state) {
  const { sides, span, extent, long, scroll } = state;
  for (const side of sides) {
    const full = side.count * side.pitch;
    side.offset = (full > span ? (scroll * (full - span)) / (long - extent || 1) : (full - span) / 2) - PAD;
    side.at = Float32Array.from({ length: side.count }, (_, i) => (i + 0.5) * side.pitch - side.offset);
    side.height = Math.min(22, Math.max(SPACE, side.pitch));
  }
  state.stale = true;
}

// ---------------------------------------------------------------- drawing

function draw(state) {
  if (!state.sides?.[0].at) return;
  const [all, focus] = state.canvases;
  const place = asked(state);
  if (state.stale && !place) {
    drawAll(state);
    state.stale = false;
  }
  all.classList.toggle("away", Boolean(place));
  focus.classList.toggle("away", !place);
  state.values = place ? valuesOf(state, place) : null;
  if (place) drawFocus(state, place);
  for (const side of state.sides) label(state, side, place);
  say(state, place);
}

const pathFor = (pen) => pen.path?.() ?? new Path2D();

// In rows the axes change places, so that all drawing can be written for columns.
function penOf({ options, ratio }, canvas) {
  const pen = penOn(canvas);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  if (options.layout === "rows") pen.setTransform(0, ratio, ratio, 0, 0, 0);
  else pen.setTransform(ratio, 0, 0, ratio, 0, 0);
  return pen;
}

// Lines from weak to strong, in as few paths as there are levels of opacity and colours.
function paint(pen, state, list, left, right) {
  const { planes, sides, options, extent, theme } = state;
  const [from, to] = sides;
  const ribbons = options.style === "ribbons";
  const curved = list.count <= CURVED;
  const middle = (left + right) / 2;
  const slot = Math.max(8, 0.86 * from.pitch);
  const paths = planes.map(() => null);
  const sizes = new Uint32Array(planes.length);
  // Heads leave a token, and arrive, side by side.
  const bands = sides.map(({ pitch }) => Math.min(2.4, (0.6 * pitch) / planes.length));
  let level = -1;
  pen.lineWidth = list.count < 600 ? 2 : list.count < 2500 ? 1.3 : 0.8;
  const flush = (plane) => {
    if (!paths[plane]) return;
    pen.globalAlpha = ribbons ? 0.55 : level / LEVELS;
    pen.strokeStyle = pen.fillStyle = planes[plane].colour;
    pen[ribbons ? "fill" : "stroke"](paths[plane]);
    paths[plane] = null;
    sizes[plane] = 0;
  };
  for (let i = 0; i < list.count; i++) {
    const [a, b] = [from.at[list.from[i]], to.at[list.to[i]]];
    if ((a < 0 && b < 0) || (a > extent && b > extent)) continue;
    const here = LEVEL_OF[list.value[i]];
    if (here !== level) {
      for (let plane = 0; plane < planes.length; plane++) flush(plane);
      level = here;
    }
    const plane = list.plane[i];
    const path = (paths[plane] ??= pathFor(pen));
    const band = plane - (planes.length - 1) / 2;
    if (ribbons) {
      const width = (slot * list.value[i]) / 255 / planes.length;
      ribbon(path, left, a - slot / 2 + slot * list.start[i], right, b + band * bands[1] - width / 2, width, middle);
    } else {
      const [start, end] = [a + band * bands[0], b + band * bands[1]];
      path.moveTo(left, start);
      if (curved) path.bezierCurveTo(middle, start, middle, end, right, end);
      else path.lineTo(right, end);
    }
    if (++sizes[plane] >= CHUNK) flush(plane);
  }
  for (let plane = 0; plane < planes.length; plane++) flush(plane);
  pen.globalAlpha = 1;
}

const LEVEL_OF = Uint8Array.from({ length: 256 }, (_, byte) => Math.ceil(LEVELS * shade(byte / 255)));

function ribbon(path, left, a, right, b, width, middle) {
  path.moveTo(left, a);
  path.bezierCurveTo(middle, a, middle, b, right, b);
  path.lineTo(right, b + width);
  path.bezierCurveTo(middle, b + width, middle, a + width, left, a + width);
  path.closePath();
}

function drawAll(state) {
  paint(penOf(state, state.canvases[0]), state, state.lines, state.room + 6, state.across - state.room - 6);
}

// The lines of one token end in bars: the mean weight, and in it the share of each head.
function drawFocus(state, place) {
  const [side, position] = place;
  const { planes, room, across, sides, values, header, extent } = state;
  const pen = penOf(state, state.canvases[1]);
  const list = gather(state, (act) => scanOf(state, place, act), FOCUSED_LINES);
  const [left, right] = [room + 6, across - room - 6];
  const edge = side === 0 ? right - BAR : left + BAR;
  paint(pen, state, list, side === 0 ? left : edge, side === 0 ? edge : right);
  state.focusedLines = list;
  const other = sides[1 - side];
  const highest = values.reduce((a, b) => (b > a ? b : a), 0);
  if (!highest) return;
  const high = Math.max(1.5, Math.min(11, 0.6 * other.pitch));
  const paths = planes.map(() => pathFor(pen));
  for (let i = 0; i < other.count; i++) {
    if (!(values[i] > 0.02 * highest) || other.at[i] < 0 || other.at[i] > extent) continue;
    const index = side === 0 ? position * header.shape[2] + i : i * header.shape[2] + position;
    let bytes = 0;
    for (let plane = 0; plane < planes.length; plane++) bytes += planes[plane].data[index];
    const scale = (BAR * values[i]) / highest / Math.max(1, bytes);
    for (let plane = 0, x = edge; plane < planes.length; plane++) {
      const wide = planes[plane].data[index] * scale;
      if (wide < 0.1) continue;
      paths[plane].rect(side === 0 ? x : x - wide, other.at[i] - high / 2, wide, high);
      x += side === 0 ? wide : -wide;
    }
  }
  planes.forEach((plane, i) => {
    pen.fillStyle = plane.colour;
    pen.fill(paths[i]);
  });
}

// Of one token, to each on the other side: the mean (or the maximum) of the heads that are on, not rounded a second time.
function valuesOf(state, [side, position]) {
  const { header, weights, on, options, sides } = state;
  const [, rows, columns] = header.shape;
  const { count } = sides[1 - side];
  const values = new Float32Array(count);
  for (const head of on) {
    const first = head * rows * columns + (side === 0 ? position * columns : position);
    const stride = side === 0 ? 1 : columns;
    for (let i = 0; i < count; i++) {
      const index = first + i * stride;
      const value = isMissing(state, index) ? NaN : weights[index] / 255;
      if (options.mode === "max") values[i] = Math.max(values[i], value);
      else values[i] += value / on.length;
    }
  }
  return values;
}

function canSee({ header }, query, key) {
  return !header.causal || key <= query;
}

// ---------------------------------------------------------------- labels

function label(state, side, place) {
  const { values, stage, options } = state;
  const other = place && place[0] !== side.i;
  const ranked = !place ? [] : other ? best(values, 64) : [place[1]];
  const wanted = choose(state, side, ranked);
  const drawn = state.drawn[side.i];
  const free = state.free[side.i];
  for (const [position, node] of drawn)
    if (!wanted.has(position)) {
      drawn.delete(position);
      free.push(node);
      node.style.display = "none";
      node.shown = false;
    }
  const rows = options.layout === "rows";
  for (const position of wanted) {
    let node = drawn.get(position);
    if (!node) {
      node = free.pop() ?? blank(state.boxes[side.i]);
      drawn.set(position, node);
    }
    write(node, side, position);
    if (!node.shown) {
      node.style.display = "";
      node.shown = true;
    }
    const at = Math.round(2 * (side.at[position] - (rows && !state.upright ? side.pitch : side.height) / 2)) / 2;
    const where = rows ? `${at}px 0` : `0 ${at}px`;
    if (node.where !== where) node.style.translate = node.where = where;
    const number = other && !(values[position] < NUMBER_FROM) ? roughly(values[position]) : ""; // also for what is not a number
    if (node.number.words !== number) node.number.textContent = node.number.words = number;
    const unseen = other && !(place[0] === 0 ? canSee(state, place[1], position) : canSee(state, position, place[1]));
    const mine = place && !other && place[1] === position;
    const looks = (mine ? "asked " : "") + (unseen ? "unseen " : "") + (place && !number ? "dim" : "");
    if (node.looks !== looks) node.className = "label " + (node.looks = looks) + node.kind;
  }
  const size = `${side.height}px|${side.pitch}`;
  if (stage["size" + side.i] !== size) {
    stage["size" + side.i] = size;
    const box = state.boxes[side.i];
    box.style.setProperty("--high", side.height + "px");
    box.style.setProperty("--pitch", side.pitch + "px");
    box.style.setProperty("--type", Math.max(10.5, Math.min(14, 0.68 * side.height)) + "px");
  }
  const box = state.boxes[side.i];
  const now = state.at?.[side.i] ?? 0;
  box.setAttribute("aria-valuemin", 1);
  box.setAttribute("aria-valuemax", Math.max(1, side.count));
  box.setAttribute("aria-valuenow", Math.min(now + 1, Math.max(1, side.count)));
  brackets(state, side);
}

function blank(box) {
  const node = element("span", "label");
  node.word = element("bdi", "word");
  node.number = element("b", "number");
  node.append(node.word, node.number);
  node.shown = true;
  node.kind = node.looks = "";
  box.append(node);
  return node;
}

function write(node, side, position) {
  const pieces = side.tokens[position];
  const kind = ["", " special", " fragment"][side.kinds[position]];
  const key = pieces.join("\u0000") + kind;
  if (node.key === key) return;
  node.key = key;
  node.kind = kind;
  node.looks = null;
  fill(node.word, pieces);
}

// As many labels as there is room for: the ones that matter first, then one every so often.
function choose(state, side, ranked) {
  const { extent } = state;
  const visible = (i) => side.at[i] > -side.height && side.at[i] < extent + side.height;
  const wanted = new Set();
  const first = Math.max(0, Math.floor(side.offset / side.pitch) - 1);
  const last = Math.min(side.count, Math.ceil((side.offset + extent) / side.pitch) + 1);
  if (side.pitch >= SPACE) {
    for (let i = first; i < last; i++) if (visible(i)) wanted.add(i);
    return wanted;
  }
  const taken = new Uint8Array(Math.ceil(extent) + 2);
  const take = (i) => {
    const at = Math.round(side.at[i]);
    for (let a = Math.max(0, at - SPACE + 1); a < at + SPACE && a < taken.length; a++) if (taken[a]) return;
    taken[Math.max(0, Math.min(taken.length - 1, at))] = 1;
    wanted.add(i);
  };
  for (const i of ranked) take(i);
  const every = Math.ceil(SPACE / side.pitch);
  for (let i = 0; i < side.count; i += every) take(i);
  return wanted;
}

function best(values, most) {
  const found = [];
  for (let i = 0; i < values.length; i++) if (values[i] >= NUMBER_FROM) found.push(i);
  return found.sort((a, b) => values[b] - values[a] || a - b).slice(0, most);
}

// Which text of a pair the tokens belong to.
function brackets(state, side) {
  const box = state.boxes[side.i];
  const runs = [];
  if (state.paired)
    for (let i = 0; i < side.count; i++) {
      const segment = side.segments?.[i] ?? 0;
      if (runs.at(-1)?.segment === segment) runs.at(-1).last = i;
      else runs.push({ segment, first: i, last: i });
    }
  const words = JSON.stringify([runs, side.pitch, side.offset, state.options.layout]);
  if (side.i in (state.bracketed ??= {}) && state.bracketed[side.i] === words) return;
  state.bracketed[side.i] = words;
  for (const old of box.querySelectorAll(".bracket")) old.remove();
  for (const { segment, first, last } of runs) {
    const node = element("i", "bracket", segment ? "B" : "A");
    const rows = state.options.layout === "rows";
    node.style[rows ? "left" : "top"] = side.at[first] - side.pitch / 2 + 1 + "px";
    node.style[rows ? "width" : "height"] = (last - first + 1) * side.pitch - 2 + "px";
    box.append(node);
  }
}

// ---------------------------------------------------------------- words

function nameOf(side, position) {
  if (side.rows) return side.rows[position];
  const name = side.tokens[position].join("").replace(/^·(?=.)/, "");
  return side.kinds[position] === 1 ? name : `“${name}”`;
}

function say(state, place) {
  const { sentence, note, header, boxes, sides, planes } = state;
  const words = place ? sentenceOf(state, place) : resting(state);
  if (sentence.textContent !== words) {
    const ending = [HINT, PLAIN_HINT].find((one) => words.endsWith(one));
    const [before, hint] = ending ? [words.slice(0, -ending.length), element("span", "", ending)] : [words];
    sentence.replaceChildren(before);
    if (hint) {
      hint.dataset.take = "no"; // it says how to use the view, and goes into no picture of it
      sentence.append(hint);
    }
  }
  const notes = header.simple ? [] : ["The weights shown here are rounded, and exact to 0.2 %."];
  if (header.broken) notes.unshift(`${count(header.broken, "weight is", "weights are")} not a number, so nothing is drawn there.`);
  const average = header.simple ? "average" : "mean";
  if (planes.length > 1) notes.unshift(`The bar beside a label is the ${average} of the heads that are on, with the part of each head in its colour.`);
  const text = notes.join(" ");
  if (note.textContent !== text) note.textContent = text;
  if (place && state.focused) boxes[place[0]].setAttribute("aria-valuetext", words);
  else for (const side of sides) {
    const at = Math.min(state.at?.[side.i] ?? 0, side.count - 1);
    boxes[side.i].setAttribute("aria-valuetext", at < 0 ? "no token" : nameOf(side, at));
  }
    clearTimeout(state.later);
  state.later = setTimeout(() => tabulate(state), 250);
}

function count(n, one, many) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}

function resting({ lines, on, options, sides, header }) {
  if (!sides[0].count || !sides[1].count) return "No text.";
  if (!on.length) return "No head is on: press one above, or “all”.";
  if (!lines.total) return `No weight of ${options.least} % or more here.`;
  const all = count(lines.total, "line", "lines");
  const some = lines.count < lines.total;
  const drawn = some ? `the strongest ${count(lines.count, "", "")}of ${all}` : all;
  const from = some ? Math.max(options.least, Math.floor(lines.cut / 2.55)) : options.least;
  const heads = options.mode === "each" ? `${on.length} heads` : `the ${options.mode} of ${on.length} heads`;
  const layer = header.layer === null ? "" : `L${header.layer}, `;
  const what = header.simple ? (on.length === 1 ? "One head" : heads) : layer + (on.length === 1 ? `H${on[0]}` : heads);
  return `${what}: ${drawn}, of ${from} % and more.${header.simple ? PLAIN_HINT : HINT}`;
}

function sentenceOf(state, [side, position]) {
  const { sides, values, on, options } = state;
  const me = nameOf(sides[side], position);
  if (!on.length) return `${me}: no head is on.`;
  const order = best(values, 2);
  const verb = side === 0 ? "looks most at" : `is looked at most${sides[0].rows ? "" : " by"}`;
  const number = (i, side) => (sides[side].rows ? "" : ` (${sides[side].first + i})`); // the position in the text
  const rows = sides[0].rows && (side === 0 ? `${capital(me)}, it` : me); // in cross-attention: "After “le”, choosing “chat”, it looks …"
  if (!order.length) return `${rows || me}${number(position, side)} ${side === 0 ? "looks at nothing here" : "is looked at by nothing here"}.`;
  const other = (i) => (state.header.to === null && i === position ? "itself" : `${nameOf(sides[1 - side], i)}${number(i, 1 - side)}`);
  const parts = order.map((i) => `${other(i)}: ${roughly(values[i])}`);
  let more = "";
  if (on.length > 1) {
    const [head, weight] = strongestHead(state, side, position, order[0]);
    more = options.mode === "max" ? ` (H${head})` : ` on average of ${on.length} heads, ${roughly(weight)} in H${head}`;
  }
  return `${rows || me}${number(position, side)} ${verb} ${parts[0]}${more}${parts[1] ? `; then ${parts[1]}` : ""}.`;
}

const capital = (words) => words[0].toUpperCase() + words.slice(1);

function strongestHead({ header, weights, on }, side, position, other) {
  const [, rows, columns] = header.shape;
  const [row, column] = side === 0 ? [position, other] : [other, position];
  const at = (head) => weights[(head * rows + row) * columns + column];
  const head = on.reduce((a, b) => (at(b) > at(a) ? b : a));
  return [head, at(head) / 255];
}

// The numbers behind the picture, of the token that is asked about or of the last one.
function tabulate(state) {
  const { table, sides, on, header, numbers, options } = state;
  const [, rows, columns] = header.shape;
  const place = asked(state) ?? (rows && columns ? [0, state.at?.[0] < rows ? state.at[0] : rows - 1] : null);
  if (!numbers.open || !place || !on.length) return table.replaceChildren();
  const [side, position] = place;
  const values = valuesOf(state, place);
  const order = [...values.keys()].sort((a, b) => values[b] - values[a] || a - b).slice(0, TABLED);
  const placed = (side, i) => nameOf(side, i) + (side.rows ? "" : ` (${side.first + i})`);
  const caption = `Attention ${sides[side].rows ? "" : NAMES[side] + " "}${placed(sides[side], position)}`;
  const few = values.length > TABLED ? `, the strongest ${TABLED} of ${values.length}` : "";
  const cell = (tag, words, scope) => {
    const node = element(tag, "", words);
    if (scope) node.scope = scope;
    return node;
  };
  const top = element("tr");
  const joint = on.length > 1 ? [options.mode === "max" ? "max" : "mean"] : [];
  const columnNames = [state.axes[1 - side], ...joint, ...on.map((head) => "H" + head)];
  for (const words of columnNames) top.append(cell("th", words, "col"));
  const head = element("thead");
  head.append(top);
  const body = element("tbody");
  for (const i of order) {
    const row = element("tr");
    row.append(cell("th", placed(sides[1 - side], i), "row"));
    if (joint.length) row.append(cell("td", roughly(values[i])));
    for (const one of on) {
      const index = (one * rows + (side === 0 ? position : i)) * columns + (side === 0 ? i : position);
      row.append(cell("td", isMissing(state, index) ? "–" : roughly(state.weights[index] / 255)));
    }
    body.append(row);
  }
  table.replaceChildren(element("caption", "", caption + few), head, body);
}
