// What a visitor writes while they follow is never taken from them.

const BOXES = ".st-key-text input, .st-key-target input";
const ON_ITS_WAY = 3000; // milliseconds for which a move may still arrive that was sent before the visitor's letters were heard of

/** @typedef {{ box: string, value: string, at: number | null, until: number }} Kept */

// A move that comes over what has just been written is put right, also on another page: the visitor goes their own way now.
// `follows()`: whether the page follows who leads; `stepOut()` says that it does no longer.
/** @type {(follows: () => boolean, stepOut: () => void) => void} */
export function keepLetters(follows, stepOut) {
  /** @type {Kept | null} */
  let kept = null;
  const look = () => {
    if (!kept || Date.now() > kept.until) {
      kept = null;
      return;
    }
    const box = /** @type {HTMLInputElement | null} */ (document.querySelector(kept.box));
    if (box && box.value !== kept.value) putBack(box, kept);
    requestAnimationFrame(look);
  };
  /** @type {(event: Event) => void} */
  const write = ({ isTrusted, target }) => {
    if (!isTrusted || !(target instanceof HTMLInputElement)) return;
    const box = BOXES.split(", ").find((selector) => target.matches(selector));
    if (!box || (!kept && !follows())) return;
    if (!kept) requestAnimationFrame(look);
    kept = { box, value: target.value, at: target.selectionStart, until: Date.now() + ON_ITS_WAY };
    if (follows()) stepOut();
  };
  /** @type {(event: Event) => void} */
  const elsewhere = ({ target }) => {
    if (!(target instanceof Element && target.matches(BOXES))) kept = null; // what is pressed may change the text
  };
  addEventListener("input", write, true);
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, elsewhere, true);
}

/** @type {(box: HTMLInputElement, kept: Kept) => void} */
function putBack(box, { value, at }) {
  Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value")?.set?.call(box, value); // as React hears of it
  box.dispatchEvent(new Event("input", { bubbles: true }));
  if (document.activeElement === document.body) box.focus(); // another page's box
  if (document.activeElement === box) box.setSelectionRange(at, at);
}
