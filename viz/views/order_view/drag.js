// Dragging a chip to another place among its neighbours. While it is dragged nothing else moves: a mark says where it would go.

import { closest, element } from "../../shared/element.js";

/** @typedef {import("./types").Held} Held */

const BEGIN = 5; // pixels from which on a pressed mouse drags
const REST = 220; // milliseconds that a finger rests before it drags; one that moves sooner scrolls the page

// list: whose children are the chips. `drop(from, to)`: which chip goes to which place.
/** @type {(list: HTMLElement, drop: (from: number, to: number) => void) => { justEnded: () => boolean }} */
export function makeDrag(list, drop) {
  const mark = element("i", "mark-of-place");
  /** @type {Held | null} */
  let held = null;
  let ended = 0;

  /** @type {(held: Held) => void} */
  const begin = (held) => {
    held.dragged = true;
    held.chip.classList.add("dragged");
    held.chip.setPointerCapture(held.pointer);
  };
  /** @type {(event: Event) => void} */
  const end = (event) => {
    if (!held) return;
    clearTimeout(held.timer);
    const { chip, dragged, to } = held;
    held = null;
    if (!dragged) return;
    chip.classList.remove("dragged");
    chip.style.transform = "";
    mark.remove();
    ended = performance.now();
    if (event.type === "pointerup" && to >= 0) drop([...list.children].indexOf(chip), to);
  };

  list.addEventListener("pointerdown", (event) => {
    const chip = closest(event, ".chip");
    if (!chip || event.button || held) return;
    const pressed = heldOf(chip, event);
    if (pressed.touch) pressed.timer = setTimeout(() => held === pressed && begin(pressed), REST);
    held = pressed;
  });
  list.addEventListener("pointermove", (event) => {
    if (!held || event.pointerId !== held.pointer) return;
    const [x, y] = [event.clientX - held.x, event.clientY - held.y];
    if (!held.dragged) {
      if (Math.hypot(x, y) < BEGIN) return;
      if (held.touch) return end(event);
      begin(held);
    }
    held.chip.style.transform = `translate(${x}px, ${y}px)`;
    held.to = point(list, held.chip, mark, event);
  });
  list.addEventListener("pointerup", end);
  list.addEventListener("pointercancel", end);
  list.addEventListener("touchmove", (event) => held?.dragged && event.preventDefault(), { passive: false });
  list.addEventListener("contextmenu", (event) => held?.touch && event.preventDefault());
  list.addEventListener("keydown", (event) => event.key === "Escape" && held?.dragged && end(event));
  return { justEnded: () => performance.now() - ended < 50 }; // the click that ends a drag is no press
}

/** @type {(chip: HTMLElement, event: PointerEvent) => Held} */
function heldOf(chip, { pointerId, clientX, clientY, pointerType }) {
  return { chip, pointer: pointerId, x: clientX, y: clientY, touch: pointerType !== "mouse", dragged: false, to: -1, timer: 0 };
}

// Puts the mark where the chip would go, and gives that place among the others.
/** @type {(list: HTMLElement, chip: HTMLElement, mark: HTMLElement, event: MouseEvent) => number} */
function point(list, chip, mark, { clientX, clientY }) {
  const others = [...list.children].filter((node) => node !== chip && node !== mark);
  const frames = others.map((node) => node.getBoundingClientRect());
  const to = frames.filter(
    (frame) => frame.bottom < clientY || (frame.top <= clientY && frame.left + frame.width / 2 < clientX),
  ).length;
  if (!frames.length) return 0; // it is the only one
  const beside = frames[to] && frames[to].top <= clientY ? frames[to] : (frames[to - 1] ?? frames[to]);
  const outer = list.getBoundingClientRect();
  const left = (beside === frames[to] ? beside.left - 3 : beside.right + 2) - outer.left;
  if (!mark.parentNode) list.after(mark);
  mark.style.transform = `translate(${left}px, ${beside.top - outer.top}px)`;
  mark.style.height = `${beside.height}px`;
  return to;
}
