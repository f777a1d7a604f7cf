// What a visitor has chosen, in the address. Streamlit says there what its own widgets have, each time in a message that leaves out
// all the rest, and that may come late. So what the server says last is kept here, and put beside each of those messages; and what
// is typed is read from its box: Streamlit writes nothing of it where its first run began again, as on a fresh server.

/** @typedef {import("./types").Address} Address */
/** @typedef {import("./types").Component<Uint8Array>} Component */
/** @typedef {import("./types").Kept} Kept */
/** @typedef {import("./types").Values} Values */

const LOOKS = 8; // at what is typed, after a message
const BETWEEN = 250; // milliseconds

// kept: what the server says of the address of a page. page: its name there. boxes: what each text box begins with. typed: what
// somebody has typed there. longest: text in an address.
/** @type {() => Address} */
const fresh = () => ({ page: null, kept: {}, boxes: {}, typed: {}, longest: 0, together, settle, timer: 0, looks: 0 });
const first = !window.headlightAddress;
const address = (window.headlightAddress ??= fresh());
if (first) addEventListener("input", ({ target }) => noteTyped(target), true);

/** @type {(args: Component) => void} */
export default ({ data }) => {
  /** @type {Kept} */
  const { page, values, boxes, longest } = JSON.parse(new TextDecoder().decode(data));
  if (!isOpen(page)) return; // it has been left
  const before = address.page === page ? address.kept : {};
  /** @type {Values} */
  const gone = Object.fromEntries(Object.keys(before).map((key) => [key, null]));
  Object.assign(address, { page, kept: values, boxes, longest });
  write({ ...gone, ...values });
  settle();
};

// An address as Streamlit says it, with what else is kept of that page.
/** @type {(url: string | URL) => string} */
function together(url) {
  const at = new URL(url, location.href);
  if (!isOpen(address.page)) return at.href;
  for (const [key, value] of Object.entries(address.kept))
    if (value !== null && !at.searchParams.has(key)) at.searchParams.set(key, value);
  settle();
  return at.href;
}

/** @type {(page: string | null) => boolean} */
function isOpen(page) {
  return location.pathname.split("/").at(-1) === page;
}

/** @type {(values: Values) => void} */
function write(values) {
  const at = new URL(location.href);
  for (const [key, value] of Object.entries(values)) {
    if (value === null) at.searchParams.delete(key);
    else if (at.searchParams.get(key) !== value) at.searchParams.set(key, value);
  }
  if (at.href !== location.href) history.replaceState(history.state, "", at.href);
}

/** @type {(box: EventTarget | null) => void} */
function noteTyped(box) {
  for (const key of Object.keys(address.boxes))
    if (box instanceof HTMLInputElement && box === boxOf(key)) address.typed[key] = box.value;
}

/** @type {(key: string) => HTMLInputElement | null} */
function boxOf(key) {
  return /** @type {HTMLInputElement | null} */ (document.querySelector(`.st-key-${key} input`));
}

// Of what is typed an old message may still come, and the box may be late with what the server puts into it: look a few times.
function settle() {
  clearInterval(address.timer);
  address.looks = 0;
  address.timer = setInterval(() => {
    if (++address.looks >= LOOKS) clearInterval(address.timer);
    if (!isOpen(address.page)) return;
    /** @type {Values} */
    const texts = {};
    for (const [key, beginning] of Object.entries(address.boxes)) {
      const text = boxOf(key)?.value;
      if (text !== undefined && text === address.typed[key])
        texts[key] = text === beginning || text.length > address.longest ? null : text;
      else texts[key] = address.kept[key];
    }
    write(texts);
  }, BETWEEN);
}
