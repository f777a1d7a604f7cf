// Gives the line what a run of the page says of it (connect.py), at once or as soon as the line is there.

/** @type {(args: import("../types").Component<ArrayBuffer>) => () => void} */
export default ({ data }) => {
  /** @type {import("./types").Page} */
  const page = JSON.parse(new TextDecoder().decode(data));
  if (window.headlightLine) window.headlightLine.update(page);
  else window.headlightPage = page;
  window.headlightAddress?.settle(); // of what was typed for this run
  return () => window.headlightLine?.leave();
};
