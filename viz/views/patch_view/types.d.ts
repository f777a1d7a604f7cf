import type { PackedBytes, PackedFloats, Tell, Toggle } from "../../shared/types";

/** What `patch_view` in __init__.py packs. Tokens are counted through: those before the patches, then the patches row by row. */
export interface Header {
  label: string;
  leading: string[]; // the tokens before the patches
  rows: number;
  columns: number;
  hidden: number[]; // patches, counted without the tokens before them
  chosen: number;
  link: string;
  small: boolean; // without the sentence
  writes: string; // "": no patch can be hidden
  values?: { words: string[]; unit: string; largest: number }; // a number for each token, in words
  arrays: { picture: PackedBytes; weights?: PackedFloats; values?: PackedFloats };
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  link: string;
  header: Header;
  tell: Tell;
  toggle: Toggle;
  all: HTMLButtonElement; // shows all patches again
  list: HTMLElement;
  leading: HTMLElement;
  frame: HTMLElement;
  grid: HTMLElement;
  canvas: HTMLCanvasElement;
  sentence: HTMLElement;
  legend: HTMLElement;
  nodes: HTMLElement[]; // of the tokens
  pointed: number; // -1: none
  focus: number;
  hides: boolean; // a press hides a patch, and chooses none
  hidden: Set<number>;
  drag: boolean | null; // whether the drag that goes on hides; null: none does
  later: number; // a timer
}
