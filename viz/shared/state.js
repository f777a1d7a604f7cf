// What a view keeps from one mount to the next.

/** @typedef {import("./types").Mount} Mount */
/** @typedef {import("./types").MountArgs} MountArgs */
/** @typedef {import("./types").Mounts} Mounts */

// Mounts a view, and keeps at its node how it is mounted again: a picture of it may be wanted in other colours.
/** @type {(mount: Mount, args: MountArgs, mounts?: Mounts) => void} */
export function mountOn(mount, args, mounts) {
  mount(args, mounts);
  rootOf(args.parentElement).again = () => mount(args, mounts);
}

/** @type {WeakMap<MountArgs["parentElement"], { root: HTMLElement }>} */
const states = new WeakMap();

// The lasting state of a view, which holds its node as `root`: `make(root)` gives all of it, and runs once for a node; later mounts
// get the same object back.
/**
 * @template {{ root: HTMLElement }} State
 * @param {MountArgs["parentElement"]} parentElement
 * @param {(root: HTMLElement) => State} make
 * @returns {State}
 */
export function stateOf(parentElement, make) {
  const root = rootOf(parentElement);
  let state = /** @type {State | undefined} */ (states.get(parentElement));
  if (state?.root !== root) {
    state = make(root);
    states.set(parentElement, state);
  }
  return state;
}

/** @type {(parentElement: MountArgs["parentElement"]) => HTMLElement} */
function rootOf(parentElement) {
  return /** @type {HTMLElement} */ (parentElement.querySelector(".hl")); // view.py puts it there
}
