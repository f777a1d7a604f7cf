// Tokens as points on a canvas, one stage at a time; playing moves them from each stage to the next. The controls are ordinary
// buttons, a slider and a list; what the picture shows also stands in a sentence and a table.

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { CIVIDIS, cividis, colours, css, isDark, mix, rgbOf, stripOf } from "../../shared/colours.js";
import { element, makeButton, write } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { number } from "../../shared/number.js";
import { labelPlay } from "../../shared/player.js";
import { stateOf } from "../../shared/state.js";
import { fillTable } from "../../shared/table.js";

const MOVE = 800; // ms from a stage to the next
const REST = 450; // ms at each
const EYE = 3.4; // distance of the eye from the middle, where the farthest point is at 1
const NEAR = 15; // CSS pixels within which a point is meant
const MOST_LABELS = 140;
const FONT = 12.5;
const LONGEST_TABLE = 1100;
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

// How each picture was last looked at, by its name: it comes back the same after a computation took its place for a while.
const looks = new Map();
const LOOK = ["yaw", "pitch", "scale", "shift", "at", "trails", "labels", "stages", "dimensions"];

export function mount({ parentElement, data, setTriggerValue }) {
  const header = unpack(data);
  const state = stateOf(parentElement, (fresh) => {
    make(fresh);
    const before = looks.get(header.name);
    if (!before) return;
    for (const name of LOOK) fresh[name] = before[name];
    fresh.at = Math.round(before.at);
    fresh.details.open = before.details.open;
  });
  if (header.name) looks.set(header.name, state);
  const [stages, count, dimensions] = header.arrays.points.shape;
  const other = dimensions !== state.dimensions;
  if (stages !== state.stages) {
    state.at = stages - 1;
    state.playing = false;
  }
  Object.assign(state, {
    header,
    stages,
    count,
    dimensions,
    tell: setTriggerValue,
    xyz: header.arrays.points.data,
    placed: new Map(),
  });
  state.chosen = header.chosen ?? (state.chosen < count ? state.chosen : -1);
  state.pointed = -1;
  if (other) home(state);
  fit(state);
  paint(state);
  controls(state);
  resize(state);
  show(state);
}

