// How many digits the formula has: as many as one needs who redoes it with the numbers that it shows, and comes to the same.

import { exactly, percent } from "../../shared/number.js";

/** @typedef {import("./types").Facts} Facts */

const LEAST = 2;
const MOST = 6; // decimal places

// A number with so many decimal places.
/** @type {(value: number, places: number) => string} */
export function rounded(value, places) {
  if (!(Math.abs(value) < Infinity)) return exactly(value);
  const text = Math.abs(value).toFixed(places);
  return value < 0 && Number(text) ? "−" + text : text;
}

// What is multiplied by: two places more, or as it is where that is shorter (1, 0.25).
/** @type {(value: number, places: number) => string} */
export function factor(value, places) {
  const text = rounded(value, places + 2);
  return String(value).length < text.length && value >= 0.001 ? String(value) : text;
}

// The decimal places of all sums in the formula. cap: of scores, or null; heat: what the score was divided by; weight: null where
// the key is masked.
/** @type {(facts: Facts) => number} */
export function placesOf({ raw, scale, bias, cap, score, heat = 1, added, bottom, weight }) {
  for (let places = LEAST; places < MOST; places++) {
    /** @type {(value: number, by?: number) => number} */
    const near = (value, by = places) => Number(value.toFixed(by));
    const scaled = near(raw) * near(scale, places + 2);
    const product = cap === null ? near(scaled + near(bias)) === near(score * heat) : near(scaled) === near(raw * scale);
    const share = Math.exp(near(score + added) - near(bottom));
    const all = Math.min(share, weight ?? 0) >= 0.9995; // nearly all is all: no digits for what is left
    if (product && (weight === null || all || percent(share) === percent(weight))) return places;
  }
  return MOST;
}
