import type { Pieces, Player } from "../../shared/types";

/** What `pieces_view` in __init__.py packs. */
export interface Header {
  label: string;
  letters: number;
  names: string[];
  sentences: string[];
  rows: { step: number; note: string; boxes: Box[] }[];
  arrays: {};
}

export interface Box {
  text: Pieces;
  span: [start: number, end: number]; // of letters
  step: number; // from which on it is there
  mark: string;
  note?: string;
}

export interface Part {
  node: HTMLElement;
  step: number;
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  player: Player;
  sentence: HTMLElement;
  scroll: HTMLElement;
  grid: HTMLElement;
  table: HTMLTableElement;
  parts: Part[];
  shape: string; // of what the parts were built for
}
