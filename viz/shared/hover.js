// When a mouse points. Browsers also tell of it when the page has moved under a mouse at rest, as it does at every keystroke: that
// is not pointing.

let rest = ""; // where the mouse was last, on the screen
/** @type {PointerEvent | null} */
let moving = null; // the event in which it moved there
let watching = false;

/** @type {(event: MouseEvent) => string} */
const placeOf = (event) => event.screenX + "," + event.screenY;

function watch() {
  if (watching) return;
  watching = true;
  /** @type {(event: PointerEvent) => void} */
  const look = (event) => {
    const place = placeOf(event);
    moving = place === rest ? null : event;
    rest = place;
  };
  addEventListener("pointermove", look, { capture: true });
}

// Calls `act` when the mouse has come upon something.
/** @type {(node: HTMLElement, act: (event: PointerEvent) => void) => void} */
export function onHover(node, act) {
  watch();
  node.addEventListener("pointerover", (event) => placeOf(event) !== rest && act(event));
}

// Calls `act` at each step of the mouse.
/** @type {(node: HTMLElement, act: (event: PointerEvent) => void) => void} */
export function onMove(node, act) {
  watch();
  node.addEventListener("pointermove", (event) => event === moving && act(event));
}
