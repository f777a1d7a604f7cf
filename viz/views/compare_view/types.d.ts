import type { Kind, PackedFloats, Pieces, Player, Theme } from "../../shared/types";

/** What `compare_view` in __init__.py packs. */
export interface Header {
  label: string;
  tokens: Pieces[];
  kinds: Kind[];
  names: string[]; // of the columns
  frames: string[];
  chosen: number; // the token that is asked about; -1: none
  first: number; // the frame that is shown first
  spoken: string[];
  arrays: { values: PackedFloats }; // [frame, column, token]
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  header: Header;
  theme: Theme;
  player: Player;
  table: HTMLTableElement;
  cells: HTMLElement[][]; // [token, column]
  key: string; // of what the table's words were written for
}
