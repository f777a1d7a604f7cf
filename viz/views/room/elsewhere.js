// A room that another process of the server has: the browser is led there, and the page begins again with what its address says.

const TRIES = 6; // a browser without cookies would come back for ever
const PAUSE = 2500; // milliseconds between two of them: that process may just be starting again
let going = false;

// `there` is what gives the browser the cookie that leads to the process of the room.
/** @type {(code: string, there: string) => Promise<void>} */
export async function goThere(code, there) {
  const tries = 1 + (Number(read(code)) || 0);
  if (going || tries > TRIES || !keep(code, String(tries))) return;
  going = true;
  if (tries > 1) await new Promise((resolve) => setTimeout(resolve, PAUSE));
  try {
    await fetch(there, { method: "POST" });
  } catch {
    // the server is away for a moment
  }
  const here = new URL(location.href);
  here.searchParams.set("room", code);
  history.replaceState(history.state, "", here);
  location.reload();
}

/** @type {(code: string) => void} */
export function haveArrived(code) {
  if (read(code)) keep(code, "");
}

/** @type {(code: string) => string | null} */
function read(code) {
  try {
    return sessionStorage.getItem("headlight-room-tries-" + code);
  } catch {
    return null;
  }
}

// Whether it is kept: some browsers keep nothing.
/** @type {(code: string, tries: string) => boolean} */
function keep(code, tries) {
  try {
    sessionStorage.setItem("headlight-room-tries-" + code, tries);
    return true;
  } catch {
    return false;
  }
}
