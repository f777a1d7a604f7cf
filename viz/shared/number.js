// Numbers as people read them.

// Three significant digits, never scientific notation, and number and sign on one line. What is not certain is never rounded up
// to 100.
/** @type {(p: number) => string} */
export function percent(p) {
  const hundred = 100 * p;
  if (!(hundred >= 0)) return "–";
  if (hundred === 0) return "0\u00a0%";
  if (hundred < 0.001) return "under 0.001\u00a0%";
  if (hundred >= 99.95 && hundred < 99.99999) return "over 99.9\u00a0%";
  return hundred.toPrecision(3) + "\u00a0%";
}

// Of a weight that came as a byte, which is right to 0.2 of a hundred: no more digits than that.
/** @type {(weight: number) => string} */
export function roughly(weight) {
  if (Number.isNaN(weight)) return "–";
  const hundred = 100 * weight;
  return (hundred < 0.2 ? "<0.2" : hundred.toFixed(hundred < 9.95 ? 1 : 0)) + "\u00a0%";
}

// Three significant digits or more down to a hundredth, five places at the most, never scientific notation. What is less than 1
// is not rounded up to it as long as five places tell.
/** @type {(value: number) => string} */
export function exactly(value) {
  if (!(Math.abs(value) < Infinity)) return Number.isNaN(value) ? "–" : value > 0 ? "∞" : "−∞";
  const size = Math.abs(value);
  const places = size >= 1000 ? 0 : size >= 100 ? 1 : size >= 1 || size === 0 ? 2 : size >= 0.1 ? 3 : size >= 0.01 ? 4 : 5;
  const short = size.toFixed(places);
  const text = short === "1.000" && size < 0.999995 ? size.toFixed(5) : short;
  return value < 0 && Number(text) ? "−" + text : text;
}

// As `exactly`, but whole numbers, such as ids, are written whole.
/** @type {(value: number) => string} */
export function figure(value) {
  return Number.isInteger(value) ? String(value).replace("-", "−") : exactly(value);
}

// With its sign; places: as many and no more.
/** @type {(value: number, places?: number) => string} */
export function signed(value, places) {
  const text =
    places === undefined
      ? exactly(value)
      : value
          .toFixed(places)
          .replace(/^-(?=.*[1-9])/, "−")
          .replace("-", "");
  return text.startsWith("−") ? text : "+" + text;
}

// Three significant digits, never scientific notation, whole numbers whole.
/** @type {(value: number, unit?: string) => string} */
export function number(value, unit = "") {
  if (!Number.isFinite(value)) return "–";
  if (unit === "%") return percent(value);
  const size = Math.abs(value);
  const digits = Number.isInteger(value) ? 0 : Math.max(0, 2 - Math.floor(Math.log10(Math.max(size, 1e-9))));
  const text =
    size > 0 && size < 0.001
      ? value < 0
        ? "between −0.001 and 0"
        : "under 0.001"
      : value.toFixed(Math.min(digits, 5)).replace("-", "−");
  return unit ? `${text} ${unit}` : text;
}

// A number at the end of a scale: three significant digits, without the zeros at their end.
/** @type {(value: number, unit?: string) => string} */
export function tick(value, unit = "") {
  const size = unit === "%" ? 100 * value : value;
  const short = Math.abs(size) < 100 ? Number(size.toPrecision(3)) : Math.round(size);
  if (unit !== "%" && short !== 0 && Math.abs(short) < 0.001) return number(value, unit);
  const text = String(short).replace("-", "−");
  if (unit === "%") return text + "\u00a0%";
  return unit ? `${text} ${short === 1 ? unit.replace(/s$/, "") : unit}` : text;
}

// How many there are of something.
/** @type {(n: number, one: string, many: string) => string} */
export function counted(n, one, many) {
  return `${n.toLocaleString("en")} ${n === 1 ? one : many}`;
}
