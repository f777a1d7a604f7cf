// What follows from the arrays: the products of q and k, which keys may be looked at, and where the scale of colours ends.

/** @typedef {import("./types").State} State */

const OUTLIERS = 0.01; // so many of the products may lie beyond the end of the colour scale
const SAMPLE = 20000; // and so many are looked at to find that end

// What follows from the arrays, once for new data.
/** @type {(state: State) => void} */
export function calculate(state) {
  const { header, count, dims } = state;
  const { q, k, weight, v_norm: lengths, score, mask, sink } = header.arrays;
  const products = new Float32Array(count * dims); // float32, as they are in analysis.query_key
  for (let key = 0, i = 0; key < count; key++) for (let dim = 0; dim < dims; dim++, i++) products[i] = q.data[dim] * k.data[i];
  const allowed = Array.from(mask.data, (added) => added !== -Infinity);
  const seen = allowed.some(Boolean) ? products.filter((_, i) => allowed[Math.floor(i / dims)]) : products;
  const scaleEnd = endOf(seen);
  /** @type {Float64Array | null} */
  let shares = null;
  if (lengths) {
    const moved = Float64Array.from(weight.data, (share, key) => share * lengths.data[key]);
    const total = moved.reduce((a, b) => a + b, 0);
    shares = total ? moved.map((value) => value / total) : moved;
  }
  const logits = [...Array.from(score.data, (value, key) => value + mask.data[key]), ...sink.data];
  const top = Math.max(...logits.map((value) => (value > -Infinity ? value : -Infinity)));
  const total = logits.reduce((sum, value) => sum + (value === -Infinity ? 0 : Math.exp(value - top)), 0);
  const full = Math.max(largest(weight.data), shares ? largest(shares) : 0);
  Object.assign(state, {
    products,
    allowed,
    scaleEnd,
    beyond: largest(seen) > scaleEnd,
    shares,
    full,
    bottom: top + Math.log(total),
  });
}

// The largest size of a number that is one.
/** @type {(values: Iterable<number>) => number} */
export function largest(values) {
  let most = 0;
  for (const value of values) if (Math.abs(value) > most && Math.abs(value) < Infinity) most = Math.abs(value);
  return most;
}

// Where the colours end: a few outlying dimensions, as large models have them, must not leave the others without any.
/** @type {(products: Float32Array) => number} */
function endOf(products) {
  const stride = Math.ceil(products.length / SAMPLE);
  const sizes = products
    .filter((_, i) => i % stride === 0)
    .map(Math.abs)
    .filter((size) => size < Infinity)
    .sort();
  return sizes[Math.floor((1 - OUTLIERS) * sizes.length)] || largest(products);
}
