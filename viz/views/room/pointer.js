// The token at which who leads points: all who follow see it pointed at too.

/** @typedef {import("./types").Line} Line */
/** @typedef {import("./types").Pointed} Pointed */

const POINT = "headlight:point";
const PAUSE = 120; // milliseconds between two messages

// `lead()` gives what sends a message where this browser leads, or null.
/** @type {(lead: () => ((pointed: Pointed) => void) | null) => void} */
export function tellPoints(lead) {
  let timer = 0;
  /** @type {Pointed} */
  let last = ["", -1];
  const send = () => {
    timer = 0;
    lead()?.(last);
  };
  addEventListener(POINT, ({ detail }) => {
    if (detail.led || !lead()) return;
    last = [detail.link, detail.position];
    timer ||= setTimeout(send, PAUSE);
  });
}

// Point where who leads points, given as [link, position]; what was pointed at before is let go.
/** @type {(line: Line, pointed: Pointed) => void} */
export function follow(line, pointed) {
  const before = line.pointed;
  if (String(before) === String(pointed)) return;
  line.pointed = pointed;
  /** @type {(link: string, position: number) => void} */
  const tell = (link, position) => {
    if (link) dispatchEvent(new CustomEvent(POINT, { detail: { link, position, led: true } }));
  };
  if (before[0] !== pointed[0]) tell(before[0], -1);
  tell(pointed[0], pointed[1]);
}
