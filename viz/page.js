// A view as a page of its own, which holds its data.

import { unpack } from "./shared/bytes.js";
import { percent } from "./shared/number.js";
import { mountOn } from "./shared/state.js";

/** @typedef {import("./shared/types").Mount} Mount */
/** @typedef {import("./shared/types").Mounts} Mounts */
/** @typedef {import("./shared/types").Tell} Tell */

// Draws `text`, the data in base64 (megabytes for a long text, which a browser's own decoders take in a moment), and draws again
// when the page turns dark or light.
/** @type {(mount: Mount, mounts: Mounts, text: string, compressed: boolean) => void} */
export function openPage(mount, mounts, text, compressed) {
  /** @type {Tell} */
  const tell = (name, value) => dispatchEvent(new CustomEvent("headlight", { detail: { name, value } }));
  const sent = Uint8Array.fromBase64?.(text) ?? Uint8Array.from(atob(text), (c) => c.charCodeAt(0));
  const parentElement = /** @type {HTMLElement} */ (document.getElementById("view"));
  /** @type {Uint8Array<ArrayBuffer> | undefined} */
  let bytes;
  const draw = (data = bytes) => {
    if (!data) return;
    bytes = data;
    mountOn(mount, { parentElement, data, setTriggerValue: tell, setStateValue: tell, key: "view" }, mounts);
  };
  const inflate = async () => {
    const data = await new Response(new Blob([sent]).stream().pipeThrough(new DecompressionStream("deflate"))).arrayBuffer();
    if (!bytes) draw(new Uint8Array(data));
  };
  const ready = compressed ? inflate() : draw(sent);
  matchMedia("(prefers-color-scheme: dark)").addEventListener("change", () => draw());
  window.headlight = { draw, unpack, percent, ready };
  fitFrame();
}

// In a notebook the page stands in a frame: as high as the picture.
function fitFrame() {
  try {
    const frame = /** @type {HTMLElement | null} */ (window.frameElement);
    if (!frame) return;
    const fit = () => (frame.style.height = document.documentElement.offsetHeight + "px");
    new ResizeObserver(fit).observe(document.body);
  } catch {
    // a frame of another origin keeps its height
  }
}
