// When words may stand elsewhere: a box has another size, or a font has come, with which lines break at other words in the same room.

// Calls `act` at once, and whenever the words in a node may have moved, until the node has left the page.
/** @type {(node: HTMLElement, act: () => void) => void} */
export function onLayout(node, act) {
  new ResizeObserver(act).observe(node);
  const again = () => {
    if (node.isConnected) act();
    else document.fonts.removeEventListener("loadingdone", again);
  };
  document.fonts.addEventListener("loadingdone", again);
}
