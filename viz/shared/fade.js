// What is cut off above or below, faded there: see .fades of view.css.

// box: what scrolls; faded: what fades, if not the box.
/** @type {(box: HTMLElement, faded?: HTMLElement) => void} */
export function fade(box, faded = box) {
  faded.classList.toggle("above", box.scrollTop > 2);
  faded.classList.toggle("below", box.scrollTop + box.clientHeight < box.scrollHeight - 2);
}
