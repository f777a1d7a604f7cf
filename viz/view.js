// Shared by every view: reading the bytes, numbers as words, colours, small helpers.

const SHADE_EXPONENT = 0.7; // the same as in palette.py
const GROUND = [128, 136, 150, 0.1]; // and this

// The header of `pack` in view.py, with arrays[name] = {shape, data}: Uint8Array, Int32Array or Float32Array (from float16, float32).
function unpack(data) {
  let bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (bytes.byteOffset % 8) bytes = bytes.slice(); // typed arrays need their alignment
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const start = bytes.byteOffset + Math.ceil((4 + length) / 8) * 8;
  for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
    const size = shape.reduce((a, b) => a * b, 1);
    const at = start + offset;
    let values;
    if (dtype === "uint8") values = new Uint8Array(bytes.buffer, at, size);
    else if (dtype === "int32") values = new Int32Array(bytes.buffer, at, size);
    else if (dtype === "float32") values = new Float32Array(bytes.buffer, at, size);
    else if (dtype === "float16") values = fromHalf(new Uint16Array(bytes.buffer, at, size));
    else throw new Error("unknown dtype " + dtype);
    header.arrays[name] = { shape, data: values };
  }
  return header;
}

let halves = null; // all 65,536 values, made once

function fromHalf(bits) {
  if (!halves) {
    halves = new Float32Array(65536);
    for (let i = 0; i < 65536; i++) {
      const exponent = (i >> 10) & 31;
      const fraction = i & 1023;
      let value;
      if (exponent === 0) value = fraction * 2 ** -24;
      else if (exponent === 31) value = fraction ? NaN : Infinity;
      else value = (1024 + fraction) * 2 ** (exponent - 25);
      halves[i] = i & 0x8000 ? -value : value;
    }
  }
  const values = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) values[i] = halves[bits[i]];
  return values;
}

// Maps [map, query, key] in full, of which only the rows up to the diagonal were sent (`lower` in triangle.py). `before`: what
// this gave the last time, written over where it has the size: new megabytes take longer to come by than to fill.
function fromRows(sent, maps, count, before) {
  const found = before?.length === maps * count * count ? before : new sent.constructor(maps * count * count);
  for (let map = 0, at = 0; map < maps; map++)
    for (let row = 0; row < count; at += ++row) found.set(sent.subarray(at, at + row + 1), (map * count + row) * count);
  return found;
}

// Three significant digits, never scientific notation.
function percent(p) {
  const hundred = 100 * p;
  if (!(hundred >= 0)) return "–";
  if (hundred === 0) return "0 %";
  if (hundred < 0.001) return "under 0.001 %";
  return hundred.toPrecision(3) + " %";
}

// Of a weight that came as a byte, which is right to 0.2 of a hundred: no more digits than that.
function roughly(weight) {
  if (Number.isNaN(weight)) return "–";
  const hundred = 100 * weight;
  return (hundred < 0.2 ? "<0.2" : hundred.toFixed(hundred < 9.95 ? 1 : 0)) + "\u00a0%";
}

// How opaque the accent is for an attention weight in [0, 1].
function shade(weight) {
  return Math.min(1, Math.max(0, weight)) ** SHADE_EXPONENT;
}

function element(tag, className = "", text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
}

const SIGNS = { Play: "M2 1 11 6 2 11Z", Pause: "M2 1h3v10H2ZM7 1h3v10H7Z" };

// What the button of a player says: the word, and before it a sign that is drawn, since not every font has one.
function sayPlaying(button, playing) {
  const word = playing ? "Pause" : "Play";
  if (button.textContent === word) return;
  const [sign, shape] = ["svg", "path"].map((tag) => document.createElementNS("http://www.w3.org/2000/svg", tag));
  for (const [name, value] of Object.entries({ viewBox: "0 0 12 12", class: "sign", "aria-hidden": "true" })) sign.setAttribute(name, value);
  shape.setAttribute("d", SIGNS[word]);
  sign.append(shape);
  button.replaceChildren(sign, word);
}

