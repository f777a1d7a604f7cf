import type { Echo, Kind, PackedBytes, Pieces, Tell, Theme, Toggle } from "../../shared/types";

/** What `head_view` in __init__.py packs. */
export interface Header {
  label: string;
  layer: number | null;
  shape: [heads: number, queries: number, keys: number];
  starts: [number, number]; // the positions of the first query and the first key in their text
  causal: boolean; // only the rows up to the diagonal were sent
  heads: number[]; // that are on
  chosen: [side: string, position: number] | null;
  from: Tokens;
  to: Tokens | null; // null: the same as `from`
  link: string;
  simple: boolean;
  cuts: [head: number, query: number, key: number][] | null; // null: no line can be cut
  broken: number; // weights that are no numbers
  colours: string[];
  arrays: {
    weights: PackedBytes;
    missing?: PackedBytes; // a bit for each weight that is no number
  };
}

export interface Tokens {
  tokens: Pieces[];
  kinds: Kind[];
  segments: number[] | null; // of which of two texts each is
  rows: string[] | null; // what rows of cross-attention are called
}

/** A token: on which side (0: from, 1: to), and where. */
export type Place = [side: number, position: number];
export type Pair = [query: number, key: number];

/** One side of the picture, its tokens and where they stand. */
export interface Side extends Tokens {
  i: number; // 0: from, 1: to
  count: number;
  first: number; // the position of its first token in the text
  pitch: number; // pixels from token to token; 0 until there is a width
  offset: number;
  height: number;
  at: Float32Array; // the middle of each token, in pixels
  open: Record<string, Uint8Array>; // for the filter of pairs, by segment
}

/** What the reader chose. */
export interface Options {
  layout: string;
  style: string;
  mode: string;
  least: number; // per cent
  top: number; // a token's strongest; 0: all
  pairs: string;
  zoom: string;
}
export type Choice = "mode" | "style" | "layout" | "zoom";

/** What is drawn in one colour: a head, or the one that several make together. */
export interface Plane {
  colour: string;
  data: Uint8Array; // [query, key]
}

/** Lines from weak to strong; a row of each array is a line. */
export interface Lines {
  count: number;
  total: number; // also those that are too many to be drawn
  cut: number; // the weakest weight that is drawn, as a byte
  from: Uint16Array;
  to: Uint16Array;
  plane: Uint16Array;
  value: Uint8Array;
  start: Float32Array; // where a ribbon begins in its query's slot
  curved: boolean;
}

/** Is called for a line: plane, query, key, and weight as a byte. */
export type Act = (plane: number, row: number, column: number, value: number) => void;

export interface Controls extends Record<Choice, Toggle> {
  least: HTMLInputElement;
  leastName: HTMLElement;
  leastWords: HTMLElement;
  topField: HTMLElement;
  pairsField: HTMLElement;
}

/** A label on screen, and what was last written on it. */
export interface Label {
  node: HTMLElement;
  word: HTMLElement;
  number: HTMLElement;
  numberWords: string;
  shown: boolean;
  key: string;
  kind: string;
  looks: string | null;
  where: string;
}

/** The whole state of the view: `make` in view.js gives all of it. */
export interface State {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  link: string;
  theme: Theme & { heads: string[]; all: string };
  // elements
  named: HTMLElement[]; // the words at the two axes
  heads: HTMLElement;
  picture: HTMLElement;
  scroller: HTMLElement;
  spacer: HTMLElement;
  stage: HTMLElement;
  canvases: HTMLCanvasElement[]; // all lines, and those of the token that is asked about
  boxes: HTMLElement[]; // of the labels of each side
  sentence: HTMLElement;
  note: HTMLElement;
  numbers: HTMLDetailsElement;
  table: HTMLTableElement;
  controls: Controls;
  // what is looked at
  options: Options;
  on: number[]; // the heads that are on
  pinned: Place | null;
  hovered: Place | null;
  focused: Place | null;
  linked: Place | null;
  at: Place | null; // the token of each side that the keyboard stands at
  focus: number; // the button of the row of heads that Tab comes to
  scroll: number;
  echoes: { heads: Echo; chosen: Echo };
  // what follows from these
  axes: string[];
  paired: boolean; // two texts
  whole?: Uint8Array; // memory for `weights` of a causal model
  weights: Uint8Array; // [head, query, key]
  sides: Side[];
  planes: Plane[];
  kept: Int32Array | null; // plane, query and key of each of the strongest lines; null: all
  lines: Lines;
  focusedLines: Lines | null;
  values: Float32Array; // of the token that is asked about, to each on the other side
  // where all stands, in pixels: "along" from token to token, "across" from side to side
  extent: number;
  span: number;
  long: number;
  across: number;
  room: number; // for labels
  upright: boolean; // labels in rows stand upright
  ratio: number;
  stale: boolean; // the canvas of all lines is to be drawn again
  // what is on screen
  drawn: Map<number, Label>[];
  free: Label[][];
  sizes: string[];
  bracketed: string[];
  frame: number;
  later: number;
}
