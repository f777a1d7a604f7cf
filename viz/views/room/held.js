// What who leads has fixed for all: it outlives the server in their browser, and is given back to a server that was started anew.

/** @typedef {import("./types").Held} Held */
/** @typedef {import("./types").Line} Line */
/** @typedef {import("./types").News} News */

const NAME = "headlight-room-held-";

// `said`: news of the room; `give(held)` sends what was kept; `again()` has the page drawn with it.
/** @type {(line: Line, said: News, give: (held: Held) => void, again: () => void) => void} */
export function keepHeld(line, said, give, again) {
  if (!said.held) return; // of who follows
  if (said.fixed) {
    keep(line.code, said.held);
    if (line.gave) again();
    line.gave = false;
    return;
  }
  const held = read(line.code);
  if (line.gave || !held || !Object.keys(held).length) return;
  line.gave = true;
  give(held);
}

/** @type {(code: string, held: Held) => void} */
function keep(code, held) {
  try {
    sessionStorage.setItem(NAME + code, JSON.stringify(held));
  } catch {
    // a browser that keeps nothing
  }
}

/** @type {(code: string) => Held | null} */
function read(code) {
  try {
    return JSON.parse(sessionStorage.getItem(NAME + code) ?? "null");
  } catch {
    return null;
  }
}
