import type { RGB, Tell, Toggle } from "../../shared/types";

/** What `export` in __init__.py packs. */
export interface Header {
  key: string; // of the element that Streamlit holds
  name: string; // of the file
  title: string;
  caption: string;
  provenance: string;
  part: string; // of a board; "": all of it
  themes: Themes;
  arrays: {};
}

/** The colours of a page by their names, as palette.py has them. */
export type Palette = Record<string, string>;
export type Themes = { light: Palette; dark: Palette };

/** What somebody chose: the ground ("page", "white", "none") and the colours ("screen", "light", "dark"). */
export type Chosen = { ground: string; colours: string };

/** What a colour becomes; own: whether a grey is of the page; off: how far from its scale a colour may be. */
export type Translate = (rgb: RGB, own: boolean, off?: number) => RGB;

/** What `pictureOf` draws by. */
export interface Look {
  ground?: string;
  bare?: string[]; // grounds of the page that have no place in a picture on nothing
  to?: Palette; // the colours that all takes on
  scheme?: string;
  translate?: Translate;
  images?: Map<Element, string>; // pictures inside of pictures, translated
}

export interface Rect {
  left: number;
  top: number;
  right: number;
  bottom: number;
}
export interface Frame extends Rect {
  width: number;
  height: number;
}

/** A picture while it is drawn. */
export interface Page {
  parts: string[]; // as SVG
  defs: string[];
  box: Rect | null; // how far it goes
  families: Set<string>; // fonts
  ids: number;
  clip: Rect | null;
  look: Look;
}

/** A picture that is drawn. */
export interface Picture {
  svg: string;
  width: number;
  height: number;
  families: Set<string>;
}

export type Attributes = Record<string, string | number>;
export type Four = [number, number, number, number];
export type Matrix = [a: number, b: number, c: number, d: number, e: number, f: number];

/** A line of text as it is set. */
export interface Line {
  words: string;
  rect: Frame;
  cut?: boolean; // "…" stands for its end
}

/** A side of a border. */
export interface Edge {
  wide: number;
  kind: string;
  css: string;
}

export interface Shadow {
  inset: boolean;
  across: number;
  down: number;
  blur: number;
  spread: number;
  css: string;
}

/** Undone in turn, the last first. */
export type Undo = (() => void)[];

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  buttons: { kind: string; button: HTMLButtonElement }[];
  toggles: { ground: Toggle; colours: Toggle };
  status: HTMLElement;
}
