/**
 * What a component sends along with its data, in each message. A view that is long in coming (from a busy server) says so, and so
 * does one that cannot be had (from a server that has been updated since).
 *
 * On a page that has just opened, Streamlit may call it for new data before it calls it for the old, since each call waits for
 * this script by itself. It then ends the call for the old data at once, so what that has drawn is drawn over with the new.
 *
 * The line (`ui/live/line.js`) draws what is typed meanwhile: it is told of each mount, and decides when that is drawn.
 */

/** @typedef {import("../../viz/shared/types").MountArgs} MountArgs */
/** @typedef {import("./types").View} View */

/** @type {WeakMap<MountArgs["parentElement"], MountArgs>} */
const newest = new WeakMap();

/** @type {(args: MountArgs) => () => void} */
export default (args) => {
  const { parentElement } = args;
  const root = /** @type {HTMLElement} */ (parentElement.querySelector(".hl"));
  /** @type {(words: string) => unknown} */
  const say = (words) => root.firstElementChild || (root.textContent = words);
  const late = setTimeout(say, 1000, "This picture is on its way …");
  /** @type {MountArgs | undefined} */
  let before;
  let over = false;
  /** @type {(view: View, what: MountArgs) => void} */
  const draw = (view, what) => {
    const line = window.headlightLine;
    if (line) return line.mount(what, view.default);
    (window.headlightEarly ??= []).push([what, view.default]);
    view.default(what);
  };
  /** @type {(view: View) => void} */
  const mount = (view) => {
    if (over) return;
    say("");
    before = newest.get(parentElement);
    newest.set(parentElement, args);
    draw(view, args);
  };
  fetchedView.then(mount, () => say("This picture could not be loaded. Reload the page.")).finally(() => clearTimeout(late));
  return () => {
    over = true;
    if (!before || newest.get(parentElement) !== args || !parentElement.isConnected) return;
    const old = before;
    newest.set(parentElement, old);
    fetchedView.then((view) => draw(view, old));
  };
};
