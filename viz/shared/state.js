// What a view keeps from one mount to the next.

// Mounts a view, and keeps at its node how it is mounted again: a picture of it may be wanted in other colours.
export function mountOn(mount, args, mounts) {
  mount(args, mounts);
  const root = args.parentElement.querySelector(".hl");
  if (root) root.again = () => mount(args, mounts);
}

const states = new WeakMap();

// The lasting state of a view: `make(root)` runs once for a node, later mounts get the same object back.
export function stateOf(parentElement, make) {
  const root = parentElement.querySelector(".hl");
  let state = states.get(parentElement);
  if (!state || state.root !== root) {
    state = { root };
    states.set(parentElement, state);
    make(state);
  }
  return state;
}
