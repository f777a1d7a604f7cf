// Answers marks of words (`<a href="#w-attention">`, on the page and inside of views): a press, a pointer that rests there or the
// focus of a keyboard opens a small frame that says what the word means, with links. Nothing of it runs on the server until a link
// is followed.

/** @typedef {import("./types").Component<Uint8Array>} Component */
/** @typedef {Record<string, import("./types").Explanation>} Explanations */
/** @typedef {import("./types").Words} Words */

const MARK = 'a[href^="#w-"]';
const PATIENCE = 3000; // ms that a press on a word waits for the word to stand again
const REST = 250; // ms that a pointer rests before the frame opens, and that it may take to come over into it
/** @type {Partial<Words>} */
let given = {}; // the newest of what the server says, and how to tell it something
/** @type {HTMLElement | null} */
let frame = null;
/** @type {HTMLAnchorElement | null} */
let anchor = null; // the mark that the frame is about
let kept = false; // opened by a press: it stays until it is closed
/** @type {HTMLAnchorElement | null} */
let quiet = null; // a mark that has the focus back, and does not open again by that
let timer = 0;
/** @type {Map<string, Promise<Explanations>>} */
const fetched = new Map();

/** @type {(args: Component) => void} */
export default ({ data, setTriggerValue }) => {
  window.headlightWords ??= listen(); // the document listens with the first of these modules
  window.headlightWords({ ...JSON.parse(new TextDecoder().decode(data)), tell: setTriggerValue });
};

/** @type {() => (newest: Words) => void} */
function listen() {
  document.addEventListener("click", pressed, true);
  document.addEventListener("pointerover", moved);
  document.addEventListener("focusin", focused);
  document.addEventListener("focusout", left);
  addEventListener("scroll", () => anchor && place(), { capture: true, passive: true });
  addEventListener("resize", () => anchor && place());
  return (newest) => {
    given = newest;
    if (anchor) place();
    if (location.hash.startsWith("#w-")) openAsked(location.hash);
  };
}

// A press before this module was there went the way of any link: it put the word into the address, as somebody's link may.
/** @type {(word: string) => void} */
function openAsked(word) {
  history.replaceState(history.state, "", location.pathname + location.search);
  open(Object.assign(document.createElement("a"), { href: word }), true);
}

/** @type {(event: Event) => HTMLAnchorElement | null} */
const markOf = (event) => {
  const links = event.composedPath().filter((node) => node instanceof HTMLAnchorElement);
  return links.find((link) => link.matches(MARK)) ?? null;
};
/** @type {(event: Event) => boolean} */
const inFrame = (event) => frame !== null && event.composedPath().includes(frame);

/** @type {(mark: HTMLElement) => string} */
const nameOf = (mark) => mark.getAttribute("href") ?? "";

// A mark, or the one that has taken its place: a page that is still being drawn places its words anew.
/** @type {(mark: HTMLAnchorElement) => HTMLAnchorElement | null} */
function standing(mark) {
  return mark.isConnected ? mark : document.querySelector(`a[href="${CSS.escape(nameOf(mark))}"]`);
}

// The same as soon as it stands: for a moment of a page that is still being drawn there may be none.
/** @type {(mark: HTMLAnchorElement) => Promise<HTMLAnchorElement | null>} */
async function placed(mark) {
  const until = performance.now() + PATIENCE;
  while (!standing(mark) && performance.now() < until) await new Promise((go) => setTimeout(go, 50));
  return standing(mark);
}

/** @type {(event: MouseEvent) => void} */
function pressed(event) {
  const mark = markOf(event);
  if (!mark) return follow(event);
  event.preventDefault();
  event.stopPropagation();
  open(mark, true);
}

/** @type {(event: PointerEvent) => void} */
function moved(event) {
  if (event.pointerType !== "mouse") return;
  clearTimeout(timer);
  const mark = markOf(event);
  if (mark && mark !== anchor) timer = setTimeout(() => open(mark, false), REST);
  else if (anchor && !kept && !mark && !inFrame(event)) timer = setTimeout(close, REST);
}

/** @type {(event: Event) => void} */
function focused(event) {
  const mark = markOf(event);
  if (mark && mark !== quiet && mark !== anchor && mark.matches(":focus-visible")) open(mark, false, true);
  if (!mark) quiet = null;
}

/** @type {(event: Event) => void} */
function left(event) {
  const mark = markOf(event);
  if (mark && mark === quiet) quiet = null;
  if (mark && mark === anchor && !kept) timer = setTimeout(() => !kept && close(), 0);
}

