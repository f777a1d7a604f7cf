// Boxes with their grounds, shadows and borders.

import { lookUp } from "../../shared/lookup.js";
import { commas, gradients } from "./gradients.js";
import { colour, painted, rounded, short, tag } from "./pen.js";
import { reach } from "./reach.js";

/** @typedef {import("./types").Attributes} Attributes */
/** @typedef {import("./types").Edge} Edge */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Page} Page */
/** @typedef {import("./types").Shadow} Shadow */

const SIDES = ["Top", "Right", "Bottom", "Left"];
const CORNERS = ["TopLeft", "TopRight", "BottomRight", "BottomLeft"];

// A property of a computed style, by its name in JavaScript.
/** @type {(style: CSSStyleDeclaration, name: string) => string} */
export const styleOf = (style, name) => /** @type {Record<string, string>} */ (/** @type {unknown} */ (style))[name];

/** @type {(page: Page, rect: Frame, style: CSSStyleDeclaration) => void} */
export function box(page, rect, style) {
  const { left: x, top: y, width: w, height: h } = rect;
  if (!(w > 0 && h > 0)) return;
  const radii = CORNERS.map((corner) => radius(styleOf(style, `border${corner}Radius`), w));
  /** @type {(by: number) => number[]} */
  const grown = (by) => radii.map((r) => (r ? Math.max(0, r + by) : 0));
  const shadows = commas(style.boxShadow === "none" ? "" : style.boxShadow)
    .map(shadow)
    .filter(({ blur }) => blur === 0);
  const whole = rounded(x, y, w, h, radii);
  /** @type {string[]} */
  const parts = [];
  for (const { inset, across, down, spread, css } of [...shadows].reverse()) {
    if (inset) continue;
    const d = rounded(x + across - spread, y + down - spread, w + 2 * spread, h + 2 * spread, grown(spread));
    parts.push(tag("path", { d: d + whole, "fill-rule": "evenodd", ...painted("fill", css) })); // none of it under the box itself
  }
  const { hex, opacity } = colour(style.backgroundColor);
  if (opacity && !(opacity === 1 && page.look.bare?.includes(hex)))
    parts.push(tag("path", { d: whole, ...painted("fill", style.backgroundColor) }));
  const layers = gradients(page, rect, style, radii);
  if (layers.drawn.length && layers.cut && radii.some((r) => r)) {
    const id = "clip" + page.ids++;
    page.defs.push(tag("clipPath", { id }, tag("path", { d: whole })));
    parts.push(tag("g", { "clip-path": `url(#${id})` }, layers.drawn.join("")));
  } else parts.push(...layers.drawn);
  for (const { inset, across, down, spread, css } of [...shadows].reverse()) {
    if (!inset) continue;
    const hole = rounded(x + across + spread, y + down + spread, w - 2 * spread, h - 2 * spread, grown(-spread));
    const id = "clip" + page.ids++;
    page.defs.push(tag("clipPath", { id }, tag("path", { d: whole })));
    parts.push(tag("path", { d: whole + hole, "fill-rule": "evenodd", "clip-path": `url(#${id})`, ...painted("fill", css) }));
  }
  parts.push(...borders(page, rect, style, radii));
  if (parts.length && reach(page, rect)) page.parts.push(...parts);
}

/** @type {(css: string, size: number) => number} */
function radius(css, size) {
  const first = css.split(" ")[0];
  return first.endsWith("%") ? (parseFloat(first) * size) / 100 : parseFloat(first);
}

