import type { PackedFloats, PackedInts, RGB, Tell, Theme } from "../../shared/types";

/** What `space_view` in __init__.py packs. */
export interface Header {
  label: string;
  name: string; // pictures of the same name are looked at from the same place
  names: string[]; // of the tokens
  stages: string[];
  near_by: string; // by which measure `near` are the nearest
  axes: string[] | null;
  colours: Colours | null;
  quantity: string; // what the colours show
  notes: string[] | null;
  chosen: number | null;
  opens: number; // the stage that is shown first
  simple: boolean; // for beginners: trails only on request, no coordinates in the table
  arrays: {
    points: PackedFloats; // [stage, token, dimension]
    near?: PackedInts; // [stage, token, k]
    values?: PackedFloats; // [stage, token]: numbers, or the number of a name
  };
}

export type Colours =
  | { names: string[]; inks: string[]; rest: boolean }
  | { names?: undefined; inks?: undefined; rest?: undefined; low: number; high: number; unit: string; log: boolean };

/** A point of the space, and one on the canvas with its depth from −1 (far) to 1 (near). */
export type Point = [x: number, y: number, z: number];
export type Shift = [x: number, y: number];

/** A point as it is drawn. */
export interface Spot {
  i: number;
  x: number;
  y: number;
  depth: number;
  size: number;
  ink: RGB;
}

/** A spot whose label is wanted: the lower its rank, the more. */
export interface Wanted extends Spot {
  rank: number;
  k: number;
}

export type Box = [left: number, top: number, right: number, bottom: number];
export interface Boxes {
  put: (box: Box) => void;
  meet: (box: Box) => boolean;
}
export interface LabelPlace {
  side: number;
  middle: Shift;
  box: Box;
}

/** How a picture is looked at. */
export interface Look {
  yaw: number;
  pitch: number;
  scale: number;
  shift: Shift;
  at: number; // the stage; between two of them while it plays
  trails: boolean;
  labels: boolean;
  stages: number;
  dimensions: number; // 0 before the first picture
}

/** The whole state of the view. */
export interface State extends Look {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  count: number; // of tokens
  xyz: Float32Array;
  chosen: number; // -1: none
  pointed: number;
  // playing
  playing: boolean;
  from: number; // the stage that is left
  clock: number; // milliseconds since it was
  last: number;
  // what follows from how one looks
  cy: number; // cosines and sines of yaw and pitch
  sy: number;
  cp: number;
  sp: number;
  middle: number[]; // of all points
  radius: number;
  half: number[];
  wide: number; // pixels; 0 until there are any
  high: number;
  ratio: number;
  theme: Theme;
  soft: RGB;
  dark: boolean;
  inks: RGB[];
  // what is drawn
  spots: Spot[];
  placed: Map<number, number>; // on which side of its point each label stands
  many: boolean;
  stageSpoken: string;
  options: string | null; // what the list of tokens was written for
  // the pointer
  pointers: Map<number, Shift>;
  far: number; // pixels that a pressed pointer has gone
  // elements
  scene: HTMLElement;
  canvas: HTMLCanvasElement;
  stage: HTMLElement;
  tip: HTMLElement;
  legend: HTMLElement;
  said: HTMLElement;
  details: HTMLDetailsElement;
  rows: HTMLElement;
  play: HTMLButtonElement;
  scrub: HTMLInputElement;
  time: HTMLElement;
  follow: HTMLSelectElement;
  buttons: { trails: HTMLButtonElement; labels: HTMLButtonElement };
}
