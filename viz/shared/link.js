// Views that point together.

// Views with the same `link` point together: a pointer on a chip shades the paragraph, and the other way round.
export function point(state, position) {
  if (state.link) dispatchEvent(new CustomEvent("headlight:point", { detail: { link: state.link, position, from: state } }));
}

// Listens until the view has left the page. (Streamlit may call a cleanup early when data comes fast, so mount returns none.)
export function onPoint(state, act) {
  const listen = ({ detail }) => {
    if (!state.root.isConnected) removeEventListener("headlight:point", listen);
    else if (detail.link === state.link && detail.from !== state) act(detail.position);
  };
  addEventListener("headlight:point", listen);
}
