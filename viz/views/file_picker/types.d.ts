import type { Tell } from "../../shared/types";

/** What `file_picker` in __init__.py packs. */
export interface Header {
  label: string;
  ends: string; // of the name of a file
  largest: number; // bytes
  arrays: {};
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  tell: Tell;
  button: HTMLButtonElement;
  input: HTMLInputElement;
  said: HTMLElement;
}
