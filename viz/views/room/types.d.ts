/** What `room` in __init__.py packs. */
export interface Header {
  code: string;
  who: string; // the seat of this browser, which opens the line
  role: "leads" | "follows" | "waits";
  follows: boolean; // moves are followed now
  taken: number; // the version of the room that stands on the page
  large: boolean; // with all that who leads sees
  ticket?: string; // proves that one was here
  key?: string; // of who leads
  said?: string;
  refused?: string; // why a move could not be followed
  elsewhere?: boolean; // another process of the server has the room
  arrays: {};
}

/** A message of the server, on the line of a room: see ui/rooms/route.py. */
export interface News {
  version: number;
  fixed: number;
  led: boolean;
  mirrors?: boolean; // several lead
  question?: Question | null;
  // for who leads
  here?: number;
  follow?: number;
  places?: [place: string, count: number][];
  held?: Held | null;
  // for who follows
  place?: string;
  pointed?: Pointed | null;
  opened?: Record<string, boolean>; // parts that who leads has opened or closed on this page
}

export interface Question {
  number: number;
  words: string;
  kind: string; // "choices" | "a number" | …
  choices: string[];
  answers: number;
  counts: [words: string, count: number][] | null;
  model: string;
  right: string; // "" until it is shown
  right_count: number | null; // how many gave it, where counts are shown
  mine: string; // the answer of this browser
  shown: boolean; // everybody sees the counts
}

/** The other messages: the room is gone, a seat is asked for, an answer was refused or taken. */
export type Message =
  | null // a sign of life
  | { gone: string; again: boolean }
  | { seat: false }
  | { wrong?: string; mine?: string }
  | News;

/** What who leads has fixed for all, by its name. */
export type Held = Record<string, unknown>;
export type Pointed = [link: string, position: number];
export type Part = [name: string, open: boolean];

export interface Draft {
  number?: number; // of the question
  name: string;
  text: string;
}

/** The line to a room. It outlives the strip, which is placed anew on every page. */
export interface Line {
  code: string;
  who: string;
  view: State; // the strip that stands on the page
  socket: WebSocket | null;
  shown: number | null; // the version of the page that this socket was told of
  ticket: string | null;
  key: string;
  news: News | null;
  gone: string; // why there is no room
  again: boolean; // it may come back
  over: boolean; // it will not
  lost: boolean; // the line is down
  wrong: string; // why an answer was refused
  gave: boolean; // `held` was sent
  asked: number; // the version that the page was last asked to run for
  since: number;
  tries: number;
  asksSeat: number; // when a seat was asked for
  pointed: Pointed;
  parts: Record<string, boolean>; // what was opened and closed here as who leads had it
  looking: number;
  drafts: Draft;
  timer: number;
  asking: number;
}

/** The question on the page, and what it was drawn for. */
export interface Asked {
  node: HTMLElement;
  number: number | null;
  line: Line | null;
  buttons: { choice: string; button: HTMLButtonElement }[];
  words: HTMLElement;
  said: HTMLElement;
  bars: HTMLElement;
  model: HTMLElement;
  right: HTMLElement;
  fresh: boolean; // to be brought into sight
}

/** The whole state of the strip. */
export interface State {
  root: HTMLElement;
  seat: Header;
  tell: import("../../shared/types").Tell;
  where: HTMLElement;
  how: HTMLElement;
  act: HTMLButtonElement;
  leave: HTMLButtonElement;
  places: HTMLElement;
  question: Asked;
}
