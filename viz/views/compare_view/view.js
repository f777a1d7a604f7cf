// Shares of each token by several methods, as a shaded table; a slider moves through the frames, and "Play" moves the slider.

const FULL = 0.8; // of the accent: text on it stays readable
const PACE = 900; // milliseconds a frame

function mount({ parentElement, data }) {
  const header = unpack(data);
  const state = stateOf(parentElement, make);
  const fresh = state.header?.frames.length !== header.frames.length;
  Object.assign(state, { header, theme: colours(state.root) });
  if (fresh) {
    stop(state);
    state.frame = header.frames.length - 1;
  }
  build(state);
  draw(state);
}

function make(state) {
  const controls = element("div", "player");
  const play = element("button");
  play.type = "button";
  const slider = element("input");
  slider.type = "range";
  slider.min = 0;
  slider.step = 1;
  slider.setAttribute("aria-label", "Frame");
  const frame = element("output", "frame");
  controls.append(play, slider, frame);
  const scroll = element("div", "scroll");
  const table = element("table");
  scroll.append(table);
  state.root.replaceChildren(controls, scroll);
  Object.assign(state, { controls, play, slider, name: frame, table, cells: [], frame: 0, timer: 0 });
  slider.addEventListener("input", () => {
    stop(state);
    state.frame = Number(slider.value);
    draw(state);
  });
  play.addEventListener("click", () => (state.timer ? stop(state) : start(state)));
  stop(state);
}

function start(state) {
  const last = state.header.frames.length - 1;
  if (state.frame === last) state.frame = 0;
  sayPlaying(state.play, true);
  draw(state);
  state.timer = setInterval(() => {
    if (!state.root.isConnected || state.frame >= state.header.frames.length - 1) return stop(state);
    state.frame += 1;
    draw(state);
  }, PACE);
}

function stop(state) {
  clearInterval(state.timer);
  state.timer = 0;
  sayPlaying(state.play, false);
}

// Rows and columns; written again only where something differs.
function build(state) {
  const { header, table, controls, slider } = state;
  controls.hidden = header.frames.length < 2;
  slider.max = header.frames.length - 1;
  const key = JSON.stringify([header.names, header.tokens, header.kinds, header.label, header.chosen]);
  if (key === state.key) return;
  state.key = key;
  const caption = element("caption", "hidden", header.label);
  const head = element("thead");
  const names = element("tr");
  names.append(element("td"));
  for (const name of header.names) {
    const cell = element("th", "", name);
    cell.scope = "col";
    names.append(cell);
  }
  head.append(names);
  const body = element("tbody");
  state.cells = header.tokens.map((pieces, i) => {
    const row = element("tr", i === header.chosen ? "asked" : "");
    const token = element("th", ["", "special", "fragment"][header.kinds[i]]);
    token.scope = "row";
    const word = element("span");
    fill(word, pieces);
    token.append(word);
    if (i === header.chosen) token.append(element("span", "hidden", " (the token asked about)"));
    row.append(token);
    const cells = header.names.map(() => row.appendChild(element("td")));
    body.append(row);
    return cells;
  });
  table.replaceChildren(caption, head, body);
}

function draw(state) {
  const { header, cells, slider, name, theme } = state;
  const { shape, data } = header.arrays.values;
  const [frames, columns, rows] = shape;
  slider.value = state.frame;
  name.textContent = header.frames[state.frame];
  slider.setAttribute("aria-valuetext", header.frames[state.frame]);
  for (let column = 0; column < columns; column++) {
    let most = 0;
    for (let frame = 0; frame < frames; frame++) {
      for (let row = 0; row < rows; row++) {
        const value = data[(frame * columns + column) * rows + row];
        if (value > most) most = value;
      }
    }
    for (let row = 0; row < rows; row++) {
      const value = data[(state.frame * columns + column) * rows + row];
      const opacity = value > 0 ? Math.round(100 * FULL * shade(value / most)) / 100 : 0;
      const cell = cells[row][column];
      cell.textContent = Number.isNaN(value) ? "–" : written(value);
      cell.style.setProperty("--shade", 100 * opacity + "%");
      cell.style.color = inkOn(theme, opacity);
    }
  }
}

// A share in a narrow cell: per cent to one decimal.
function written(value) {
  return value > 0 && value < 0.0005 ? "<0.1" : (100 * value).toFixed(1);
}
