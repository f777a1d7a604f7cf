import type { Kind, Pieces, Tell } from "../../shared/types";

/** What `token_chips` in __init__.py packs. */
export interface Header {
  label: string;
  chosen: number; // -1: none
  tokens: Pieces[];
  kinds: Kind[];
  link: string;
  positions: boolean; // positions are written on the chips
  ids?: number[];
  notes?: string[];
  surprise?: (number | null)[]; // bits
  arrays: {};
}

export interface Chip {
  node: HTMLElement;
  key: string; // of what is written on it
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  link: string;
  tell: Tell;
  list: HTMLElement;
  chips: Chip[];
  chosen: number;
  focus: number; // the chip that Tab comes to
  follow: boolean; // the last chips stay in sight
  typed: boolean; // the text has changed since it was opened
}
