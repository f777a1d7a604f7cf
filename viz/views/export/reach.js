// How far a picture goes, and what of it can be seen.

/** @typedef {import("./types").Page} Page */
/** @typedef {import("./types").Rect} Rect */

export const CLIPS = /hidden|auto|scroll|clip/;

/** @type {(a: Rect | null, b: Rect) => Rect} */
export function meet(a, b) {
  if (!a) return b;
  const [left, top] = [Math.max(a.left, b.left), Math.max(a.top, b.top)];
  return { left, top, right: Math.max(left, Math.min(a.right, b.right)), bottom: Math.max(top, Math.min(a.bottom, b.bottom)) };
}

// Keeps in mind how far the picture goes, as far as it can be seen; false for what cannot be.
/** @type {(page: Page, rect: Rect) => boolean} */
export function reach(page, rect) {
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
