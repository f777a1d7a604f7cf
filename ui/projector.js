// Projector mode: the page is 1.3 times as large, as with the browser’s own zoom. CSS `zoom` (see style.css) enlarges what is drawn.
// But then the browser says in pixels of the window where things and the pointer are, while what scripts place counts in pixels of
// the page. Here it says both in pixels of the page, so that pictures, charts and menus know what is pointed at.

const LARGER = 1.3; // as in style.css
let larger = 1; // pixels of the window for each of the page
let measured = false; // whether the browser’s answers are converted

window.headlightProject ??= project; // of the first script of this document, which knows what is measured already

/** @type {(on: boolean) => void} */
function project(on) {
  const root = document.documentElement;
  const wanted = on && "currentCSSZoom" in root ? LARGER : 1;
  root.toggleAttribute("data-projector", on);
  if (wanted === larger) return;
  larger = wanted;
  if (!measured) measureInPagePixels();
  measured = true;
  dispatchEvent(new Event("resize")); // what is drawn to a size is drawn again
}

function measureInPagePixels() {
  /** @type {(number: number) => number} */
  const smaller = (number) => number / larger;
  convertReads(window, ["innerWidth", "innerHeight"], smaller);
  convertReads(window, ["devicePixelRatio"], (ratio) => ratio * larger); // canvases stay sharp
  convertReads(VisualViewport.prototype, ["width", "height"], smaller);
  const places = ["clientX", "clientY", "pageX", "pageY", "offsetX", "offsetY", "layerX", "layerY", "x", "y"];
  // A script’s own event already counts in pixels of the page.
  convertReads(MouseEvent.prototype, [...places, "movementX", "movementY"], (at, event) => (event.isTrusted ? at / larger : at));
  if (window.Touch) convertReads(Touch.prototype, ["clientX", "clientY", "pageX", "pageY"], smaller);
  convertFrames(Element.prototype);
  convertFrames(Range.prototype);
  convertSearches(Document.prototype);
  convertSearches(ShadowRoot.prototype);
}

/** @type {(holder: object, names: string[], convert: (value: number, holder: any) => number) => void} */
function convertReads(holder, names, convert) {
  for (const name of names) {
    const before = Object.getOwnPropertyDescriptor(holder, name);
    const read = before?.get;
    if (!before || !read) continue;
    /** @type {(this: any) => number} */
    const get = function () {
      return convert(read.call(this), this);
    };
    Object.defineProperty(holder, name, { ...before, get });
  }
}

/** @type {(holder: Pick<Element, "getBoundingClientRect" | "getClientRects">) => void} */
function convertFrames(holder) {
  const { getBoundingClientRect, getClientRects } = holder;
  /** @type {(frame: DOMRect) => DOMRect} */
  const smaller = ({ x, y, width, height }) => new DOMRect(x / larger, y / larger, width / larger, height / larger);
  holder.getBoundingClientRect = function () {
    return smaller(getBoundingClientRect.call(this));
  };
  holder.getClientRects = function () {
    const frames = [...getClientRects.call(this)].map(smaller);
    return Object.assign(frames, { item: (/** @type {number} */ at) => frames[at] ?? null });
  };
}

/** @type {(holder: Pick<Document, "elementFromPoint" | "elementsFromPoint">) => void} */
function convertSearches(holder) {
  const { elementFromPoint, elementsFromPoint } = holder;
  holder.elementFromPoint = function (x, y) {
    return elementFromPoint.call(this, x * larger, y * larger);
  };
  holder.elementsFromPoint = function (x, y) {
    return elementsFromPoint.call(this, x * larger, y * larger);
  };
}
