// A step of a lesson begins at the top of its panel, and on a small screen with its picture in sight above it. “Show me” brings into
// sight what it shows.

/** @typedef {import("./types").Component<Step>} Component */
/** @typedef {import("./types").Step} Step */

const PANEL = ".st-key-lesson";
const SMALL = matchMedia("(max-width: 1099px)"); // as in the style, where the panel is a sheet at the lower end
const WAYS = ".st-key-lesson-foot"; // the buttons that lead on
const ASKED = ":is(.stRadio, .stNumberInput, .st-key-lesson-again)"; // with the button that brings the text back
const HEADINGS = ":is(h2, h3, h4)";
const PICTURES = ".stMain :is(.stBidiComponent, .stPlotlyChart, .stDataFrame)";
const NO_PICTURE = `${PANEL}, .st-key-room-line`; // the strip of a room stands above the picture
const ENOUGH = 140; // pixels of a picture, from which on it is in sight
const UNDER = 280; // pixels below a heading that are wanted in sight with it
const LEAST = 80; // what is less high is no picture
const BAR = 64; // pixels at the top of the screen that a bar with the menu takes
const PATIENCE = 15_000; // milliseconds that a picture may take to be there
const DRAWN = 5000; // the same of the view that is asked about, once the first one is there
const FOLLOWED = 1500; // milliseconds in which a page that is drawn again may take the focus away
const TOUCHES = ["pointerdown", "wheel", "keydown", "touchmove"];

let was = false; // whether the focus was in the panel

/** @type {(args: Component) => void} */
export default ({ data }) => {
  const panel = /** @type {HTMLElement | null} */ (document.querySelector(PANEL));
  if (!panel) return;
  if (!document.documentElement.dataset.lessonKeys) closeByEscape();
  const small = SMALL.matches;
  const known = document.documentElement.dataset; // a panel does not outlive its page
  if (known.lessonStep !== data.step) {
    known.lessonStep = data.step;
    panel.scrollTop = 0;
    if (small) showPicture(panel, data.picture);
    if (navigator.userActivation?.hasBeenActive ?? true) keepFocus(); // a link alone moves nothing
  } else if (data.reply) showAnswered(panel, data.right);
  if (data.shown && data.heading && known.lessonShown !== data.shown) showHeading(panel, data.heading);
  known.lessonShown = data.shown;
};

// Whoever reads by keyboard, or is read to, begins a step at its title, unless they are busy elsewhere on the page.
function keepFocus() {
  const until = performance.now() + FOLLOWED;
  /** @type {() => unknown} */
  const lost = () => document.activeElement === document.body || document.activeElement?.closest(WAYS);
  const timer = setInterval(look, 100);
  const stop = () => {
    clearInterval(timer);
    for (const kind of TOUCHES) removeEventListener(kind, stop, true);
  };
  function look() {
    const title = /** @type {HTMLElement | null} */ (document.querySelector(`${PANEL} h4`));
    if (title && lost() && document.activeElement !== title) {
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
    }
    if (performance.now() > until) stop();
  }
  for (const kind of TOUCHES) addEventListener(kind, stop, true);
  look();
}

/** @type {(event: Event) => Element | null} */
const panelOf = (event) => (event.target instanceof Element ? event.target.closest(PANEL) : null);

// Escape closes the lesson, from within its panel; when the panel is gone, the page's name has the focus.
function closeByEscape() {
  document.documentElement.dataset.lessonKeys = "yes";
  addEventListener("keydown", (event) => {
    const panel = event.key === "Escape" && !event.defaultPrevented && panelOf(event);
    if (!panel || document.querySelector(":popover-open")) return;
    const close = /** @type {HTMLElement | null} */ (panel.querySelector(".st-key-lesson-close button"));
    close?.click();
  });
  addEventListener("focusin", (event) => (was = Boolean(panelOf(event)))); // of a panel that goes there is none
  setInterval(() => {
    if (was && !document.querySelector(PANEL)) {
      was = false;
      const name = /** @type {HTMLElement | null} */ (document.querySelector(".stMain h1"));
      if (name && document.activeElement === document.body) {
        name.tabIndex = -1;
        name.focus({ preventScroll: true });
      } else was = !name;
    }
  }, 250);
}

