// A page with a text box, a server and a network, in which time passes as a test says: what `ui/live/line.js` meets in a browser.

import { readFileSync } from "node:fs";

const SCRIPT = readFileSync("../ui/live/line.js", "utf8");

// Numbers that look random, the same for the same seed.
export function dice(seed) {
  let state = seed + 1;
  return (below) => {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9;
    return ((state ^ (state >>> 13)) >>> 0) % below;
  };
}

class Clock {
  constructor() {
    this.now = 0;
    this.waiting = [];
    this.count = 0;
  }

  set = (act, milliseconds = 0, ...given) => {
    const timer = { at: this.now + milliseconds, number: ++this.count, act: () => act(...given) };
    this.waiting.push(timer);
    return timer;
  };

  clear = (timer) => (this.waiting = this.waiting.filter((other) => other !== timer));

  pass(milliseconds) {
    const end = this.now + milliseconds;
    for (;;) {
      const next = this.waiting.filter(({ at }) => at <= end).toSorted((a, b) => a.at - b.at || a.number - b.number)[0];
      if (!next) break;
      this.clear(next);
      this.now = next.at;
      next.act();
    }
    this.now = end;
  }
}

// forbidden: whether a proxy lets no line through. The line has no picture of a text with an X.
export class World {
  constructor(seed, forbidden = false) {
    this.seed = seed;
    this.roll = dice(seed);
    this.forbidden = forbidden;
    this.clock = new Clock();
    this.box = { value: "", dispatchEvent: () => this.leaveTheBox() };
    this.sent = ""; // what Streamlit's box has told the server
    this.pause = 0; // before it does
    this.choice = 0; // another one at each press
    this.drawn = null;
    this.marked = false; // whether words of an older text are hidden
    this.history = [];
    this.told = []; // presses, with what was in sight then and what the server shows when it hears of them
    this.lines = new Set();
    this.listeners = {};
    this.runs = 0;
    this.mounted = null; // what the last run has mounted
    const window = {};
    const document = {
      baseURI: "http://here/",
      activeElement: null,
      documentElement: { toggleAttribute: (name, on) => (this.marked = on) },
      querySelector: (name) => (name === ".st-key-text input" ? this.box : null),
    };
    const world = this;
    class WebSocket extends FakeSocket {
      constructor() {
        super(world);
      }
    }
    WebSocket.OPEN = 1;
    const clock = this.clock;
    const listen = (kind, act) => (this.listeners[kind] ??= []).push(act);
    const given = { window, document, addEventListener: listen, WebSocket, FocusEvent: class {} };
    Object.assign(given, { setTimeout: clock.set, clearTimeout: clock.clear, Date: { now: () => clock.now } });
    new Function(...Object.keys(given), SCRIPT)(...Object.values(given));
    this.line = window.headlightLine;
    const root = { dataset: { uses: "bars" }, isConnected: true };
    const host = { closest: () => ({ classList: ["stElement", "st-key-board"] }) };
    this.parentElement = { getRootNode: () => ({ host }), querySelector: () => root };
    this.run();
    this.clock.pass(1000);
  }

  boardOf(text, choice) {
    return `${text}|${choice}`;
  }

  // ------------------------------------------------------------ what a person does

  type(text) {
    this.box.value = text;
    for (const act of this.listeners.input) act({ target: this.box, isComposing: false });
    this.clock.clear(this.debounce);
    this.debounce = this.clock.set(() => this.commit(), this.pause);
  }

  leaveTheBox() {
    this.clock.clear(this.debounce);
    this.commit();
  }

  press() {
    this.leaveTheBox();
    this.tell(this.drawn);
  }

  example(text) {
    this.leaveTheBox();
    this.sent = text;
    this.setsBox = true;
    this.run();
  }

  // ------------------------------------------------------------ Streamlit

  commit() {
    if (this.box.value === this.sent) return;
    this.sent = this.box.value;
    this.run();
  }

  // A run of the page; one that begins ends the one before.
  run() {
    this.clock.clear(this.running);
    const [text, choice] = [this.sent, this.choice];
    this.running = this.clock.set(
      () => {
        const board = this.boardOf(text, choice);
        this.pause = this.lines.size ? 400 : 0;
        if (this.mounted?.board !== board) {
          const data = new TextEncoder().encode(board);
          this.mounted = { board, text };
          const setTriggerValue = (name, { seen }) => {
            this.told.push({ seen, shown: this.mounted.board });
            this.choice++;
            this.run();
          };
          this.line.mount({ parentElement: this.parentElement, data, setTriggerValue }, (args) => this.draw(args));
        }
        if (this.setsBox && text === this.sent) {
          this.setsBox = false;
          this.clock.set(() => (this.box.value = text), this.roll(50)); // React takes its time
        }
        const page = {
          parts: ["bars"],
          key: "key",
          run: ++this.runs,
          page: "type",
          model: "writer",
          said: "",
          longest: 6000,
          values: {},
        };
        this.line.update({ ...page, texts: [text, ""], choices: { choice } });
      },
      20 + this.roll(150),
    );
  }

  draw({ data, setTriggerValue }) {
    this.drawn = new TextDecoder().decode(data);
    this.history.push(this.drawn);
    const where = this.seed % 2 ? { part: "bars" } : { bars: [0, 1] };
    this.tell = (seen) => setTriggerValue("chosen", { ...where, seen });
  }
}

// The server's end answers the newest message that waits, one at a time.
class FakeSocket {
  constructor(world) {
    Object.assign(this, { world, readyState: 0, waiting: null, busy: false });
    world.clock.set(() => (world.forbidden ? this.end(1006) : this.begin()), 1 + world.roll(40));
  }

  begin() {
    if (this.readyState) return;
    this.readyState = 1;
    this.onopen();
  }

  send(message) {
    if (message === "key") return this.world.lines.add(this);
    this.waiting = JSON.parse(message);
    this.world.clock.set(() => this.work(), 1);
  }

  work() {
    if (this.busy || !this.waiting || this.readyState !== 1) return;
    const { number, text, choices, click } = this.waiting;
    const picks = click ? { choice: choices.choice + 1 } : {};
    Object.assign(this, { busy: true, waiting: null });
    this.world.clock.set(
      () => {
        this.busy = false;
        const board = this.world.boardOf(text, picks.choice ?? choices.choice);
        const data = text.includes("X") ? JSON.stringify({ number, wrong: "no" }) : packed(number, board, picks);
        if (this.readyState === 1) this.onmessage({ data });
        this.work();
      },
      4 + this.world.roll(60),
    );
  }

  close() {
    this.end(1000);
  }

  end(code) {
    if (this.readyState === 3) return;
    this.readyState = 3;
    this.world.lines.delete(this);
    this.onclose({ code });
  }
}

function packed(number, board, picks) {
  const bytes = new TextEncoder().encode(board);
  const boards = { board: { kinds: "bars", start: 0, end: bytes.length } };
  const text = new TextEncoder().encode(JSON.stringify({ number, picks, boards, arrays: { blocks: { offset: 0 } } }));
  const start = Math.ceil((4 + text.length) / 8) * 8;
  const whole = new Uint8Array(start + bytes.length);
  new DataView(whole.buffer).setUint32(0, text.length, true);
  whole.set(text, 4);
  whole.set(bytes, start);
  return whole.buffer;
}
