// The types of the scripts that the document gets. tsc reads this file (`make lint`); a browser never does.

import type { Tell } from "../viz/shared/types";

/** What Streamlit calls a component with; Data: what its Python sends. */
export interface Component<Data> {
  parentElement: HTMLElement;
  data: Data;
  setTriggerValue: Tell;
  setStateValue: Tell;
}

/** What ui/document.py sends to step.js. */
export interface Step {
  step: string;
  reply: string; // what is said of an answer; "": nothing
  right?: boolean;
  picture?: string; // the kind of the view that it asks about, where that is not the first one
  heading?: string; // what "Show me" brings into sight
  shown?: string; // another text for each click
}

/** How far a visitor's lessons are. */
export interface Lessons {
  places: Record<string, unknown>;
  finished: string[];
}

/** Values of an address by their keys; null: not in it. */
export type Values = Record<string, string | null>;

/** What ui/document.py sends to address.js. */
export interface Kept {
  page: string;
  values: Values;
  boxes: Record<string, string>; // what each text box begins with
  longest: number; // text in an address
}

/** What a visitor has chosen, for as long as the document lives. */
export interface Address {
  page: string | null;
  kept: Values; // what the server says of the address of the page
  boxes: Record<string, string>;
  typed: Record<string, string>; // what somebody has typed there
  longest: number;
  together: (url: string | URL) => string;
  settle: () => void;
  timer: number;
  looks: number;
}

/** What the server says of the words that can be explained. */
export interface Words {
  from: string; // the address of the explanations
  level: number;
  language: string;
  tell: Tell;
}

/** The explanation of a word. */
export interface Explanation {
  title?: string;
  said?: string[]; // at each level
  links?: [to: string, href: string, label: string][];
}

declare global {
  interface Window {
    headlightAddress?: Address;
    headlightLeave?: () => void; // called by ui/serving/base.py
    headlightWords?: (newest: Words) => void;
    headlightProject?: (on: boolean) => void;
  }
  const rules: string; // the style: ui/document.py puts it above document.js
}