// What was answered stays in sight above the reply, which takes the lower end of the panel; and after a right answer what it has
// brought.
/** @type {(panel: HTMLElement, right?: boolean) => void} */
function showAnswered(panel, right) {
  const grown = new ResizeObserver(() => {
    const ways = panel.querySelector(WAYS);
    if (!ways?.parentElement) return; // the panel has just been folded or left
    const lowest = Math.max(...[...panel.querySelectorAll(ASKED)].map((one) => boxOf(one).bottom));
    const hidden = lowest - boxOf(ways.parentElement).top;
    panel.scrollTop += right ? panel.scrollHeight : Math.max(0, hidden);
  });
  for (const part of panel.querySelectorAll(WAYS)) grown.observe(part);
  untilDone(
    () => false,
    () => grown.disconnect(),
  ); // a busy machine draws the reply late
}

// Once, as soon as it is there. of: the kind of the view that is asked about, where it is not the first one.
/** @type {(panel: HTMLElement, of?: string) => void} */
function showPicture(panel, of) {
  let since = 0;
  untilDone(() => {
    if (getComputedStyle(panel).position !== "fixed") return false; // the style is not there yet
    const first = [...document.querySelectorAll(PICTURES)].find((one) => !one.closest(NO_PICTURE) && boxOf(one).height >= LEAST);
    if (!first) return false;
    since ||= performance.now();
    if (of && !rootOf(first).querySelector(`.hl-${of}`) && performance.now() < since + DRAWN) return false;
    bringIntoSight(first, boxOf(panel).top, of);
    return true;
  });
}

// The heading and what stands under it, as soon as they are there, and until the page around them has come to rest.
/** @type {(panel: HTMLElement, words: string) => void} */
function showHeading(panel, words) {
  let since = 0;
  untilDone(() => {
    const main = document.querySelector(".stMain");
    if (!main) return false;
    const roots = [main, ...[...document.querySelectorAll(PICTURES)].map(rootOf)];
    const headings = roots.flatMap((root) => [...root.querySelectorAll(HEADINGS)]);
    const heading = headings.find((one) => one.textContent?.trim() === words);
    if (!heading) return false;
    since ||= performance.now();
    const [floor, box] = [SMALL.matches ? boxOf(panel).top : innerHeight, boxOf(heading)];
    const down = Math.min(box.top - BAR, Math.max(0, box.bottom + UNDER - floor));
    if (Math.abs(down) > 1) main.scrollBy(0, down);
    return performance.now() > since + FOLLOWED;
  });
}

// Ten times a second, unless somebody has begun to move about the page. end: what follows.
/** @type {(look: () => boolean, end?: () => void) => void} */
function untilDone(look, end) {
  const until = performance.now() + PATIENCE;
  const timer = setInterval(() => (look() || performance.now() > until) && stop(), 100);
  const stop = () => {
    clearInterval(timer);
    end?.();
    for (const kind of TOUCHES) removeEventListener(kind, stop, true);
  };
  for (const kind of TOUCHES) addEventListener(kind, stop, true);
  if (look()) stop();
}

// What is drawn may stand below words about it: then these make room for it, as far as they must.
/** @type {(picture: Element, floor: number, of?: string) => void} */
function bringIntoSight(picture, floor, of) {
  const isolated = rootOf(picture);
  const asked = of && isolated.querySelector(`.hl-${of}`);
  const box = boxOf(picture);
  const wanted = boxOf(asked || picture);
  if (Math.min(wanted.bottom, floor) - Math.max(wanted.top, BAR) >= Math.min(ENOUGH, wanted.height)) return;
  const drawn = boxOf(
    asked || ([...isolated.querySelectorAll("canvas, svg")].find((one) => boxOf(one).height >= LEAST) ?? picture),
  );
  const near = asked || drawn.top < box.top + floor - BAR ? drawn : box;
  document.querySelector(".stMain")?.scrollBy(0, Math.min(near.top - BAR, Math.max(box.top - BAR, near.bottom - floor)));
}

// Where a picture is drawn, which may be a part of the page with a style of its own.
/** @type {(picture: Element) => Element | ShadowRoot} */
function rootOf(picture) {
  return [picture, ...picture.querySelectorAll("*")].find((one) => one.shadowRoot)?.shadowRoot ?? picture;
}

/** @type {(one: Element) => DOMRect} */
function boxOf(one) {
  return one.getBoundingClientRect();
}