function make(state) {
  const scene = element("div", "scene");
  scene.tabIndex = 0;
  scene.setAttribute("role", "application");
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  canvas.redraw = () => draw(state, penOn(canvas), state.ratio);
  const stage = element("div", "stage");
  const tip = element("div", "tip");
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  scene.append(canvas, stage, tip);
  const play = makeButton("", "", () => toggle(state));
  const scrub = element("input");
  Object.assign(scrub, { type: "range", min: 0, step: "any" });
  scrub.setAttribute("aria-label", "Layer");
  const follow = element("select");
  const follows = element("label", "", "Follow ");
  follows.append(follow);
  const trails = makeButton("", "Trails", () => press(state, "trails"));
  const labels = makeButton("", "Labels", () => press(state, "labels"));
  const less = makeButton("", "−", () => zoom(state, 1 / 1.25));
  less.setAttribute("aria-label", "Smaller");
  const more = makeButton("", "+", () => zoom(state, 1.25));
  more.setAttribute("aria-label", "Larger");
  const back = makeButton("", "Reset", () => reset(state));
  const save = makeButton("", "PNG", () => picture(state));
  save.setAttribute("aria-label", "Save this picture as PNG");
  const first = element("div", "player");
  first.append(play, scrub);
  const second = element("div", "bar");
  second.append(follows, trails, labels, element("span", "gap"), less, more, back, save);
  const legend = element("p", "legend");
  const said = element("p", "said");
  said.setAttribute("role", "status");
  const details = element("details");
  const rows = element("div", "rows");
  rows.tabIndex = 0;
  rows.setAttribute("role", "region");
  rows.setAttribute("aria-label", "Where the points are");
  details.append(element("summary", "", "As a table"), rows);
  state.root.replaceChildren(scene, first, second, legend, said, details);
  Object.assign(state, {
    scene,
    canvas,
    stage,
    tip,
    play,
    scrub,
    time: first,
    follow,
    legend,
    said,
    details,
    rows,
    buttons: { trails, labels },
  });
  Object.assign(state, { trails: true, labels: true, at: 0, chosen: -1, pointed: -1, pointers: new Map(), placed: new Map() });

  scrub.addEventListener("input", () => stop(state, Number(scrub.value)));
  scrub.addEventListener("change", () => stop(state, Math.round(state.at)));
  scrub.addEventListener("keydown", (event) => {
    const to = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1, Home: -1e6, End: 1e6 }[
      event.key
    ];
    if (!to) return;
    stop(state, Math.min(state.stages - 1, Math.max(0, Math.round(state.at) + to)));
    event.preventDefault();
  });
  follow.addEventListener("change", () => choose(state, Number(follow.value)));
  details.addEventListener("toggle", () => tabulate(state));
  scene.addEventListener("pointerdown", (event) => down(state, event));
  onMove(scene, (event) => moved(state, event));
  for (const name of ["pointerup", "pointercancel"]) scene.addEventListener(name, (event) => up(state, event));
  scene.addEventListener("pointerleave", () => aim(state, -1));
  scene.addEventListener(
    "wheel",
    (event) => {
      if (!event.ctrlKey && !event.metaKey) return; // else the page scrolls
      zoom(state, Math.exp(-event.deltaY / 400));
      event.preventDefault();
    },
    { passive: false },
  );
  scene.addEventListener("keydown", (event) => key(state, event));
  new ResizeObserver(() => state.header && resize(state) && show(state)).observe(state.root);
}

// Where one looks from at first.
function home(state) {
  Object.assign(state, { yaw: -0.6, pitch: 0.32, scale: 1, shift: [0, 0] });
}

function reset(state) {
  home(state);
  show(state);
}

// The middle of all points of all stages, and the distance of the farthest from it.
function fit(state) {
  const { xyz, dimensions, stages, count } = state;
  const total = stages * count;
  const low = Array.from({ length: dimensions }, () => Infinity);
  const high = Array.from({ length: dimensions }, () => -Infinity);
  for (let i = 0; i < total; i++)
    for (let d = 0; d < dimensions; d++) {
      const v = xyz[i * dimensions + d];
      if (v < low[d]) low[d] = v;
      if (v > high[d]) high[d] = v;
    }
  state.middle = low.map((v, d) => (v + high[d]) / 2);
  let far = 0;
  for (let i = 0; i < total; i++) {
    let square = 0;
    for (let d = 0; d < dimensions; d++) square += (xyz[i * dimensions + d] - state.middle[d]) ** 2;
    far = Math.max(far, square);
  }
  state.radius = Math.sqrt(far) || 1;
  state.half = low.map((v, d) => (high[d] - v) / 2 || 1); // a picture in 2-D fills the width
}

