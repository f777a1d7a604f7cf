// The bytes that a view is sent, read: the other half of `pack` in view.py and of `lower` in triangle.py.

/** @typedef {import("./types").Bytes} Bytes */

// The header of `pack` in view.py, with arrays[name] = {shape, data}: Uint8Array, Int32Array or Float32Array (from float16, float32).
/** @type {<Header>(data: Bytes) => Header} */
export function unpack(data) {
  let bytes = data instanceof Uint8Array ? data : new Uint8Array(data);
  if (bytes.byteOffset % 8) bytes = bytes.slice(); // typed arrays need their alignment
  const length = new DataView(bytes.buffer, bytes.byteOffset).getUint32(0, true);
  const header = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  const start = bytes.byteOffset + Math.ceil((4 + length) / 8) * 8;
  for (const [name, { dtype, shape, offset }] of Object.entries(header.arrays)) {
    /** @type {number} */
    const size = shape.reduce((/** @type {number} */ a, /** @type {number} */ b) => a * b, 1);
    const at = start + offset;
    let values;
    if (dtype === "uint8") values = new Uint8Array(bytes.buffer, at, size);
    else if (dtype === "int32") values = new Int32Array(bytes.buffer, at, size);
    else if (dtype === "float32") values = new Float32Array(bytes.buffer, at, size);
    else if (dtype === "float16") values = fromHalf(new Uint16Array(bytes.buffer, at, size));
    else throw new Error("unknown dtype " + dtype);
    header.arrays[name] = { shape, data: values };
  }
  return header;
}

/** @type {Float32Array | undefined} */
let halves; // all 65,536 values, made once

/** @type {(bits: Uint16Array) => Float32Array} */
function fromHalf(bits) {
  if (!halves) {
    halves = new Float32Array(65536);
    for (let i = 0; i < 65536; i++) {
      const exponent = (i >> 10) & 31;
      const fraction = i & 1023;
      let value;
      if (exponent === 0) value = fraction * 2 ** -24;
      else if (exponent === 31) value = fraction ? NaN : Infinity;
      else value = (1024 + fraction) * 2 ** (exponent - 25);
      halves[i] = i & 0x8000 ? -value : value;
    }
  }
  const values = new Float32Array(bits.length);
  for (let i = 0; i < bits.length; i++) values[i] = halves[bits[i]];
  return values;
}

// Maps [map, query, key] in full, of which only the rows up to the diagonal were sent (`lower` in triangle.py). `before`: what
// this gave the last time, written over where it has the size: new megabytes take longer to come by than to fill.
/**
 * @template {Uint8Array | Float32Array} Values
 * @param {Values} sent
 * @param {number} maps
 * @param {number} count
 * @param {Values} [before]
 * @returns {Values}
 */
export function fromRows(sent, maps, count, before) {
  const size = maps * count * count;
  const Kind = /** @type {new (length: number) => Values} */ (sent.constructor);
  const whole = before?.length === size ? before : new Kind(size);
  for (let map = 0, at = 0; map < maps; map++)
    for (let row = 0; row < count; at += ++row) whole.set(sent.subarray(at, at + row + 1), (map * count + row) * count);
  return whole;
}
