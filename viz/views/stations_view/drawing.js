// What is drawn on the canvas: the frame of the layer, lines, strips, the feed-forward part, and all heads as small maps.

import { penOn } from "../../shared/canvas.js";
import { colours, css, divergingOf, mix, shade, tintsOf } from "../../shared/colours.js";
import { roughly } from "../../shared/number.js";
import { focusOf, headOf, isAlone, largestOf, mixedOf, vectorOf, weightsOf } from "./data.js";
import { NAMES, place, stripAt, UPRIGHT } from "./places.js";
import { gazeOf } from "./words.js";

/** @typedef {import("./types").Band} Band */
/** @typedef {import("./types").Curve} Curve */
/** @typedef {import("./types").Drawing} Drawing */
/** @typedef {import("./types").FullBox} FullBox */
/** @typedef {import("./types").Geometry} Geometry */
/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").Spot} Spot */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Brush} Brush */

const FAINT = 0.3; // what is not on the way of the token that is followed
export const ABOUT_ALL = 1; // the last station whose sentence is about all tokens
const LEAST = 8; // of 255: weaker lines are left out

/** @type {(state: State) => void} */
export function draw(state) {
  const { canvas, g, header, last } = state;
  if (!state.arranged) return;
  const pen = penOn(canvas);
  pen.setTransform(1, 0, 0, 1, 0, 0);
  pen.clearRect(0, 0, canvas.width, canvas.height);
  pen.setTransform(g.ratio, 0, 0, g.ratio, 0, 0);
  const { ink, accent, paper } = colours(state.root);
  const theme = { ink, accent, paper, both: divergingOf(state.root), line: mix(paper, ink, 0.2) };
  const focus = focusOf(state);
  const order = Object.fromEntries(header.stations.map(({ key }, i) => [key, i]));
  /** @type {(key: string) => number} */
  const lit = (key) => (state.pointed ? 1 : Math.max(0, Math.min(1, state.progress - (order[key] ?? 0) + 1)));
  const alone = isAlone(state);
  const view = { state, pen, theme, focus, lit, alone, near: nearOf(state, focus, alone) };
  frame(view);
  light(view);
  lines(view);
  if (!g.wide) names(view);
  strips(view);
  if (focus[0] === last && !state.pointed) joins(view);
  thumbs(view);
  comet(view);
  pen.globalAlpha = 1;
}

// How near each row is to the way of the token that is followed: 1 for its own, less for those that it looks at.
/** @type {(state: State, focus: Row, alone: boolean) => number[][]} */
function nearOf(state, focus, alone) {
  const { header } = state;
  if (!alone) return header.lanes.map(({ tokens }) => tokens.map(() => 1));
  const name = gazeOf(state, focus);
  const weights = weightsOf(state, name, focus[1]);
  const most = Math.max(1, ...weights);
  const from = name === "bridge" ? 0 : focus[0];
  return header.lanes.map(({ tokens }, lane) =>
    tokens.map((_, row) => {
      if (lane === focus[0] && row === focus[1]) return 1;
      return lane === from && weights[row] >= LEAST ? FAINT + (0.9 - FAINT) * (weights[row] / most) : FAINT;
    }),
  );
}

/** @type {(view: Drawing) => void} */
function frame({ state, pen, theme }) {
  const { x, y, w, h } = state.g.panel;
  pen.globalAlpha = 1;
  pen.fillStyle = css(mix(theme.paper, theme.accent, 0.045));
  pen.strokeStyle = css(mix(theme.paper, theme.accent, 0.4));
  pen.lineWidth = 1;
  pen.beginPath();
  pen.roundRect(x + 0.5, y + 0.5, w - 1, h - 1, 12);
  pen.fill();
  pen.stroke();
}

