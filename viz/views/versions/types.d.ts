/** What `versions` in __init__.py packs. */
export interface Header {
  label: string;
  names: string[];
  texts: string[][]; // of each: what is as it was and what is new, in turns
  arrays: {};
}

export interface Row {
  name: HTMLElement;
  text: HTMLElement;
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  list: HTMLElement;
  rows: Row[];
}
