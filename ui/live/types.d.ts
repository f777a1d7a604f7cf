// The types of the line. tsc reads this file (`make lint`); a browser never does.

import type { Bytes, MountArgs } from "../../viz/shared/types";

/** The texts of the boxes "text" and "target"; null for a box that is not there. */
export type Texts = (string | null)[];

/** What a run says of its page (`connect.py`); without a key no line answers. */
export interface Page {
  key?: string;
  run: string;
  page: string;
  model: string;
  choices: Record<string, unknown>;
  values: Record<string, unknown>;
  texts: Texts; // that the run has read
  said: string; // the model's own answer
  longest: number; // characters that a line takes
  parts?: string[]; // whose clicks the line answers, or names in such clicks
}

/** Draws a view. */
export type Draw = (args: MountArgs) => void;

/** A view that a run has mounted. */
export interface Mounted {
  args: MountArgs;
  draw: Draw;
  drawn?: Bytes;
  live: boolean; // drawn by the line
}

/** A click that waits for the run that it belongs to. */
export type Press = [mount: Mounted, name: string, value?: unknown];

/** A board of an answer: the kinds of its views, and where its bytes are, then the bytes. */
export interface Board {
  kinds: string;
  start: number;
  end: number;
  bytes: Bytes;
}

/** An answer (`answers.py`): boards by their keys, or what was wrong. */
export interface Answer {
  number: number;
  wrong?: string;
  boards?: Record<string, Board>;
  picks?: Record<string, unknown>; // what a click has chosen, for all pages
  values?: Record<string, unknown>; // and of the page's own choices
  arrays?: { blocks: { offset: number } };
}

/** What a page and its views ask of the line. */
export interface LineOfDocument {
  mount: (args: MountArgs, draw: Draw) => void;
  update: (page: Page) => void;
  leave: () => void;
}

declare global {
  interface Window {
    headlightEarly?: [args: MountArgs, draw: Draw][]; // what was mounted before the line was there
    headlightPage?: Page;
    headlightLine?: LineOfDocument;
  }
}
