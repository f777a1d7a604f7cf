import type { PackedFloats, Tell } from "../../shared/types";

/** What `sum_view` in __init__.py packs. */
export interface Header {
  label: string;
  name: string;
  labels: string[];
  open: [boolean, boolean][]; // which of the two factors of a row can be followed
  factors: [string, string];
  more: number; // rows that stand together in one
  trail: string[];
  lookup: boolean; // nothing is added up: each row has the first factor and the value that was looked up for it
  arrays: {
    terms: PackedFloats; // [row, 3]: left, right, product
    sums: PackedFloats; // the total, and the rest
  };
}

/** What a click chooses: a factor of a row, or a number of the trail. */
export type Choice = { term: number; side: number } | { back: number };

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  tell: Tell;
  trail: HTMLElement;
  table: HTMLElement;
  unfolded: boolean; // all of a long trail is shown
  n: number; // of the last choice; grows
}

declare global {
  interface Document {
    followedSum?: boolean; // another stage may have another board, with modules of its own
  }
}
