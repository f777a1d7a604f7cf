/** What `architecture` in __init__.py packs. */
export interface Header {
  label: string;
  columns: { name: string; boxes: Box[] }[];
  arrays: {};
}

export interface Box {
  name: string;
  note: string;
  shape: string;
  times: number;
  beside: string;
  added: boolean;
  past: boolean; // the stream of a part below leaves above this box
  parts: Box[];
}
