// What is drawn in a part of the page, as one SVG: boxes with their borders, text line by line, pictures in SVG and on canvas.
// It is drawn from what the browser has laid out, so selection, zoom and theme are as they are seen.

import { colour, legal, painted, Pen, rounded, safe, scratch, short, SVG, tag } from "./pen.js";

const MARGIN = 12; // CSS pixels around the picture
// What is there only to use a view with: it takes no room in a picture of it.
export const TOOLS =
  "button:not([aria-pressed]), .toggle, .options, input, select, textarea, label:has(input, select), details:not([open]), summary, " +
  ".modebar-container, [data-testid=stElementToolbar], [data-take=no]";
const CLIPS = /hidden|auto|scroll|clip/;

// The picture of an element: {svg, width, height, families}, where families are the fonts that its text asks for.
export function pictureOf(root, { title = "", words = "", metadata = "" } = {}) {
  const undo = [];
  try {
    const all = [root, ...within(root)];
    for (const node of all) {
      if (node.matches(TOOLS)) change(node, "display: none !important", undo);
      else generated(node, undo);
    }
    const page = { parts: [], defs: [], box: null, families: new Set(), ids: 0, clip: null };
    draw(page, root, 0);
    const { left, top, right, bottom } = page.box ?? root.getBoundingClientRect();
    const [width, height] = [Math.ceil(right - left) + 2 * MARGIN, Math.ceil(bottom - top) + 2 * MARGIN];
    const [x, y] = [left - MARGIN, top - MARGIN].map(Math.floor);
    const parts = [
      tag("title", {}, safe(title)),
      tag("desc", {}, safe(words)),
      ...(metadata ? [tag("metadata", {}, safe(metadata))] : []),
      ...(page.defs.length ? [tag("defs", {}, page.defs.join(""))] : []),
      tag("rect", { x, y, width, height, ...painted("fill", paper(root)) }),
      ...page.parts,
    ];
    const svg = tag("svg", { xmlns: SVG, width, height, viewBox: `${x} ${y} ${width} ${height}` }, parts.join("\n"));
    return { svg, width, height, families: page.families };
  } finally {
    while (undo.length) undo.pop()();
  }
}

// All elements inside of one, those of shadow roots too.
function within(node, found = []) {
  for (const child of (node.shadowRoot ?? node).children) {
    found.push(child);
    if (child.namespaceURI !== SVG) within(child, found);
  }
  return found;
}

function change(node, css, undo) {
  const before = node.getAttribute("style");
  node.setAttribute("style", `${before ?? ""};${css}`);
  undo.push(() => (before === null ? node.removeAttribute("style") : node.setAttribute("style", before)));
}

// What CSS adds before or after an element has no box that a script can ask for: an element of the same look takes its place.
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
    node.dataset[mark] = "";
    if (which === "::before") node.prepend(stand);
    else node.append(stand);
    node.append(rule);
    undo.push(() => {
      stand.remove();
      rule.remove();
      delete node.dataset[mark];
    });
  }
}

function paper(node) {
  for (let one = node; one; one = one.parentElement ?? one.getRootNode().host) {
    const background = getComputedStyle(one).backgroundColor;
    if (colour(background).opacity === 1) return background;
  }
  return "#ffffff";
}

