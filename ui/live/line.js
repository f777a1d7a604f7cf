// The line: what is typed goes to the server at each key by a WebSocket of its own, and the answer is drawn as if a run of the page
// had mounted it. When typing rests, Streamlit's box sends the text as ever, and the run of the page then has the last word.
//
// Where no line can be opened nothing here has any effect: each key goes Streamlit's way.

const LINE_BOXES = ["text", "target"];
const LINKS = "[data-testid=stSidebarNavLink]"; // to other pages: what is typed after a press on one is typed on no page
const NO_SUCH_KEY = 4401; // close codes of routes.py and route.py
const VISITOR_LEFT = 4408;
const LATE = 10_000; // milliseconds without an answer, after which a line counts as dead
const HELD = 3000; // milliseconds that a press waits at most for the run that it belongs to
const SETTLED = 100; // milliseconds that a box is late with what a run has put into it
const AGAIN = 1000; // milliseconds until a line that could not be opened is tried again, each time twice as long
const SELDOM = 60_000; // but not longer

/** @typedef {import("./types").Answer} Answer */
/** @typedef {import("./types").Draw} Draw */
/** @typedef {import("./types").Mounted} Mounted */
/** @typedef {import("./types").Page} Page */
/** @typedef {import("./types").Texts} Texts */
/** @typedef {import("../../viz/shared/types").Bytes} Bytes */
/** @typedef {import("../../viz/shared/types").MountArgs} MountArgs */

class Line {
  /** @type {Map<string, Mounted>} */
  mounts = new Map(); // what runs have mounted, by key: {args, draw, drawn, live}; live: drawn by the line
  /** @type {Page | null} */
  page = null; // what the last run says of its page; null where no line answers
  /** @type {WebSocket | null} */
  socket = null;
  key = ""; // by which it was opened
  refused = ""; // a key that the server does not know
  failures = 0;
  notBefore = 0; // when a line may be opened
  asked = 0; // the number of the last message
  answered = 0; // that of the last answer
  clicked = 0; // that of the last message about a click
  barrier = 0; // messages up to here were about other choices
  /** @type {Texts | null} */
  typed = null; // what somebody has typed and no run has shown yet
  /** @type {Texts | null} */
  failed = null; // what of that the line cannot show
  /** @type {import("./types").Press[]} */
  presses = [];
  overdrawn = false; // whether a run has drawn an older text than the one that is typed
  watch = 0; // a timer

  get isOpen() {
    return this.socket?.readyState === WebSocket.OPEN;
  }

  // Whether what the line has drawn, or is about to, is newer than what the last run shows.
  get isAhead() {
    if (!this.isOpen || !this.page || this.typed === null || this.typed === this.failed) return false;
    return sameTexts(texts(), this.typed) && !sameTexts(this.typed, this.page.texts);
  }

  open() {
    if (!this.page || this.page.key === this.refused || this.socket || Date.now() < this.notBefore) return;
    const url = new URL("live", document.baseURI);
    url.protocol = url.protocol.replace("http", "ws");
    const socket = new WebSocket(url);
    socket.binaryType = "arraybuffer";
    socket.onopen = () => {
      socket.send(this.key);
      this.ask();
    };
    socket.onmessage = ({ data }) => this.take(data);
    socket.onclose = ({ code }) => this.socket === socket && this.closed(code);
    Object.assign(this, { socket, key: this.page.key });
  }

  /** @param {number} code */
  closed(code) {
    clearTimeout(this.watch);
    this.socket = null;
    this.mark();
    if (code === NO_SUCH_KEY) this.refused = this.key;
    else if (code !== VISITOR_LEFT) this.notBefore = Date.now() + Math.min(SELDOM, AGAIN * 2 ** this.failures++);
  }

  // Ask for the picture of the newest text, or of a click on it; or open the line first.
  /** @param {unknown} click */
  ask(click = null) {
    if (!this.page || (this.typed === null && !click)) return;
    if (!this.isOpen) return this.open();
    const [text, other] = (this.typed ?? this.page.texts).map((value) => value ?? "");
    if (Math.max(text.length, other.length) > this.page.longest) return this.fail();
    if (click) this.clicked = this.asked + 1;
    const { run, page, model, choices, values, said, texts: before } = this.page;
    const target = text !== before[0] && other === said ? "" : other; // the model's own answer is one to the text before
    this.socket?.send(JSON.stringify({ number: ++this.asked, run, page, model, text, target, choices, values, click }));
    clearTimeout(this.watch);
    this.watch = setTimeout(() => this.drop(), LATE);
  }