function controls(state) {
  const { header, scrub, follow, buttons, scene, stages } = state;
  scene.setAttribute(
    "aria-label",
    `${header.label}. Arrow keys ${state.dimensions === 3 ? "turn" : "move"} it, plus and minus change its size, 0 resets it, the space bar plays.`,
  );
  scrub.max = stages - 1;
  const often = new Map();
  for (const name of header.names) often.set(name, (often.get(name) ?? 0) + 1);
  const options = header.names.map((name, i) => (often.get(name) > 1 ? `${name} (${i})` : name));
  const wanted = options.join("\n");
  if (follow.wanted !== wanted) {
    follow.wanted = wanted;
    follow.replaceChildren(
      ...["no token", ...options].map((text, i) => Object.assign(element("option", "", text), { value: i - 1 })),
    );
  }
  follow.value = state.chosen;
  for (const [name, node] of Object.entries(buttons)) node.setAttribute("aria-pressed", state[name]);
  state.time.hidden = stages < 2;
  state.buttons.trails.hidden = stages < 2;
  const { colours, quantity } = header;
  const parts = [];
  if (quantity) parts.push(element("span", "", quantity + ":"));
  if (colours?.names)
    colours.names.forEach((name, i) => {
      const node = element("span");
      const dot = element("i", "dot");
      dot.style.background = css(state.inks[i]);
      node.append(dot, name);
      parts.push(node);
    });
  else if (colours) {
    const node = element("span");
    const strip = element("i", "strip");
    strip.style.background = stripOf(CIVIDIS.map((_, i, { length }) => css(even(state, i / (length - 1)))));
    node.append(number(colours.low), strip, number(colours.high, colours.unit) + (colours.log ? ", on a logarithmic scale" : ""));
    parts.push(node);
  }
  state.legend.replaceChildren(...parts);
}

// The colours for the page as it is, light or dark.
function paint(state) {
  const { header, root } = state;
  state.theme = colours(root);
  const { ink, paper } = state.theme;
  state.soft = mix(paper, ink, 0.55);
  state.dark = isDark(state.theme);
  const given = header.colours?.names ? header.colours[state.dark ? "dark" : "light"] : [];
  state.inks = given.map(rgbOf);
  if (header.colours?.rest) state.inks[header.colours.names.length - 1] = state.soft;
}

// The colour of a token now.
function colourOf(state, i) {
  const { header, count, at } = state;
  const values = header.arrays.values?.data;
  if (!values) return state.theme.accent;
  const [from, to] = [Math.floor(at), Math.ceil(at)];
  const value = values[from * count + i];
  if (Number.isNaN(value)) return state.soft;
  if (header.colours.names) return state.inks[value];
  const there = value + (values[to * count + i] - value) * (at - from);
  const { low, high, log } = header.colours;
  const on = log ? Math.log : (v) => v;
  return even(state, Math.min(1, Math.max(0, (on(there) - on(low)) / (on(high) - on(low) || 1))));
}

// The even scale, less the end that would sink into the page.
function even(state, part) {
  const [first, last] = state.dark ? [0.24, 1] : [0, 0.9];
  return cividis(first + (last - first) * part);
}

// Where a point of the space is on the canvas: [x, y, depth], depth from about -1 (far) to 1 (near).
function seenAt(state, x, y, z) {
  const { wide, high, scale, shift } = state;
  if (state.dimensions === 2) {
    const [right, top] = [wide / 2 - 46, high / 2 - 40];
    return [wide / 2 + shift[0] + x * right * scale, high / 2 + shift[1] - y * top * scale, 0];
  }
  const across = x * state.cy + z * state.sy;
  const deep = z * state.cy - x * state.sy;
  const up_ = y * state.cp - deep * state.sp;
  const near = y * state.sp + deep * state.cp;
  const size = ((Math.min(wide, high) / 2 - 22) * scale * EYE) / (EYE - near);
  return [wide / 2 + shift[0] + across * size, high / 2 + 8 + shift[1] - up_ * size, near];
}

function placeAt(state, at, i) {
  const { xyz, dimensions, count, middle, radius, half } = state;
  const from = Math.floor(at);
  const part = at - from;
  const a = (from * count + i) * dimensions;
  const b = part ? ((from + 1) * count + i) * dimensions : a;
  const v = (d) => xyz[a + d] + (xyz[b + d] - xyz[a + d]) * part - middle[d];
  return dimensions === 2
    ? seenAt(state, v(0) / half[0], v(1) / half[1], 0)
    : seenAt(state, v(0) / radius, v(1) / radius, v(2) / radius);
}

