import type { Pieces, Tell } from "../../shared/types";

/** What `prediction_bars` and `number_bars` in __init__.py pack. */
export interface Header {
  label: string;
  tokens: Pieces[];
  names: string[];
  fragments: boolean[];
  probabilities: number[]; // or lengths of bars
  numbers: string[];
  of?: string; // what stands above the names
  stages?: [string, string]; // what stands above the numbers before and after
  heads?: [string, string]; // what stands above names and numbers
  ids?: number[];
  logits?: string[];
  before?: number[]; // what a change has altered
  befores?: string[];
  struck?: boolean[];
  below?: boolean[]; // a number under 0
  marked?: number;
  full?: number; // the number of a full bar
  signed?: boolean; // red above 0, blue below
  still?: boolean; // nothing to click
  arrays: {};
}

/** A row on screen, and what was last drawn in it. */
export interface Row {
  node: HTMLButtonElement;
  text: HTMLElement;
  track: HTMLElement;
  bar: HTMLElement;
  logit: HTMLElement;
  number: HTMLElement;
  key: string;
  ghost: string;
  width: string;
  spoken: string;
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  list: HTMLElement;
  first: HTMLElement; // what stands above the columns
  second: HTMLElement;
  last: HTMLElement;
  rows: Row[];
  n: number; // of the last choice; grows
}