  drop() {
    this.socket?.close();
    this.closed(0);
  }

  /** @param {string | ArrayBuffer} data */
  take(data) {
    /** @type {Answer} */
    const answer = typeof data === "string" ? JSON.parse(data) : unpacked(data);
    this.failures = 0;
    if (answer.number >= this.asked) clearTimeout(this.watch);
    if (answer.number <= Math.max(this.answered, this.barrier)) return;
    this.answered = answer.number;
    const isOfClick = answer.number === this.clicked && this.typed === null;
    if (!this.page || !(isOfClick || (this.typed !== null && sameTexts(texts(), this.typed)))) return;
    if (answer.boards && this.fits(answer.boards)) {
      Object.assign(this.page.choices, answer.picks);
      Object.assign(this.page.values, answer.values);
      for (const [key, { bytes }] of Object.entries(answer.boards)) this.show(this.mounts.get(key), bytes, true);
    } else if (this.answered === this.asked) this.fail();
    this.mark();
  }

  // The line cannot show what is typed: the boxes need not wait until typing rests. They have not seen the newest key yet.
  fail() {
    const typed = (this.failed = this.typed);
    setTimeout(() => typed && this.typed === typed && sameTexts(texts(), typed) && commit());
  }

  // Whether each board of an answer has its place on the page, with the views that it holds.
  /** @param {Record<string, import("./types").Board>} boards */
  fits(boards) {
    const entries = Object.entries(boards);
    return entries.length > 0 && entries.every(([key, { kinds }]) => nodeOf(this.mounts.get(key))?.dataset.uses === kinds);
  }

  /** @param {Mounted | undefined} mount @param {Bytes} data @param {boolean} live */
  show(mount, data, live) {
    if (!mount) return;
    Object.assign(mount, { drawn: data, live });
    mount.draw({ ...mount.args, data, setTriggerValue: (name, value) => this.press(mount, name, value) });
  }

  // A press on a picture that no run has drawn is one for the run that does: it waits until the text is there.
  /** @param {Mounted} mount @param {string} name @param {any} value */
  press(mount, name, value) {
    if (!mount.live || !this.isAhead) {
      if (this.isOpen && this.typed === null && this.answers(value)) this.ask(value);
      return mount.args.setTriggerValue(name, value);
    }
    this.presses.push([mount, name, value]);
    setTimeout(() => this.release(), HELD);
  }

  // Whether a click is one of those that the line answers: in a part of a board, or by a name in it.
  /** @param {any} value */
  answers(value) {
    return Boolean(this.page?.parts?.some((part) => value?.part === part || Object.hasOwn(Object(value), part)));
  }

  release() {
    for (const [mount, name, value] of this.presses.splice(0)) mount.args.setTriggerValue(name, value);
  }

  // Where the line is not ahead, what runs have mounted is what there is to see.
  settle() {
    if (this.isAhead) return this.mark();
    if (this.typed !== null && !sameTexts(texts(), this.typed)) this.typed = null; // a run has put another text into the box
    for (const mount of this.mounts.values())
      if (mount.drawn !== mount.args.data && nodeOf(mount)?.isConnected) this.show(mount, mount.args.data, false);
    if (this.typed === null) this.release();
    this.mark();
  }

  // What a run says of its page, after it has mounted the rest.
  /** @param {Page} page */
  settleOn(page) {
    const before = this.page;
    this.page = page.key ? page : null;
    if (this.socket && this.key !== page.key) this.drop();
    if (this.page && this.typed !== null && sameTexts(this.typed, page.texts)) this.typed = null;
    if (isBox(document.activeElement)) this.open();
    const changed = this.page && !(before && chosen(before) === chosen(page));
    if (changed) this.barrier = this.asked;
    if (changed || (this.overdrawn && this.isAhead)) this.ask();
    this.overdrawn = false;
    this.settle();
    setTimeout(() => this.settle(), SETTLED);
  }

  /** @param {EventTarget | null} target */
  note(target) {
    if (!this.page || !isBox(target)) return;
    this.typed = texts();
    this.failed = null;
    const isDrawn = sameTexts(this.typed, this.page.texts); // the last run has drawn this text
    if (isDrawn) this.barrier = this.asked;
    this.ask();
    if (isDrawn) this.settle();
    this.mark();
  }

