import type { Kind, PackedBytes, PackedFloats, Pieces, Tell, Theme, Toggle } from "../../shared/types";

/** What `reading_view` in __init__.py packs. */
export interface Header {
  label: string;
  chosen: number; // -1: no text
  tokens: Pieces[];
  names: string[];
  after: string[]; // what a row of cross-attention has read; empty where no row has
  kinds: Kind[];
  summary: boolean; // the sentence is shown
  second: number; // the first token of the second text; -1: there is one text
  link: string;
  causal: boolean;
  direction: Direction;
  toggle: boolean; // the direction can be chosen
  packed: boolean; // only the rows up to the diagonal were sent
  broken: number; // weights that are no numbers
  said?: number; // the first token of what the model has written
  heads?: { colours: string[]; names: string[] };
  quantity?: Quantity;
  arrays: {
    weights?: PackedFloats; // [query, key], the mean of the heads; not where a quantity is shown
    heads?: PackedBytes; // [head, query, key]
    on?: PackedFloats; // of a quantity: from −1 or 0 to 1
  };
}

export interface Quantity {
  unit: string;
  low: string;
  high: string;
  words: string[]; // the number of each token
  signed?: boolean;
  diverging?: boolean; // above zero in the red of the diverging scale
  apart?: number; // the token whose number is left out of the scale
}

export type Direction = "from" | "to";
export type Values = Float32Array | Uint8Array;
export interface Box {
  middle: number;
  top: number;
  bottom: number;
}

/** A token on screen, and what was last drawn on it. */
export interface Token {
  node: HTMLElement;
  word: HTMLElement;
  key: string;
  shaded: number;
  ink: string;
  faint: boolean;
  asked: boolean;
  pressed: boolean | null;
  strips: string;
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  link: string;
  header: Header;
  tell: Tell;
  theme: Theme;
  inks: Map<number, string>; // the colour of text on each shade
  direction: Direction;
  pointed: number; // -1: none
  focus: number;
  tokens: Token[];
  values: Values | null; // as seen from the token that is asked about
  numbered: number[]; // the tokens that carry their number
  boxes: Map<number, Box>; // where words stand
  strip: number; // pixels of a head's strip
  toggle: Toggle;
  text: HTMLElement;
  below: HTMLElement;
  sentence: HTMLElement;
  legend: HTMLElement;
  spoken: HTMLElement;
  table: HTMLTableElement;
  later: number;
}
