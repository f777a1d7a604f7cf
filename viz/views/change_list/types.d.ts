/** What `change_list` in __init__.py packs. */
export interface Header {
  names: string[];
  back: boolean; // a step can be undone
  more: string; // said after the last
  arrays: {};
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  tell: (value: number | "undo" | "reset") => void;
  undo: HTMLButtonElement;
  reset: HTMLButtonElement;
  more: HTMLElement;
  items: { node: HTMLButtonElement; name: string }[];
}
