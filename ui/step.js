// A step of a lesson begins at the top of its panel, and on a small screen with its picture in sight above it.

const PANEL = ".st-key-lesson";
const PICTURES = ".stMain :is(.stBidiComponent, .stPlotlyChart, .stDataFrame)";
const ENOUGH = 140; // pixels of a picture, from which on it is in sight
const LEAST = 80; // what is less high is no picture
const BAR = 64; // pixels at the top of the screen that a bar with the menu takes
const PATIENCE = 15_000; // milliseconds that a picture may take to be there
const SETTLED = 500; // milliseconds in which a reply has found its place
const TOUCHES = ["pointerdown", "wheel", "keydown", "touchmove"];

export default ({ data }) => {
  const panel = document.querySelector(PANEL);
  if (!panel) return;
  const small = boxOf(panel).width > innerWidth / 2;
  const known = document.documentElement.dataset; // a panel does not outlive its page
  if (known.lessonStep !== data.step) {
    known.lessonStep = data.step;
    panel.scrollTop = 0;
    if (small) showPicture(panel);
  } else if (small && data.reply) showAnswered(panel);
};

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
    const first = [...document.querySelectorAll(PICTURES)].find((one) => !panel.contains(one) && boxOf(one).height >= LEAST);
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