// ---------------------------------------------------------------- elements

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
  if (node.tagName === "svg") {
    if (visible) inline(page, node, style);
    return;
  }
  if (style.display !== "contents" && visible) for (const rect of node.getClientRects()) box(page, rect, style);
  if (node.tagName === "CANVAS") {
    if (visible) canvas(page, node);
  } else {
    const outer = page.clip;
    const cut = clipOf(node, style);
    if (cut) page.clip = meet(outer, cut);
    const inside = parts.length;
    for (const child of inOrder(node)) {
      if (child.nodeType !== Node.TEXT_NODE) draw(page, child, angle);
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
  if (style.opacity < 1 && parts.length > start) group(parts, start, { opacity: style.opacity });
}

// What was drawn from one part on, as a group.
function group(parts, from, attributes) {
  const inside = parts.splice(from).join("");
  parts.push(tag("g", attributes, inside));
}

// Children as they are painted: those with a place of their own after the others, by their z-index.
function inOrder(node) {
  const children = [...(node.shadowRoot ?? node).childNodes].filter(
    (one) => one.nodeType === Node.TEXT_NODE || one.nodeType === Node.ELEMENT_NODE,
  );
  const level = (child) => {
    if (child.nodeType === Node.TEXT_NODE) return 0;
    const { position, zIndex } = getComputedStyle(child);
    return position === "static" ? 0 : zIndex === "auto" ? 0.5 : Number(zIndex) + (Number(zIndex) < 0 ? 0 : 0.5);
  };
  const levels = new Map(children.map((child) => [child, level(child)]));
  return children.sort((a, b) => levels.get(a) - levels.get(b));
}

function turnOf({ rotate, transform }) {
  let angle = rotate && rotate !== "none" ? parseFloat(rotate.split(" ").at(-1)) : 0;
  const matrix = /^matrix\(([^)]+)\)/.exec(transform);
  if (matrix) {
    const [a, b] = matrix[1].split(",").map(Number);
    angle += (180 / Math.PI) * Math.atan2(b, a);
  }
  return angle;
}

// Where an element cuts off what is inside of it; null where nothing is cut.
function clipOf(node, style) {
  const over = node.scrollWidth > node.clientWidth + 1 || node.scrollHeight > node.clientHeight + 1;
  const cuts = (CLIPS.test(style.overflow) && over) || /strict|paint|content/.test(style.contain);
  if (!cuts || style.display === "inline" || style.display === "contents") return null;
  const { left, top, right, bottom } = node.getBoundingClientRect();
  const edge = (name) => parseFloat(style[`border${name}Width`]);
  return { left: left + edge("Left"), top: top + edge("Top"), right: right - edge("Right"), bottom: bottom - edge("Bottom") };
}

function meet(a, b) {
  if (!a) return b;
  const [left, top] = [Math.max(a.left, b.left), Math.max(a.top, b.top)];
  return { left, top, right: Math.max(left, Math.min(a.right, b.right)), bottom: Math.max(top, Math.min(a.bottom, b.bottom)) };
}

// Keeps in mind how far the picture goes, as far as it can be seen; false for what cannot be.
function reach(page, rect) {
  const seen = page.clip ? meet(page.clip, rect) : rect;
  if (!(seen.right > seen.left && seen.bottom > seen.top)) return false;
  const { box } = page;
  if (!box) page.box = { left: seen.left, top: seen.top, right: seen.right, bottom: seen.bottom };
  else {
    box.left = Math.min(box.left, seen.left);
    box.top = Math.min(box.top, seen.top);
    box.right = Math.max(box.right, seen.right);
    box.bottom = Math.max(box.bottom, seen.bottom);
  }
  return true;
}

// ---------------------------------------------------------------- boxes

const SIDES = ["Top", "Right", "Bottom", "Left"];
const CORNERS = ["TopLeft", "TopRight", "BottomRight", "BottomLeft"];

