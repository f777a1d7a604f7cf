// The token at which who leads points: all who follow see it pointed at too.

const POINT = "headlight:point";
const PAUSE = 120; // milliseconds between two messages

// `lead()` gives what sends a message where this browser leads, or null.
export function tellPoints(lead) {
  let timer = 0;
  let last = null;
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
export function follow(line, pointed) {
  const before = line.pointed ?? ["", -1];
  if (String(before) === String(pointed)) return;
  line.pointed = pointed;
  const tell = (link, position) => link && dispatchEvent(new CustomEvent(POINT, { detail: { link, position, led: true } }));
  if (before[0] !== pointed[0]) tell(before[0], -1);
  tell(...pointed);
}
