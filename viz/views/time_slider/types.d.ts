import type { Player, Tell } from "../../shared/types";

/** What `time_slider` in __init__.py packs. */
export interface Header {
  label: string;
  names: string[];
  newest: number; // the last step that can be gone to
  at: number;
  arrays: {};
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  tell: Tell;
  player: Player;
  waiting: number; // a timer: a move that is still to be told
  moved: number; // when a person moved it last
}
