// What a page change or a press has put into the boxes, in the address: Streamlit says so in a message that a quick next run may clear.
export default ({ data }) => {
  const address = new URL(location.href);
  for (const [key, value] of Object.entries(JSON.parse(new TextDecoder().decode(data)).values)) {
    if (value === null) address.searchParams.delete(key);
    else if (address.searchParams.get(key) !== value) address.searchParams.set(key, value);
  }
  if (address.href !== location.href) history.replaceState(history.state, "", address.href);
};
