// What was sent, by place.

/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").State} State */

const NONE = new Uint8Array(0);

// The row whose way is shown, as [lane, row].
/** @type {(state: State) => Row} */
export function focusOf({ header, pointed, last }) {
  return pointed ?? [last, header.row];
}

// Whether only one way is shown: of the token that is pointed at, or of the one that Play follows.
/** @type {(state: State) => boolean} */
export function isAlone({ pointed, progress, header, led, home }) {
  return Boolean(pointed) || progress < header.stations.length - 1 || (led && home !== null);
}

// The head that is looked through: the one whose small map is pointed at, or the chosen one.
/** @type {(state: State, name: string) => number} */
export function headOf({ at, main, hovered }, name) {
  return name === main && hovered !== null ? hovered : at[name].head;
}

// The number that the network gives to the layer that is open.
/** @type {(state: State, name: string) => number} */
const numberOf = ({ header, at, last }, name) => header.lanes[name === "lane0" ? 0 : last].numbers[at[name].layer];

// The head that is looked through: "L5 H1", and in words, "layer 5, head 1".
/** @type {(state: State, name: string) => { short: string, words: string }} */
export function namesOf(state, name) {
  const [number, head] = [numberOf(state, name), headOf(state, name)];
  return { short: `L${number} H${head}`, words: `layer ${number}, head ${head}` };
}

/** @type {(text: string) => string} */
export const capitalized = (text) => text.slice(0, 1).toUpperCase() + text.slice(1);

/** @type {(state: State, name: string) => [slot: number, head: number]} */
function slotOf(state, name) {
  return [state.header.gazes[name].layers.indexOf(state.at[name].layer), headOf(state, name)];
}

// The weights of a row of the head that is looked at, as bytes.
/** @type {(state: State, name: string, row: number, head?: number) => Uint8Array} */
export function weightsOf(state, name, row, head) {
  const array = state.header.arrays[`weights-${name}`];
  const [slot, chosen] = slotOf(state, name);
  if (slot < 0) return NONE;
  const [, heads, rows, keys] = array.shape;
  const start = ((slot * heads + (head ?? chosen)) * rows + row) * keys;
  return array.data.subarray(start, start + keys);
}

// The largest weight of a row of the head that is looked at. It is written, so it came as two bytes, and reads as on other pages.
/** @type {(state: State, name: string, row: number) => number} */
export function largestOf(state, name, row) {
  const { shape, data } = state.header.arrays[`largest-${name}`];
  const [slot, head] = slotOf(state, name);
  const at = 2 * ((slot * shape[1] + head) * shape[2] + row);
  return slot < 0 ? 0 : (256 * data[at] + data[at + 1]) / 65535;
}

// The cells of what the head brings to a row.
/** @type {(state: State, name: string, row: number) => Uint8Array} */
export function mixedOf(state, name, row) {
  const array = state.header.arrays[`mixed-${name}`];
  const [slot, head] = slotOf(state, name);
  if (!array || slot < 0) return NONE;
  const [, heads, rows, cells] = array.shape;
  const start = ((slot * heads + head) * rows + row) * cells;
  return array.data.subarray(start, start + cells);
}

// The cells of a row's vector; layer 0 is before the first.
/** @type {(state: State, lane: number, layer: number, row: number) => Uint8Array} */
export function vectorOf({ header }, lane, layer, row) {
  const { shape, data } = header.arrays[`vectors-lane${lane}`];
  const [, rows, cells] = shape;
  const start = (layer * rows + row) * cells;
  return data.subarray(start, start + cells);
}
