// Parts that are folded, on the page or in a picture: what who leads opens or closes is opened and closed for all who follow.

/** @typedef {import("./types").Line} Line */
/** @typedef {import("./types").Part} Part */

const LABEL = 30; // characters of a part's label
const LOOKS = [0, 300, 1000, 3000]; // milliseconds after which a part is looked for that is not drawn yet

// `lead()` gives what sends a part where this browser leads, or null.
/** @type {(lead: () => ((part: Part) => void) | null) => void} */
export function tellParts(lead) {
  addEventListener(
    "click",
    (event) => {
      const send = event.isTrusted ? lead() : null;
      if (!send) return;
      const summary = event.composedPath().find((node) => node instanceof HTMLElement && node.localName === "summary");
      const details = summary instanceof HTMLElement && summary.closest("details");
      const name = details && [...parts()].find(([, part]) => part === details)?.[0];
      if (details && name) send([name, !details.open]); // it has not followed the click yet
    },
    true,
  );
}

// Open and close what who leads has opened and closed, each once: who follows may do otherwise with it.
/** @type {(line: Line, opened: Record<string, boolean>) => void} */
export function followParts(line, opened) {
  for (const name of Object.keys(line.parts)) if (!(name in opened)) delete line.parts[name];
  clearTimeout(line.looking);
  look(line, opened, 0);
}

/** @type {(line: Line, opened: Record<string, boolean>, times: number) => void} */
function look(line, opened, times) {
  const missing = Object.entries(opened).filter(([name, open]) => line.parts[name] !== open);
  if (!missing.length || times === LOOKS.length) return;
  line.looking = setTimeout(() => {
    const here = new Map(parts());
    for (const [name, open] of missing) {
      const part = here.get(name);
      if (!part) continue;
      line.parts[name] = open;
      if (part.open !== open) part.querySelector("summary")?.click(); // Streamlit’s own know nothing of an attribute
    }
    look(line, opened, times + 1);
  }, LOOKS[times]);
}

// All parts of the page that can be folded, each with its name: its label and its number among those with the same one.
/** @type {() => Generator<[name: string, part: HTMLDetailsElement]>} */
function* parts() {
  /** @type {Map<string, number>} */
  const counts = new Map();
  for (const part of within(document.querySelector(".stMain") ?? document.body)) {
    const words =
      part.className && part.getRootNode() instanceof ShadowRoot ? part.className : part.querySelector("summary")?.textContent;
    const label = (words ?? "").trim().slice(0, LABEL);
    const count = counts.get(label) ?? 0;
    counts.set(label, count + 1);
    yield [`${label} ${count}`, part];
  }
}

/** @type {(root: Element | ShadowRoot) => Generator<HTMLDetailsElement>} */
function* within(root) {
  for (const node of root.querySelectorAll("*")) {
    if (node instanceof HTMLDetailsElement) yield node;
    if (node.shadowRoot) yield* within(node.shadowRoot);
  }
}
