import type { Echo, PackedBytes, Tell } from "../../shared/types";

/** What `overview` in __init__.py packs. */
export interface Header {
  label: string;
  shape: [queries: number, keys: number];
  window: Range;
  most: number; // tokens a side of a window
  note: string;
  boxes: boolean; // the window can be written
  from: string[]; // what tokens are called
  to: string[] | null; // null: the same
  arrays: { cells: PackedBytes }; // each the largest weight of those that it covers
}

/** A window: first and last query, first and last key. */
export type Range = number[];

/** A value for each axis: queries, keys. */
export type Both = number[];

/** What a press holds: two fingers, or the window, or edges of it. */
export type Held = { fingers: true; window: Range; apart: number } | { fingers: false; window: Range; place: Both; edges: Both };

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  window: Range;
  size: Both; // of the map in pixels: high, wide
  held: Held | null;
  pointers: Map<number, Both>; // where the fingers are
  echo: Echo;
  told: string; // the window that the app was told last
  later: number; // a timer: a window that is still to be told; 0: none
  axes: HTMLElement[];
  stage: HTMLElement;
  canvas: HTMLCanvasElement;
  shades: HTMLElement[];
  pane: HTMLElement;
  note: HTMLElement;
  boxes: HTMLElement;
  inputs: HTMLInputElement[];
  whole: HTMLButtonElement;
  said: HTMLElement;
  spoken: HTMLElement;
}
