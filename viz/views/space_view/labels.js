// The labels of the points: as many as there is room for. One with no room beside its point stands further off, with a line to it.

import { css } from "../../shared/colours.js";

/** @typedef {import("./types").Box} Box */
/** @typedef {import("./types").Boxes} Boxes */
/** @typedef {import("./types").LabelPlace} LabelPlace */
/** @typedef {import("./types").Shift} Shift */
/** @typedef {import("./types").Spot} Spot */
/** @typedef {import("./types").State} State */
/** @typedef {import("./types").Wanted} Wanted */
/** @typedef {import("../../shared/types").Brush} Brush */

const MOST_LABELS = 140;
const FONT = 12.5;
/** @type {Box} */
const STAGE = [0, 0, 150, 38]; // where the name of the stage stands
const CELL = 24; // CSS pixels
const FEW = 12; // points of which each is to be named
const MODERATE = 60; // points of which a name may stand further off

// Where a label may stand: the shift of its middle from its point, in its own widths and heights and in radii of the point.
const SIDES = [
  [0.5, 0, 1, 0],
  [-0.5, 0, -1, 0],
  [0, -0.5, 0, -1],
  [0, 0.5, 0, 1],
  [0.5, -0.5, 0.6, -0.6],
  [-0.5, -0.5, -0.6, -0.6],
  [0.5, 0.5, 0.6, 0.6],
  [-0.5, 0.5, -0.6, 0.6],
];
const NEAR = SIDES.length;
for (const far of [2.6, 4.2, 6]) for (const [w, h, dx, dy] of SIDES.slice(0, NEAR)) SIDES.push([w, h, far * dx, far * dy]);

// Labels, the important ones first; one that finds no free place is left out. Those drawn a moment ago keep their place.
/** @type {(state: State, context: Brush, order: Spot[], near: Set<number>) => void} */
export function label(state, context, order, near) {
  const { header, chosen, pointed, theme, spots, placed } = state;
  const family = getComputedStyle(state.root).fontFamily;
  /** @type {(spot: Spot) => number} */
  const rank = ({ i }) => (i === pointed ? 0 : i === chosen ? 1 : near.has(i) ? 2 : !state.labels ? 9 : placed.has(i) ? 3 : 4);
  state.many = order.length > FEW;
  const sides = order.length > MODERATE ? SIDES.slice(0, NEAR) : SIDES;
  const wanted = order.map((spot, k) => ({ ...spot, rank: rank(spot), k })).filter((spot) => spot.rank < 9);
  wanted.sort((a, b) => a.rank - b.rank || a.k - b.k);
  const [labels, points] = [makeBoxes(), makeBoxes()];
  for (const { x, y, size } of spots) points.put([x - size, y - size, x + size, y + size]);
  labels.put(STAGE);
  const before = new Map(placed);
  placed.clear();
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 3.5;
  for (const spot of wanted) {
    if (placed.size >= MOST_LABELS) break;
    const { i, depth, rank } = spot;
    context.font = `${rank < 2 ? 650 : 500} ${FONT + (rank < 2 ? 1 : 0)}px ${family}`;
    const place = freePlace(state, spot, context.measureText(header.names[i]).width + 4, before.get(i), sides, labels, points);
    if (!place) continue;
    labels.put(place.box);
    placed.set(i, place.side);
    context.globalAlpha = rank < 3 || state.dimensions === 2 ? 1 : Math.min(1, 0.86 + 0.2 * depth);
    if (place.side >= NEAR) drawLeader(context, spot, place.box, css(theme.ink));
    context.strokeStyle = css(theme.paper);
    context.strokeText(header.names[i], ...place.middle);
    context.fillStyle = css(theme.ink);
    context.fillText(header.names[i], ...place.middle);
  }
  context.globalAlpha = 1;
}

// Where a label of this width may stand beside its point: {side, middle, box}, where it stood `before` if it can; or nothing.
/** @type {(state: State, spot: Wanted, width: number, before: number | undefined, all: number[][], labels: Boxes, points: Boxes) => LabelPlace | null} */
function freePlace({ wide, high, many }, { x, y, size, rank }, width, before, all, labels, points) {
  const height = FONT + 4;
  const sides = before === undefined || before >= NEAR ? all : [SIDES[before], ...all];
  for (const strict of [true, false]) {
    for (const place of sides) {
      const [w, h, dx, dy] = place;
      /** @type {Shift} */
      const middle = [x + w * width + dx * (size + 1), y + h * height + dy * (size + 1)];
      /** @type {Box} */
      const box = [middle[0] - width / 2, middle[1] - height / 2, middle[0] + width / 2, middle[1] + height / 2];
      if (rank > 1 && (box[0] < 0 || box[1] < 0 || box[2] > wide || box[3] > high)) continue;
      if (rank > 0 && labels.meet(box)) continue;
      if (strict && rank > 0 && points.meet(box)) continue;
      return { side: SIDES.indexOf(place), middle, box };
    }
    if (rank > 2 && many) return null; // among many points an ordinary label never covers another one
  }
  return null;
}

// A thin line from a point to the nearest edge of its label.
/** @type {(context: Brush, spot: Spot, box: Box, colour: string) => void} */
function drawLeader(context, { x, y, size }, [left, top, right, bottom], colour) {
  const end = [Math.min(Math.max(x, left), right), Math.min(Math.max(y, top), bottom)];
  const edge = size / (Math.hypot(end[0] - x, end[1] - y) || 1);
  const [width, alpha] = [context.lineWidth, context.globalAlpha];
  Object.assign(context, { lineWidth: 1, globalAlpha: 0.45 });
  context.strokeStyle = colour;
  context.beginPath();
  context.moveTo(x + edge * (end[0] - x), y + edge * (end[1] - y));
  context.lineTo(end[0], end[1]);
  context.stroke();
  Object.assign(context, { lineWidth: width, globalAlpha: alpha });
}

// Boxes [left, top, right, bottom], in cells, so that few have to be looked at to tell whether another one meets any.
/** @type {() => Boxes} */
function makeBoxes() {
  /** @type {Map<number, Box[]>} */
  const cells = new Map();
  /** @type {(box: Box, act: (cell: number) => boolean) => boolean} */
  const some = ([left, top, right, bottom], act) => {
    for (let x = Math.floor(left / CELL); x <= Math.floor(right / CELL); x++)
      for (let y = Math.floor(top / CELL); y <= Math.floor(bottom / CELL); y++) if (act(x * 4096 + y)) return true;
    return false;
  };
  /** @type {(a: Box, b: Box) => boolean} */
  const meets = (a, b) => a[0] < b[2] && a[2] > b[0] && a[1] < b[3] && a[3] > b[1];
  return {
    put(box) {
      some(box, (cell) => {
        const there = cells.get(cell);
        if (there) there.push(box);
        else cells.set(cell, [box]);
        return false;
      });
    },
    meet: (box) => some(box, (cell) => cells.get(cell)?.some((other) => meets(other, box)) ?? false),
  };
}