  // While views show a newer text than the last run, what that run has written beside them is wrong: style.css hides it.
  mark() {
    const isNewer = this.page && this.typed !== null && !sameTexts(this.typed, this.page.texts);
    const isDrawn = this.isAhead || [...this.mounts.values()].some(({ live }) => live);
    document.documentElement.toggleAttribute("data-line-ahead", Boolean(isNewer && isDrawn));
  }

  // A run mounts a view. What the line has drawn there stays until the run has said of which text it is.
  /** @param {MountArgs} args @param {Draw} draw */
  mount(args, draw) {
    const key = keyOf(args.parentElement);
    if (!key) return draw(args);
    const before = this.mounts.get(key);
    const isSame = before?.args.parentElement === args.parentElement;
    const mount = Object.assign(isSame && before ? before : { live: false }, { args, draw });
    this.mounts.set(key, mount);
    if (mount.live && this.isAhead) return;
    this.overdrawn ||= this.typed !== null;
    this.show(mount, args.data, false);
  }

  /** @param {Page} page */
  update(page) {
    setTimeout(() => this.settleOn(page)); // after all that it has mounted
  }

  leave() {
    Object.assign(this, { page: null, typed: null });
    this.mark();
  }
}

// The text boxes that there are, and what they hold; null for one that is not there.
/** @returns {(HTMLInputElement | null)[]} */
function boxes() {
  return LINE_BOXES.map((name) => document.querySelector(`.st-key-${name} input`));
}

// Have Streamlit's boxes send what is typed now, as when the focus leaves them.
function commit() {
  for (const box of boxes()) box?.dispatchEvent(new FocusEvent("focusout", { bubbles: true }));
}

/** @param {EventTarget | null} target */
function isBox(target) {
  return boxes().some((box) => box !== null && box === target);
}

/** @returns {Texts} */
function texts() {
  return boxes().map((box) => box && wellFormed(box.value));
}

// A text as the server gets it: half of a character becomes a sign of its own.
/** @param {string} text */
function wellFormed(text) {
  return text.toWellFormed?.() ?? text;
}

/** @param {Texts} some @param {Texts} others */
function sameTexts(some, others) {
  return some.every((text, i) => text === others[i] || text === null || others[i] === null);
}

/** @param {Page} page */
function chosen({ page, model, choices, values }) {
  return JSON.stringify([page, model, choices, values]);
}

// The key under which a view is mounted.
/** @param {Node} parentElement */
function keyOf(parentElement) {
  const { host } = /** @type {ShadowRoot} */ (parentElement.getRootNode());
  const classes = host?.closest("[class*='st-key-']")?.classList ?? [];
  return [...classes].find((name) => name.startsWith("st-key-"))?.slice("st-key-".length);
}

/** @param {Mounted | undefined} mount @returns {HTMLElement | null | undefined} */
function nodeOf(mount) {
  return mount?.args.parentElement.querySelector(".hl");
}

// The boards of an answer: see `packed` in answers.py, and `pack` in viz/view.py.
/** @param {ArrayBuffer} data */
function unpacked(data) {
  const length = new DataView(data).getUint32(0, true);
  const answer = JSON.parse(new TextDecoder().decode(new Uint8Array(data, 4, length)));
  const start = Math.ceil((4 + length) / 8) * 8 + answer.arrays.blocks.offset;
  for (const board of Object.values(answer.boards))
    board.bytes = new Uint8Array(data.slice(start + board.start, start + board.end));
  return answer;
}

// Begin the line, once a document. What was mounted before, and said of the page, is waiting.
function beginLine() {
  const line = new Line();
  for (const [args, draw] of window.headlightEarly?.splice(0) ?? []) line.mount(args, draw);
  if (window.headlightPage) line.update(window.headlightPage);
  addEventListener("input", (event) => event.isComposing || line.note(event.target), true);
  addEventListener("compositionend", ({ target }) => line.note(target), true);
  addEventListener(
    "click",
    ({ target, ctrlKey, metaKey }) => target instanceof Element && target.closest(LINKS) && !ctrlKey && !metaKey && line.leave(),
    true,
  );
  addEventListener("popstate", () => line.leave());
  addEventListener("focusin", ({ target }) => isBox(target) && line.open());
  return line;
}

window.headlightLine ??= beginLine();
