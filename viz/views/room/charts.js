// Plotly's charts know nothing of links: where who leads points on one, as a share of its plot, is told and followed like a token.

import { closest } from "../../shared/element.js";

const POINT = "headlight:point";
const PLOT = ".js-plotly-plot .nsewdrag"; // what takes the pointer, as large as the axes
const NAME = "chart ";
const SIDE = 1000; // places a side that are told apart

// The place in a frame as one number, row by row; -1 outside.
/** @type {(frame: Pick<DOMRect, "left" | "top" | "width" | "height">, spot: { clientX: number, clientY: number }) => number} */
export function placeIn({ left, top, width, height }, { clientX, clientY }) {
  const [x, y] = [Math.floor((SIDE * (clientX - left)) / width), Math.floor((SIDE * (clientY - top)) / height)];
  return x >= 0 && y >= 0 && x < SIDE && y < SIDE ? y * SIDE + x : -1;
}

// The middle of such a place, in pixels of the window.
/** @type {(frame: Pick<DOMRect, "left" | "top" | "width" | "height">, place: number) => { clientX: number, clientY: number }} */
export function spotOf({ left, top, width, height }, place) {
  /** @type {(at: number) => number} */
  const share = (at) => (at + 0.5) / SIDE;
  return { clientX: left + share(place % SIDE) * width, clientY: top + share(Math.floor(place / SIDE)) * height };
}

// Tells where this browser’s own pointer is on a chart, and points there on the same chart where it was told elsewhere.
export function joinCharts() {
  let last = "";
  /** @type {() => Element[]} */
  const plots = () => [...document.querySelectorAll(PLOT)];
  /** @type {(link: string, position: number) => void} */
  const tell = (link, position) => dispatchEvent(new CustomEvent(POINT, { detail: { link, position } }));
  addEventListener(
    "pointermove",
    (event) => {
      const plot = closest(event, PLOT);
      const link = plot ? NAME + plots().indexOf(plot) : "";
      if (last && last !== link) tell(last, -1);
      if (plot) tell(link, placeIn(plot.getBoundingClientRect(), event));
      last = link;
    },
    true,
  );
  addEventListener(POINT, ({ detail: { link, position, led } }) => {
    const plot = led && link.startsWith(NAME) && plots()[Number(link.slice(NAME.length))];
    if (!plot) return;
    const spot = position < 0 ? {} : spotOf(plot.getBoundingClientRect(), position);
    plot.dispatchEvent(new MouseEvent(position < 0 ? "mouseout" : "mousemove", { bubbles: true, ...spot }));
  });
}