// Where the focus alone has opened it, Tab passes it by: it closes as the focus leaves its word, and would send the focus back.
/** @type {(mark: HTMLAnchorElement, press: boolean, focus?: boolean) => Promise<void>} */
async function open(mark, press, focus = false) {
  clearTimeout(timer);
  const words = await all();
  const now = press ? await placed(mark) : standing(mark);
  if (!now) return;
  if (!frame?.isConnected) frame = make();
  anchor = now;
  kept = press;
  frame.inert = focus;
  fill(frame, words, now);
  if (!frame.matches(":popover-open")) frame.showPopover();
  place();
  if (press) frame?.focus({ preventScroll: true });
}

/** @type {() => void} */
function close() {
  if (frame?.matches(":popover-open")) frame.hidePopover();
}

// The browser closes it by Escape and by a press elsewhere.
/** @type {() => HTMLElement} */
function make() {
  const made = Object.assign(document.createElement("div"), { id: "headlight-word", popover: "auto", tabIndex: -1 });
  made.setAttribute("role", "dialog");
  made.setAttribute("aria-labelledby", "headlight-word-title");
  made.addEventListener("toggle", (event) => {
    if (event.newState !== "closed") return;
    const mark = anchor;
    anchor = null;
    const here = document.activeElement;
    if (kept && mark?.isConnected && (here === document.body || made.contains(here))) {
      quiet = mark;
      mark.focus({ preventScroll: true });
    }
    kept = false;
  });
  document.querySelector(".stApp")?.append(made); // it knows whether the page is light or dark
  return made;
}

/** @type {() => Promise<Explanations>} */
function all() {
  const { from = "" } = given;
  const known = fetched.get(from);
  if (known) return known;
  const ask = fetch(new URL(from, document.baseURI).href).then((answer) => (answer.ok ? answer.json() : Promise.reject()));
  const words = ask.catch(() => {
    fetched.delete(from);
    return {};
  });
  fetched.set(from, words);
  return words;
}

/** @type {(frame: HTMLElement, words: Explanations, mark: HTMLElement) => void} */
function fill(frame, words, mark) {
  const name = nameOf(mark).slice(3);
  const text = mark.textContent ?? "";
  const { title = text, said = [], links = [] } = words[name] ?? {};
  const [, kind = "", layer = "", head = ""] = text.match(/(?:(\w+) )?L(\d+) H(\d+)/) ?? [];
  const missing = "This could not be loaded. Reload the page.";
  const sentence = (said[given.level ?? 0] ?? missing).replace("{layer}", layer).replace("{head}", head);
  const heading = part("strong", head && name === "head-name" ? text : title);
  heading.id = "headlight-word-title";
  const nav = part("nav", "");
  nav.setAttribute("aria-label", "More about it");
  nav.append(
    ...links.map(([to, href, label]) => link(to, href, label, name)),
    link("all", "lessons?learn=Words+to+know", "All words", name),
  );
  frame.lang = words[name] ? (given.language ?? "en") : "en";
  frame.replaceChildren(heading, part("p", kind ? `${kind[0].toUpperCase()}${kind.slice(1)}: ${sentence}` : sentence), nav);
}

/** @type {<Tag extends keyof HTMLElementTagNameMap>(tag: Tag, text: string) => HTMLElementTagNameMap[Tag]} */
function part(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

/** @type {(to: string, href: string, label: string, word: string) => HTMLAnchorElement} */
const link = (to, href, label, word) => Object.assign(part("a", label), { href: `./${href}#${to}-${word}` });

/** @type {(event: Event) => HTMLAnchorElement | null} */
const linkOf = (event) => /** @type {HTMLAnchorElement | null} */ (event.target)?.closest?.("a[href]") ?? null;

// A link of the frame, or of the list of all words, is an address that can be opened beside this page too. A plain press stays in
// the app, with text and model.
/** @type {(event: MouseEvent) => void} */
function follow(event) {
  const [, to, word] = linkOf(event)?.hash.match(/^#(see|lesson|all)-([a-z0-9-]+)$/) ?? [];
  if (!to || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  event.stopPropagation();
  kept = false;
  close();
  given.tell?.("followed", { word, to, at: Date.now() });
}

// While the word of a frame that was asked for is placed anew, the frame stays where it is.
/** @type {() => Promise<void>} */
async function wait() {
  if (!kept) return close();
  const gone = anchor;
  if (!gone) return;
  const mark = await placed(gone);
  if (anchor !== gone) return;
  if (!mark) return close();
  anchor = mark;
  place();
}

// Below the word where there is room, else above it, and inside of the window.
/** @type {() => void} */
function place() {
  const mark = anchor && standing(anchor);
  if (!mark || !frame) return void wait();
  anchor = mark;
  const box = mark.getBoundingClientRect();
  const { width, height } = frame.getBoundingClientRect();
  if (box.bottom < 0 || box.top > innerHeight) return close();
  const below = box.bottom + 6;
  const top = below + height <= innerHeight - 8 ? below : Math.max(8, box.top - height - 6);
  frame.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - width - 8))}px`;
  frame.style.top = `${top}px`;
}
