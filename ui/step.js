// A step of a lesson begins at the top of its panel, and on a small screen with its picture in sight above it.

const PANEL = ".st-key-lesson";
const WAYS = ".st-key-lesson-foot"; // the buttons that lead on
const PICTURES = ".stMain :is(.stBidiComponent, .stPlotlyChart, .stDataFrame)";
const NO_PICTURE = `${PANEL}, .st-key-room-line`; // the strip of a room stands above the picture
const ENOUGH = 140; // pixels of a picture, from which on it is in sight
const LEAST = 80; // what is less high is no picture
const BAR = 64; // pixels at the top of the screen that a bar with the menu takes
const PATIENCE = 15_000; // milliseconds that a picture may take to be there
const SETTLED = 500; // milliseconds in which a reply has found its place
const FOLLOWED = 1500; // milliseconds in which a page that is drawn again may take the focus away
const TOUCHES = ["pointerdown", "wheel", "keydown", "touchmove"];

let was = false; // whether the focus was in the panel

export default ({ data }) => {
  const panel = document.querySelector(PANEL);
  if (!panel) return;
  if (!document.documentElement.dataset.lessonKeys) closeByEscape();
  const small = boxOf(panel).width > innerWidth / 2;
  const known = document.documentElement.dataset; // a panel does not outlive its page
  if (known.lessonStep !== data.step) {
    known.lessonStep = data.step;
    panel.scrollTop = 0;
    if (small) showPicture(panel);
    if (navigator.userActivation?.hasBeenActive ?? true) keepFocus(); // a link alone moves nothing
  } else if (data.reply) showAnswered(panel);
};

// Whoever reads by keyboard, or is read to, begins a step at its title, unless they are busy elsewhere on the page.
function keepFocus() {
  const until = performance.now() + FOLLOWED;
  const lost = () => document.activeElement === document.body || document.activeElement?.closest(WAYS);
  const timer = setInterval(look, 100);
  const stop = () => {
    clearInterval(timer);
    for (const kind of TOUCHES) removeEventListener(kind, stop, true);
  };
  function look() {
    const title = document.querySelector(`${PANEL} h4`);
    if (title && lost() && document.activeElement !== title) {
      title.tabIndex = -1;
      title.focus({ preventScroll: true });
    }
    if (performance.now() > until) stop();
  }
  for (const kind of TOUCHES) addEventListener(kind, stop, true);
  look();
}

// Escape closes the lesson, from within its panel; when the panel is gone, the page's name has the focus.
function closeByEscape() {
  document.documentElement.dataset.lessonKeys = "yes";
  addEventListener("keydown", (event) => {
    const panel = event.key === "Escape" && !event.defaultPrevented && event.target.closest?.(PANEL);
    if (panel && !document.querySelector(":popover-open")) panel.querySelector(".st-key-lesson-close button")?.click();
  });
  setInterval(() => {
    const open = document.querySelector(PANEL);
    if (open) was = open.contains(document.activeElement) || (was && document.activeElement === document.body);
    else if (was) {
      was = false;
      const name = document.querySelector(".stMain h1");
      if (name && document.activeElement === document.body) {
        name.tabIndex = -1;
        name.focus({ preventScroll: true });
      } else was = !name;
    }
  }, 250);
}

// What was answered stays in sight above the reply, which takes the lower end of the panel.
function showAnswered(panel) {
  const grown = new ResizeObserver(() => (panel.scrollTop = panel.scrollHeight));
  for (const part of panel.querySelectorAll(".st-key-lesson-foot")) grown.observe(part);
  setTimeout(() => grown.disconnect(), SETTLED);
}

// Once, as soon as it is there, unless somebody has begun to move about the page.
function showPicture(panel) {
  const until = performance.now() + PATIENCE;
  const timer = setInterval(look, 100);
  const stop = () => {
    clearInterval(timer);
    for (const kind of TOUCHES) removeEventListener(kind, stop, true);
  };
  function look() {
    const first = [...document.querySelectorAll(PICTURES)].find((one) => !one.closest(NO_PICTURE) && boxOf(one).height >= LEAST);
    if (first) bringIntoSight(first, boxOf(panel).top);
    if (first || performance.now() > until) stop();
  }
  for (const kind of TOUCHES) addEventListener(kind, stop, true);
  look();
}

// What is drawn may stand below words about it: then these make room for it, as far as they must.
function bringIntoSight(picture, floor) {
  const box = boxOf(picture);
  if (Math.min(box.bottom, floor) - Math.max(box.top, BAR) >= Math.min(ENOUGH, box.height)) return;
  const isolated = [picture, ...picture.querySelectorAll("*")].find((one) => one.shadowRoot)?.shadowRoot ?? picture;
  const drawn = boxOf([...isolated.querySelectorAll("canvas, svg")].find((one) => boxOf(one).height >= LEAST) ?? picture);
  const near = drawn.top < box.top + floor - BAR ? drawn : box;
  document.querySelector(".stMain").scrollBy(0, Math.min(near.top - BAR, Math.max(box.top - BAR, near.bottom - floor)));
}

function boxOf(one) {
  return one.getBoundingClientRect();
}
