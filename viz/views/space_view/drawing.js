// The points, their trails and the ground, on a canvas.

import { penOn } from "../../shared/canvas.js";
import { css, mix } from "../../shared/colours.js";
import { element } from "../../shared/element.js";
import { colourOf } from "./inks.js";
import { label } from "./labels.js";
import { placeAt, seenAt } from "./places.js";
import { nearOf } from "./words.js";

/** @typedef {import("./types").Point} Point */
/** @typedef {import("./types").Spot} Spot */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Brush} Brush */

/** @type {(state: State, context: Brush, ratio: number) => void} */
export function draw(state, context, ratio) {
  const { wide, high, count, at, chosen, pointed, theme, dimensions } = state;
  Object.assign(state, {
    cy: Math.cos(state.yaw),
    sy: Math.sin(state.yaw),
    cp: Math.cos(state.pitch),
    sp: Math.sin(state.pitch),
  });
  context.setTransform(ratio, 0, 0, ratio, 0, 0);
  context.clearRect(0, 0, wide, high);
  context.lineJoin = context.lineCap = "round";
  ground(state, context);
  const spots = Array.from({ length: count }, (_, i) => {
    const [x, y, depth] = placeAt(state, at, i);
    return { i, x, y, depth, size: Math.max(2, (count > 300 ? 3 : 4.6) * (1 + 0.35 * depth)), ink: colourOf(state, i) };
  });
  state.spots = spots;
  const order = [...spots].sort((a, b) => a.depth - b.depth);
  if (state.trails) for (const spot of order) trail(state, context, spot, spot.i === chosen || spot.i === pointed);
  else for (const i of new Set([chosen, pointed])) if (i >= 0) trail(state, context, spots[i], true);
  const asked = pointed >= 0 ? pointed : chosen;
  const near = asked >= 0 ? nearOf(state, asked) : [];
  context.setLineDash([3, 4]);
  context.lineWidth = 1.3;
  context.strokeStyle = css(theme.ink);
  for (const other of near) {
    context.beginPath();
    context.moveTo(spots[asked].x, spots[asked].y);
    context.lineTo(spots[other].x, spots[other].y);
    context.stroke();
  }
  context.setLineDash([]);
  for (const { i, x, y, depth, size, ink } of order) {
    const held = i === chosen || i === pointed;
    context.globalAlpha = held || dimensions === 2 ? 1 : Math.min(1, 0.78 + 0.3 * depth);
    context.beginPath();
    context.arc(x, y, held ? size + 2 : size, 0, 2 * Math.PI);
    context.fillStyle = css(ink);
    context.fill();
    context.lineWidth = held ? 2 : 0.8;
    context.strokeStyle = css(held ? theme.ink : state.soft);
    context.stroke();
  }
  context.globalAlpha = 1;
  label(state, context, order.reverse(), new Set(near));
}

// Axes with their names, or where there are none to name a floor, so that one sees how it is turned.
/** @type {(state: State, context: Brush) => void} */
function ground(state, context) {
  const { theme, dimensions, header, wide, high } = state;
  context.strokeStyle = css(mix(theme.paper, theme.ink, 0.14));
  context.fillStyle = css(state.soft);
  context.lineWidth = 1;
  context.font = `12px ${getComputedStyle(state.root).fontFamily}`;
  /** @type {(a: Point, b: Point) => Point} */
  const line = (a, b) => {
    const [from, to] = [seenAt(state, ...a), seenAt(state, ...b)];
    context.beginPath();
    context.moveTo(from[0], from[1]);
    context.lineTo(to[0], to[1]);
    context.stroke();
    return to;
  };
  if (dimensions === 2) {
    line([-1.1, 0, 0], [1.1, 0, 0]);
    line([0, -1.1, 0], [0, 1.1, 0]);
    if (!header.axes) return;
    context.textBaseline = "bottom";
    context.textAlign = "right";
    context.fillText(header.axes[0], wide - 10, Math.min(high - 6, Math.max(16, seenAt(state, 0, 0, 0)[1] - 3)));
    context.textAlign = "center";
    context.textBaseline = "top";
    context.fillText(header.axes[1], Math.min(wide - 60, Math.max(60, seenAt(state, 0, 0, 0)[0])), 8);
    return;
  }
  for (let i = -2; i <= 2; i++) {
    line([i * 0.4, -0.8, -0.8], [i * 0.4, -0.8, 0.8]);
    line([-0.8, -0.8, i * 0.4], [0.8, -0.8, i * 0.4]);
  }
  const { axes } = header;
  if (!axes) return;
  context.textAlign = "center";
  context.textBaseline = "middle";
  /** @type {Point[]} */
  const ends = [
    [0.8, -0.8, -0.8],
    [-0.8, 0.8, -0.8],
    [-0.8, -0.8, 0.8],
  ];
  context.strokeStyle = css(mix(theme.paper, theme.ink, 0.4));
  ends.forEach((end, d) => {
    line([-0.8, -0.8, -0.8], end);
    const [x, y] = seenAt(state, ...pastThe(end, d));
    const half = context.measureText(axes[d]).width / 2 + 4;
    context.fillText(axes[d], Math.min(wide - half, Math.max(half, x)), Math.min(high - 8, Math.max(8, y)));
  });
}

// A place a little past the end of an axis, for its name.
/** @type {(end: Point, axis: number) => Point} */
const pastThe = ([x, y, z], axis) => [axis === 0 ? 0.98 : x, axis === 1 ? 0.98 : y, axis === 2 ? 0.98 : z];

// The way of a token up to now.
/** @type {(state: State, context: Brush, spot: Spot, strong: boolean) => void} */
function trail(state, context, spot, strong) {
  const { at, count } = state;
  const last = Math.ceil(at) - 1;
  context.strokeStyle = css(spot.ink);
  context.lineWidth = strong ? 2.4 : 1.2;
  const faint = strong ? 0.9 : count > 200 ? 0.16 : 0.42;
  let before = placeAt(state, 0, spot.i);
  for (let stage = 0; stage <= last; stage++) {
    const [x, y] = stage === last ? [spot.x, spot.y] : placeAt(state, stage + 1, spot.i);
    context.globalAlpha = faint * (strong ? 1 : 0.35 + (0.65 * (stage + 1)) / (last + 1));
    context.beginPath();
    context.moveTo(before[0], before[1]);
    context.lineTo(x, y);
    context.stroke();
    before = [x, y, 0];
  }
  context.globalAlpha = 1;
}

// The picture as it is now, in a file, twice as fine.
/** @type {(state: State) => void} */
export function picture(state) {
  const sheet = element("canvas");
  const fine = 2;
  Object.assign(sheet, { width: state.wide * fine, height: state.high * fine });
  const own = penOn(sheet);
  draw(state, own, fine);
  own.globalCompositeOperation = "destination-over";
  own.fillStyle = css(state.theme.paper);
  own.fillRect(0, 0, state.wide, state.high);
  own.globalCompositeOperation = "source-over";
  own.fillStyle = css(state.theme.ink);
  own.font = `650 20px ${getComputedStyle(state.root).fontFamily}`;
  own.textAlign = "left";
  own.textBaseline = "top";
  const stage = state.stage.textContent ?? "";
  own.fillText(stage, 14, 10);
  sheet.toBlob((blob) => {
    if (!blob) return; // too large for this browser
    const link = element("a");
    link.href = URL.createObjectURL(blob);
    link.download = `space-${stage.replaceAll(" ", "-")}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}
