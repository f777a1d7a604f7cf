// Pictures on canvas, and those that are SVG already.

import { box } from "./boxes.js";
import { translated } from "./look.js";
import { colour, legal, Pen, short, SVG, tag } from "./pen.js";
import { meet, reach } from "./reach.js";

/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Page} Page */
/** @typedef {import("../../shared/types").Brush} Brush */

/** @type {(page: Page, node: HTMLCanvasElement) => void} */
export function canvas(page, node) {
  const rect = node.getBoundingClientRect();
  if (!node.width || !node.height || !reach(page, rect)) return;
  const { left: x, top: y, width, height } = rect;
  if (node.redraw) {
    const pen = new Pen(node);
    node.pen = /** @type {Brush} */ (/** @type {unknown} */ (pen)); // it has as much of a context as our views use
    try {
      node.redraw();
    } finally {
      delete node.pen;
      node.redraw(); // on the canvas itself, which setting its size has emptied
    }
    if (pen.parts.length) {
      const scale = `scale(${short(width / node.width)} ${short(height / node.height)})`;
      const drawn = tag("g", { transform: `translate(${short(x)} ${short(y)}) ${scale}` }, pen.parts.join("\n"));
      const id = "clip" + page.ids++; // a canvas cuts off what is drawn outside of it
      page.defs.push(tag("clipPath", { id }, tag("rect", { x, y, width, height })));
      page.parts.push(tag("g", { "clip-path": `url(#${id})` }, drawn));
    }
    return;
  }
  const { imageRendering } = getComputedStyle(node);
  /** @type {import("./types").Attributes} */
  const look = imageRendering === "auto" ? {} : { style: `image-rendering:${imageRendering}` };
  page.parts.push(tag("image", { x, y, width, height, preserveAspectRatio: "none", ...look, href: node.toDataURL() }));
}

const INHERITED = [
  "fill",
  "fill-opacity",
  "fill-rule",
  "stroke",
  "stroke-width",
  "stroke-opacity",
  "stroke-dasharray",
  "stroke-linecap",
  "stroke-linejoin",
  "font-family",
  "font-size",
  "font-weight",
  "font-style",
  "text-anchor",
  "visibility",
  "white-space",
  "image-rendering",
];

const OWN = {
  opacity: "1",
  "clip-path": "none",
  mask: "none",
  "dominant-baseline": "auto",
  "stop-color": "rgb(0, 0, 0)",
  "stop-opacity": "1",
};

const SHAPES =
  /^(svg|g|path|rect|circle|ellipse|line|polyline|polygon|text|tspan|image|defs|clipPath|linearGradient|radialGradient|stop|use|pattern|marker|symbol)$/;

// A picture that is SVG already (Plotly's): copied with the look that the page's style gives it.
/** @type {(page: Page, node: SVGElement, style: CSSStyleDeclaration) => void} */
export function inline(page, node, style) {
  const rect = node.getBoundingClientRect();
  if (!(rect.width > 0 && rect.height > 0)) return;
  const copy = styled(page, node, null);
  if (!copy) return;
  for (const [name, value] of Object.entries({ x: rect.left, y: rect.top, width: rect.width, height: rect.height }))
    copy.setAttribute(name, short(value));
  if (colour(style.backgroundColor).opacity) box(page, rect, style);
  let any = false;
  for (const shape of node.querySelectorAll("path, rect, text, image, circle, line, polygon, polyline")) {
    if (shape.closest("defs, clipPath")) continue;
    const place = shape.getBoundingClientRect();
    if (place.width < 1e4 && place.height < 1e4 && (place.width || place.height)) any = reach(page, meet(rect, place)) || any;
  }
  if (any) page.parts.push(new XMLSerializer().serializeToString(copy));
}

/** @type {(page: Page, node: Element, parent: Element | null) => SVGElement | null} */
function styled(page, node, parent) {
  const style = getComputedStyle(node);
  if (!SHAPES.test(node.localName) || style.display === "none") return null;
  const copy = document.createElementNS(SVG, node.localName);
  for (const { name, value } of node.attributes) {
    if (/^(class|style|on.*|data-.*|pointer-events|href)$/.test(name)) continue;
    if (name === "xlink:href") continue;
    copy.setAttribute(name, value);
  }
  const href = page.look.images?.get(node) ?? node.getAttribute("href") ?? node.getAttribute("xlink:href");
  if (href && /^(data:image\/|#)/.test(href)) copy.setAttribute("href", href);
  else if (node.localName === "image") return null; // it stands elsewhere
  const inDefs = Boolean(node.closest("clipPath, mask"));
  const before = parent && getComputedStyle(parent);
  for (const name of INHERITED) {
    const value = style.getPropertyValue(name);
    if (value && !inDefs && (!before || before.getPropertyValue(name) !== value)) put(page, node, copy, name, value);
    else copy.removeAttribute(name);
  }
  for (const [name, usual] of Object.entries(OWN)) {
    const value = style.getPropertyValue(name);
    if (value && value !== usual) put(page, node, copy, name, value);
  }
  if (/^(text|tspan)$/.test(node.localName)) page.families.add(style.fontFamily);
  for (const child of node.childNodes) {
    if (child instanceof Text) copy.append(document.createTextNode(legal(child.data)));
    else if (child instanceof Element) {
      const twin = styled(page, child, node);
      if (twin) copy.append(twin);
    }
  }
  return copy;
}

/** @type {(page: Page, node: Element, copy: SVGElement, name: string, value: string) => void} */
function put(page, node, copy, name, value) {
  if (/^(white-space|image-rendering)$/.test(name)) copy.style.setProperty(name, value);
  else if (/^(fill|stroke|stop-color)$/.test(name) && /^(rgb|color|#)/.test(value)) {
    const { hex, opacity } = colour(page.look.translate ? translated(node, value, page.look.translate) : value);
    copy.setAttribute(name, hex);
    if (opacity < 1) copy.style.setProperty(name.replace("-color", "") + "-opacity", String(opacity)); // next to one that the page sets
  } else copy.setAttribute(name, value.replace(/url\("[^"#]*(#[^"]+)"\)/, "url($1)"));
}
