// The types that all views share. tsc reads this file (`make lint`); a browser never does.

/** Tells the app, or the page around a saved view, what the reader did. */
export type Tell = (name: string, value?: unknown) => void;

/** What mounts a view: Streamlit, a board, or `page.js` for a view that was saved. */
export interface MountArgs {
  parentElement: HTMLElement | ShadowRoot;
  data: Bytes;
  setTriggerValue: Tell;
  setStateValue: Tell;
  key: string;
}

/** The one function that every `view.js` exports. `mounts`: those of the kinds of views inside it. */
export type Mount = (args: MountArgs, mounts?: Mounts) => void;
export type Mounts = Record<string, Mount>;

/** Bytes as they came from `pack` in view.py. */
export type Bytes = Uint8Array<ArrayBuffer> | ArrayBuffer;

/** An array that `unpack` gives; its values lie in the order of the last axis first. */
export interface Packed<Values extends Uint8Array | Int32Array | Float32Array> {
  shape: number[];
  data: Values;
}
export type PackedBytes = Packed<Uint8Array>;
export type PackedFloats = Packed<Float32Array>;
export type PackedInts = Packed<Int32Array>;

/** The pieces of a token as `fill` draws it: its own text and our marks in turns, its own text first. */
export type Pieces = string[];

/** A kind of token, as `kinds` in tokens.py counts them: 0 ordinary, 1 special, 2 a piece of one character. */
export type Kind = number;

/** Red, green and blue from 0 to 255; in `GROUND` an opacity too. */
export type RGB = number[];

/** The colours that pictures are mixed from; `name` tells two themes apart. */
export interface Theme {
  ink: RGB;
  accent: RGB;
  paper: RGB;
  plus: RGB;
  minus: RGB;
  name: string;
}

/** What is drawn on: a canvas's context, or a pen that writes SVG (viz/views/export/pen.js), whose paths come from `path`. */
export type Brush = CanvasRenderingContext2D & { path?: () => Path2D };

/** A row that plays through steps. */
export interface Player {
  node: HTMLElement;
  range: HTMLInputElement;
  ends: HTMLButtonElement[]; // one step back, one step on
  names: string[];
  last: number; // the last step that can be gone to
  at: number;
  playing: boolean;
  stop: () => void;
  set: (steps: { names: string[]; last?: number; at?: number }) => void;
  to: (at: number) => void;
}

/** Buttons of which one is pressed. */
export interface Toggle {
  node: HTMLElement;
  show: (value: string) => void;
}

/** What tells a choice that comes back from news; see echo.js. */
export interface Echo {
  told: (value: unknown) => void;
  isNews: (value: unknown) => boolean;
}

/** What a view needs to point together with others; see link.js. */
export interface Linked {
  root: HTMLElement;
  link: string; // "": alone
}

/** The detail of `headlight:point`. */
export interface Pointed {
  link: string;
  position: number; // -1: at nothing
  from?: unknown; // the state of the view
  led?: boolean; // somebody else pointed, in a room
}

declare global {
  interface HTMLElement {
    again?: () => void; // mounts the view of this node once more
  }
  interface HTMLCanvasElement {
    pen?: Brush; // while a picture is taken away
    redraw?: () => void;
  }
  interface Uint8ArrayConstructor {
    fromBase64?: (text: string) => Uint8Array<ArrayBuffer>; // in newer browsers
  }
  interface Window {
    headlight?: {
      draw: (data?: Uint8Array<ArrayBuffer>) => void;
      unpack: unknown;
      percent: unknown;
      ready: Promise<void> | void;
    };
  }
  interface WindowEventMap {
    "headlight:point": CustomEvent<Pointed>;
    "headlight:text": CustomEvent<string>;
  }
}
