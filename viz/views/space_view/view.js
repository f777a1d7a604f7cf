// Tokens as points on a canvas, one stage at a time; playing moves them from each stage to the next. The controls are ordinary
// buttons, a slider and a list; what the picture shows also stands in a sentence and a table.

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { CIVIDIS, colours, css, stripOf } from "../../shared/colours.js";
import { element, makeButton, makeTool } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { lookUp } from "../../shared/lookup.js";
import { number } from "../../shared/number.js";
import { stateOf } from "../../shared/state.js";
import { draw, picture } from "./drawing.js";
import { even, paint } from "./inks.js";
import { fit, home, resize } from "./places.js";
import { aim, down, key, moved, up, zoom } from "./pointing.js";
import { choose, press, reset, show, stop, toggle } from "./show.js";
import { tabulate } from "./words.js";

/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Look} Look */
/** @typedef {import("./types").State} State */

const STEPS = { ArrowRight: 1, ArrowUp: 1, PageUp: 1, ArrowLeft: -1, ArrowDown: -1, PageDown: -1, Home: -1e6, End: 1e6 };

// How each picture was last looked at, by its name: it comes back the same after a computation took its place for a while.
/** @type {Map<string, State>} */
const looks = new Map();

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  if (header.name) looks.set(header.name, state);
  const [stages, count, dimensions] = header.arrays.points.shape;
  const other = dimensions !== state.dimensions;
  if (stages !== state.stages) {
    state.at = Math.min(header.opens, stages - 1);
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
  if (other) Object.assign(state, home());
  fit(state);
  paint(state);
  controls(state);
  resize(state);
  show(state);
}

/** @type {(root: HTMLElement, header: Header, tell: Tell) => State} */
function make(root, header, tell) {
  const theme = colours(root);
  /** @type {State} */
  const state = {
    root,
    header,
    tell,
    ...lookOf(header, looks.get(header.name)),
    count: 0,
    xyz: new Float32Array(0),
    chosen: -1,
    pointed: -1,
    playing: false,
    from: 0,
    clock: 0,
    last: 0,
    cy: 1,
    sy: 0,
    cp: 1,
    sp: 0,
    middle: [],
    radius: 1,
    half: [],
    wide: 0,
    high: 0,
    ratio: 1,
    theme,
    soft: theme.ink,
    dark: false,
    inks: [],
    spots: [],
    placed: new Map(),
    many: false,
    stageSpoken: "",
    options: null,
    pointers: new Map(),
    far: 0,
    ...makeParts(root, (act) => act(state)),
  };
  state.details.open = looks.get(header.name)?.details.open ?? false;
  listen(state);
  return state;
}

// How the picture before was looked at; else from where one looks at first.
/** @type {(header: Header, before?: State) => Look} */
function lookOf(header, before) {
  if (!before) return { ...home(), at: 0, trails: !header.simple, labels: true, stages: 0, dimensions: 0 };
  const { yaw, pitch, scale, shift, trails, labels, stages, dimensions } = before;
  return { yaw, pitch, scale, shift, at: Math.round(before.at), trails, labels, stages, dimensions };
}

// `on(act)` calls `act` with the state.
/** @param {HTMLElement} root @param {(act: (state: State) => void) => void} on */
function makeParts(root, on) {
  const scene = element("div", "scene");
  scene.tabIndex = 0;
  scene.setAttribute("role", "application");
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const stage = element("div", "stage");
  const tip = element("div", "tip");
  tip.hidden = true;
  tip.setAttribute("aria-hidden", "true");
  scene.append(canvas, stage, tip);
  const { first, second, ...tools } = makeBars(on);
  const legend = element("p", "legend");
  const said = element("p", "said");
  said.setAttribute("role", "status");
  const details = element("details");
  const rows = element("div", "rows");
  rows.tabIndex = 0;
  rows.setAttribute("role", "region");
  rows.setAttribute("aria-label", "Where the points are");
  details.append(element("summary", "", "As a table"), rows);
  root.replaceChildren(scene, first, second, legend, said, details);
  return { scene, canvas, stage, tip, legend, said, details, rows, time: first, ...tools };
}

