// Gives the line what a run of the page says of it (connect.py), at once or as soon as the line is there. Then the address is looked
// over, for what was typed for this run.

/** @type {(args: import("../types").Component<ArrayBuffer>) => () => void} */
export default ({ data }) => {
  /** @type {import("./types").Page} */
  const page = JSON.parse(new TextDecoder().decode(data));
  if (window.headlightLine) window.headlightLine.update(page);
  else window.headlightPage = page;
  window.headlightAddress?.settle();
  return () => window.headlightLine?.leave();
};
