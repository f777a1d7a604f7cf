// A picture in other colours than the page's. A view of ours takes them on and is mounted again, for a moment that nobody sees. What
// Plotly drew has fixed colours: there, each of the page's own becomes that of the other page, text and pixels included.

import { penOn } from "../../shared/canvas.js";
import { GROUND, luminance, mix, rgbOf } from "../../shared/colours.js";
import { colour } from "./pen.js";

/** @typedef {import("./types").Chosen} Chosen */
/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").Palette} Palette */
/** @typedef {import("./types").Themes} Themes */
/** @typedef {import("./types").Translate} Translate */
/** @typedef {import("./types").Undo} Undo */
/** @typedef {import("../../shared/types").RGB} RGB */

const VARIABLES = {
  ink: "text-color",
  paper: "background-color",
  chip: "secondary-background-color",
  line: "border-color",
  accent: "primary-color",
};
const NEUTRAL = 48; // a colour whose channels differ by less is a grey, as ink and paper are
// What shows data and not the page; a grey among it stays.
const DATA = ".plot, .cbfills, .legendsymbols, .sankey-link, .sankey-node, defs";
/** @type {Chosen} */
export const AS_IT_IS = { ground: "page", colours: "screen" };

// What `pictureOf` draws by. ground: "page" | "white" | "none"; colours: "screen" | "light" | "dark"; themes: those of both pages.
// bare: grounds of the page that have no place in a picture on nothing.
/** @type {(root: HTMLElement, chosen: Chosen, themes: Themes) => Promise<Look>} */
export async function lookOf(root, { ground, colours }, themes) {
  const dark = luminance(rgbOf(colour(getComputedStyle(root).color).hex)) > 0.5; // its ink is light
  const now = themes[dark ? "dark" : "light"];
  const chosen = colours === "light" || colours === "dark" ? themes[colours] : now;
  const { paper, card } = chosen;
  const bare = ground === "none" ? [paper, card] : [];
  if (colours === "screen") return { ground, bare };
  const to = { ...chosen, ...(ground === "white" ? { paper: "#ffffff" } : {}) };
  const translate = translator(now, to);
  return { ground, bare, to, scheme: colours, translate, images: await imagesOf(root, translate) };
}

// Puts the colours on all views among some nodes, and on the one that the first stands in. undo: a list of what to undo, the last first.
/** @type {(nodes: Element[], look: { to: Palette, scheme: string }, change: (node: Element, css: string, undo: Undo) => void, undo: Undo) => void} */
export function wear(nodes, { to, scheme }, change, undo) {
  const above = /** @type {HTMLElement | null | undefined} */ (nodes[0].parentElement?.closest(".hl"));
  const views = [above, ...nodes].filter((node) => node instanceof HTMLElement).filter((node) => node.matches(".hl"));
  const still = new CSSStyleSheet();
  still.replaceSync("* { transition: none !important }"); // a colour is there at once
  for (const root of new Set(views.map(sheetsOf))) {
    root.adoptedStyleSheets.push(still);
    undo.push(() => (root.adoptedStyleSheets = root.adoptedStyleSheets.filter((sheet) => sheet !== still)));
  }
  const css = Object.entries(VARIABLES).map(([name, variable]) => `--st-${variable}: ${to[name]}`);
  const again = () => {
    for (const view of views) view.again?.();
    for (const view of views) void getComputedStyle(view).color; // settled before colours fade again
  };
  /** @type {Undo} */
  const worn = [];
  undo.push(() => {
    undoAll(worn);
    again();
  });
  for (const view of views) change(view, [`color-scheme: ${scheme}`, ...css].join(";"), worn);
  again();
}

// Where the style sheets of a view stand.
/** @type {(view: HTMLElement) => Document | ShadowRoot} */
const sheetsOf = (view) => /** @type {Document | ShadowRoot} */ (view.getRootNode());

// Undoes all, the last first.
/** @type {(undo: Undo) => void} */
export function undoAll(undo) {
  for (let act = undo.pop(); act; act = undo.pop()) act();
}

// The function (rgb, own, off) that says what a colour becomes, where `own` is whether a grey is of the page, and `off` how far
// from its scale a colour may be.
/** @type {(from: Palette, to: Palette) => Translate} */
export function translator(from, to) {
  const [a, b] = [from, to].map((theme) => ({
    ink: rgbOf(theme.ink),
    paper: rgbOf(theme.paper),
    accent: rgbOf(theme.accent),
  }));
  const along = a.accent.map((v, i) => v - GROUND[i]);
  const length = along.reduce((sum, v) => sum + v * v, 0);
  /** @type {(rgb: RGB) => number} */
  const mean = (rgb) => (rgb[0] + rgb[1] + rgb[2]) / 3;
  return (rgb, own, off = 3) => {
    const part = Math.min(1, Math.max(0, along.reduce((sum, v, i) => sum + v * (rgb[i] - GROUND[i]), 0) / length));
    if (part > 0 && mix(GROUND, a.accent, part).every((v, i) => i > 2 || Math.abs(v - rgb[i]) <= off))
      return mix(GROUND.slice(0, 3), b.accent, part);
    if (!own || Math.max(...rgb) - Math.min(...rgb) > NEUTRAL) return rgb;
    const deep = (mean(rgb) - mean(a.paper)) / (mean(a.ink) - mean(a.paper));
    return mix(b.paper, b.ink, Math.min(1, Math.max(0, deep)));
  };
}

// A colour of a node that Plotly drew, translated.
/** @type {(node: Element, css: string, translate: Translate) => string} */
export function translated(node, css, translate) {
  const own = node.localName === "text" || node.localName === "tspan" || !node.closest(DATA);
  const { hex, opacity } = colour(css);
  const [r, g, b] = translate(rgbOf(hex), own).map(Math.round);
  return `rgba(${r}, ${g}, ${b}, ${opacity})`;
}

// Heatmaps of Plotly are pictures: their addresses with each pixel translated, by their nodes.
/** @type {(root: HTMLElement, translate: Translate) => Promise<Map<Element, string>>} */
async function imagesOf(root, translate) {
  /** @type {Map<Element, string>} */
  const urls = new Map();
  for (const node of root.querySelectorAll("svg image")) {
    const href = node.getAttribute("href") ?? node.getAttribute("xlink:href") ?? "";
    if (!href.startsWith("data:image/")) continue;
    const image = new Image();
    image.src = href;
    await image.decode();
    const canvas = document.createElement("canvas");
    Object.assign(canvas, { width: image.naturalWidth, height: image.naturalHeight });
    const pen = penOn(canvas);
    pen.drawImage(image, 0, 0);
    const pixels = pen.getImageData(0, 0, canvas.width, canvas.height);
    /** @type {Map<number, number[]>} */
    const known = new Map();
    for (let at = 0; at < pixels.data.length; at += 4) {
      const [r, g, b, a] = pixels.data.subarray(at, at + 4);
      if (!a) continue;
      const key = ((r * 256 + g) * 256 + b) * 256 + a;
      let to = known.get(key);
      if (!to) known.set(key, (to = translate([r, g, b], false, 2 + 192 / a))); // clear pixels are kept less exactly
      pixels.data.set(to, at);
    }
    pen.putImageData(pixels, 0, 0);
    urls.set(node, canvas.toDataURL());
  }
  return urls;
}
