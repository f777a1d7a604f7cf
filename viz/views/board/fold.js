// Words above a picture: three lines of them, and the rest when somebody asks for it, so that the picture stays in sight.

import { element } from "../../shared/element.js";

const LINES = 3;

// A node with `text`, which holds paragraphs, and `fold(yes)`, which folds it where a picture follows.
export function makeFold() {
  const node = element("div", "words");
  const clip = element("div", "clip");
  const more = element("details", "more");
  const name = element("summary", "", "More");
  node.text = element("div");
  const arrange = () => {
    const height = node.folds ? heightOf(node.text) : Infinity;
    more.hidden = height === Infinity;
    name.textContent = more.open ? "Less" : "… More";
    clip.style.maxHeight = more.hidden || more.open ? "" : `${height}px`;
  };
  node.fold = (folds) => {
    if (node.folds === folds) return;
    node.folds = folds;
    arrange();
  };
  more.hidden = true;
  more.dataset.take = "no";
  more.append(name);
  clip.append(node.text);
  node.append(clip, more);
  more.addEventListener("toggle", arrange);
  clip.addEventListener("focusin", () => (more.open ||= !more.hidden)); // a marked word in the lines that are hidden
  new ResizeObserver(arrange).observe(node.text); // another text, a narrower window, a font that has arrived
  return node;
}

// The height of the first lines; Infinity where there are no more.
function heightOf(text) {
  const line = parseFloat(getComputedStyle(text).lineHeight);
  let left = LINES;
  for (const paragraph of text.children) {
    const lines = Math.round(paragraph.offsetHeight / line);
    if (lines > left) return paragraph.offsetTop - text.offsetTop + left * line;
    left -= lines;
  }
  return Infinity;
}
