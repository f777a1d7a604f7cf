// Views that point together.

/** @typedef {import("./types").Linked} Linked */
/** @typedef {import("./types").Pointed} Pointed */

// Views with the same `link` point together: a pointer on a chip shades the paragraph, and the other way round.
// `end` tells apart the sides of a view: those of one side point together.
/** @type {(state: Linked, position: number, end?: string) => void} */
export function point(state, position, end = "") {
  if (state.link)
    dispatchEvent(new CustomEvent("headlight:point", { detail: { link: state.link + end, position, from: state } }));
}

// Listens until the view has left the page. (Streamlit may call a cleanup early when data comes fast, so mount returns none.)
/** @type {(state: Linked, act: (position: number) => void, end?: string) => void} */
export function onPoint(state, act, end = "") {
  /** @type {(event: CustomEvent<Pointed>) => void} */
  const listen = ({ detail }) => {
    if (!state.root.isConnected) removeEventListener("headlight:point", listen);
    else if (detail.link === state.link + end && detail.from !== state) act(detail.position);
  };
  addEventListener("headlight:point", listen);
}
