// Where all stands. The stations follow each other along one axis, the tokens along the other: on a wide page stations go from left
// to right and tokens down; on a narrow one stations go down and tokens from left to right.

/** @typedef {import("./types").Band} Band */
/** @typedef {import("./types").Geometry} Geometry */
/** @typedef {import("./types").Spot} Spot */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Thumbs} Thumbs */

export const WIDE = 800; // CSS pixels from which on stations stand side by side
const AREA = 344; // CSS pixels for the rows of a wide picture
const AREA_OF_TWO = 312; // of two texts, above which there are two text boxes
const MOST_CARDS = 13; // layers that have a card
const HEAD = 42; // CSS pixels of a heading on a narrow page
const NAME = 14; // CSS pixels of a head's name below its small map
const GAP = 0.9; // between two texts, in rows
export const UPRIGHT = 44; // CSS pixels of a token's column on a narrow page, below which its text is turned
export const NAMES = 46; // CSS pixels for the tokens' names above the lines of a narrow page

/** @type {() => Geometry} */
export function blankGeometry() {
  const box = { x: 0, y: 0, w: 0, h: 0 };
  return {
    wide: true,
    two: false,
    width: 0,
    height: 0,
    top: 0,
    pitch: 0,
    ratio: 1,
    bands: {},
    heads: {},
    lights: {},
    across: [],
    cards: [],
    cardPlaces: [],
    outcomePlaces: [],
    thumbs: { count: 0, each: 1, side: 0, width: 0, height: 0, x: 0, y: 0 },
    panel: box,
    none: box,
    key: box,
    ends: box,
    work: box,
    list: box,
  };
}

/** @type {(state: State) => void} */
export function arrange(state) {
  const { header, root } = state;
  const width = root.clientWidth || 990;
  const rows = header.lanes.reduce((sum, { tokens }) => sum + tokens.length, 0);
  const gaps = GAP * (header.lanes.length - 1);
  const wide = width >= WIDE;
  const g = (state.g = { ...blankGeometry(), wide, width, two: header.lanes.length > 1 });
  state.arranged = true;
  g.pitch = wide ? Math.max(20, Math.min(40, areaOf(g.two) / (rows + gaps))) : width / (rows + gaps);
  g.cards = cardsOf(state);
  if (wide) besideEachOther(state, g, rows + gaps);
  else belowEachOther(state, g);
  const start = wide ? g.top : 0;
  let at = 0;
  g.across = header.lanes.map(({ tokens }) => {
    const centres = tokens.map((_, i) => start + g.pitch * (at + i + 0.5));
    at += tokens.length + GAP;
    return centres;
  });
  const { stage, canvas } = state;
  stage.style.height = g.height + "px";
  stage.classList.toggle("wide", wide);
  stage.classList.toggle("simple", header.simple);
  stage.classList.toggle("upright", !wide && g.pitch < UPRIGHT);
  const ratio = (g.ratio = devicePixelRatio || 1);
  const size = [width, g.height].map((side) => Math.round(side * ratio));
  if (canvas.width !== size[0]) canvas.width = size[0];
  if (canvas.height !== size[1]) canvas.height = size[1];
  canvas.style.width = width + "px";
  canvas.style.height = g.height + "px";
}

/** @type {(two: boolean) => number} */
const areaOf = (two) => (two ? AREA_OF_TWO : AREA);

// The layers that have a card, 0 for before the first: of many, some of them, the one that is looked at among them.
/** @type {(state: State) => number[]} */
function cardsOf({ header, at, last }) {
  const count = header.lanes[last].numbers.length + 1;
  const first = header.simple ? 1 : 0;
  const all = Array.from({ length: count }, (_, i) => i).slice(first);
  if (all.length <= MOST_CARDS) return all;
  const here = at[`lane${last}`].layer + 1;
  const some = new Set([first, here, count - 1]);
  for (let i = 1; some.size < MOST_CARDS && i < MOST_CARDS; i++) some.add(Math.round((i * (count - 1)) / (MOST_CARDS - 1)));
  return all.filter((layer) => some.has(layer));
}

