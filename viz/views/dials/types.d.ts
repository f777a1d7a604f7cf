import type { Tell } from "../../shared/types";

/** What `dials` in __init__.py packs. */
export interface Header {
  dials: { label: string; value: number; least: number; most: number; step: number }[];
  arrays: {};
}

export interface Dial {
  node: HTMLElement;
  label: HTMLElement;
  range: HTMLInputElement;
  value: HTMLElement;
  digits: number;
  held: boolean; // somebody drags it
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  tell: Tell;
  dials: Dial[];
}
