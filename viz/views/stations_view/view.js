// The way of a text through a model: stations side by side, a row for each token; on a narrow page the stations stand below each
// other. One canvas has the lines and the strips; tokens, headings, layers, heads and chances are elements above it.

import { unpack } from "../../shared/bytes.js";
import { closest, element } from "../../shared/element.js";
import { onHover } from "../../shared/hover.js";
import { makePlayer, withSteps } from "../../shared/player.js";
import { stateOf } from "../../shared/state.js";
import { draw } from "./drawing.js";
import { build, dress, tabulate } from "./elements.js";
import { begin, paceAt, settle, wait, wave } from "./motion.js";
import { arrange, blankGeometry } from "./places.js";
import { say } from "./words.js";

/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").State} State */
/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */

const QUIET = 400; // milliseconds without a change, until the tables for screen readers are written again

let met = false; // whether somebody has played or typed: the picture is then there as a whole when one comes back

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const header = unpack(data);
  const state = stateOf(parentElement, (root) => make(root, header, setTriggerValue));
  const before = state.arranged ? state.header : null;
  Object.assign(state, { header, tellApp: setTriggerValue, inApp: state.root.getRootNode() !== document });
  adopt(state, before);
  render(state);
  if (before && textOf(before) !== textOf(header)) wave(state);
}

/** @type {(header: Header) => string} */
const textOf = ({ text, lanes }) => text || JSON.stringify(lanes.map(({ tokens }) => tokens));
/** @type {(header: Header) => string} */
const keysOf = ({ stations }) => String(stations.map(({ key }) => key));

// What is turned to here stays until the app says something else.
/** @type {(state: State, before: Header | null) => void} */
function adopt(state, before) {
  const { header } = state;
  const strays = state.home && before && textOf(before) !== textOf(header); // Play has opened another layer for the text before
  state.at = Object.fromEntries(
    Object.entries(header.gazes).map(([name, gaze]) => {
      const old = before?.gazes[name];
      const same =
        old && !strays && old.layer === gaze.layer && old.head === gaze.head && String(old.layers) === String(gaze.layers);
      return [name, same ? state.at[name] : { layer: gaze.layer, head: gaze.head }];
    }),
  );
  state.main = Object.keys(header.gazes).find((name) => header.gazes[name].chosen) ?? "lane0";
  state.last = header.lanes.length - 1;
  const { pointed } = state;
  if (pointed && !header.lanes[pointed[0]]?.tokens[pointed[1]]) state.pointed = null;
  const { player } = state;
  const names = [...header.stations.map(({ title }) => title), header.whole];
  if (!before && header.begins && !met) {
    player.set({ names, at: 0 });
    wait(state);
  } else if (!before || textOf(before) !== textOf(header) || keysOf(before) !== keysOf(header)) {
    player.stop();
    player.set({ names, at: names.length - 1 });
    settle(state);
    met ||= Boolean(before);
  } else if (String(names) !== String(player.names)) player.set({ names });
}

/** @type {(root: HTMLElement, header: Header, tellApp: Tell) => State} */
function make(root, header, tellApp) {
  const canvas = element("canvas");
  canvas.setAttribute("aria-hidden", "true");
  const stage = element("div", "stage");
  stage.append(canvas);
  const said = element("p", "said");
  said.setAttribute("aria-live", "polite");
  const player = playerOf(() => state);
  const top = element("div", "top");
  top.append(player.node, said);
  const tables = element("div", "hidden");
  root.replaceChildren(top, stage, tables);
  /** @type {State} */
  const state = {
    root,
    header,
    tellApp,
    inApp: false,
    at: {},
    main: "lane0",
    last: 0,
    pointed: null,
    hovered: null,
    home: null,
    progress: Infinity,
    led: false,
    fresh: false,
    comet: null,
    n: 0,
    g: blankGeometry(),
    arranged: false,
    player,
    canvas,
    sheet: element("canvas"),
    stage,
    said,
    tables,
    ...build(stage),
    frame: 0,
    quiet: 0,
    tell: (value) => {
      state.n = Math.max(state.n + 1, Date.now());
      state.tellApp("chosen", { ...value, n: state.n });
    },
    turn: (layer, head) => turn(state, layer, head),
    hover: (head) => hover(state, head),
    point: (place) => point(state, place),
  };
  canvas.redraw = () => draw(state);
  onHover(stage, (event) => {
    const node = closest(event, ".token");
    point(state, state.nodes.tokens.find((token) => token.node === node)?.place ?? null);
  });
  stage.addEventListener("pointerleave", () => point(state, null));
  new ResizeObserver(() => render(state)).observe(root);
  return state;
}

/** @type {(state: () => State) => State["player"]} */
function playerOf(state) {
  /** @type {(at: number) => void} */
  const go = (at) => {
    met = true;
    begin(state(), at);
  };
  return withSteps(makePlayer("Station", (at) => paceAt(state(), at), go));
}

/** @type {(state: State) => void} */
function render(state) {
  arrange(state);
  dress(state);
  state.root.classList.toggle("fresh", state.fresh);
  refresh(state);
  clearTimeout(state.quiet);
  state.quiet = setTimeout(() => state.root.isConnected && tabulate(state), QUIET);
}

/** @type {(state: State) => void} */
function refresh(state) {
  draw(state);
  say(state);
}

// Looks at another layer or head: the picture here at once, and the rest of the page where the app follows.
/** @type {(state: State, layer: number, head: number) => void} */
function turn(state, layer, head) {
  const { header, at, last, main } = state;
  const lights = at[main].layer === layer ? "look" : "layers";
  const block = ["bridge", `lane${last}`];
  const names = block.includes(main) ? block.filter((name) => at[name]) : [main];
  for (const name of names) {
    const { layers, counts } = header.gazes[name];
    if (!layers.includes(layer)) continue;
    const most = counts[layers.indexOf(layer)] - 1;
    at[name] = { layer, head: Math.min(most, name === main ? head : at[name].head) };
  }
  state.hovered = null;
  state.home = null;
  if (state.fresh) {
    met = true;
    const station = header.stations.findIndex(({ key }) => key === lights);
    state.player.set({ names: state.player.names, at: station });
    begin(state, station, false);
  } else state.led = state.player.at < header.stations.length && state.led;
  render(state);
  if (header.leads) state.tell({ layer, head });
}

// A head whose small map is pointed at is looked through as long as that lasts.
/** @type {(state: State, head: number | null) => void} */
function hover(state, head) {
  if (state.hovered === head) return;
  state.hovered = head;
  dress(state);
  refresh(state);
}

/** @type {(state: State, place: Row | null) => void} */
function point(state, place) {
  if (String(place) === String(state.pointed)) return;
  state.pointed = place;
  dress(state);
  refresh(state);
}