function box(page, rect, style) {
  const { left: x, top: y, width: w, height: h } = rect;
  if (!(w > 0 && h > 0)) return;
  const radii = CORNERS.map((corner) => radius(style[`border${corner}Radius`], w));
  const grown = (by) => radii.map((r) => (r ? Math.max(0, r + by) : 0));
  const shadows = commas(style.boxShadow === "none" ? "" : style.boxShadow)
    .map(shadow)
    .filter(({ blur }) => blur === 0);
  const whole = rounded(x, y, w, h, radii);
  const parts = [];
  for (const { inset, across, down, spread, css } of [...shadows].reverse()) {
    if (inset) continue;
    const d = rounded(x + across - spread, y + down - spread, w + 2 * spread, h + 2 * spread, grown(spread));
    parts.push(tag("path", { d: d + whole, "fill-rule": "evenodd", ...painted("fill", css) })); // none of it under the box itself
  }
  if (colour(style.backgroundColor).opacity) parts.push(tag("path", { d: whole, ...painted("fill", style.backgroundColor) }));
  const layers = gradients(page, rect, style, radii);
  if (layers.length && layers.cut && radii.some((r) => r)) {
    const id = "clip" + page.ids++;
    page.defs.push(tag("clipPath", { id }, tag("path", { d: whole })));
    parts.push(tag("g", { "clip-path": `url(#${id})` }, layers.join("")));
  } else parts.push(...layers);
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

function radius(css, size) {
  const first = css.split(" ")[0];
  return first.endsWith("%") ? (parseFloat(first) * size) / 100 : parseFloat(first);
}

function borders(page, { left: x, top: y, width: w, height: h }, style, radii) {
  const sides = SIDES.map((side) => ({
    wide: style[`border${side}Style`] === "none" ? 0 : parseFloat(style[`border${side}Width`]),
    kind: style[`border${side}Style`],
    css: style[`border${side}Color`],
  })).map((side) => (colour(side.css).opacity ? side : { ...side, wide: 0 }));
  if (!sides.some(({ wide }) => wide)) return [];
  const dashes = ({ wide, kind }) =>
    ({ dashed: { "stroke-dasharray": `${3 * wide} ${2 * wide}` }, dotted: { "stroke-dasharray": `${wide} ${wide}` } })[kind] ??
    {};
  const [first] = sides;
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
  const lines = [
    [x, y + top / 2, x + w, y + top / 2],
    [x + w - right / 2, y, x + w - right / 2, y + h],
    [x, y + h - bottom / 2, x + w, y + h - bottom / 2],
    [x + left / 2, y, x + left / 2, y + h],
  ];
  return sides.flatMap((side, i) => {
    const [x1, y1, x2, y2] = lines[i];
    return side.wide
      ? [tag("line", { x1, y1, x2, y2, ...painted("stroke", side.css), "stroke-width": side.wide, ...dashes(side) })]
      : [];
  });
}

// A ring in the colour of most sides, and a side of another colour on top of it, as wide as it is.
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
function shadow(css) {
  const [across, down, blur, spread] = (css.match(/-?[\d.]+px/g) ?? []).map(parseFloat);
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

// The parts of a list in CSS, whose commas inside brackets are no commas of the list.
function commas(css) {
  const found = [];
  let depth = 0;
  let from = 0;
  for (let i = 0; i <= css.length; i++) {
    if (css[i] === "(") depth++;
    else if (css[i] === ")") depth--;
    else if (i === css.length || (css[i] === "," && !depth)) {
      if (css.slice(from, i).trim()) found.push(css.slice(from, i).trim());
      from = i + 1;
    }
  }
  return found;
}

// Backgrounds of one or of several linear gradients, each with its place.
function gradients(page, rect, style, radii) {
  if (style.backgroundImage === "none") return [];
  const layers = commas(style.backgroundImage);
  const [sizes, xs, ys] = ["backgroundSize", "backgroundPositionX", "backgroundPositionY"].map((name) => commas(style[name]));
  let cut = false; // whether a layer fills its box in part, whose corners then have to be cut
  const drawn = layers
    .map((layer, i) => {
      const found = /^linear-gradient\((.*)\)$/s.exec(layer);
      if (!found) return "";
      const [across, down = "auto"] = (sizes[i % sizes.length] ?? "auto").match(/calc\([^)]*\)|\S+/g);
      const width = across === "auto" ? rect.width : length(across, rect.width);
      const height = down === "auto" ? rect.height : length(down, rect.height);
      const x = rect.left + length(xs[i % xs.length] ?? "0px", rect.width - width);
      const y = rect.top + length(ys[i % ys.length] ?? "0px", rect.height - height);
      const fill = gradient(page, commas(found[1]));
      if (!fill || !(width > 0 && height > 0)) return "";
      const full = width >= rect.width - 0.5 && height >= rect.height - 0.5;
      cut ||= !full;
      return tag("path", { d: rounded(x, y, width, height, full ? radii : [0, 0, 0, 0]), ...fill });
    })
    .reverse()
    .filter(Boolean);
  return Object.assign(drawn, { cut });
}

// "calc(100% - 5px)" of a whole: per cent and pixels, added up.
function length(css, whole) {
  let sum = 0;
  for (const [, sign, number, unit] of css.matchAll(/([-+]?)\s*([\d.]+)(%|px)/g))
    sum += (sign === "-" ? -1 : 1) * (unit === "%" ? (number * whole) / 100 : Number(number));
  return sum;
}

const WAYS = { "to right": [0, 0, 1, 0], "to left": [1, 0, 0, 0], "to top": [0, 1, 0, 0], "to bottom": [0, 0, 0, 1] };

function gradient(page, parts) {
  let way = WAYS["to bottom"];
  if (parts[0] in WAYS) way = WAYS[parts.shift()];
  else if (/^-?[\d.]+deg$/.test(parts[0])) {
    const angle = (parseFloat(parts.shift()) * Math.PI) / 180;
    const [dx, dy] = [Math.sin(angle) / 2, -Math.cos(angle) / 2];
    way = [0.5 - dx, 0.5 - dy, 0.5 + dx, 0.5 + dy];
  }
  const stops = parts.map((stop, i) => {
    const place = /\s(-?[\d.]+)%$/.exec(stop);
    return { css: stop.replace(/\s-?[\d.]+%$/, ""), at: place ? place[1] / 100 : i / Math.max(1, parts.length - 1) };
  });
  if (stops.every(({ css }) => colour(css).opacity === 0)) return null;
  if (stops.every(({ css }) => css === stops[0].css)) return painted("fill", stops[0].css);
  const id = "shade" + page.ids++;
  const [x1, y1, x2, y2] = way;
  const inside = stops.map(({ css, at }) =>
    tag("stop", {
      offset: at,
      ...Object.fromEntries(Object.entries(painted("stop", css)).map(([k, v]) => [k === "stop" ? "stop-color" : k, v])),
    }),
  );
  page.defs.push(tag("linearGradient", { id, x1, y1, x2, y2 }, inside.join("")));
  return { fill: `url(#${id})` };
}

// ---------------------------------------------------------------- text

const tall = new Map();

function metrics(style) {
  const font = `${style.fontStyle} ${style.fontWeight} ${style.fontSize} ${style.fontFamily}`;
  let found = tall.get(font);
  if (!found) {
    scratch().font = font;
    const { fontBoundingBoxAscent: up, fontBoundingBoxDescent: down } = scratch().measureText("x");
    tall.set(font, (found = { up, down }));
  }
  return found;
}

function text(page, node, style, angle) {
  const { up, down } = metrics(style);
  if (!parseFloat(style.fontSize) || !colour(style.color).opacity) return;
  for (const line of linesOf(node, style)) {
    const { words, rect, cut } = line;
    if (!words.trim() || !reach(page, rect)) continue;
    const upright = Math.round(angle / 90) % 2;
    const [long, thick] = upright ? [rect.height, rect.width] : [rect.width, rect.height];
    const base = (thick * up) / (up + down);
    const rtl = style.direction === "rtl";
    const look = { "font-family": style.fontFamily, "font-size": style.fontSize, ...painted("fill", style.color) };
    if (style.fontWeight !== "400") look["font-weight"] = style.fontWeight;
    if (style.fontStyle !== "normal") look["font-style"] = style.fontStyle;
    if (style.letterSpacing !== "normal") look["letter-spacing"] = style.letterSpacing;
    if (rtl) look.direction = "rtl";
    if (!cut && [...words].length > 1) Object.assign(look, { textLength: long, lengthAdjust: "spacingAndGlyphs" }); // also in another font
    look.style = `white-space:pre${style.fontVariantNumeric === "normal" ? "" : ";font-variant-numeric:" + style.fontVariantNumeric}`;
    const at = { x: rect.left, y: rect.top + base };
    if (angle % 360) {
      const [x, y] = [(rect.left + rect.right) / 2, (rect.top + rect.bottom) / 2];
      Object.assign(at, { x: -long / 2, y: base - thick / 2 });
      look.transform = `translate(${short(x)} ${short(y)}) rotate(${short(angle % 360)})`;
    }
    if (rtl) at.x += long;
    page.families.add(style.fontFamily);
    page.parts.push(tag("text", { ...at, ...look }, safe(words)));
    for (const [kind, place] of [
      ["line-through", -0.3],
      ["underline", 0.12],
    ])
      if (decorated(node.parentElement, kind) && !(angle % 360)) {
        const y = rect.top + base + place * parseFloat(style.fontSize);
        page.parts.push(
          tag("line", { x1: rect.left, x2: rect.right, y1: y, y2: y, ...painted("stroke", style.color), "stroke-width": 1 }),
        );
      }
  }
}

// A line through the text of an element runs through that of its inline children too.
function decorated(node, kind) {
  for (let one = node; one; one = one.parentElement) {
    const style = getComputedStyle(one);
    if (style.textDecorationLine.includes(kind)) return true;
    if (!style.display.startsWith("inline")) return false;
  }
  return false;
}

// The lines of a text node as they are set: {words, rect, cut}; cut where "…" stands for the end.
function linesOf(node, style) {
  const range = document.createRange();
  const rectOf = (from, to) => {
    range.setStart(node, from);
    range.setEnd(node, to);
    return [...range.getClientRects()].filter(({ width, height }) => width > 0 && height > 0);
  };
  const { data } = node;
  const whole = data ? rectOf(0, data.length) : [];
  if (!whole.length) return [];
  const kept = /pre|break-spaces/.test(style.whiteSpace);
  const shown = (words) => (kept ? words.replace(/[\r\n]/g, "").replace(/\t/g, " ") : words.replace(/\s+/g, " "));
  const lines = [];
  if (whole.length === 1) {
    let [from, to] = [0, data.length];
    while (from < to && /\s/.test(data[from]) && !rectOf(from, from + 1).length) from++;
    while (to > from && /\s/.test(data[to - 1]) && !rectOf(to - 1, to).length) to--;
    lines.push({ words: shown(data.slice(from, to)), rect: whole[0] });
  } else {
    for (let i = 0; i < data.length;) {
      const next = i + String.fromCodePoint(data.codePointAt(i)).length;
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
        last.rect = {
          left: Math.min(last.rect.left, rect.left),
          right: Math.max(last.rect.right, rect.right),
          top: last.rect.top,
          bottom: last.rect.bottom,
        };
      } else lines.push({ words: piece, rect: { left: rect.left, right: rect.right, top: rect.top, bottom: rect.bottom } });
    }
    for (const line of lines) {
      line.words = shown(line.words);
      Object.assign(line.rect, { width: line.rect.right - line.rect.left, height: line.rect.bottom - line.rect.top });
    }
  }
  const holder = ellipsis(node.parentElement);
  return holder ? lines.flatMap((line) => shortened(line, holder, style)) : lines;
}

