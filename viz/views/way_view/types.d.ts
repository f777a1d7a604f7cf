import type { PackedBytes, Tell } from "../../shared/types";

/** What `way_view` in __init__.py packs. */
export interface Header {
  label: string;
  strip: boolean; // small and side by side
  chosen: string; // the key of the stage that is open
  keys: string[];
  names: string[];
  gists: string[];
  shapes: string[];
  groups: string[];
  signed: boolean[]; // 128 is zero
  counts: number[]; // cells of each strip
  // What the colours mean: the ends of each scale, null for one without strips; null: nothing.
  key: { before: string; signed: [string, string] | null; counts: [string, string] | null } | null;
  arrays: { shades: PackedBytes }; // the cells of all strips
}

/** A stage on screen. */
export interface Stop {
  node: HTMLButtonElement;
  canvas: HTMLCanvasElement;
  name: HTMLElement;
  gist: HTMLElement;
  shape: HTMLElement;
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  legend: HTMLElement; // what the colours mean
  body: HTMLElement;
  stops: Stop[];
  shape: string; // of what the stages were built for; "": of nothing yet
  chosen: string | null; // null: nothing was drawn yet
  n: number; // of the last choice; grows
}