function resize(state) {
  const { root, canvas } = state;
  const wide = root.clientWidth - 2;
  if (wide < 20) return false;
  const high = Math.round(Math.min(540, Math.max(300, wide * (wide < 500 ? 1 : 0.68))));
  const ratio = devicePixelRatio || 1;
  if (wide === state.wide && high === state.high && ratio === state.ratio) return false;
  Object.assign(state, { wide, high, ratio });
  canvas.width = Math.round(wide * ratio);
  canvas.height = Math.round(high * ratio);
  canvas.style.height = high + "px";
  return true;
}

// Draw what there is to see now, and say it.
function show(state) {
  if (!state.wide) return;
  const { header, at, stage, scrub, play, scene } = state;
  const here = Math.min(state.stages - 1, Math.max(0, Math.floor(at + 1e-6)));
  const name = header.stages[here];
  write(stage, name);
  scene.classList.toggle("between", at - here > 0.01);
  scrub.value = at;
  if (scrub.said !== name) scrub.setAttribute("aria-valuetext", (scrub.said = name));
  labelPlay(play, state.playing);
  draw(state, penOn(state.canvas), state.ratio);
  point_out(state);
  if (!state.playing) {
    speak(state);
    if (state.details.open) tabulate(state);
  }
}

function draw(state, context, ratio) {
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
function ground(state, context) {
  const { theme, dimensions, header, wide, high } = state;
  context.strokeStyle = css(mix(theme.paper, theme.ink, 0.14));
  context.fillStyle = css(state.soft);
  context.lineWidth = 1;
  context.font = `12px ${getComputedStyle(state.root).fontFamily}`;
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
  if (!header.axes) return;
  context.textAlign = "center";
  context.textBaseline = "middle";
  const ends = [
    [0.8, -0.8, -0.8],
    [-0.8, 0.8, -0.8],
    [-0.8, -0.8, 0.8],
  ];
  context.strokeStyle = css(mix(theme.paper, theme.ink, 0.4));
  ends.forEach((end, d) => {
    line([-0.8, -0.8, -0.8], end);
    const [x, y] = seenAt(state, ...end.map((v, k) => (k === d ? 0.98 : v)));
    const half = context.measureText(header.axes[d]).width / 2 + 4;
    context.fillText(header.axes[d], Math.min(wide - half, Math.max(half, x)), Math.min(high - 8, Math.max(8, y)));
  });
}

// The way of a token up to now.
function trail(state, context, spot, strong) {
  const { at, count } = state;
  const last = Math.ceil(at) - 1;
  context.strokeStyle = css(spot.ink);
  context.lineWidth = strong ? 2.4 : 1.2;
  const faint = strong ? 0.9 : count > 200 ? 0.16 : 0.42;
  let before = placeAt(state, 0, spot.i);
  for (let stage = 0; stage <= last; stage++) {
    const here = stage === last ? [spot.x, spot.y] : placeAt(state, stage + 1, spot.i);
    context.globalAlpha = faint * (strong ? 1 : 0.35 + (0.65 * (stage + 1)) / (last + 1));
    context.beginPath();
    context.moveTo(before[0], before[1]);
    context.lineTo(here[0], here[1]);
    context.stroke();
    before = here;
  }
  context.globalAlpha = 1;
}

// Labels, the important ones first; one that finds no free place is left out. Those drawn a moment ago keep their place.
function label(state, context, order, near) {
  const { header, chosen, pointed, theme, wide, high, spots, placed } = state;
  const family = getComputedStyle(state.root).fontFamily;
  const rank = ({ i }) => (i === pointed ? 0 : i === chosen ? 1 : near.has(i) ? 2 : !state.labels ? 9 : placed.has(i) ? 3 : 4);
  const wanted = order.map((spot, k) => ({ spot, rank: rank(spot), k })).filter(({ rank }) => rank < 9);
  wanted.sort((a, b) => a.rank - b.rank || a.k - b.k);
  const cell = 24;
  const boxes = new Map();
  const points = new Map();
  const cells = (map, [l, t, r, b], act) => {
    for (let x = Math.floor(l / cell); x <= Math.floor(r / cell); x++)
      for (let y = Math.floor(t / cell); y <= Math.floor(b / cell); y++) {
        const name = x * 4096 + y;
        if (act(map, name)) return true;
      }
    return false;
  };
  const put = (map, box) => cells(map, box, (to, name) => void (to.get(name)?.push(box) ?? to.set(name, [box])));
  const meets = (map, box) =>
    cells(map, box, (to, name) => to.get(name)?.some((o) => o[0] < box[2] && o[2] > box[0] && o[1] < box[3] && o[3] > box[1]));
  for (const { i, x, y, size } of spots) put(points, Object.assign([x - size, y - size, x + size, y + size], { i }));
  put(boxes, [0, 0, 150, 38]); // the stage
  const before = new Map(placed);
  placed.clear();
  context.textAlign = "center";
  context.textBaseline = "middle";
  context.lineWidth = 3.5;
  for (const { spot, rank } of wanted) {
    if (placed.size >= MOST_LABELS) break;
    const { i, x, y, size, depth } = spot;
    context.font = `${rank < 2 ? 650 : 500} ${FONT + (rank < 2 ? 1 : 0)}px ${family}`;
    const width = context.measureText(header.names[i]).width + 4;
    const height = FONT + 4;
    const sides = [...SIDES.keys()];
    if (before.has(i)) sides.unshift(before.get(i));
    let found = null;
    for (const strict of [true, false]) {
      for (const side of sides) {
        const [w, h, dx, dy] = SIDES[side];
        const [mx, my] = [x + w * width + dx * (size + 1), y + h * height + dy * (size + 1)];
        const box = [mx - width / 2, my - height / 2, mx + width / 2, my + height / 2];
        if (rank > 1 && (box[0] < 0 || box[1] < 0 || box[2] > wide || box[3] > high)) continue;
        if (rank > 0 && meets(boxes, box)) continue;
        if (strict && rank > 0 && meets(points, box)) continue;
        found = { side, mx, my, box };
        break;
      }
      if (found || rank > 2) break; // an ordinary label never covers a point
    }
    if (!found) continue;
    put(boxes, found.box);
    placed.set(i, found.side);
    context.globalAlpha = rank < 3 || state.dimensions === 2 ? 1 : Math.min(1, 0.86 + 0.2 * depth);
    context.strokeStyle = css(theme.paper);
    context.strokeText(header.names[i], found.mx, found.my);
    context.fillStyle = css(theme.ink);
    context.fillText(header.names[i], found.mx, found.my);
  }
  context.globalAlpha = 1;
  state.labelled = [...boxes.values()];
}

// The nearest of a token in all dimensions, at the stage that is shown.
function nearOf(state, i) {
  const near = state.header.arrays.near;
  if (!near) return [];
  const each = near.shape[2];
  const start = (Math.round(state.at) * state.count + i) * each;
  return [...near.data.subarray(start, start + each)];
}

function valueOf(state, i) {
  const { header, count, at } = state;
  const values = header.arrays.values?.data;
  if (!values) return "";
  const value = values[Math.round(at) * count + i];
  if (Number.isNaN(value)) return "";
  if (header.colours.names) return header.colours.names[value];
  return number(value, header.colours.unit);
}

function nearest({ near_by }) {
  return "Nearest in all dimensions" + (near_by ? `, ${near_by}` : "");
}

function factsOf(state, i) {
  const { header } = state;
  const value = valueOf(state, i);
  const facts = [header.notes?.[i], value && (header.quantity ? `${header.quantity}: ${value}` : value)].filter(Boolean);
  const near = nearOf(state, i).map((other) => `“${header.names[other]}”`);
  if (near.length) facts.push(`${nearest(header).toLowerCase()}: ${near.join(", ")}`);
  return facts;
}

// The words beside the point that is pointed at.
function point_out(state) {
  const { tip, pointed, spots, wide, header, scene } = state;
  scene.classList.toggle("over", pointed >= 0);
  tip.hidden = pointed < 0;
  if (pointed < 0) return;
  const { x, y } = spots[pointed];
  tip.replaceChildren(
    element("b", "", header.names[pointed]),
    ...factsOf(state, pointed).map((fact) => element("span", "", fact)),
  );
  const left = x > wide - 280 ? Math.max(4, x - 16 - tip.offsetWidth) : x + 16;
  tip.style.left = left + "px";
  tip.style.top = Math.max(4, Math.min(state.high - tip.offsetHeight - 4, y - 12)) + "px";
}

// The token that is followed, in words.
function speak(state) {
  const { header, chosen, said, at } = state;
  const text =
    chosen < 0
      ? ""
      : `“${header.names[chosen]}” ${header.stages[Math.round(at)]}: ${factsOf(state, chosen).join("; ") || "no more is known"}.`;
  write(said, text);
}

function tabulate(state) {
  const { header, rows, count, dimensions, xyz, details } = state;
  if (!details.open) return rows.replaceChildren();
  const at = Math.round(state.at);
  const heads = ["Token", ...(header.axes ?? ["x", "y", "z"].slice(0, dimensions))];
  if (header.colours) heads.push(header.quantity || "value");
  if (header.arrays.near) heads.push(nearest(header));
  const lines = Array.from({ length: Math.min(count, LONGEST_TABLE) }, (_, i) => {
    const place = Array.from({ length: dimensions }, (_, d) => number(xyz[(at * count + i) * dimensions + d]));
    const cells = [`${i} ${header.names[i]}`, ...place];
    if (header.colours) cells.push(valueOf(state, i));
    if (header.arrays.near)
      cells.push(
        nearOf(state, i)
          .map((other) => header.names[other])
          .join(", "),
      );
    return cells;
  });
  const table = element("table");
  fillTable(table, header.stages[at], heads, lines);
  rows.replaceChildren(table);
}

// Playing

function toggle(state) {
  state.playing = !state.playing;
  if (state.playing) {
    if (state.at >= state.stages - 1) state.at = 0;
    state.from = Math.floor(state.at);
    state.clock = (state.at - state.from) * MOVE;
    state.last = performance.now();
    if (state.clock === 0 && state.at === 0) state.clock = -REST;
    requestAnimationFrame((now) => tick(state, now));
  } else state.at = Math.round(state.at);
  show(state);
}

function tick(state, now) {
  if (!state.playing || !state.root.isConnected) return;
  state.clock += Math.min(100, Math.max(0, now - state.last));
  state.last = now;
  while (state.clock >= MOVE + REST && state.from < state.stages - 1) {
    state.clock -= MOVE + REST;
    state.from++;
  }
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;
  const part = Math.min(1, Math.max(0, state.clock / MOVE));
  const eased = still ? Math.floor(part) : part * part * (3 - 2 * part);
  state.at = Math.min(state.stages - 1, state.from + eased);
  if (state.at >= state.stages - 1) state.playing = false;
  show(state);
  if (state.playing) requestAnimationFrame((next) => tick(state, next));
}

function stop(state, at) {
  state.playing = false;
  state.at = at;
  show(state);
}

function press(state, name) {
  state[name] = !state[name];
  state.buttons[name].setAttribute("aria-pressed", state[name]);
  show(state);
}

function choose(state, i) {
  state.chosen = i;
  state.follow.value = i;
  state.tell("chosen", i < 0 ? null : i);
  show(state);
}

// Pointing and turning

function under(state, event) {
  const box = state.canvas.getBoundingClientRect();
  const [x, y] = [event.clientX - box.left, event.clientY - box.top];
  let best = -1;
  let nearest = NEAR ** 2;
  for (const spot of state.spots ?? []) {
    const distance = (spot.x - x) ** 2 + (spot.y - y) ** 2 - 2 * spot.depth; // of two at the same place, the nearer
    if (distance < nearest) [best, nearest] = [spot.i, distance];
  }
  return best;
}

function aim(state, i) {
  if (i === state.pointed) return;
  state.pointed = i;
  if (!state.playing) show(state);
}

function down(state, event) {
  if (event.button) return;
  state.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  state.far = 0;
  state.scene.setPointerCapture?.(event.pointerId);
}

function moved(state, event) {
  const before = state.pointers.get(event.pointerId);
  if (!before) return aim(state, under(state, event));
  const others = [...state.pointers.entries()].filter(([id]) => id !== event.pointerId);
  const [dx, dy] = [event.clientX - before[0], event.clientY - before[1]];
  state.pointers.set(event.pointerId, [event.clientX, event.clientY]);
  state.far += Math.abs(dx) + Math.abs(dy);
  if (others.length) {
    const [, [ox, oy]] = others[0];
    const apart = (x, y) => Math.hypot(x - ox, y - oy) || 1;
    return zoom(state, apart(event.clientX, event.clientY) / apart(...before));
  }
  if (state.far < 4) return;
  state.scene.classList.add("turning");
  turn(state, dx, dy, event.shiftKey);
}

function up(state, event) {
  if (!state.pointers.delete(event.pointerId)) return;
  state.scene.classList.remove("turning");
  if (event.type === "pointercancel" || state.far >= 4) return;
  const i = under(state, event);
  if (i >= 0) choose(state, i === state.chosen ? -1 : i);
}

function turn(state, dx, dy, shift = false) {
  if (state.dimensions === 3 && !shift) {
    state.yaw += dx / 160;
    state.pitch = Math.min(1.5, Math.max(-1.5, state.pitch + dy / 160));
  } else {
    state.shift[0] += dx;
    state.shift[1] += dy;
  }
  show(state);
}

function zoom(state, by) {
  const scale = Math.min(20, Math.max(0.3, state.scale * by));
  state.shift = state.shift.map((v) => (v * scale) / state.scale);
  state.scale = scale;
  show(state);
}

function key(state, event) {
  if (event.target !== state.scene || event.ctrlKey || event.metaKey || event.altKey) return;
  const by = 16;
  const way = { ArrowLeft: [-by, 0], ArrowRight: [by, 0], ArrowUp: [0, -by], ArrowDown: [0, by] }[event.key];
  if (way) turn(state, ...way, event.shiftKey);
  else if (event.key === "+" || event.key === "=") zoom(state, 1.25);
  else if (event.key === "-" || event.key === "−") zoom(state, 1 / 1.25);
  else if (event.key === "0") reset(state);
  else if (event.key === " ") toggle(state);
  else if (event.key === "Escape" && state.chosen >= 0) choose(state, -1);
  else return;
  event.preventDefault();
}

// The picture as it is now, in a file, twice as fine.
function picture(state) {
  const sheet = element("canvas");
  const fine = 2;
  Object.assign(sheet, { width: state.wide * fine, height: state.high * fine });
  const own = sheet.getContext("2d");
  draw(state, own, fine);
  own.globalCompositeOperation = "destination-over";
  own.fillStyle = css(state.theme.paper);
  own.fillRect(0, 0, state.wide, state.high);
  own.globalCompositeOperation = "source-over";
  own.fillStyle = css(state.theme.ink);
  own.font = `650 20px ${getComputedStyle(state.root).fontFamily}`;
  own.textAlign = "left";
  own.textBaseline = "top";
  own.fillText(state.stage.textContent, 14, 10);
  sheet.toBlob((blob) => {
    const link = element("a");
    link.href = URL.createObjectURL(blob);
    link.download = `space-${state.stage.textContent.replaceAll(" ", "-")}.png`;
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}