// How large thumbnails are, so that they fit a width.
/** @type {(state: State, width: number, most: number) => Omit<Thumbs, "x" | "y">} */
function thumbsOf({ header, at, main }, width, most) {
  const { layers, counts } = header.gazes[main];
  const count = counts[layers.indexOf(at[main].layer)] ?? counts[0];
  let lines = 1;
  while (lines < 5 && width / Math.ceil(count / lines) < 16) lines++;
  const each = Math.ceil(count / lines);
  const side = Math.max(10, Math.min(most, Math.floor(width / each) - 4));
  return { count, each, side, width: each * (side + 4), height: lines * (side + 4) + (lines === 1 ? NAME : 0) };
}

/** @type {(state: State, g: Geometry, rows: number) => void} */
function besideEachOther(state, g, rows) {
  const { two, width, bands, heads } = g;
  const { header } = state;
  const [token, strip, glyph, card] = [Math.min(112, 0.112 * width), two ? 60 : 78, two ? 24 : 28, two ? 146 : 158];
  const answers = header.outcomes.length || header.rest["no guess"] ? (two ? 170 : 196) : 0;
  g.top = header.simple ? 112 : 96; // with a third line of notes, and names above the feed-forward part
  const area = Math.max(g.pitch * rows, Math.min(areaOf(two), 36 * Math.max(g.cards.length, header.outcomes.length + 1)));
  const ends = width - answers - (answers ? 20 : 0) - card; // where the stack begins
  bands.tokens = [0, token];
  bands.vectors = [token + 10, token + 10 + strip];
  const begins = bands.vectors[1];
  const forward = ends - 34 - strip;
  bands.forward = [forward, forward + strip];
  bands.glyph = [forward - glyph - 6, forward - 6];
  bands.mix = [bands.glyph[0] - 10 - strip, bands.glyph[0] - 10];
  if (two) {
    const room = bands.mix[0] - begins - strip;
    const middle = begins + 0.44 * room;
    bands.look = [begins, middle];
    bands.middle = [middle, middle + strip];
    bands.bridge = [middle + strip, bands.mix[0]];
  } else bands.look = [begins, bands.mix[0]];
  bands.layers = [ends, ends + card];
  bands.chances = [width - answers, width];
  const thumbs = thumbsOf(state, bands.forward[1] - begins - 118, 30);
  g.panel = { x: begins + 8, y: 0, w: bands.forward[1] + 10 - begins - 8, h: g.top + area + 18 + thumbs.height };
  g.thumbs = { ...thumbs, x: begins + 108, y: g.top + area + 8 };
  g.height = g.panel.h + 2;
  /** @type {Record<string, Band>} */
  const places = { ...bands, forward: [bands.glyph[0], bands.forward[1]] };
  /** @type {Record<string, number>} */
  const first = { look: 14, bridge: 10 };
  /** @type {Record<string, number>} */
  const ends_of = { look: two ? bands.middle[1] : bands.mix[0] - 6, bridge: bands.mix[0] - 6, mix: bands.glyph[0] - 2 };
  for (const { key } of header.stations) {
    const [from, to] = places[key];
    const x = from + (first[key] ?? 0);
    heads[key] = { x, y: 21, w: (ends_of[key] ?? to + (key === "vectors" ? 6 : 0)) - x };
  }
  for (const { key } of header.stations) {
    const [from, to] = [heads[key].x, places[key][1]];
    g.lights[key] = { x: from - 5, y: 17, w: Math.min(to, from + (heads[key].w ?? 0)) - from + 10, h: g.top + area - 15 };
  }
  const stack = Math.min(50, area / g.cards.length);
  g.cardPlaces = g.cards.map((_, i) => ({
    x: bands.layers[0], y: g.top + i * stack, w: card, h: stack - Math.min(6, 0.16 * stack),
  })); // prettier-ignore
  const each = Math.min(36, area / Math.max(header.outcomes.length, 5));
  g.outcomePlaces = header.outcomes.map((_, i) => ({ x: bands.chances[0], y: g.top + i * each, w: answers, h: each }));
  g.none = { x: bands.chances[0], y: g.top + each * header.outcomes.length + 4, w: answers };
  const below = g.top + g.pitch * rows + 4;
  g.key = header.rest.stripes ? { x: 0, y: below, w: bands.vectors[1] } : { x: bands.vectors[1] - 132, y: below, w: 134 };
  g.ends = { x: bands.look[0] + 14, y: g.top - 19, w: bands.mix[0] - bands.look[0] - 20 };
  g.work = { x: bands.glyph[0] - 6, y: g.top - 19, w: glyph + 12 };
  g.list = { x: bands.forward[0], y: g.top - 19, w: strip };
}

