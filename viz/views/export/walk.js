// What is drawn in a part of the page, as one SVG: boxes with their borders, text line by line, pictures in SVG and on canvas.
// It is drawn from what the browser has laid out, so selection, zoom and theme are as they are seen.

import { box, styleOf } from "./boxes.js";
import { undoAll, wear } from "./look.js";
import { colour, painted, safe, scratch, SVG, tag } from "./pen.js";
import { canvas, inline } from "./pictures.js";
import { CLIPS, meet } from "./reach.js";
import { text } from "./text.js";

/** @typedef {import("./types").Attributes} Attributes */
/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Page} Page */
/** @typedef {import("./types").Picture} Picture */
/** @typedef {import("./types").Rect} Rect */
/** @typedef {import("./types").Undo} Undo */

const MARGIN = 12; // CSS pixels around the picture
const HEADING = { size: 16, height: 28 }; // CSS pixels of its heading, and of the room for it

// What is there only to use a view with: it takes no room in a picture of it. A button may be a row of numbers, so a view marks those of
// its own that say nothing (`data-take=no`); Streamlit's buttons have a `data-testid`.
export const TOOLS =
  "button[data-testid], .toggle, .options, input, select, textarea, label:has(input, select), details:not([open]), summary, " +
  ".modebar-container, [data-testid=stElementToolbar], [data-take=no]";

// The picture of an element: {svg, width, height, families}, where families are the fonts that its text asks for. look: from
// `lookOf`, where it is not to be as it is on the page. heading: a line that is written above it.
/** @type {(root: Element, given?: { title?: string, heading?: string, words?: string, metadata?: string, look?: Look }) => Picture} */
export function pictureOf(root, { title = "", heading = "", words = "", metadata = "", look = {} } = {}) {
  /** @type {Undo} */
  const undo = [];
  try {
    const { to, scheme = "" } = look;
    if (to) wear([root, ...within(root)], { to, scheme }, change, undo);
    const all = [root, ...within(root)];
    for (const node of all) {
      if (node.matches(TOOLS)) change(node, "display: none !important", undo);
      else generated(node, undo);
    }
    /** @type {Page} */
    const page = { parts: [], defs: [], box: null, families: new Set(), ids: 0, clip: null, look };
    draw(page, root, 0);
    const { left, top, right, bottom } = page.box ?? root.getBoundingClientRect();
    const above = heading ? HEADING.height : 0;
    const width = Math.ceil(Math.max(right - left, lengthOf(root, heading))) + 2 * MARGIN;
    const height = Math.ceil(bottom - top) + above + 2 * MARGIN;
    const [x, y] = [left - MARGIN, top - above - MARGIN].map(Math.floor);
    if (heading) page.parts.push(headingAt(page, root, heading, x + MARGIN, y + MARGIN + HEADING.size));
    const parts = [
      tag("title", {}, safe(title)),
      tag("desc", {}, safe(words)),
      ...(metadata ? [tag("metadata", {}, safe(metadata))] : []),
      ...(page.defs.length ? [tag("defs", {}, page.defs.join(""))] : []),
      ...grounds(look, root).map((css) => tag("rect", { x, y, width, height, ...painted("fill", css) })),
      ...page.parts,
    ];
    const svg = tag("svg", { xmlns: SVG, width, height, viewBox: `${x} ${y} ${width} ${height}` }, parts.join("\n"));
    return { svg, width, height, families: page.families };
  } finally {
    undoAll(undo);
  }
}

// The font of a heading.
/** @type {(root: Element) => string} */
const family = (root) => getComputedStyle(root).fontFamily;

// How long a heading is, in CSS pixels.
/** @type {(root: Element, heading: string) => number} */
function lengthOf(root, heading) {
  scratch().font = `700 ${HEADING.size}px ${family(root)}`;
  return scratch().measureText(heading).width;
}

// A heading in the ink and font of the picture, as SVG.
/** @type {(page: Page, root: Element, heading: string, x: number, y: number) => string} */
function headingAt(page, root, heading, x, y) {
  const ink = painted("fill", page.look.to?.ink ?? getComputedStyle(root).color);
  page.families.add(family(root));
  return tag(
    "text",
    { x, y, "font-family": family(root), "font-size": `${HEADING.size}px`, "font-weight": "700", ...ink },
    safe(heading),
  );
}

// All elements inside of one, those of shadow roots too.
/** @type {(node: Element, nodes?: Element[]) => Element[]} */
function within(node, nodes = []) {
  for (const child of (node.shadowRoot ?? node).children) {
    nodes.push(child);
    if (child.namespaceURI !== SVG) within(child, nodes);
  }
  return nodes;
}

/** @type {(node: Element, css: string, undo: Undo) => void} */
function change(node, css, undo) {
  const before = node.getAttribute("style");
  node.setAttribute("style", `${before ?? ""};${css}`);
  undo.push(() => (before === null ? node.removeAttribute("style") : node.setAttribute("style", before)));
}

