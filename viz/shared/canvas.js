// What a canvas is drawn with.

/** @typedef {import("./types").Brush} Brush */

// Its context; while a picture of the page is taken away, a pen that writes down what is drawn instead
// (see viz/views/export). A canvas that can be drawn again at any time says how in `canvas.redraw`.
/** @type {(canvas: HTMLCanvasElement) => Brush} */
export function penOn(canvas) {
  return canvas.pen ?? /** @type {Brush} */ (canvas.getContext("2d"));
}