/** @type {(state: State, g: Geometry) => void} */
function belowEachOther(state, g) {
  const { width, bands, heads, two } = g;
  const { header, main } = state;
  const answers = header.outcomes.length;
  let y = 0;
  /** @type {(key: string, room: number, gap?: number, inside?: number) => void} */
  const open = (key, room, gap = 10, inside = 0) => {
    heads[key] = { x: inside, y, w: width - 2 * inside };
    bands[key] = [y + HEAD, y + HEAD + room];
    g.lights[key] = { x: 0, y: y - 3, w: width, h: HEAD + room + 6 };
    y += HEAD + room + gap;
  };
  const small = () => {
    g.thumbs = { ...thumbsOf(state, width - 112, 30), x: 100, y: y + HEAD };
    g.ends = { x: 10, y: y + HEAD + g.thumbs.height + 4, w: width - 20 };
    return g.thumbs.height + 26;
  };
  /** @type {(key: string, long: number) => void} */
  const look = (key, long) => {
    const maps = ((main === "bridge") === (key === "bridge") ? small() : 0) + NAMES;
    open(key, maps + long, 2, 10);
    bands[key][0] += maps;
  };
  open("tokens", g.pitch < 44 ? 74 : 28, 8);
  const key = header.rest.stripes ? 58 : 22;
  open("vectors", 14, key + 4);
  g.key = { x: 0, y: y - key - 1, w: width };
  g.panel = { x: 0, y, w: width, h: 0 };
  y += 22;
  look("look", 92);
  if (two) {
    bands.middle = [y, y + 14];
    y += 22;
    look("bridge", 92);
  }
  const before = y;
  open("mix", 14, 8, 10);
  bands[two ? "bridge" : "look"][1] = before - 2;
  open("forward", 38, 10, 10);
  bands.glyph = [bands.forward[0], bands.forward[0] + 20];
  bands.forward = [bands.forward[0] + 24, bands.forward[1]];
  g.panel.h = y - g.panel.y;
  y += 14;
  open("layers", 36 * g.cards.length);
  g.cardPlaces = g.cards.map((_, i) => ({ x: 0, y: bands.layers[0] + 36 * i, w: width, h: 30 }));
  g.outcomePlaces = [];
  if (answers) {
    open("chances", 34 * answers + 26);
    g.outcomePlaces = header.outcomes.map((_, i) => ({ x: 0, y: bands.chances[0] + 34 * i, w: width, h: 34 }));
    g.none = { x: 6, y: bands.chances[0] + 34 * answers, w: width - 6 };
  } else {
    g.none = { x: 0, y, w: width };
    y += header.rest["no guess"] ? 64 : 0;
  }
  g.height = y + 4;
}

// A place of a station and a row as [x, y].
/** @type {(g: Geometry, along: number, across: number) => Spot} */
export const place = ({ wide }, along, across) => (wide ? [along, across] : [across, along]);

// The box of a strip.
/** @type {(g: Geometry, band: Band, across: number) => [x: number, y: number, w: number, h: number]} */
export function stripAt({ wide, pitch }, [from, to], across) {
  if (wide) {
    const high = Math.min(18, 0.62 * pitch);
    return [from, across - high / 2, to - from, high];
  }
  const long = Math.min(64, pitch - 5);
  return [across - long / 2, from, long, to - from];
}
