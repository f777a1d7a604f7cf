import type { Kind, PackedFloats, PackedInts, Pieces, Tell, Toggle } from "../../shared/types";

/** What `query_key_view` in __init__.py packs. */
export interface Header {
  label: string;
  title: string;
  query: Pieces;
  row: string; // what a row of cross-attention is called
  position: number; // of the query; -1: not known
  keys: Pieces[];
  kinds: Kind[];
  scale: number;
  softcap: number | null;
  temperature: number;
  replaced: boolean; // the row of weights was put in
  chosen: number; // a key; -1: there is none
  link: string;
  arrays: {
    q: PackedFloats; // [dimension]
    k: PackedFloats; // [key, dimension]
    raw: PackedFloats; // q·k of each key
    score: PackedFloats;
    weight: PackedFloats;
    mask: PackedFloats; // what is added to the score; −∞: it may not be looked at
    v_norm?: PackedFloats;
    bias?: PackedFloats;
    unturned?: PackedFloats; // q·k without rotary positions
    frequencies?: PackedFloats; // radians a step, of each pair of dimensions
    pairs?: PackedInts; // [pair, 2]
    sink: PackedFloats; // the score of a key that brings nothing, or none
  };
}

/** How rotary positions turn the pairs of dimensions. */
export interface Turns {
  frequencies: Float32Array;
  pairs: Int32Array;
  unturned: Float32Array;
}

export type Hand = [x: number, y: number];
/** A value of q, and one of k. */
export type Two<Value> = [ofQ: Value, ofK: Value];

/** One pair of dimensions of one key: hands before and after turning, and what the pair adds to q·k. */
export interface Turn {
  a: number;
  b: number;
  angles: Two<number>;
  after: Two<Hand>;
  before: Two<Hand>;
  was: number;
  is: number;
}

/** The numbers of one key's formula. */
export interface Facts {
  raw: number;
  scale: number;
  bias: number;
  cap: number | null;
  score: number;
  heat?: number;
  added: number;
  bottom: number; // the logarithm of the sum in the softmax
  weight: number | null; // null: masked
}

/** The widths of the columns, in pixels; 0: left out. */
export interface Columns {
  key: number;
  sum: number;
  score: number;
  weight: number;
  value: number;
}

/** A bar with its number, and a thin one below. */
export interface Gauge {
  cell: HTMLElement;
  bar: HTMLElement;
  thin: HTMLElement;
  number: HTMLElement;
}

/** A row on screen, and what was last written on it. */
export interface Row {
  node: HTMLElement;
  number: HTMLElement;
  name: HTMLElement;
  sum: HTMLElement;
  score: HTMLElement;
  weight: Gauge;
  value: Gauge;
  key: number;
  header: Header | null;
  layout: string;
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  link: string;
  header: Header;
  tell: Tell;
  id: string; // before the ids of rows
  subject: string; // what all is about: with another one the view begins anew
  given: number; // the key that the app chose last
  chosen: number;
  at: number; // the key that is pointed at; -1: none
  dim: number; // and the dimension
  keySort: string;
  dimSort: string;
  // what follows from the arrays: see products.js
  count: number; // of keys
  dims: number;
  names: string[];
  products: Float32Array; // [key, dimension]
  allowed: boolean[]; // of each key: it may be looked at
  scaleEnd: number; // of the colours
  beyond: boolean; // some lie beyond it
  shares: Float64Array | null; // of weight × ‖v‖
  full: number; // of the longest bar
  bottom: number;
  fixed: string[]; // notes below
  paints: Record<"plus" | "minus" | "ink" | "soft" | "paper" | "line", string>;
  // where all stands, in pixels
  key: string; // of what it was arranged for
  width: number; // 0 until there is one
  ratio: number;
  columns: Columns | null;
  cells: number;
  cell: number;
  shown: number | null; // how many dimensions
  height: number;
  barHeight: number;
  tall: number; // the formula's height, which only grows
  keyAt: number[]; // the key in each row
  rowOf: Int32Array; // and the row of each key
  dimAt: number[]; // the dimension in each column
  // elements
  title: HTMLElement;
  groups: { keySort: Toggle; dimSort: Toggle };
  formula: HTMLElement;
  readout: HTMLElement;
  legend: HTMLElement;
  notes: HTMLElement;
  spoken: HTMLElement;
  unseen: HTMLElement;
  keyTable: HTMLTableElement;
  dimTable: HTMLTableElement;
  bars: HTMLElement;
  barCanvas: HTMLCanvasElement;
  extents: HTMLElement[]; // how far each line of bars reaches
  head: HTMLElement;
  captions: HTMLElement[];
  box: HTMLElement;
  spacer: HTMLElement;
  pane: HTMLElement;
  canvas: HTMLCanvasElement;
  rows: Row[];
  dials: HTMLElement;
  dialWords: HTMLElement;
  dialCanvas: HTMLCanvasElement;
  turnTable: HTMLTableElement;
  stale: boolean; // the table of keys is to be written again
  later: number;
}
