// What a view keeps from one mount to the next.

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
