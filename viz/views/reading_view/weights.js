// Weights as seen from one token.

/** @typedef {import("./types").Direction} Direction */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Values} Values */

const NONE = new Float32Array(0);

/** @type {(header: Header) => Float32Array} */
const weightsOf = ({ arrays }) => arrays.weights?.data ?? NONE;

// Which way one token is shown: one that looks nowhere (the source, in cross-attention) by who looks at it.
/** @type {(state: State, from: number) => Direction} */
export function wayOf({ header, direction }, from) {
  if (header.quantity || header.after[from]) return "from"; // a word that was chosen means its row: nobody looks at it here
  const count = header.tokens.length;
  const row = weightsOf(header).subarray(from * count, (from + 1) * count);
  return direction === "from" && count > 1 && row.every((weight) => weight === 0) ? "to" : direction;
}

// Weights as seen from one token: its row, or its column; of the mean, or of one of several heads (as bytes).
/** @type {(state: State, from: number, direction?: Direction, head?: number) => Values} */
export function seen(state, from, direction = wayOf(state, from), head = -1) {
  const { header } = state;
  if (header.quantity) return header.arrays.on?.data ?? NONE;
  const count = header.tokens.length;
  const size = count * count;
  const values = head < 0 ? weightsOf(header) : (header.arrays.heads?.data.subarray(head * size, (head + 1) * size) ?? NONE);
  if (direction === "from") return values.subarray(from * count, (from + 1) * count);
  const column = values instanceof Uint8Array ? new Uint8Array(count) : new Float32Array(count);
  for (let i = 0; i < count; i++) column[i] = values[i * count + from];
  return column;
}

// Whether nothing can be looked at from one of two tokens to the other, so that the 0 there was never measured. What was chosen has
// the row of the token before it; in cross-attention rows are of the second text, and columns of the first.
/** @type {(header: Header, asked: number, other: number, direction: Direction) => boolean} */
export function unseen({ after, second, causal }, asked, other, direction) {
  const [row, column] = direction === "from" ? [asked, other] : [other, asked];
  if (after.length && !after[row]) return true;
  if (after.length && second >= 0) return column >= second;
  return causal && (after[row] ? column >= row : column > row);
}

// Where the `most` largest stand, the largest first; of equals, the first.
/** @type {(values: Values, most: number) => number[]} */
export function strongest(values, most) {
  /** @type {number[]} */
  const best = [];
  for (let i = 0; i < values.length; i++) {
    if (best.length === most && values[i] <= values[best[most - 1]]) continue;
    let place = best.length;
    while (place > 0 && values[best[place - 1]] < values[i]) place--;
    best.splice(place, 0, i);
    if (best.length > most) best.pop();
  }
  return best;
}
