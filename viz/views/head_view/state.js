// What the parts of the view ask of its state: which token is asked about, the weights and the colours of heads.

export const NAMES = ["from", "to"];
export const AXES = ["from (query)", "to (key)"];
export const DEFAULTS = { layout: "columns", style: "lines", mode: "each", least: 2, top: 0, pairs: "all", zoom: "text" };
export const CHOICES = {
  mode: ["Heads", { each: "each head", mean: "mean", max: "max" }],
  style: ["Drawn as", { lines: "lines", ribbons: "ribbons" }],
  layout: ["Layout", { columns: "columns", rows: "rows" }],
  zoom: ["Size", { text: "whole text", labels: "every label" }],
};

export const NUMBER_FROM = 0.005;
export const BAR = 40; // the longest bar beside a label
export const colourOf = ({ theme }, head) => theme.heads[head % theme.heads.length];

export function isMissing({ header }, index) {
  const bits = header.arrays.missing?.data;
  return Boolean(bits && (bits[index >> 3] >> (index & 7)) & 1);
}

export const asked = (state) => state.hovered ?? state.focused ?? state.linked ?? state.pinned;

// Of one token, to each on the other side: the mean (or the maximum) of the heads that are on, not rounded a second time.
export function valuesOf(state, [side, position]) {
  const { header, weights, on, options, sides } = state;
  const [, rows, columns] = header.shape;
  const { count } = sides[1 - side];
  const values = new Float32Array(count);
  for (const head of on) {
    const first = head * rows * columns + (side === 0 ? position * columns : position);
    const stride = side === 0 ? 1 : columns;
    for (let i = 0; i < count; i++) {
      const index = first + i * stride;
      const value = isMissing(state, index) ? NaN : weights[index] / 255;
      if (options.mode === "max") values[i] = Math.max(values[i], value);
      else values[i] += value / on.length;
    }
  }
  return values;
}

export function canSee({ header }, query, key) {
  return !header.causal || key <= query;
}

export function best(values, most) {
  const places = [];
  for (let i = 0; i < values.length; i++) if (values[i] >= NUMBER_FROM) places.push(i);
  return places.sort((a, b) => values[b] - values[a] || a - b).slice(0, most);
}

export function nameOf(side, position) {
  if (side.rows) return side.rows[position];
  const name = side.tokens[position].join("").replace(/^·(?=.)/, "");
  return side.kinds[position] === 1 ? name : `“${name}”`;
}

// At most once a frame.
export function soon(state, act) {
  cancelAnimationFrame(state.frame);
  state.frame = requestAnimationFrame(act);
}

export function tell(state, name, value) {
  state.echoes[name].told(value);
  state.tell("chosen", name === "heads" ? { heads: value } : { token: value });
}
