// Words above a picture: three lines of them, and the rest when somebody asks for it, so that the picture stays in sight.

import { element } from "../../shared/element.js";

/** @typedef {import("./types").Fold} Fold */

const LINES = 3;

// `text` holds paragraphs; `fold(yes)` folds it where a picture follows.
/** @type {() => Fold} */
export function makeFold() {
  const node = element("div", "words");
  const clip = element("div", "clip");
  const more = element("details", "more");
  const name = element("summary", "", "More");
  const text = element("div");
  let folds = false;
  const arrange = () => {
    const height = folds ? heightOf(text) : Infinity;
    more.hidden = height === Infinity;
    name.textContent = more.open ? "Less" : "… More";
    clip.style.maxHeight = more.hidden || more.open ? "" : `${height}px`;
  };
  /** @type {Fold["fold"]} */
  const fold = (yes) => {
    if (folds === yes) return;
    folds = yes;
    arrange();
  };
  more.hidden = true;
  more.dataset.take = "no";
  more.append(name);
  clip.append(text);
  node.append(clip, more);
  more.addEventListener("toggle", arrange);
  clip.addEventListener("focusin", () => (more.open ||= !more.hidden)); // a marked word in the lines that are hidden
  new ResizeObserver(arrange).observe(text); // another text, a narrower window, a font that has arrived
  return { node, text: { node: text, words: null }, fold };
}

// The height of the first lines; Infinity where there are no more.
/** @type {(text: HTMLElement) => number} */
function heightOf(text) {
  const line = parseFloat(getComputedStyle(text).lineHeight);
  let left = LINES;
  for (const paragraph of /** @type {Iterable<HTMLElement>} */ (text.children)) {
    const lines = Math.round(paragraph.offsetHeight / line);
    if (lines > left) return paragraph.offsetTop - text.offsetTop + left * line;
    left -= lines;
  }
  return Infinity;
}
