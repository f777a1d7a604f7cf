// The types of the script that fetches a view. tsc reads this file (`make lint`); a browser never does.

import type { Draw } from "../live/types";

/** A view, as `ui/serving/assets.py` serves it. */
export interface View {
  default: Draw;
}

declare global {
  const fetchedView: Promise<View>; // ui/serving/assets.py puts it above loader.js
}
