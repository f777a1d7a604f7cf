// Where points stand on the canvas, for how one looks at the space.

/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").State} State */

const EYE = 3.4; // distance of the eye from the middle, where the farthest point is at 1

// Where one looks from at first.
/** @type {() => Pick<Look, "yaw" | "pitch" | "scale" | "shift">} */
export function home() {
  return { yaw: -0.6, pitch: 0.32, scale: 1, shift: [0, 0] };
}

// The middle of all points of all stages, and the distance of the farthest from it.
/** @type {(state: State) => void} */
export function fit(state) {
  const { xyz, dimensions, stages, count } = state;
  const total = stages * count;
  const low = Array.from({ length: dimensions }, () => Infinity);
  const high = Array.from({ length: dimensions }, () => -Infinity);
  for (let i = 0; i < total; i++)
    for (let d = 0; d < dimensions; d++) {
      const v = xyz[i * dimensions + d];
      if (v < low[d]) low[d] = v;
      if (v > high[d]) high[d] = v;
    }
  state.middle = low.map((v, d) => (v + high[d]) / 2);
  let far = 0;
  for (let i = 0; i < total; i++) {
    let square = 0;
    for (let d = 0; d < dimensions; d++) square += (xyz[i * dimensions + d] - state.middle[d]) ** 2;
    far = Math.max(far, square);
  }
  state.radius = Math.sqrt(far) || 1;
  state.half = low.map((v, d) => (high[d] - v) / 2 || 1); // a picture in 2-D fills the width
}

/** @type {(state: State) => boolean} */
export function resize(state) {
  const { root, canvas } = state;
  const wide = root.clientWidth - 2;
  if (wide < 20) return false;
  const high = Math.round(Math.min(540, Math.max(300, wide * (wide < 500 ? 1 : 0.68))));
  const ratio = devicePixelRatio || 1;
  if (wide === state.wide && high === state.high && ratio === state.ratio) return false;
  Object.assign(state, { wide, high, ratio });
  canvas.width = Math.round(wide * ratio);
  canvas.height = Math.round(high * ratio);
  canvas.style.height = high + "px";
  return true;
}

// Where a point of the space is on the canvas: [x, y, depth], depth from about -1 (far) to 1 (near).
/** @type {(state: State, x: number, y: number, z: number) => Point} */
export function seenAt(state, x, y, z) {
  const { wide, high, scale, shift } = state;
  if (state.dimensions === 2) {
    const [right, top] = [wide / 2 - 46, high / 2 - 40];
    return [wide / 2 + shift[0] + x * right * scale, high / 2 + shift[1] - y * top * scale, 0];
  }
  const across = x * state.cy + z * state.sy;
  const deep = z * state.cy - x * state.sy;
  const height = y * state.cp - deep * state.sp;
  const near = y * state.sp + deep * state.cp;
  const size = ((Math.min(wide, high) / 2 - 22) * scale * EYE) / (EYE - near);
  return [wide / 2 + shift[0] + across * size, high / 2 + 8 + shift[1] - height * size, near];
}

/** @type {(state: State, at: number, i: number) => Point} */
export function placeAt(state, at, i) {
  const { xyz, dimensions, count, middle, radius, half } = state;
  const from = Math.floor(at);
  const part = at - from;
  const a = (from * count + i) * dimensions;
  const b = part ? ((from + 1) * count + i) * dimensions : a;
  /** @type {(d: number) => number} */
  const v = (d) => xyz[a + d] + (xyz[b + d] - xyz[a + d]) * part - middle[d];
  return dimensions === 2
    ? seenAt(state, v(0) / half[0], v(1) / half[1], 0)
    : seenAt(state, v(0) / radius, v(1) / radius, v(2) / radius);
}