// The button and the slider through the stages, and below them what else there is to press.
/** @param {(act: (state: State) => void) => void} on */
function makeBars(on) {
  const play = makeTool("", "", () => on(toggle));
  const scrub = element("input");
  Object.assign(scrub, { type: "range", min: "0", step: "any" });
  scrub.setAttribute("aria-label", "Layer");
  const follow = element("select");
  const follows = element("label", "", "Follow ");
  follows.append(follow);
  const trails = makeButton("", "Trails", () => on((state) => press(state, "trails")));
  const labels = makeButton("", "Labels", () => on((state) => press(state, "labels")));
  const less = makeButton("", "−", () => on((state) => zoom(state, 1 / 1.25)));
  less.setAttribute("aria-label", "Smaller");
  const more = makeButton("", "+", () => on((state) => zoom(state, 1.25)));
  more.setAttribute("aria-label", "Larger");
  const pair = element("span", "pair");
  pair.append(less, more);
  const back = makeButton("", "Reset", () => on(reset));
  const save = makeButton("", "PNG", () => on(picture));
  save.setAttribute("aria-label", "Save this picture as PNG");
  const first = element("div", "player");
  first.append(play, scrub);
  const second = element("div", "bar");
  second.dataset.take = "no"; // pressed or not, they say nothing of the points
  second.append(follows, trails, labels, element("span", "gap"), pair, back, save);
  return { first, second, play, scrub, follow, buttons: { trails, labels } };
}

/** @type {(state: State) => void} */
function listen(state) {
  const { scene, scrub, follow, details, canvas } = state;
  canvas.redraw = () => draw(state, penOn(canvas), state.ratio);
  scrub.addEventListener("input", () => stop(state, Number(scrub.value)));
  scrub.addEventListener("change", () => stop(state, Math.round(state.at)));
  scrub.addEventListener("keydown", (event) => {
    const to = lookUp(STEPS, event.key);
    if (!to) return;
    stop(state, Math.min(state.stages - 1, Math.max(0, Math.round(state.at) + to)));
    event.preventDefault();
  });
  follow.addEventListener("change", () => choose(state, Number(follow.value)));
  details.addEventListener("toggle", () => tabulate(state));
  scene.addEventListener("pointerdown", (event) => down(state, event));
  onMove(scene, (event) => moved(state, event));
  for (const name of /** @type {const} */ (["pointerup", "pointercancel"]))
    scene.addEventListener(name, (event) => up(state, event));
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
  new ResizeObserver(() => resize(state) && show(state)).observe(state.root);
}

/** @type {(state: State) => void} */
function controls(state) {
  const { header, scrub, follow, buttons, scene, stages } = state;
  scene.setAttribute(
    "aria-label",
    `${header.label}. Arrow keys ${state.dimensions === 3 ? "turn" : "move"} it, plus and minus change its size, 0 resets it, the space bar plays.`,
  );
  scrub.max = String(stages - 1);
  /** @type {Map<string, number>} */
  const often = new Map();
  for (const name of header.names) often.set(name, (often.get(name) ?? 0) + 1);
  const options = header.names.map((name, i) => ((often.get(name) ?? 0) > 1 ? `${name} (${i})` : name));
  const wanted = options.join("\n");
  if (state.options !== wanted) {
    state.options = wanted;
    follow.replaceChildren(
      ...["no token", ...options].map((text, i) => Object.assign(element("option", "", text), { value: String(i - 1) })),
    );
  }
  follow.value = String(state.chosen);
  buttons.trails.setAttribute("aria-pressed", String(state.trails));
  buttons.labels.setAttribute("aria-pressed", String(state.labels));
  state.time.hidden = stages < 2;
  state.buttons.trails.hidden = stages < 2;
  const { quantity } = header;
  /** @type {HTMLElement[]} */
  const parts = [];
  if (quantity) parts.push(element("span", "", quantity + ":"));
  if (header.colours?.names)
    header.colours.names.forEach((name, i) => {
      const node = element("span");
      const dot = element("i", "dot");
      dot.style.background = css(state.inks[i]);
      node.append(dot, name);
      parts.push(node);
    });
  else if (header.colours) {
    const { low, high, unit, log } = header.colours;
    const node = element("span");
    const strip = element("i", "strip");
    strip.style.background = stripOf(CIVIDIS.map((_, i, { length }) => css(even(state, i / (length - 1)))));
    node.append(number(low), strip, number(high, unit) + (log ? ", on a logarithmic scale" : ""));
    parts.push(node);
  }
  state.legend.replaceChildren(...parts);
}
