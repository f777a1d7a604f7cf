// Cards beside each other end together, unless one of them would be half empty: that one ends with what it holds.

const FULL = 0.72; // of the height of its row: a card that holds less is not stretched

// Watches the cards of a board; the parts of its cards are given to `observe`. It looks at them when the browser has laid them out.
/** @type {(root: HTMLElement) => ResizeObserver} */
export function watchRows(root) {
  const observer = new ResizeObserver(() => arrange(root));
  observer.observe(root);
  return observer;
}

/** @type {(root: HTMLElement) => void} */
function arrange(root) {
  const cards = /** @type {HTMLElement[]} */ ([...root.children].filter((node) => node.classList.contains("card")));
  const places = cards.map((card) => ({ card, top: card.offsetTop, held: heldBy(card) }));
  for (const { card, top, held } of places) {
    const row = Math.max(...places.filter((other) => other.top === top).map((other) => other.held));
    const align = held < FULL * row ? "flex-start" : "";
    if (card.style.alignSelf !== align) card.style.alignSelf = align;
  }
}

// The height of what a card holds, with its own edge.
/** @type {(card: HTMLElement) => number} */
function heldBy(card) {
  const last = card.lastElementChild;
  if (!last) return 0;
  const end = last.getBoundingClientRect().bottom - card.getBoundingClientRect().top;
  return end + parseFloat(getComputedStyle(card).paddingBottom);
}
