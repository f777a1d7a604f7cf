// Where things stand.

/** @typedef {import("./types").State} State */

export const SPACE = 13; // between two labels at least
const TALL = 620; // CSS pixels: the longest that the columns get
const BROAD = 880; // and the broadest: lines that run nearly side by side cannot be told apart
const PAD = 8; // before the first token and after the last
const PITCH = 25; // pixels from token to token at most, in columns
const WIDE = 110; // in rows
const READABLE = 18; // the pitch of "every label"

// Sizes for the width there is; says whether there is any.
/** @type {(state: State) => boolean} */
export function arrange(state) {
  const { root, options, sides, stage, spacer, scroller, canvases, picture, controls } = state;
  const rows = options.layout === "rows";
  const most = Math.max(1, ...sides.map(({ count }) => count));
  const width = root.clientWidth;
  if (!width) return false;
  const roomy = ((rows ? width : TALL) - 2 * PAD) / most;
  const crowded = roomy < SPACE;
  controls.zoom.node.hidden = !crowded || state.header.simple;
  const zoomed = crowded && options.zoom === "labels";
  picture.className = `picture ${options.layout}${zoomed ? " zoomed" : ""}`;
  picture.style.maxWidth = rows ? "" : BROAD + "px";
  const inner = scroller.clientWidth || width;
  state.extent = rows ? inner : zoomed ? TALL : Math.min(TALL, PITCH * most + 2 * PAD);
  state.span = state.extent - 2 * PAD;
  for (const side of sides) side.pitch = zoomed ? READABLE : Math.min(rows ? WIDE : PITCH, state.span / Math.max(1, side.count));
  state.long = Math.max(state.span, ...sides.map(({ count, pitch }) => count * pitch)) + 2 * PAD;
  state.upright = rows && Math.min(...sides.map(({ pitch }) => pitch)) < 64;
  state.room = rows ? (state.upright ? 104 : 44) : Math.round(Math.max(104, Math.min(190, 0.24 * inner)));
  state.across = rows ? 2 * state.room + 240 : inner;
  picture.classList.toggle("upright", state.upright);
  const [wide, high] = rows ? [state.extent, state.across] : [state.across, state.extent];
  stage.style.width = wide + "px";
  stage.style.height = high + "px";
  spacer.style.width = (rows ? state.long : wide) + "px";
  spacer.style.height = (rows ? high : state.long) + "px";
  scroller.style.maxHeight = rows ? "" : state.extent + "px";
  picture.style.setProperty("--room", state.room + "px");
  scroller[rows ? "scrollLeft" : "scrollTop"] = state.scroll;
  const ratio = Math.min(devicePixelRatio || 1, 2);
  for (const canvas of canvases) {
    const size = [Math.round(wide * ratio), Math.round(high * ratio)];
    if (canvas.width !== size[0]) canvas.width = size[0];
    if (canvas.height !== size[1]) canvas.height = size[1];
  }
  state.ratio = ratio;
  state.stale = true;
  locate(state);
  return true;
}

// Where each token stands along, for how far the view is scrolled. The shorter side comes along in proportion.
/** @type {(state: State) => void} */
export function locate(state) {
  const { sides, span, extent, long, scroll } = state;
  for (const side of sides) {
    const full = side.count * side.pitch;
    side.offset = (full > span ? (scroll * (full - span)) / (long - extent || 1) : (full - span) / 2) - PAD;
    side.at = Float32Array.from({ length: side.count }, (_, i) => (i + 0.5) * side.pitch - side.offset);
    side.height = Math.min(22, Math.max(SPACE, side.pitch));
  }
  state.stale = true;
}