/** @type {(page: Page, rect: Frame, style: CSSStyleDeclaration, radii: number[]) => string[]} */
function borders(page, { left: x, top: y, width: w, height: h }, style, radii) {
  const edges = SIDES.map((side) => ({
    wide: styleOf(style, `border${side}Style`) === "none" ? 0 : parseFloat(styleOf(style, `border${side}Width`)),
    kind: styleOf(style, `border${side}Style`),
    css: styleOf(style, `border${side}Color`),
  }));
  const sides = edges.map((side) => (colour(side.css).opacity ? side : { ...side, wide: 0 }));
  if (!sides.some(({ wide }) => wide)) return [];
  /** @type {(edge: Edge) => Attributes} */
  const dashes = ({ wide, kind }) => {
    /** @type {Attributes} */
    const none = {};
    const pattern = lookUp({ dashed: `${3 * wide} ${2 * wide}`, dotted: `${wide} ${wide}` }, kind);
    return pattern ? { "stroke-dasharray": pattern } : none;
  };
  const [first] = sides;
  /** @type {(by: number) => string} */
  const inner = (by) =>
    rounded(
      x + by,
      y + by,
      w - 2 * by,
      h - 2 * by,
      radii.map((r) => (r ? r - by : 0)),
    );
  if (sides.every(({ wide, kind, css }) => wide === first.wide && kind === first.kind && css === first.css))
    return [
      tag("path", {
        d: inner(first.wide / 2),
        fill: "none",
        ...painted("stroke", first.css),
        "stroke-width": first.wide,
        ...dashes(first),
      }),
    ];
  const [top, right, bottom, left] = sides.map(({ wide }) => wide);
  if (radii.some((r) => r) && sides.every(({ wide }) => wide)) return ringOf(page, { x, y, w, h }, sides, radii);
  const slants = slantsOf({ x, y, w, h }, edges);
  const lines = [
    [x, y + top / 2, x + w, y + top / 2],
    [x + w - right / 2, y, x + w - right / 2, y + h],
    [x, y + h - bottom / 2, x + w, y + h - bottom / 2],
    [x + left / 2, y, x + left / 2, y + h],
  ];
  return sides.flatMap((side, i) => {
    const [x1, y1, x2, y2] = lines[i];
    if (side.wide && side.kind === "solid") return [tag("path", { d: slants[i], ...painted("fill", side.css) })];
    return side.wide
      ? [tag("line", { x1, y1, x2, y2, ...painted("stroke", side.css), "stroke-width": side.wide, ...dashes(side) })]
      : [];
  });
}

// Sides that end on the slant at which they meet the next ones, also those that nobody sees: with these, one alone is an arrowhead.
/** @type {(rect: { x: number, y: number, w: number, h: number }, edges: Edge[]) => string[]} */
function slantsOf({ x, y, w, h }, edges) {
  const [top, right, bottom, left] = edges.map(({ wide }) => wide);
  /** @type {(a: number, b: number, c: number, d: number) => number[][]} */
  const corners = (a, b, c, d) => [
    [a, b],
    [c, b],
    [c, d],
    [a, d],
  ];
  const [outer, inner] = [corners(x, y, x + w, y + h), corners(x + left, y + top, x + w - right, y + h - bottom)];
  /** @type {(corner: number[]) => string} */
  const at = (corner) => corner.map(short).join(" ");
  return outer.map((corner, i) => {
    const next = (i + 1) % 4;
    return `M${at(corner)}L${at(outer[next])}L${at(inner[next])}L${at(inner[i])}Z`;
  });
}

// A ring in the colour of most sides, and a side of another colour on top of it, as wide as it is.
/** @type {(page: Page, rect: { x: number, y: number, w: number, h: number }, sides: Edge[], radii: number[]) => string[]} */
function ringOf(page, { x, y, w, h }, sides, radii) {
  const [top, right, bottom, left] = sides.map(({ wide }) => wide);
  const hole = rounded(
    x + left,
    y + top,
    w - left - right,
    h - top - bottom,
    radii.map((r) => r - Math.min(top, right, bottom, left)),
  );
  const ring = { d: rounded(x, y, w, h, radii) + hole, "fill-rule": "evenodd" };
  const [common] = sides
    .map(({ css }) => css)
    .sort((a, b) => sides.filter((s) => s.css === b).length - sides.filter((s) => s.css === a).length);
  const strips = [
    [x, y, w, top],
    [x + w - right, y, right, h],
    [x, y + h - bottom, w, bottom],
    [x, y, left, h],
  ];
  const others = sides.flatMap(({ css }, i) => {
    if (css === common) return [];
    const id = "clip" + page.ids++;
    const [a, b, width, height] = strips[i];
    page.defs.push(tag("clipPath", { id }, tag("rect", { x: a, y: b, width, height })));
    return [tag("path", { ...ring, "clip-path": `url(#${id})`, ...painted("fill", css) })];
  });
  return [tag("path", { ...ring, ...painted("fill", common) }), ...others];
}

// "rgb(1, 2, 3) 0px 0px 0px 2px inset"
/** @type {(css: string) => Shadow} */
function shadow(css) {
  const [across, down, blur, spread] = (css.match(/-?[\d.]+px/g) ?? []).map((length) => parseFloat(length));
  return {
    inset: /\binset\b/.test(css),
    across,
    down,
    blur,
    spread,
    css: css
      .replace(/\binset\b/, "")
      .replace(/(\s*-?[\d.]+px)+\s*/, "")
      .trim(),
  };
}
