// A view as a page of the app fetches it: ui/serving/assets.py joins it with all modules that it needs, and serves that as one file.

import { mountOn } from "./shared/state.js";

/** @typedef {import("./shared/types").Mount} Mount */
/** @typedef {import("./shared/types").MountArgs} MountArgs */
/** @typedef {import("./shared/types").Mounts} Mounts */

// Gives the function that mounts a view, whose style the root around it gets once.
/** @type {(mount: Mount, mounts: Mounts, css: string) => (args: MountArgs) => void} */
export function mountWithStyle(mount, mounts, css) {
  const style = new CSSStyleSheet();
  style.replaceSync(css);
  return (args) => {
    const root = /** @type {Document | ShadowRoot} */ (args.parentElement.getRootNode());
    if (!root.adoptedStyleSheets.includes(style)) root.adoptedStyleSheets.push(style);
    mountOn(mount, args, mounts);
  };
}
