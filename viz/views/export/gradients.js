// Backgrounds of linear gradients, and how CSS writes lists and lengths.

import { colour, painted, rounded, tag } from "./pen.js";

/** @typedef {import("./types").Attributes} Attributes */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Page} Page */

// The parts of a list in CSS, whose commas inside brackets are no commas of the list.
/** @type {(css: string) => string[]} */
export function commas(css) {
  /** @type {string[]} */
  const parts = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i <= css.length; i++) {
    if (css[i] === "(") depth++;
    else if (css[i] === ")") depth--;
    else if (i === css.length || (css[i] === "," && !depth)) {
      if (css.slice(from, i).trim()) parts.push(css.slice(from, i).trim());
      from = i + 1;
    }
  }
  return parts;
}

// Backgrounds of one or of several linear gradients, each with its place.
/** @type {(page: Page, rect: Frame, style: CSSStyleDeclaration, radii: number[]) => { drawn: string[], cut: boolean }} */
export function gradients(page, rect, style, radii) {
  if (style.backgroundImage === "none") return { drawn: [], cut: false };
  const layers = commas(style.backgroundImage);
  const [sizes, xs, ys] = [style.backgroundSize, style.backgroundPositionX, style.backgroundPositionY].map(commas);
  let cut = false; // whether a layer fills its box in part, whose corners then have to be cut
  const drawn = layers
    .map((layer, i) => {
      const match = /^(repeating-)?linear-gradient\((.*)\)$/s.exec(layer);
      if (!match) return "";
      const [across, down = "auto"] = (sizes[i % sizes.length] ?? "auto").match(/calc\([^)]*\)|\S+/g) ?? ["auto"];
      const width = across === "auto" ? rect.width : length(across, rect.width);
      const height = down === "auto" ? rect.height : length(down, rect.height);
      const x = rect.left + length(xs[i % xs.length] ?? "0px", rect.width - width);
      const y = rect.top + length(ys[i % ys.length] ?? "0px", rect.height - height);
      const parts = commas(match[2]);
      const fill = match[1] ? hatching(page, parts, { x, y, width, height }) : gradient(page, parts);
      if (!fill || !(width > 0 && height > 0)) return "";
      const full = width >= rect.width - 0.5 && height >= rect.height - 0.5;
      cut ||= !full;
      return tag("path", { d: rounded(x, y, width, height, full ? radii : [0, 0, 0, 0]), ...fill });
    })
    .reverse()
    .filter(Boolean);
  return { drawn, cut };
}

// "calc(100% - 5px)" of a whole: per cent and pixels, added up.
/** @type {(css: string, whole: number) => number} */
function length(css, whole) {
  let sum = 0;
  for (const [, sign, number, unit] of css.matchAll(/([-+]?)\s*([\d.]+)(%|px)/g))
    sum += (sign === "-" ? -1 : 1) * (unit === "%" ? (Number(number) * whole) / 100 : Number(number));
  return sum;
}

// Stripes at an angle, each stop with its places in pixels, as in "rgb(0, 0, 0) 2px 4px".
/** @type {(page: Page, parts: string[], box: { x: number, y: number, width: number, height: number }) => Attributes | null} */
function hatching(page, [angle, ...colours], { x, y, width, height }) {
  const turned = (parseFloat(angle) * Math.PI) / 180;
  const [dx, dy] = [Math.sin(turned), -Math.cos(turned)];
  const long = Math.abs(width * dx) + Math.abs(height * dy);
  const stops = colours.flatMap((stop) => {
    const places = [...stop.matchAll(/\s([\d.]+)px/g)].map(([, place]) => Number(place));
    return places.map((place) => ({ css: stop.replace(/(\s[\d.]+px)+$/, ""), place }));
  });
  const period = stops.at(-1)?.place;
  if (!period || !angle.endsWith("deg")) return null;
  const [x1, y1] = [x + width / 2 - (dx * long) / 2, y + height / 2 - (dy * long) / 2];
  const end = { x2: x1 + dx * period, y2: y1 + dy * period };
  const id = "shade" + page.ids++;
  const inside = stops.map(({ css, place }) => stopOf(css, place / period)).join("");
  page.defs.push(tag("linearGradient", { id, gradientUnits: "userSpaceOnUse", spreadMethod: "repeat", x1, y1, ...end }, inside));
  return { fill: `url(#${id})` };
}

/** @type {(css: string, offset: number) => string} */
function stopOf(css, offset) {
  const look = Object.entries(painted("stop", css)).map(([name, value]) => [name === "stop" ? "stop-color" : name, value]);
  return tag("stop", { offset, ...Object.fromEntries(look) });
}

/** @type {Record<string, number[]>} */
const WAYS = { "to right": [0, 0, 1, 0], "to left": [1, 0, 0, 0], "to top": [0, 1, 0, 0], "to bottom": [0, 0, 0, 1] };

/** @type {(page: Page, parts: string[]) => Attributes | null} */
function gradient(page, parts) {
  let way = WAYS["to bottom"];
  const [first, ...others] = parts;
  let colours = others;
  if (first in WAYS) way = WAYS[first];
  else if (/^-?[\d.]+deg$/.test(first)) {
    const angle = (parseFloat(first) * Math.PI) / 180;
    const [dx, dy] = [Math.sin(angle) / 2, -Math.cos(angle) / 2];
    way = [0.5 - dx, 0.5 - dy, 0.5 + dx, 0.5 + dy];
  } else colours = parts;
  const stops = colours.map((stop, i) => {
    const place = /\s(-?[\d.]+)%$/.exec(stop);
    return { css: stop.replace(/\s-?[\d.]+%$/, ""), at: place ? Number(place[1]) / 100 : i / Math.max(1, colours.length - 1) };
  });
  if (stops.every(({ css }) => colour(css).opacity === 0)) return null;
  if (stops.every(({ css }) => css === stops[0].css)) return painted("fill", stops[0].css);
  const id = "shade" + page.ids++;
  const [x1, y1, x2, y2] = way;
  const inside = stops.map(({ css, at }) => stopOf(css, at));
  page.defs.push(tag("linearGradient", { id, x1, y1, x2, y2 }, inside.join("")));
  return { fill: `url(#${id})` };
}
