// The key that all is about: the one that is pointed at, else the chosen one; -1 for none.
/** @typedef {import("./types").State} State */

/** @type {(state: State) => number} */
export function active(state) {
  return state.at >= 0 ? state.at : state.chosen;
}
