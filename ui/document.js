// What the document gets once. It stays there, while the element that brings it leaves with its container (a toast is enough).
// `rules`, the style, line.js and projector.js stand above this file.

/** @typedef {import("./types").Component<{ projector: boolean }>} Component */
/** @typedef {import("../viz/shared/types").Tell} Tell */

const BOXES = ".st-key-text input, .st-key-target input, .st-key-other-text input";
const TYPED = "\u0001"; // begins the texts in an address that ui/serving/leaving.py brings along to the next page
const LONGEST = 6000; // characters of such a text
const MOST = 220_000; // characters, half of each one beyond 16 bits, that a box passes on: see CUT_BEFORE in ui/choices/text_boxes.py
const ECHO = 5000; // milliseconds after a key in which a run that knows nothing of it may still write the text before it
const TURNED = 200; // milliseconds in which Streamlit has its other theme
const PATIENCE = 2000; // milliseconds without a message from the server, after which the page says that it is out of date
const OUT_OF_DATE = "The server has not answered yet: this picture is older than what you typed or chose.";

const VALUE = Object.getOwnPropertyDescriptor(HTMLInputElement.prototype, "value"); // React's own would hide the change from it

/** @type {Tell} */
let tell = () => {}; // the server, by the element that brings this now

/** @type {(args: Component) => void} */
export default ({ data, setTriggerValue }) => {
  tell = setTriggerValue;
  window.headlightProject?.(data.projector);
  if (document.getElementById("headlight-style")) return;
  const style = Object.assign(document.createElement("style"), { id: "headlight-style", textContent: rules });
  document.head.append(style);
  keepOneEntryAPage();
  cutLongTexts();
  bringWhatIsTyped();
  keepLineBreaks();
  keepWhatIsTyped();
  closeTheMenuOnPhones();
  nameTheSections();
  showTheEndOfTexts();
  tellOfTheDark();
  sayWhenThePictureIsOld();
  writeTexts();
};

// Streamlit adds an entry to the browser's history for each change of the address, so that Back would take several presses a page.
// And a page that Back has left already may answer late: its entry would cut off the way forward.
function keepOneEntryAPage() {
  const [push, replace] = [history.pushState, history.replaceState];
  let walking = false; // from Back or forward to the next press or key
  addEventListener("popstate", () => (walking = true));
  for (const kind of ["pointerdown", "keydown", "click"]) addEventListener(kind, () => (walking = false), true);
  history.pushState = (state, title, url) => {
    const same = new URL(url ?? location.href, location.href).pathname === location.pathname;
    if (same) history.replaceState(state, title, window.headlightAddress?.together(url ?? "") ?? url);
    else if (!walking) push.call(history, state, title, url);
  };
  history.replaceState = (state, title, url) => {
    replace.call(history, state, title, url);
    window.headlightAddress?.settle(); // after Back it may be an older address that comes late
  };
}

// A box holds less, and the server says so. But of a message of several megabytes it reads nothing, and ends the connection: the
// browser would come back with that message again and again.
function cutLongTexts() {
  /** @type {(event: Event) => void} */
  const cut = (event) => {
    const box = event.target;
    if (!(box instanceof HTMLInputElement && box.closest("[data-testid=stTextInput]") && box.value.length > MOST)) return;
    event.stopImmediatePropagation();
    write(box, box.value.slice(-MOST).replace(/^[\uDC00-\uDFFF]/, ""));
  };
  addEventListener("input", cut, true);
}

// While a run is under way, Streamlit's box holds back what is typed; a request for another page goes before it. So that request
// has the newest texts itself, in the address that Streamlit reads for it: as second values of the boxes, since after a press on a
// link it reads no names but those of its widgets.
function bringWhatIsTyped() {
  /** @type {Map<string, { box: HTMLInputElement, text: string }>} */
  const typed = new Map(); // by the name of the box
  /** @type {(leaves: boolean) => void} */
  const write = (leaves) => {
    const at = new URL(location.href);
    for (const [name, { box, text }] of typed) {
      const others = at.searchParams.getAll(name).filter((value) => !value.startsWith(TYPED));
      at.searchParams.delete(name);
      if (leaves && box.value === text && text.length <= LONGEST) others.push(TYPED + text);
      for (const value of others) at.searchParams.append(name, value);
    }
    if (at.href !== location.href) history.replaceState(history.state, "", at.href);
  };
  const leave = () => {
    write(true);
    setTimeout(() => {
      write(false);
      typed.clear();
    });
  };
  /** @type {(event: Event) => void} */
  const note = (event) => {
    const [box, name] = [boxOf(event), nameOf(event)];
    if (box && name) typed.set(name, { box, text: box.value });
  };
  addEventListener("input", note, true);
  window.headlightLeave = leave; // on popstate
  /** @type {(event: MouseEvent) => void} */
  const click = ({ target, ctrlKey, metaKey }) => {
    if (target instanceof Element && target.closest("[data-testid=stSidebarNavLink]") && !ctrlKey && !metaKey) leave();
  };
  addEventListener("click", click, true);
}

