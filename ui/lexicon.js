// Answers marks of words (`<a href="#w-attention">`, on the page and inside of views): a press, a pointer that rests there or the
// focus of a keyboard opens a small frame that says what the word means, with links. Nothing of it runs on the server until a link
// is followed.

const MARK = 'a[href^="#w-"]';
const PATIENCE = 3000; // ms that a press on a word waits for the word to stand again
const REST = 250; // ms that a pointer rests before the frame opens, and that it may take to come over into it
let given = {}; // the newest of what the server says, and how to tell it something
let frame = null;
let anchor = null; // the mark that the frame is about
let kept = false; // opened by a press: it stays until it is closed
let quiet = null; // a mark that has the focus back, and does not open again by that
let timer = 0;
const fetched = new Map();

export default ({ data, setTriggerValue }) => {
  window.headlightWords ??= listen(); // the document listens with the first of these modules
  window.headlightWords({ ...JSON.parse(new TextDecoder().decode(data)), tell: setTriggerValue });
};

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
function openAsked(word) {
  history.replaceState(history.state, "", location.pathname + location.search);
  open(Object.assign(document.createElement("a"), { href: word }), true);
}

const markOf = (event) => event.composedPath().find((node) => node.matches?.(MARK));
const inFrame = (event) => frame && event.composedPath().includes(frame);

// A mark, or the one that has taken its place: a page that is still being drawn places its words anew.
function standing(mark) {
  return mark.isConnected ? mark : document.querySelector(`a[href="${CSS.escape(mark.getAttribute("href"))}"]`);
}

// The same as soon as it stands: for a moment of a page that is still being drawn there may be none.
async function placed(mark) {
  const until = performance.now() + PATIENCE;
  while (!standing(mark) && performance.now() < until) await new Promise((go) => setTimeout(go, 50));
  return standing(mark);
}

function pressed(event) {
  const mark = markOf(event);
  if (!mark) return follow(event);
  event.preventDefault();
  event.stopPropagation();
  open(mark, true);
}

function moved(event) {
  if (event.pointerType !== "mouse") return;
  clearTimeout(timer);
  const mark = markOf(event);
  if (mark && mark !== anchor) timer = setTimeout(() => open(mark, false), REST);
  else if (anchor && !kept && !mark && !inFrame(event)) timer = setTimeout(close, REST);
}

function focused(event) {
  const mark = markOf(event);
  if (mark && mark !== quiet && mark !== anchor && mark.matches(":focus-visible")) open(mark, false, true);
  if (!mark) quiet = null;
}

function left(event) {
  const mark = markOf(event);
  if (mark && mark === quiet) quiet = null;
  if (mark && mark === anchor && !kept) timer = setTimeout(() => !kept && close(), 0);
}

// Where the focus alone has opened it, Tab passes it by: it closes as the focus leaves its word, and would send the focus back.
async function open(mark, press, focus = false) {
  clearTimeout(timer);
  const words = await all();
  if (!(mark = press ? await placed(mark) : standing(mark))) return;
  if (!frame?.isConnected) frame = make();
  anchor = mark;
  kept = press;
  frame.inert = focus;
  fill(words, mark);
  if (!frame.matches(":popover-open")) frame.showPopover();
  place();
  if (press) frame.focus({ preventScroll: true });
}

function close() {
  if (frame?.matches(":popover-open")) frame.hidePopover();
}

// The browser closes it by Escape and by a press elsewhere.
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
  document.querySelector(".stApp").append(made); // it knows whether the page is light or dark
  return made;
}

function all() {
  const { from } = given;
  if (!fetched.has(from)) {
    const ask = fetch(new URL(from, document.baseURI).href).then((answer) => (answer.ok ? answer.json() : Promise.reject()));
    fetched.set(
      from,
      ask.catch(() => fetched.delete(from) && {}),
    );
  }
  return fetched.get(from);
}

function fill(words, mark) {
  const name = mark.getAttribute("href").slice(3);
  const text = mark.textContent;
  const { title = text, said = [], links = [] } = words[name] ?? {};
  const [, kind = "", layer = "", head = ""] = text.match(/(?:(\w+) )?L(\d+) H(\d+)/) ?? [];
  const missing = "This could not be loaded. Reload the page.";
  const sentence = (said[given.level] ?? missing).replace("{layer}", layer).replace("{head}", head);
  const heading = part("strong", head && name === "head-name" ? text : title);
  heading.id = "headlight-word-title";
  const nav = part("nav", "");
  nav.setAttribute("aria-label", "More about it");
  nav.append(
    ...links.map(([to, href, label]) => link(to, href, label, name)),
    link("all", "lessons?learn=Words+to+know", "All words"),
  );
  frame.lang = words[name] ? given.language : "en";
  frame.replaceChildren(heading, part("p", kind ? `${kind[0].toUpperCase()}${kind.slice(1)}: ${sentence}` : sentence), nav);
}

function part(tag, text) {
  return Object.assign(document.createElement(tag), { textContent: text });
}

const link = (to, href, label, word) => Object.assign(part("a", label), { href: `./${href}#${to}-${word}` });

// A link of the frame, or of the list of all words, is an address that can be opened beside this page too. A plain press stays in
// the app, with text and model.
function follow(event) {
  const [, to, word] = event.target.closest?.("a[href]")?.hash.match(/^#(see|lesson|all)-([a-z0-9-]+)$/) ?? [];
  if (!to || event.ctrlKey || event.metaKey || event.shiftKey || event.button) return;
  event.preventDefault();
  event.stopPropagation();
  kept = false;
  close();
  given.tell("followed", { word, to, at: Date.now() });
}

// While the word of a frame that was asked for is placed anew, the frame stays where it is.
async function wait() {
  if (!kept) return close();
  const gone = anchor;
  const mark = await placed(gone);
  if (anchor !== gone) return;
  if (!mark) return close();
  anchor = mark;
  place();
}

// Below the word where there is room, else above it, and inside of the window.
function place() {
  if (!standing(anchor)) return wait();
  anchor = standing(anchor);
  const box = anchor.getBoundingClientRect();
  const { width, height } = frame.getBoundingClientRect();
  if (box.bottom < 0 || box.top > innerHeight) return close();
  const below = box.bottom + 6;
  const top = below + height <= innerHeight - 8 ? below : Math.max(8, box.top - height - 6);
  frame.style.left = `${Math.max(8, Math.min(box.left, document.documentElement.clientWidth - width - 8))}px`;
  frame.style.top = `${top}px`;
}
