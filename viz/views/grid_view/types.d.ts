import type { PackedBytes, PackedFloats, Player, Tell } from "../../shared/types";

/** What `grid_view` in __init__.py packs. */
export interface Header {
  label: string;
  rows: string[]; // what stands beside the cells
  columns: string[]; // and above them
  rowNames: string[]; // what they are called in words
  columnNames: string[];
  rowNotes: string[] | null; // behind each row
  ends: [low: number | string, high: number | string]; // of the legend
  frames: string[] | null;
  texts: string[][] | null; // words in each cell
  notes: string[][] | null; // words said of each cell
  chosen: Cell | null;
  covered: boolean[][] | null; // whose number is not shown
  down: string; // what the two axes are
  across: string;
  unit: string;
  blank: string; // said of a cell without a number
  cell: [least: number, most: number]; // CSS pixels of a column
  height: number; // of a row; 0: cells are squares
  numbered: boolean; // digits stand in the cells
  least: number; // of a number that does
  signed: boolean;
  blankAnswers: boolean;
  link: string;
  arrays: {
    values: PackedFloats; // [frame, row, column]
    shades: PackedBytes; // of the same shape
  };
}

export type Cell = [row: number, column: number];

/** How large everything is, in pixels. */
export interface Size {
  width: number; // of a cell; 0 until there is room
  height: number;
  top: number; // room for labels above
  beside: number; // and at the left
  gap: number; // between cells
  flat: boolean; // the labels above lie flat
  lines: number; // of each of them
}

/** The whole state of the view. */
export interface State {
  root: HTMLElement;
  link: string;
  header: Header;
  tell: Tell;
  rows: number;
  columns: number;
  at: Cell | null; // where the pointer or the keyboard is
  size: Size;
  shape: string; // of what all was arranged for
  shown: string; // the chosen cell that was scrolled into sight
  player: Player;
  left: HTMLCanvasElement;
  scroll: HTMLElement;
  box: HTMLElement;
  canvas: HTMLCanvasElement;
  marks: { chosen: HTMLElement; pointed: HTMLElement };
  row: HTMLElement; // what a screen reader is given
  cell: HTMLElement;
  legend: HTMLElement;
  tip: HTMLElement;
  details: HTMLDetailsElement;
  table: HTMLElement;
}