// What is behind the station that is played.
/** @type {(view: Drawing) => void} */
function light({ state, pen, theme, lit }) {
  const { header, player, progress, pointed, g } = state;
  const { key } = header.stations[player.at] ?? {};
  if (pointed || progress === Infinity || !g.lights[key]) return;
  const { x, y, w, h } = g.lights[key];
  pen.globalAlpha = lit(key);
  pen.fillStyle = css(mix(theme.paper, theme.accent, 0.13));
  pen.beginPath();
  pen.roundRect(x, y, w, h, 8);
  pen.fill();
  pen.fillStyle = css(theme.accent);
  pen.fillRect(Math.max(0, x) + 5, y, w - 10 + Math.min(0, x), 3);
  pen.globalAlpha = 1;
}

// ---------------------------------------------------------------- lines

/** @type {(view: Drawing) => void} */
function lines(view) {
  const { state } = view;
  const { g, header, last } = state;
  header.lanes.forEach((_, lane) => {
    const end = g.bands.look[1];
    gaze(view, `lane${lane}`, lane, lane, [g.bands.look[0] + 3, end - 3], "look");
  });
  if (g.two) gaze(view, "bridge", 0, last, [g.bands.bridge[0] + 3, g.bands.bridge[1] - 3], "bridge");
}

/** @type {(view: Drawing, name: string, from: number, to: number, band: Band, station: string) => void} */
function gaze(view, name, from, to, [start, end], station) {
  const { state, pen, theme, focus, lit, alone } = view;
  const { g, header } = state;
  pen.strokeStyle = css(theme.accent);
  pen.fillStyle = css(theme.accent);
  const waits = alone ? 0.7 * (1 - lit(station)) : 1; // how much is there of the lines of other rows
  const own = gazeOf(state, focus) === name || (name !== "bridge" && focus[0] === to);
  header.lanes[to].tokens.forEach((token, row) => {
    if (token === null) return;
    const mine = to === focus[0] && row === focus[1] && own;
    const weights = weightsOf(state, name, row);
    pen.globalAlpha = mine ? lit(station) : 0.45;
    if (mine || !alone) arrow(pen, g, [end, g.across[to][row]], mine ? 6 : 4);
    weights.forEach((weight, key) => {
      const looked = name === "bridge" && focus[0] === from && key === focus[1]; // at the token that is pointed at
      if (weight < LEAST) return;
      const share = weight / 255;
      const [a, b] = [g.across[from][key], g.across[to][row]];
      if (waits > 0 && (alone || (!mine && !looked))) {
        pen.globalAlpha = (0.05 + 0.3 * share) * waits;
        pen.lineWidth = 0.8 + 1.6 * share;
        line(pen, g, [start, a], [end, b], 1);
      }
      if (!mine && !looked) return;
      pen.globalAlpha = 0.25 + 0.75 * shade(share);
      pen.lineWidth = 1 + 3.4 * share;
      line(pen, g, [start, a], [end, b], mine && alone ? lit(station) : 1);
    });
    if (mine && g.wide) largest(view, [name, row], g.across[from], start, lit(station));
  });
  pen.globalAlpha = 1;
}

// The largest weight of the followed row as a number, where its line begins.
/** @type {(view: Drawing, place: [name: string, row: number], across: number[], start: number, alpha: number) => void} */
function largest({ state, pen, theme }, [name, row], across, start, alpha) {
  const weights = weightsOf(state, name, row);
  const most = Math.max(...weights);
  if (most < LEAST) return;
  pen.globalAlpha = alpha;
  pen.fillStyle = css(theme.ink);
  pen.font = `bold 11px ${getComputedStyle(state.root).fontFamily}`;
  pen.textAlign = "left";
  pen.textBaseline = "bottom";
  pen.fillText(roughly(largestOf(state, name, row)), start + 8, across[weights.indexOf(most)] - 3);
  pen.fillStyle = css(theme.accent);
}

/** @type {(pen: Brush, g: Geometry, from: Spot, to: Spot, part: number) => void} */
function line(pen, g, [start, a], [end, b], part) {
  if (part <= 0) return;
  const middle = (start + end) / 2;
  const long = 1.12 * Math.hypot(end - start, b - a);
  if (part < 1) pen.setLineDash([long * part, long]);
  pen.beginPath();
  pen.moveTo(...place(g, start, a));
  pen.bezierCurveTo(...place(g, middle, a), ...place(g, middle, b), ...place(g, end, b));
  pen.stroke();
  if (part < 1) pen.setLineDash([]);
}

