// One of many that the arrow keys walk through: only that one can be reached with Tab.

// nodes: all of them; state.focus: where Tab comes to.
/** @type {(state: { focus: number }, nodes: ArrayLike<HTMLElement>, position: number) => void} */
export function rove(state, nodes, position) {
  if (nodes[state.focus]) nodes[state.focus].tabIndex = -1;
  state.focus = Math.max(0, position);
  if (nodes[state.focus]) nodes[state.focus].tabIndex = 0;
}
