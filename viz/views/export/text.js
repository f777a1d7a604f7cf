// Text, line by line as it is set.

import { colour, painted, safe, scratch, short, tag } from "./pen.js";
import { CLIPS, reach } from "./reach.js";

/** @typedef {import("./types").Attributes} Attributes */
/** @typedef {import("./types").Frame} Frame */
/** @typedef {import("./types").Line} Line */
/** @typedef {import("./types").Page} Page */

const DECORATIONS = [
  { kind: "line-through", place: -0.3 }, // and where it stands, as a share of the size of the text
  { kind: "underline", place: 0.12 },
];
/** @type {Map<string, { up: number, down: number }>} */
const tall = new Map();

/** @type {(style: CSSStyleDeclaration) => { up: number, down: number }} */
function metrics(style) {
  const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  let heights = tall.get(font);
  if (!heights) {
    scratch().font = font;
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = scratch().measureText("x");
    tall.set(font, (heights = { up, down }));
  }
  return heights;
}

/** @type {(page: Page, node: Text, style: CSSStyleDeclaration, angle: number) => void} */
export function text(page, node, style, angle) {
  const { up, down } = metrics(style);
  if (!parseFloat(style.fontSize) || !colour(style.color).opacity) return;
  for (const line of linesOf(node, style)) {
    const { words, rect, cut } = line;
    if (!words.trim() || !reach(page, rect)) continue;
    const upright = Math.round(angle / 90) % 2;
    const [long, thick] = upright ? [rect.height, rect.width] : [rect.width, rect.height];
    const base = (thick * up) / (up + down);
    const rtl = style.direction === "rtl";
    /** @type {Attributes} */
    const look = { "font-family": style.fontFamily, "font-size": style.fontSize, ...painted("fill", style.color) };
    if (style.fontWeight !== "400") look["font-weight"] = style.fontWeight;
    if (style.fontStyle !== "normal") look["font-style"] = style.fontStyle;
    if (style.letterSpacing !== "normal") look["letter-spacing"] = style.letterSpacing;
    if (rtl) look.direction = "rtl";
    Object.assign(look, halo(style));
    if (!cut && [...words].length > 1) Object.assign(look, { textLength: long, lengthAdjust: "spacingAndGlyphs" }); // also in another font
    look.style = `white-space:pre${style.textShadow === "none" ? "" : ";paint-order:stroke"}${style.fontVariantNumeric === "normal" ? "" : ";font-variant-numeric:" + style.fontVariantNumeric}`;
    const at = { x: rect.left, y: rect.top + base };
    if (angle % 360) {
      const [x, y] = [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];
      Object.assign(at, { x: -long / 2, y: base - thick / 2 });
      look.transform = `translate(${short(x)} ${short(y)}) rotate(${short(angle % 360)})`;
    }
    if (rtl) at.x += long;
    page.families.add(style.fontFamily);
    page.parts.push(tag("text", { ...at, ...look }, safe(words)));
    for (const { kind, place } of DECORATIONS)
      if (decorated(node.parentElement, kind) && !(angle % 360)) {
        const y = rect.top + base + place * parseFloat(style.fontSize);
        page.parts.push(
          tag("line", { x1: rect.left, x2: rect.right, y1: y, y2: y, ...painted("stroke", style.color), "stroke-width": 1 }),
        );
      }
  }
}

// A shadow on all sides of the letters, as over an image, is a line around them.
/** @type {(style: CSSStyleDeclaration) => Attributes} */
function halo({ textShadow }) {
  if (textShadow === "none") return {};
  const shade = /^(rgba?\([^)]*\)|#\w+)/.exec(textShadow)?.[0] ?? "#000";
  return { ...painted("stroke", shade), "stroke-width": 3, "stroke-opacity": 0.6, "stroke-linejoin": "round" };
}

// A line through the text of an element runs through that of its inline children too.
/** @type {(node: Element | null, kind: string) => boolean} */
function decorated(node, kind) {
  for (let above = node; above; above = above.parentElement) {
    const style = getComputedStyle(above);
    if (style.textDecorationLine.includes(kind)) return true;
    if (!style.display.startsWith("inline")) return false;
  }
  return false;
}