// The element that puts "…" in the place of what does not fit into it, if it does.
function ellipsis(node) {
  for (let one = node; one; one = one.parentElement) {
    const style = getComputedStyle(one);
    if (style.textOverflow === "ellipsis" && CLIPS.test(style.overflowX)) return one.scrollWidth > one.clientWidth ? one : null;
    if (!style.display.startsWith("inline")) return null;
  }
  return null;
}

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

// ---------------------------------------------------------------- pictures

function canvas(page, node) {
  const rect = node.getBoundingClientRect();
  if (!node.width || !node.height || !reach(page, rect)) return;
  const { left: x, top: y, width, height } = rect;
  if (node.redraw) {
    const pen = (node.pen = new Pen(node));
    try {
      node.redraw();
    } finally {
      delete node.pen;
      node.redraw(); // on the canvas itself, which setting its size has emptied
    }
    if (pen.parts.length) {
      const scale = `scale(${short(width / node.width)} ${short(height / node.height)})`;
      page.parts.push(tag("g", { transform: `translate(${short(x)} ${short(y)}) ${scale}` }, pen.parts.join("\n")));
    }
    return;
  }
  page.parts.push(tag("image", { x, y, width, height, preserveAspectRatio: "none", href: node.toDataURL() }));
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
function inline(page, node, style) {
  const rect = node.getBoundingClientRect();
  if (!(rect.width > 0 && rect.height > 0)) return;
  const copy = styled(page, node, null);
  for (const [name, value] of Object.entries({ x: rect.left, y: rect.top, width: rect.width, height: rect.height }))
    copy.setAttribute(name, short(value));
  if (colour(style.backgroundColor).opacity) box(page, rect, style);
  let any = false;
  for (const one of node.querySelectorAll("path, rect, text, image, circle, line, polygon, polyline")) {
    if (one.closest("defs, clipPath")) continue;
    const place = one.getBoundingClientRect();
    if (place.width < 1e4 && place.height < 1e4 && (place.width || place.height)) any = reach(page, meet(rect, place)) || any;
  }
  if (any) page.parts.push(new XMLSerializer().serializeToString(copy));
}

function styled(page, node, parent) {
  const style = getComputedStyle(node);
  if (!SHAPES.test(node.localName) || style.display === "none") return null;
  const copy = document.createElementNS(SVG, node.localName);
  for (const { name, value } of node.attributes) {
    if (/^(class|style|on.*|data-.*|pointer-events|href)$/.test(name)) continue;
    if (name === "xlink:href") continue;
    copy.setAttribute(name, value);
  }
  const href = node.getAttribute("href") ?? node.getAttribute("xlink:href");
  if (href && /^(data:image\/|#)/.test(href)) copy.setAttribute("href", href);
  else if (node.localName === "image") return null; // it stands elsewhere
  const inDefs = Boolean(node.closest("clipPath, mask"));
  const before = parent && getComputedStyle(parent);
  for (const name of INHERITED) {
    const value = style.getPropertyValue(name);
    if (value && !inDefs && (!before || before.getPropertyValue(name) !== value)) put(copy, name, value);
    else copy.removeAttribute(name);
  }
  for (const [name, usual] of Object.entries(OWN)) {
    const value = style.getPropertyValue(name);
    if (value && value !== usual) put(copy, name, value);
  }
  if (/^(text|tspan)$/.test(node.localName)) page.families.add(style.fontFamily);
  for (const child of node.childNodes) {
    if (child.nodeType === Node.TEXT_NODE) copy.append(document.createTextNode(legal(child.data)));
    else if (child.nodeType === Node.ELEMENT_NODE) {
      const made = styled(page, child, node);
      if (made) copy.append(made);
    }
  }
  return copy;
}

function put(node, name, value) {
  if (/^(white-space|image-rendering)$/.test(name)) node.style.setProperty(name, value);
  else if (/^(fill|stroke|stop-color)$/.test(name) && /^(rgb|color|#)/.test(value)) {
    const { hex, opacity } = colour(value);
    node.setAttribute(name, hex);
    if (opacity < 1) node.style.setProperty(name.replace("-color", "") + "-opacity", opacity); // next to one that the page sets
  } else node.setAttribute(name, value.replace(/url\("[^"#]*(#[^"]+)"\)/, "url($1)"));
}