// The key of the widget in which something happens.
/** @type {(event: Event) => string | undefined} */
const nameOf = ({ target }) =>
  [...((target instanceof Element && target.closest("[class*='st-key-']")?.classList) || [])]
    .find((name) => name.startsWith("st-key-"))
    ?.slice("st-key-".length);

// The text box in which something happens.
/** @type {(event: Event) => HTMLInputElement | null} */
const boxOf = ({ target }) => (target instanceof HTMLInputElement && target.matches(BOXES) ? target : null);

// A box of one line would make a space of a pasted line break; in those of texts ↵ stands for one (see ui/choices/text_boxes.py),
// and Shift and Enter write it.
function keepLineBreaks() {
  /** @type {(event: ClipboardEvent) => void} */
  const paste = (event) => {
    const text = event.clipboardData?.getData("text/plain") ?? "";
    if (!boxOf(event) || !/[\r\n]/.test(text)) return;
    event.preventDefault();
    document.execCommand("insertText", false, text.replace(/\r\n|\r|\n/g, "↵")); // unlike a new value, it can be undone
  };
  addEventListener("paste", paste, true);
  /** @type {(event: KeyboardEvent) => void} */
  const breakLine = (event) => {
    if (event.key !== "Enter" || !event.shiftKey || event.isComposing || !boxOf(event)) return;
    event.preventDefault();
    event.stopImmediatePropagation(); // Enter alone sends the text
    document.execCommand("insertText", false, "↵");
  };
  addEventListener("keydown", breakLine, true);
}

// Streamlit sends the text that an address begins with once more where a first run begins again, as on a fresh server, and a box
// takes it though somebody types there by then. So what is typed comes back, before the next key or with the next frame.
function keepWhatIsTyped() {
  /** @type {HTMLInputElement | null} */
  let box = null;
  let [before, typed, caret, last, frame] = ["", "", 0, 0, 0]; // before: what the box held before the first key
  const bringBack = () => {
    if (!box?.isConnected || box.value !== before || typed === before || performance.now() - last > ECHO) return;
    write(box, typed);
    box.setSelectionRange(caret, caret);
  };
  const look = () => {
    bringBack();
    frame = box && performance.now() - last < ECHO ? requestAnimationFrame(look) : 0;
  };
  /** @type {(event: Event) => void} */
  const begin = (event) => {
    const target = boxOf(event);
    if (target && target === box && performance.now() - last < ECHO) return bringBack();
    box = target;
    before = typed = target?.value ?? "";
  };
  /** @type {(event: Event) => void} */
  const note = ({ target }) => {
    if (!box || target !== box) return;
    [typed, caret, last] = [box.value, box.selectionStart ?? box.value.length, performance.now()];
    frame ||= requestAnimationFrame(look);
  };
  /** @type {(event: Event) => void} */
  const end = ({ target }) => {
    if (target !== box) box = null; // a press elsewhere may write into the box
  };
  addEventListener("beforeinput", begin, true);
  addEventListener("input", note, true);
  for (const kind of ["pointerdown", "keydown"]) addEventListener(kind, end, true);
}

// Write into a box as if it was typed there.
/** @type {(box: HTMLInputElement, text: string) => void} */
function write(box, text) {
  VALUE?.set?.call(box, text);
  box.dispatchEvent(new InputEvent("input", { bubbles: true }));
}