// The head of an arrow, whose tip is where the lines of a row end.
/** @type {(pen: Brush, g: Geometry, tip: Spot, size: number) => void} */
function arrow(pen, g, [end, across], size) {
  pen.beginPath();
  pen.moveTo(...place(g, end + 2, across));
  pen.lineTo(...place(g, end + 2 - 1.6 * size, across - size));
  pen.lineTo(...place(g, end + 2 - 1.6 * size, across + size));
  pen.fill();
}

// On a narrow page the tokens are out of sight where the lines begin: there are their names again.
/** @type {(view: Drawing) => void} */
function names({ state, pen, theme, near }) {
  const { g, header, root } = state;
  pen.fillStyle = css(theme.ink);
  pen.font = `12px ${getComputedStyle(root).fontFamily}`;
  pen.textBaseline = "middle";
  const turned = g.pitch < UPRIGHT;
  const room = turned ? NAMES - 6 : g.pitch - 6;
  pen.textAlign = turned ? "right" : "center";
  for (const end of [g.bands.look[0], ...(g.two ? [g.bands.bridge[0]] : [])])
    header.lanes.forEach((lane, i) =>
      lane.names.forEach((name, row) => {
        if (!name) return;
        pen.save();
        pen.globalAlpha = near[i][row];
        pen.translate(g.across[i][row], turned ? end - 2 : end - NAMES / 2);
        if (turned) pen.rotate(Math.PI / 2);
        pen.fillText(cut(pen, name, room), 0, 0);
        pen.restore();
      }),
    );
}

/** @type {(pen: Brush, text: string, room: number) => string} */
function cut(pen, text, room) {
  if (pen.measureText(text).width <= room) return text;
  const letters = [...text];
  while (letters.length > 1 && pen.measureText(letters.join("") + "…").width > room) letters.pop();
  return letters.join("") + "…";
}

// ---------------------------------------------------------------- strips

/** @type {(view: Drawing) => void} */
function strips(view) {
  const { state, lit, near, alone, focus } = view;
  const { g, header, at, last } = state;
  const all = !state.pointed && state.progress <= ABOUT_ALL;
  header.lanes.forEach(({ tokens }, lane) => {
    const { layer } = at[`lane${lane}`];
    tokens.forEach((token, row) => {
      if (token === null) return;
      const across = g.across[lane][row];
      const mine = lane === focus[0] && row === focus[1];
      /** @type {(station: string) => number} */
      const seen = (station) => (alone ? FAINT + (Math.min(near[lane][row], mine ? 1 : 0.9) - FAINT) * lit(station) : 1);
      const first = alone && all ? FAINT + (1 - FAINT) * lit("vectors") : seen("vectors");
      strip(view, g.bands.vectors, across, vectorOf(state, lane, layer, row), first, mine);
      if (g.two) {
        const cells =
          lane === last ? mixedOf(state, `lane${lane}`, row) : vectorOf(state, lane, header.lanes[0].numbers.length, row);
        strip(view, g.bands.middle, across, cells, seen("look"), mine);
      }
      if (lane !== last) return;
      const after = alone && !mine ? FAINT : seen("mix");
      strip(
        view,
        g.bands.mix,
        across,
        mixedOf(state, g.two && state.main !== `lane${last}` ? "bridge" : `lane${last}`, row),
        after,
        mine,
      );
      hexagon(view, across, alone && !mine ? FAINT : seen("forward"), mine);
      strip(view, g.bands.forward, across, vectorOf(state, lane, layer + 1, row), alone && !mine ? FAINT : seen("forward"), mine);
    });
  });
}