// The lines of a text node as they are set: {words, rect, cut}; cut where "…" stands for the end.
/** @type {(node: Text, style: CSSStyleDeclaration) => Line[]} */
function linesOf(node, style) {
  const range = document.createRange();
  /** @type {(from: number, to: number) => DOMRect[]} */
  const rectOf = (from, to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    return [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
  };
  const { data } = node;
  const whole = data ? rectOf(0, data.length) : [];
  if (!whole.length) return [];
  const kept = /pre|break-spaces/.test(style.whiteSpace);
  /** @type {(words: string) => string} */
  const tidy = (words) => (kept ? words.replace(/[\r\n]/g, "").replace(/\t/g, " ") : words.replace(/\s+/g, " "));
  /** @type {Line[]} */
  const lines = [];
  if (whole.length === 1) {
    let [from, to] = [0, data.length];
    while (from < to && /\s/.test(data[from]) && !rectOf(from, from + 1).length) from++;
    while (to > from && /\s/.test(data[to - 1]) && !rectOf(to - 1, to).length) to--;
    lines.push({ words: tidy(data.slice(from, to)), rect: whole[0] });
  } else {
    for (let i = 0; i < data.length;) {
      const next = i + String.fromCodePoint(data.codePointAt(i) ?? 0).length;
      const [rect] = rectOf(i, next);
      const last = lines.at(-1);
      const piece = data.slice(i, next);
      i = next;
      if (!rect) {
        if (last && !/\s/.test(piece)) last.words += piece; // joined to the sign before it
        continue;
      }
      if (last && Math.abs(last.rect.top - rect.top) < rect.height / 2 && Math.abs(last.rect.left - rect.left) < 1e5) {
        last.words += piece;
        const { top, bottom } = last.rect;
        last.rect = frameOf(Math.min(last.rect.left, rect.left), Math.max(last.rect.right, rect.right), top, bottom);
      } else lines.push({ words: piece, rect: frameOf(rect.left, rect.right, rect.top, rect.bottom) });
    }
    for (const line of lines) line.words = tidy(line.words);
  }
  const holder = ellipsis(node.parentElement);
  return holder ? lines.flatMap((line) => shortened(line, holder, style)) : lines;
}

/** @type {(left: number, right: number, top: number, bottom: number) => Frame} */
function frameOf(left, right, top, bottom) {
  return { left, right, top, bottom, width: right - left, height: bottom - top };
}

// The element that puts "…" in the place of what does not fit into it, if it does.
/** @type {(node: Element | null) => Element | null} */
function ellipsis(node) {
  for (let above = node; above; above = above.parentElement) {
    const style = getComputedStyle(above);
    if (style.textOverflow === "ellipsis" && CLIPS.test(style.overflowX))
      return above.scrollWidth > above.clientWidth ? above : null;
    if (!style.display.startsWith("inline")) return null;
  }
  return null;
}

/** @type {(line: Line, holder: Element, style: CSSStyleDeclaration) => Line[]} */
function shortened(line, holder, style) {
  const outer = holder.getBoundingClientRect();
  const look = getComputedStyle(holder);
  const end = outer.right - parseFloat(look.paddingRight) - parseFloat(look.borderRightWidth);
  const begin = outer.left + parseFloat(look.paddingLeft) + parseFloat(look.borderLeftWidth);
  const rtl = style.direction === "rtl"; // its end is at the left
  if (rtl ? line.rect.left >= begin - 0.5 : line.rect.right <= end + 0.5) return [line];
  const { left, right, top, bottom } = line.rect;
  const room = rtl ? right - begin : end - left;
  const pen = scratch();
  pen.font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  const letters = [...line.words];
  while (letters.length && pen.measureText(letters.join("") + "…").width > room) letters.pop();
  if (!letters.length) return [];
  const rect = { left: rtl ? begin : left, right: rtl ? right : end, top, bottom, width: room, height: bottom - top };
  return [{ words: letters.join("") + "…", rect, cut: true }];
}
