import type { Echo, Pieces, Tell } from "../../shared/types";

/** What `order_view` in __init__.py packs. */
export interface Header {
  label: string;
  words: Pieces[];
  order: number[]; // of the words, by their numbers
  changed: boolean[]; // a word that became other pieces in its new place
  arrays: {};
}

export interface Chip {
  node: HTMLButtonElement;
  from: HTMLElement; // where the word stood
  name: string;
}

/** What is pressed: its chip, where, and whether it is dragged yet. */
export interface Held {
  chip: HTMLElement;
  pointer: number;
  x: number;
  y: number;
  touch: boolean;
  dragged: boolean;
  to: number; // the place where it would go; -1: none yet
  timer: number;
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  list: HTMLElement;
  hint: HTMLElement;
  told: HTMLElement;
  words: string; // of what the chips were built for
  chips: Chip[]; // by the number of the word
  order: number[];
  picked: number; // the word that is picked up; -1: none
  began: number[]; // the order when it was
  moving: boolean; // chips are put in their places, and lose the focus for a moment
  focus: number;
  n: number; // of the last choice; grows
  echo: Echo;
}