// What CSS adds before or after an element has no box that a script can ask for: an element of the same look takes its place.
/** @type {(node: Element, undo: Undo) => void} */
function generated(node, undo) {
  for (const which of ["::before", "::after"]) {
    const style = getComputedStyle(node, which);
    const content = style.content;
    if (!content || content === "none" || content === "normal" || !content.startsWith('"') || style.display === "none") continue;
    const stand = document.createElement("span");
    for (const name of style) stand.style.setProperty(name, style.getPropertyValue(name));
    stand.textContent = JSON.parse(
      content.replace(/\\([0-9a-f]{1,6}) ?/gi, (_, code) => "\\u" + code.padStart(4, "0")).replace(/\n/g, "\\n"),
    );
    const mark = "stand" + which.slice(2);
    const rule = document.createElement("style");
    rule.textContent = `[data-${mark}]${which} { content: none !important; }`;
    node.setAttribute(`data-${mark}`, "");
    if (which === "::before") node.prepend(stand);
    else node.append(stand);
    node.append(rule);
    undo.push(() => {
      stand.remove();
      rule.remove();
      node.removeAttribute(`data-${mark}`);
    });
  }
}

// What is under all: one colour, or nothing.
/** @type {(look: Look, root: Element) => string[]} */
function grounds({ ground, to }, root) {
  return ground === "none" ? [] : [ground === "white" ? "#ffffff" : paper(root, to?.paper)];
}

// The element around one, also outside of its shadow root.
/** @type {(node: Element) => Element | null} */
function parentOf(node) {
  const root = node.getRootNode();
  return node.parentElement ?? (root instanceof ShadowRoot ? root.host : null);
}

// page: the page's, where that is not as it is on screen; what is inside of a view has changed with it.
/** @type {(node: Element, page?: string) => string} */
function paper(node, page) {
  /** @type {Element | null} */
  let above = node;
  for (; above; above = parentOf(above)) {
    if (page && !above.closest(".hl")) return page;
    const background = getComputedStyle(above).backgroundColor;
    if (colour(background).opacity === 1) return background;
  }
  return "#ffffff";
}

/** @type {(page: Page, node: Element, turned: number) => void} */
function draw(page, node, turned) {
  const style = getComputedStyle(node);
  if (
    style.display === "none" ||
    style.opacity === "0" ||
    /inset\(50%/.test(style.clipPath) ||
    /^(STYLE|SCRIPT)$/.test(node.tagName)
  )
    return;
  const { parts } = page;
  const start = parts.length;
  const visible = style.visibility === "visible";
  const angle = turned + turnOf(style);
  if (node instanceof SVGElement && node.tagName === "svg") {
    if (visible) inline(page, node, style);
    return;
  }
  if (style.display !== "contents" && visible) for (const rect of node.getClientRects()) box(page, rect, style);
  if (node instanceof HTMLCanvasElement) {
    if (visible) canvas(page, node);
  } else {
    const outer = page.clip;
    const cut = clipOf(node, style);
    if (cut) page.clip = meet(outer, cut);
    const inside = parts.length;
    for (const child of inOrder(node)) {
      if (child instanceof Element) draw(page, child, angle);
      else if (visible) text(page, child, style, angle + (style.writingMode.startsWith("vertical") ? 90 : 0));
    }
    if (cut && parts.length > inside) {
      const id = "clip" + page.ids++;
      const { left: x, top: y, right, bottom } = cut;
      page.defs.push(tag("clipPath", { id }, tag("rect", { x, y, width: right - x, height: bottom - y })));
      group(parts, inside, { "clip-path": `url(#${id})` });
    }
    page.clip = outer;
  }
  if (Number(style.opacity) < 1 && parts.length > start) group(parts, start, { opacity: style.opacity });
}

// What was drawn from one part on, as a group.
/** @type {(parts: string[], from: number, attributes: Attributes) => void} */
function group(parts, from, attributes) {
  const inside = parts.splice(from).join("");
  parts.push(tag("g", attributes, inside));
}

// Children as they are painted: those with a place of their own after the others, by their z-index.
/** @type {(node: Element) => (Text | Element)[]} */
function inOrder(node) {
  const children = [...(node.shadowRoot ?? node).childNodes].filter((child) => child instanceof Text || child instanceof Element);
  /** @type {(child: Text | Element) => number} */
  const level = (child) => {
    if (child instanceof Text) return 0;
    const { position, zIndex } = getComputedStyle(child);
    return position === "static" ? 0 : zIndex === "auto" ? 0.5 : Number(zIndex) + (Number(zIndex) < 0 ? 0 : 0.5);
  };
  const levels = new Map(children.map((child) => [child, level(child)]));
  return children.sort((a, b) => (levels.get(a) ?? 0) - (levels.get(b) ?? 0));
}

/** @type {(style: CSSStyleDeclaration) => number} */
function turnOf({ rotate, transform }) {
  let angle = rotate && rotate !== "none" ? parseFloat(rotate.split(" ").at(-1) ?? "") : 0;
  const matrix = /^matrix\(([^)]+)\)/.exec(transform);
  if (matrix) {
    const [a, b] = matrix[1].split(",").map(Number);
    angle += (180 / Math.PI) * Math.atan2(b, a);
  }
  return angle;
}

// Where an element cuts off what is inside of it; null where nothing is cut.
/** @type {(node: Element, style: CSSStyleDeclaration) => Rect | null} */
function clipOf(node, style) {
  const over = node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1;
  const cuts = (CLIPS.test(style.overflow) && over) || /strict|paint|content/.test(style.contain);
  if (!cuts || style.display === "inline" || style.display === "contents") return null;
  const { left, top, right, bottom } = node.getBoundingClientRect();
  /** @type {(name: string) => number} */
  const edge = (name) => parseFloat(styleOf(style, `border${name}Width`));
  return { left: left + edge("Left"), top: top + edge("Top"), right: right - edge("Right"), bottom: bottom - edge("Bottom") };
}
