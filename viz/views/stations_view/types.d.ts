import type { Brush, PackedBytes, Pieces, Player, RGB, Tell } from "../../shared/types";

/** What `stations_view` in __init__.py packs. */
export interface Header {
  label: string;
  row: number; // of the last lane: whose way is shown while none is pointed at
  leads: boolean; // a click on a layer or a head tells of it
  simple: boolean; // without the guess before the first layer
  begins: boolean; // it opens at the first station
  text: string; // all that the model read; "": the rows tell
  lanes: Lane[]; // one, or those of an encoder and a decoder
  gazes: Record<string, Gaze>; // "lane0", "lane1", and "bridge" between the two
  stations: Station[];
  whole: string; // the player's name for the step after the last station, where all is shown
  rest: Record<string, string>; // sentences while nothing is played
  others: string; // a few words on all other outcomes
  guesses: Outcome[]; // after the embedding and after each layer
  outcomes: Outcome[];
  arrays: Record<string, PackedBytes>; // by gaze "weights-…", "largest-…" and "mixed-…", by lane "vectors-…" and "images-…" (patches)
}

export interface Lane {
  name: string;
  tokens: (Pieces | null)[]; // null: a row that stands for those that have no room
  names: string[];
  places: number[]; // positions of the rows
  numbers: number[]; // of the layers
  omitted: number; // tokens that have no room
  pictured: boolean[]; // the rows that are patches of a picture; [] for a text
}

/** Where the heads of some layers look; which head is chosen. */
export interface Gaze extends Looking {
  layers: number[];
  counts: number[]; // heads of each layer
  chosen: boolean;
}

export interface Looking {
  layer: number;
  head: number;
}

/** The head that looks hardest at what the model says next: its share, what an even share would be, and of how many heads. */
export interface Looker extends Looking {
  share: number;
  even: number;
  heads: number;
}

export interface Station {
  key: string;
  title: string;
  note: string;
  step: string; // the sentence of its step
  link: string;
}

export interface Outcome {
  text: Pieces;
  name: string;
  share: number;
  number: string;
  id: number | null;
}

/** A row of a lane. */
export type Row = [lane: number, row: number];
export type Spot = [x: number, y: number];
/** From and to, along the stations. */
export type Band = [from: number, to: number];
export type Curve = [from: Spot, to: Spot];

/** A box; what has no width or height of its own leaves it to CSS. */
export interface Box {
  x: number;
  y: number;
  w?: number;
  h?: number;
}
export type FullBox = Required<Box>;

/** The small maps of all heads. */
export interface Thumbs {
  count: number;
  each: number; // in a line
  side: number;
  width: number;
  height: number;
  x: number;
  y: number;
}

/** Where all stands, in pixels. */
export interface Geometry {
  wide: boolean; // stations stand side by side
  two: boolean; // there are two lanes
  width: number;
  height: number;
  top: number;
  pitch: number; // from token to token
  ratio: number;
  bands: Record<string, Band>; // of the stations
  heads: Record<string, Box>; // of their names
  lights: Record<string, FullBox>; // what is behind a station while it is played
  across: number[][]; // the middle of each row of each lane
  cards: number[]; // the layers that have a card; 0: before the first
  cardPlaces: FullBox[];
  outcomePlaces: FullBox[];
  thumbs: Thumbs;
  panel: FullBox;
  none: Box;
  key: Box;
  ends: Box; // which end of a line looks
  work: Box; // the names of the feed-forward part's sign and strips
  list: Box;
}

/** The elements of a kind, each with its parts and what was last put into them. */
export interface Head {
  node: HTMLAnchorElement;
  title: HTMLElement;
  note: HTMLElement;
}
export interface Token {
  node: HTMLButtonElement;
  word: HTMLElement;
  patch: HTMLCanvasElement | null;
  pixels: Uint8Array | null; // that were painted on it
  place: Row | null;
  key: string | null;
  spoken: string;
}
export interface Thumb {
  node: HTMLButtonElement;
}
export interface Card {
  node: HTMLButtonElement;
  number: HTMLElement;
  guess: HTMLElement;
  chance: HTMLElement;
  bar: HTMLElement;
  layer: number;
  key: string | null;
}
export interface Answer {
  node: HTMLButtonElement;
  word: HTMLElement;
  bar: HTMLElement;
  number: HTMLElement;
  outcome: number | null;
  key: string | null;
}
export interface Pools {
  heads: Head[];
  tokens: Token[];
  thumbs: Thumb[];
  cards: Card[];
  outcomes: Answer[];
}

/** What drawing works with. */
export interface Drawing {
  state: State;
  pen: Brush;
  theme: { ink: RGB; accent: RGB; paper: RGB; both: RGB[]; line: RGB };
  focus: Row;
  lit: (station: string) => number; // 0: not yet played; 1: it was
  alone: boolean; // only one way is shown
  near: number[][]; // how near each row is to it
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  tellApp: Tell;
  inApp: boolean;
  at: Record<string, Looking>; // what is looked at, by gaze
  main: string; // the gaze whose heads are shown
  last: number; // the last lane
  pointed: Row | null;
  hovered: number | null; // the head whose small map is pointed at
  home: Looking | null; // what was open before Play opened another layer or head
  progress: number; // the stations that were played; Infinity: all
  led: boolean; // whether Play or the slider led to the station
  fresh: boolean; // nothing was played or typed yet: it waits at its first station
  comet: number | null; // where the newest token runs
  n: number; // of the last choice; grows
  g: Geometry;
  arranged: boolean;
  player: Player;
  canvas: HTMLCanvasElement;
  sheet: HTMLCanvasElement; // all maps of heads
  stage: HTMLElement;
  said: HTMLElement;
  tables: HTMLElement;
  groups: Record<keyof Pools, HTMLElement>;
  panelNode: HTMLElement;
  besideNode: HTMLElement;
  noneNode: HTMLElement;
  keyNode: HTMLElement;
  stripesNode: HTMLElement; // in the key: what the stripes stand for
  workNode: HTMLElement;
  listNode: HTMLElement;
  endsNode: HTMLElement;
  nodes: Pools;
  frame: number;
  quiet: number; // a timer
  tell: (value: Record<string, unknown>) => void;
  turn: (layer: number, head: number) => void;
  hover: (head: number | null) => void;
  point: (place: Row | null) => void;
}