/** @type {(view: Drawing, band: Band, across: number, cells: Uint8Array, alpha: number, mine: boolean) => void} */
function strip({ pen, theme, state }, band, across, cells, alpha, mine) {
  const [x, y, w, h] = stripAt(state.g, band, across);
  pen.globalAlpha = alpha;
  const wide = w / cells.length;
  cells.forEach((cell, i) => {
    pen.fillStyle = css(theme.both[cell]);
    pen.fillRect(x + i * wide, y, wide + 0.4, h);
  });
  pen.strokeStyle = css(mine ? theme.accent : theme.line);
  pen.lineWidth = mine ? 1.5 : 1;
  pen.beginPath();
  pen.roundRect(x - 0.5, y - 0.5, w + 1, h + 1, 3);
  pen.stroke();
  pen.globalAlpha = 1;
}

// The feed-forward part of a row, which is wider inside than at its ends.
/** @type {(view: Drawing, across: number, alpha: number, mine: boolean) => void} */
function hexagon({ pen, theme, state }, across, alpha, mine) {
  const { g } = state;
  const [from, to] = g.bands.glyph;
  const half = Math.min(11, 0.4 * g.pitch);
  const [a, b] = [from + 0.32 * (to - from), to - 0.32 * (to - from)];
  /** @type {Spot[]} */
  const points = [
    [from, -0.4], [a, -1], [b, -1], [to, -0.4], [to, 0.4], [b, 1], [a, 1], [from, 0.4],
  ]; // prettier-ignore
  pen.globalAlpha = alpha;
  pen.fillStyle = css(mine ? mix(theme.paper, theme.accent, 0.3) : mix(theme.paper, theme.ink, 0.14));
  pen.strokeStyle = css(mine ? theme.accent : theme.line);
  pen.lineWidth = 1;
  pen.beginPath();
  points.forEach(([along, side], i) => {
    const [x, y] = place(g, along, across + side * half);
    if (i) pen.lineTo(x, y);
    else pen.moveTo(x, y);
  });
  pen.closePath();
  pen.fill();
  pen.stroke();
  pen.globalAlpha = 1;
}

// ---------------------------------------------------------------- from the block to the stack, and from there to the chances

/** @type {(state: State) => { in: Curve, out: Curve | null }} */
export function joinsOf(state) {
  const { g, header, at, last } = state;
  const across = g.across[last][header.row];
  const top = g.cardPlaces[g.cardPlaces.length - 1];
  const after = g.cardPlaces[g.cards.indexOf(at[`lane${last}`].layer + 1)] ?? g.cardPlaces[0]; // of the layer that is drawn
  const answer = g.outcomePlaces[0];
  if (!g.wide) return { in: [[across, g.bands.forward[1] + 2], [across, g.panel.y + g.panel.h + 12]], out: null }; // prettier-ignore
  return {
    in: [[g.bands.forward[1] + 3, across], [after.x - 3, after.y + after.h / 2]],
    out: answer ? [[top.x + top.w + 3, top.y + top.h / 2], [answer.x - 3, answer.y + answer.h / 2]] : null,
  }; // prettier-ignore
}

/** @type {(view: Drawing) => void} */
function joins({ state, pen, theme, lit }) {
  const { g } = state;
  const ends = joinsOf(state);
  pen.strokeStyle = css(theme.accent);
  pen.lineWidth = 2;
  pen.globalAlpha = FAINT + (1 - FAINT) * lit("layers");
  curve(pen, g, ...ends.in);
  if (ends.out) {
    pen.globalAlpha = FAINT + (1 - FAINT) * lit("chances");
    curve(pen, g, ...ends.out);
  }
  pen.globalAlpha = 1;
}

/** @type {(pen: Brush, g: Geometry, from: Spot, to: Spot) => void} */
function curve(pen, g, [x, y], [x2, y2]) {
  const middle = (x + x2) / 2;
  pen.beginPath();
  pen.moveTo(x, y);
  if (g.wide) pen.bezierCurveTo(middle, y, middle, y2, x2, y2);
  else pen.lineTo(x2, y2);
  pen.stroke();
}

// ---------------------------------------------------------------- all heads, small

