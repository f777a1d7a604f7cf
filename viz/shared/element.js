// Elements of the page, made in one line.

/** @type {<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, className?: string, text?: string) => HTMLElementTagNameMap[Tag]} */
export function element(tag, className = "", text = "") {
  const node = document.createElement(tag);
  if (className) node.className = className;
  if (text) node.textContent = text;
  return node;
}

/** @type {(className: string, words: string, act: (event: MouseEvent) => void) => HTMLButtonElement} */
export function makeButton(className, words, act) {
  const node = element("button", className, words);
  node.type = "button";
  node.addEventListener("click", act);
  return node;
}

// A button that only works its view, so that no picture shows it.
/** @type {(className: string, words: string, act: (event: MouseEvent) => void) => HTMLButtonElement} */
export function makeTool(className, words, act) {
  const node = makeButton(className, words, act);
  node.dataset.take = "no";
  return node;
}

// Words that are written only where they differ: the page is laid out again for each change.
/** @type {(node: HTMLElement, words: string) => void} */
export function write(node, words) {
  if (node.textContent !== words) node.textContent = words;
}

// The element that has the keyboard, among those that stand beside a node, which may be in a shadow root.
/** @type {(node: HTMLElement) => Element | null} */
export function activeIn(node) {
  return /** @type {Document | ShadowRoot} */ (node.getRootNode()).activeElement;
}

// The element around the target of an event that a selector fits, or the target itself.
/** @type {(event: Event, selector: string) => HTMLElement | null} */
export function closest(event, selector) {
  return /** @type {HTMLElement | null} */ (event.target)?.closest?.(selector) ?? null;
}
