import type { Mounts, PackedBytes, Tell } from "../../shared/types";

/** What `board` in __init__.py packs. */
export interface Header {
  cards: Card[];
  label: string;
  answers: string; // the name of the part in which the answer to a click appears
  arrays: { blocks: PackedBytes }; // the bytes of all views, one after the other
}

export interface Card {
  title: string;
  width: number; // as a share of a row of cards; 0: a row of its own
  parts: Part[];
}

/** A picture with words around it. */
export interface Part {
  name: string;
  kind: string; // of the view; "": words alone
  above: string;
  below: string;
  start: number; // of its bytes in `blocks`
  end: number;
  late: boolean; // drawn after the others are on screen
  more?: [name: string, words: string]; // words that unfold
  folds?: string; // what is pressed to see the view
}

/** Words that fold to a few lines where a picture follows. */
export interface Fold {
  node: HTMLElement;
  text: Written;
  fold: (folds: boolean) => void;
}

/** An element, and the words that were last put into it. */
export interface Written {
  node: HTMLElement;
  words: string | null;
}

/** A part on screen, and what was last drawn in it. */
export interface PartPlace {
  node: HTMLElement;
  above: Fold;
  slot: HTMLElement;
  below: Written;
  more: { node: HTMLElement; name: Written; text: Written };
  folds: { node: HTMLElement; name: Written }; // around the view and the words below it, where they fold
  kind: string | null;
  bytes: Uint8Array<ArrayBuffer> | null;
}

export interface CardPlace {
  node: HTMLElement;
  title: Written;
  parts: PartPlace[];
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  tell: Tell;
  mounts: Mounts;
  cards: CardPlace[];
  rows: ResizeObserver; // of the parts, by whose heights cards are stretched
  answers: string;
  color: string; // of the page's text, by which light and dark are told apart
  pressed: boolean; // the next change of the answer is brought into sight
  n: number; // of the last choice; grows
  run: number; // of mounts
}
