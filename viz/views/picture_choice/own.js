// An image from the visitor's own device, opened and made smaller by the browser.

// Its PNG in base64, upright, the longer side at most `largest` pixels, what is transparent on white. Errors: that of the browser,
// for what is no image.
/** @type {(file: Blob, largest: number) => Promise<string>} */
export async function shrunk(file, largest) {
  const image = await createImageBitmap(file); // turned upright, as the file says
  const scale = Math.min(1, largest / Math.max(image.width, image.height));
  const [width, height] = [image.width, image.height].map((side) => Math.max(1, Math.round(side * scale)));
  const canvas = Object.assign(document.createElement("canvas"), { width, height });
  const pen = /** @type {CanvasRenderingContext2D} */ (canvas.getContext("2d"));
  pen.fillStyle = "#fff";
  pen.fillRect(0, 0, width, height);
  pen.imageSmoothingQuality = "high";
  pen.drawImage(image, 0, 0, width, height);
  image.close();
  return canvas.toDataURL("image/png").split(",")[1];
}
