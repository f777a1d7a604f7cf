// Tokens as points on a canvas, one stage at a time; playing moves them from each stage to the next. The controls are ordinary
// buttons, a slider and a list; what the picture shows also stands in a sentence and a table.

import { unpack } from "../../shared/bytes.js";
import { penOn } from "../../shared/canvas.js";
import { CIVIDIS, css, stripOf } from "../../shared/colours.js";
import { element, makeButton, makeTool } from "../../shared/element.js";
import { onMove } from "../../shared/hover.js";
import { number } from "../../shared/number.js";
import { stateOf } from "../../shared/state.js";
import { draw, picture } from "./drawing.js";
import { even, paint } from "./inks.js";
import { fit, home, resize } from "./places.js";
import { aim, down, key, moved, up, zoom } from "./pointing.js";
import { choose, press, reset, show, stop, toggle } from "./show.js";
import { tabulate } from "./words.js";

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
  const [first, second] = makeBars(state);
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
  Object.assign(state, { scene, canvas, stage, tip, legend, said, details, rows, trails: true, labels: true });
  Object.assign(state, { at: 0, chosen: -1, pointed: -1, pointers: new Map(), placed: new Map() });
  listen(state);
}

// The button and the slider through the stages, and below them what else there is to press.
function makeBars(state) {
  const play = makeTool("", "", () => toggle(state));
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
  const pair = element("span", "pair");
  pair.append(less, more);
  const back = makeButton("", "Reset", () => reset(state));
  const save = makeButton("", "PNG", () => picture(state));
  save.setAttribute("aria-label", "Save this picture as PNG");
  const first = element("div", "player");
  first.append(play, scrub);
  const second = element("div", "bar");
  second.dataset.take = "no"; // pressed or not, they say nothing of the points
  second.append(follows, trails, labels, element("span", "gap"), pair, back, save);
  Object.assign(state, { play, scrub, time: first, follow, buttons: { trails, labels } });
  return [first, second];
}

function listen(state) {
  const { scene, scrub, follow, details } = state;
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
