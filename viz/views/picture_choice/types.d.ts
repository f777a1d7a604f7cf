import type { PackedBytes, Tell } from "../../shared/types";

/** What `picture_choice` in __init__.py packs. */
export interface Header {
  label: string;
  names: string[];
  chosen: number; // -1: none
  draws: boolean;
  largest: number; // pixels along the longer side of an image of one's own
  arrays: Record<string, PackedBytes>; // image0, image1, …; levels
}

/** The square to draw in. Each of its 8 × 8 pixels has a level, which is that of a stroke or of what was there before. */
export interface Pad {
  node: HTMLElement;
  canvas: HTMLCanvasElement;
  before: Uint8Array; // levels, 0 to 15
  ink: Uint8Array; // 32 × 32: what strokes have covered
  erases: boolean;
  last: [number, number] | null; // where the stroke is
  cursor: number; // the pixel at which the keyboard is
  written: string; // what was written last
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  list: HTMLElement;
  pad: Pad;
  input: HTMLInputElement;
  notice: HTMLElement;
  nodes: HTMLElement[];
  focus: number;
  key: string; // of the examples that are drawn
}