/** @type {(view: Drawing) => void} */
function thumbs({ state, pen, theme }) {
  const { g, header, at, main } = state;
  const array = header.arrays[`weights-${main}`];
  const [, heads, rows, keys] = array.shape;
  const slot = header.gazes[main].layers.indexOf(at[main].layer);
  if (slot < 0) return;
  const { count, each, side, x, y } = g.thumbs;
  const tints = tintsOf(state.root);
  const { sheet } = state;
  sheet.width = keys * count;
  sheet.height = rows;
  const image = new ImageData(keys * count, rows);
  const pixels = new Uint32Array(image.data.buffer);
  for (let head = 0; head < count; head++)
    for (let row = 0; row < rows; row++)
      for (let key = 0; key < keys; key++)
        pixels[row * keys * count + head * keys + key] = tints[array.data[((slot * heads + head) * rows + row) * keys + key]];
  penOn(sheet).putImageData(image, 0, 0);
  pen.imageSmoothingEnabled = false;
  for (let head = 0; head < count; head++) {
    const [left, top] = [x + (head % each) * (side + 4), y + Math.floor(head / each) * (side + 4)];
    pen.fillStyle = css(theme.paper);
    pen.fillRect(left, top, side, side);
    pen.drawImage(sheet, head * keys, 0, keys, rows, left, top, side, side);
    const through = head === headOf(state, main);
    pen.strokeStyle = css(through ? theme.accent : theme.line);
    pen.lineWidth = through ? 2 : 1;
    pen.beginPath();
    pen.roundRect(left - 0.5, top - 0.5, side + 1, side + 1, 3);
    pen.stroke();
  }
}

// ---------------------------------------------------------------- the way of a new token

// Points that run along the way of the newest token: along the strips, and along each line as large as its weight.
/** @type {(view: Drawing) => void} */
function comet({ state, pen, theme }) {
  const { comet, g, header, last } = state;
  if (comet === null) return;
  const focus = [last, header.row];
  const across = g.across[last][header.row];
  const step = Math.floor(comet);
  const part = comet - step;
  const { key } = header.stations[step] ?? {};
  pen.fillStyle = css(theme.accent);
  /** @type {(spot: Spot, size: number) => void} */
  const dot = ([x, y], size) => {
    pen.globalAlpha = 0.9;
    pen.beginPath();
    pen.arc(x, y, size, 0, 2 * Math.PI);
    pen.fill();
  };
  /** @type {(band: Band) => void} */
  const along = ([from, to]) => dot(place(g, from + part * (to - from), across), 6);
  if (key === "tokens") along([g.bands.tokens[1], g.bands.vectors[0]]);
  else if (key === "vectors" || key === "mix") along(g.bands[key]);
  else if (key === "forward") along([g.bands.glyph[0], g.bands.forward[1]]);
  else if (key === "look" || key === "bridge") {
    const name = key === "bridge" ? "bridge" : `lane${last}`;
    const from = name === "bridge" ? 0 : last;
    const [start, end] = g.bands[key];
    weightsOf(state, name, focus[1]).forEach((weight, row) => {
      if (weight < 2 * LEAST) return;
      const a = g.across[from][row];
      dot(
        place(g, start + part * (end - start), a + part * part * (3 - 2 * part) * (across - a)),
        2 + 4 * Math.sqrt(weight / 255),
      );
    });
  } else if (key === "layers") {
    const i = Math.min(g.cardPlaces.length - 1, Math.floor(part * g.cardPlaces.length));
    ring(pen, theme, g.cardPlaces[i]);
  } else if (key === "chances" && g.outcomePlaces[0]) {
    const out = joinsOf(state).out;
    const [from, to] = out ?? [];
    if (from && to) dot([from[0] + part * (to[0] - from[0]), from[1] + part * (to[1] - from[1])], 5);
  }
  pen.globalAlpha = 1;
}

/** @type {(pen: Brush, theme: Drawing["theme"], box: FullBox) => void} */
function ring(pen, theme, { x, y, w, h }) {
  pen.globalAlpha = 0.9;
  pen.strokeStyle = css(theme.accent);
  pen.lineWidth = 3;
  pen.beginPath();
  pen.roundRect(x - 2, y - 2, w + 4, h + 4, 10);
  pen.stroke();
}