// What a view writes, such as the name of a drawing, goes into the box as if it was typed there.
function writeTexts() {
  addEventListener("headlight:text", ({ detail }) => {
    const box = /** @type {HTMLInputElement | null} */ (document.querySelector(".st-key-text input"));
    if (box && box.value !== detail) write(box, detail);
  });
}

// Colours that the server chooses, as those of a heatmap's scale, are asked for again when the page turns dark or light.
function tellOfTheDark() {
  const dark = matchMedia("(prefers-color-scheme: dark)");
  dark.addEventListener("change", () => setTimeout(() => tell("dark", dark.matches), TURNED));
}

// Streamlit disables a page whose connection has closed. But a network that is gone closes nothing for a while (15 seconds and more),
// and what is typed or chosen meanwhile changes its box and nothing else. The server answers each of Streamlit's messages.
function sayWhenThePictureIsOld() {
  const notice = Object.assign(document.createElement("div"), { id: "headlight-old", textContent: OUT_OF_DATE });
  notice.setAttribute("role", "alert");
  let timer = 0;
  const show = () => {
    document.querySelector(".stApp")?.append(notice); // it knows whether the page is light or dark
    document.documentElement.toggleAttribute("data-old", true);
  };
  const wait = () => (timer ||= setTimeout(show, PATIENCE));
  const end = () => {
    clearTimeout(timer);
    timer = 0;
    notice.remove();
    document.documentElement.toggleAttribute("data-old", false);
  };
  /** @type {WeakSet<WebSocket>} */
  const heard = new WeakSet();
  const { send } = WebSocket.prototype;
  WebSocket.prototype.send = function (message) {
    if (this.url.includes("/_stcore/stream")) {
      if (!heard.has(this)) this.addEventListener("message", end);
      heard.add(this);
      wait();
    }
    send.call(this, message);
  };
}

// A long text on a phone: its box shows the end, where one goes on, until somebody looks elsewhere in it.
function showTheEndOfTexts() {
  const narrow = matchMedia("(max-width: 768px)");
  /** @type {WeakMap<HTMLInputElement, string>} */
  const looked = new WeakMap(); // the text in which somebody has looked elsewhere
  const turn = () => {
    if (!narrow.matches) return;
    for (const box of /** @type {NodeListOf<HTMLInputElement>} */ (document.querySelectorAll(BOXES)))
      if (document.activeElement !== box && looked.get(box) !== box.value) box.scrollLeft = box.scrollWidth;
  };
  const soon = () => requestAnimationFrame(turn);
  const changes = { childList: true, subtree: true, attributeFilter: ["value"] };
  new MutationObserver(soon).observe(document.body, changes);
  document.fonts.addEventListener("loadingdone", soon); // the text grows with the font that arrives, and with the style
  for (const kind of ["resize", "transitionend"]) addEventListener(kind, soon, true);
  /** @type {(event: Event) => void} */
  const look = (event) => {
    const box = boxOf(event);
    if (box) looked.set(box, box.value);
  };
  /** @type {(event: Event) => void} */
  const leave = (event) => {
    const box = boxOf(event);
    if (!box) return;
    looked.delete(box);
    soon();
  };
  addEventListener("touchmove", look, true);
  addEventListener("focusout", leave, true);
  turn();
}

// On a phone the menu lies over the page that was chosen in it.
function closeTheMenuOnPhones() {
  document.addEventListener("click", ({ target }) => {
    const chosen = target instanceof Element && target.closest("[data-testid=stSidebarNavLink]");
    const close = /** @type {HTMLElement | null} */ (document.querySelector("[data-testid=stSidebarCollapseButton] button"));
    if (chosen && close && matchMedia("(max-width: 768px)").matches) setTimeout(() => close.click());
  });
}

// Streamlit puts sections straight into the list of pages, where screen readers look for its items: each is a group with a name.
function nameTheSections() {
  const name = () => {
    for (const section of document.querySelectorAll("[data-testid=stSidebarNavItems] > div:not([role])")) {
      section.parentElement?.setAttribute("role", "presentation");
      section.setAttribute("role", "group");
      section.setAttribute("aria-label", section.querySelector("header p")?.textContent ?? "");
    }
    for (const page of document.querySelectorAll("[data-testid=stSidebarNavItems] li:not([role])"))
      page.setAttribute("role", "presentation");
  };
  name();
  new MutationObserver(name).observe(document.body, { childList: true, subtree: true });
}
