import type { PackedBytes, PackedFloats, PackedInts, Tell } from "../../shared/types";

/** What `model_view` in __init__.py packs. */
export interface Header {
  label: string;
  chosen: [layer: number, head: number] | null;
  legend: boolean;
  simple: boolean; // the axes are called "from" and "to", for beginners
  chooses: boolean;
  shape: [layers: number, heads: number, queries: number, keys: number];
  causal: boolean; // only the rows up to the diagonal were sent
  largest: number; // CSS pixels of a thumbnail
  notes: string[][] | null; // of each head
  quantity: Quantity | null; // a value for each head, in the colour of its frame
  numbers: number[]; // what the layers are called
  link: string;
  arrays: {
    maps: PackedBytes;
    order?: PackedInts; // of the heads; else layer by layer
    values?: PackedFloats; // from 0 to 1, or the number of a name
    faint?: PackedBytes; // heads that the filter leaves out
  };
}

export type Quantity = { unit: string; words: string[][] } & (
  | { names: string[]; colours: string[] }
  | { names?: undefined; low: string; high: string }
);

export type Spot = [x: number, y: number];

/** A cell for a screen reader, and its words. */
export interface Cell {
  node: HTMLElement;
  words: string;
}

/** The whole state of the view. A head is a number: layer * heads + head. */
export interface State {
  root: HTMLElement;
  link: string;
  header: Header;
  tell: Tell;
  layers: number;
  heads: number;
  count: number;
  rows: number;
  columns: number;
  whole?: Uint8Array; // memory for `maps` of a causal model
  maps: Uint8Array; // [layer, head, query, key]
  order: Int32Array | null;
  drawn: number[]; // the heads as they are drawn
  chosen: number; // -1: none
  at: number; // where the pointer or the keyboard is; -1: nowhere
  tint: Uint32Array;
  sheet: HTMLCanvasElement; // all thumbnails at their own resolution
  // where all stands, in pixels
  key: string; // of what it was arranged for
  side: number; // of a thumbnail; 0 until there is a width
  gap: number;
  across: number;
  lines: number; // of each layer
  layerHeight: number;
  ratio: number;
  places: Spot[]; // of each head
  wide: number;
  height: number;
  frame: number;
  // elements
  box: HTMLElement;
  canvas: HTMLCanvasElement;
  labels: HTMLElement;
  legend: HTMLElement;
  left: HTMLElement;
  large: HTMLElement;
  marks: { chosen: HTMLElement; pointed: HTMLElement };
  table: HTMLElement;
  cells: Cell[]; // in the order in which heads are drawn
  selected: HTMLElement | null;
}
