// A picture in SVG as a PNG: drawn by the browser at twice its size, with its caption inside the file.

import { penOn } from "../../shared/canvas.js";
import { safe, tag } from "./pen.js";

/** @typedef {import("./types").Picture} Picture */

const SCALE = 2;
const LONGEST_SIDE = 16000; // pixels: what a browser's canvas holds
const MOST_PIXELS = 100e6;

/** @type {(picture: Picture, notes: Record<string, string>) => Promise<Blob>} */
export async function pngOf({ svg, width, height, families }, notes) {
  const scale = Math.min(SCALE, LONGEST_SIDE / Math.max(width, height), Math.sqrt(MOST_PIXELS / (width * height)));
  const fonts = await faces(families);
  const text = fonts ? svg.replace(/>/, `>${tag("style", {}, safe(fonts))}`) : svg;
  const address = URL.createObjectURL(new Blob([text], { type: "image/svg+xml" }));
  try {
    const image = new Image();
    image.src = address;
    await image.decode();
    const canvas = Object.assign(document.createElement("canvas"), {
      width: Math.round(width * scale),
      height: Math.round(height * scale),
    });
    penOn(canvas).drawImage(image, 0, 0, canvas.width, canvas.height);
    /** @type {Blob | null} */
    const blob = await new Promise((done) => canvas.toBlob(done, "image/png"));
    if (!blob) throw new Error("It is too large for this browser.");
    return described(new Uint8Array(await blob.arrayBuffer()), notes, scale);
  } finally {
    URL.revokeObjectURL(address);
  }
}

// A picture that a browser draws from a file knows none of the page's fonts: they go with it, and leave it again.
/** @type {(families: Set<string>) => Promise<string>} */
async function faces(families) {
  const wanted = new Set([...families].flatMap((list) => list.split(",")).map(bare));
  /** @type {string[]} */
  const texts = [];
  for (const sheet of document.styleSheets) {
    /** @type {CSSRule[]} */
    let rules = [];
    try {
      rules = [...sheet.cssRules];
    } catch {
      // a style sheet of another origin keeps its rules to itself
    }
    for (const rule of rules) {
      if (!(rule instanceof CSSFontFaceRule) || !wanted.has(bare(rule.style.getPropertyValue("font-family")))) continue;
      const [, address] = /url\("?([^")]+)"?\)/.exec(rule.style.getPropertyValue("src")) ?? [];
      if (!address) continue;
      const full = new URL(address, sheet.href ?? document.baseURI);
      if (full.origin !== location.origin) continue;
      const data = address.startsWith("data:") ? address : await asData(full);
      const look = ["font-weight", "font-style", "unicode-range"].map((name) => [name, rule.style.getPropertyValue(name)]);
      const rest = look.filter(([, value]) => value).map(([name, value]) => `${name}:${value};`);
      texts.push(`@font-face{font-family:${rule.style.getPropertyValue("font-family")};${rest.join("")}src:url(${data})}`);
    }
  }
  return texts.join("");
}

/** @type {(family: string) => string} */
const bare = (family) => family.trim().replace(/^["']|["']$/g, "");

/** @type {(address: URL) => Promise<string>} */
async function asData(address) {
  const blob = await (await fetch(address)).blob();
  return new Promise((done, fail) => {
    const reader = new FileReader();
    reader.onload = () => done(String(reader.result));
    reader.onerror = fail;
    reader.readAsDataURL(blob);
  });
}

// A PNG with notes (tEXt in ASCII, else iTXt in UTF-8) and its resolution, after its header.
/** @type {(png: Uint8Array<ArrayBuffer>, notes: Record<string, string>, scale: number) => Blob} */
function described(png, notes, scale) {
  const encoder = new TextEncoder();
  const written = Object.entries(notes).filter(([, text]) => text);
  const chunks = written.map(([name, text]) => {
    const simple = /^[\n\x20-\x7e]*$/.test(text);
    const between = simple ? [0] : [0, 0, 0, 0, 0]; // not compressed, no language
    const body = [encoder.encode(name), between, encoder.encode(text.toWellFormed?.() ?? text)];
    return chunk(
      simple ? "tEXt" : "iTXt",
      body.flatMap((piece) => [...piece]),
    );
  });
  const perMetre = Math.round((96 * scale) / 0.0254);
  const wide = [24, 16, 8, 0].map((by) => (perMetre >> by) & 255);
  chunks.push(chunk("pHYs", [...wide, ...wide, 1]));
  const header = 8 + 25; // the signature and IHDR, which is always as long
  return new Blob([png.subarray(0, header), ...chunks, png.subarray(header)], { type: "image/png" });
}

/** @type {(name: string, body: number[]) => Uint8Array<ArrayBuffer>} */
function chunk(name, body) {
  const bytes = new Uint8Array(12 + body.length);
  const view = new DataView(bytes.buffer);
  view.setUint32(0, body.length);
  bytes.set(new TextEncoder().encode(name), 4);
  bytes.set(body, 8);
  view.setUint32(8 + body.length, checksum(bytes.subarray(4, 8 + body.length)));
  return bytes;
}

// CRC-32 as PNG has it.
/** @type {(bytes: Uint8Array) => number} */
function checksum(bytes) {
  let sum = 0xffffffff;
  for (const byte of bytes) {
    sum ^= byte;
    for (let bit = 0; bit < 8; bit++) sum = (sum >>> 1) ^ (sum & 1 ? 0xedb88320 : 0);
  }
  return (sum ^ 0xffffffff) >>> 0;
}