// What a canvas is drawn with: its context; while a picture of the page is taken away, a pen that writes down what is drawn instead
// (see viz/views/export). A canvas that can be drawn again at any time says how in `canvas.redraw`.
function penOn(canvas) {
  return canvas.pen ?? canvas.getContext("2d");
}

const CONTROLS =
  "NUL SOH STX ETX EOT ENQ ACK BEL BS HT LF VT FF CR SO SI DLE DC1 DC2 DC3 DC4 NAK SYN ETB CAN EM SUB ESC FS GS RS US SP DEL".split(" ");

// A token's drawn text: strings that alternate between its own text and marks of ours ("·", "↵", "U+200D", "␀").
function fill(node, pieces) {
  node.replaceChildren();
  pieces.forEach((piece, i) => {
    if (i % 2 === 0) node.append(piece);
    else for (const mark of piece.match(/U\+[0-9A-F]{4,6}|[^]/gu) ?? []) node.append(markOf(mark));
  });
}

function markOf(text) {
  const mark = element("i", "mark", text);
  if (text.length > 2) mark.classList.add("code");
  const control = CONTROLS[text.charCodeAt(0) - 0x2400];
  if (control) mark.dataset.name = control; // few fonts have a readable ␀: CSS draws NUL in its place
  return mark;
}

const states = new WeakMap();

// The lasting state of a view: `make(root)` runs once for a node, later mounts get the same object back.
function stateOf(parentElement, make) {
  const root = parentElement.querySelector(".hl");
  let state = states.get(parentElement);
  if (!state || state.root !== root) {
    state = { root };
    states.set(parentElement, state);
    make(state);
  }
  return state;
}

// Calls `act` when the mouse has come upon something. Browsers also say so when the page has moved under a mouse at rest, as it
// does at every keystroke: that is not pointing.
function onHover(node, act) {
  let rest = "";
  const place = (event) => event.screenX + "," + event.screenY;
  node.addEventListener("pointermove", (event) => (rest = place(event)));
  node.addEventListener("pointerover", (event) => place(event) !== rest && act(event));
}

// Views with the same `link` point together: a pointer on a chip shades the paragraph, and the other way round.
function point(state, position) {
  if (state.link) dispatchEvent(new CustomEvent("headlight:point", { detail: { link: state.link, position, from: state } }));
}

// Listens until the view has left the page. (Streamlit may call a cleanup early when data comes fast, so mount returns none.)
function onPoint(state, act) {
  const listen = ({ detail }) => {
    if (!state.root.isConnected) removeEventListener("headlight:point", listen);
    else if (detail.link === state.link && detail.from !== state) act(detail.position);
  };
  addEventListener("headlight:point", listen);
}

// The three colours that pictures are mixed from, as [r, g, b]; view.css puts them where computed style resolves them.
function colours(root) {
  const style = getComputedStyle(root);
  const [ink, accent, paper] = [style.color, style.caretColor, style.columnRuleColor].map((text) => {
    const numbers = text.match(/[\d.]+/g).slice(0, 3).map(Number);
    return text.startsWith("color(") ? numbers.map((v) => 255 * v) : numbers;
  });
  return { ink, accent, paper, name: [ink, accent, paper].join() };
}

function luminance(rgb) {
  const [r, g, b] = rgb.map((v) => (v / 255 <= 0.04045 ? v / 255 / 12.92 : ((v / 255 + 0.055) / 1.055) ** 2.4));
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a, b) {
  const [low, high] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (high + 0.05) / (low + 0.05);
}

// The text colour on the accent at this opacity: the ink while it reads well (4.5 : 1), then black or white; one of them always does.
function inkOn({ ink, accent, paper }, opacity) {
  const under = paper.map((v, i) => v + (accent[i] - v) * opacity);
  if (contrast(ink, under) >= 4.5) return "";
  return contrast([0, 0, 0], under) > contrast([255, 255, 255], under) ? "#000" : "#fff";
}
