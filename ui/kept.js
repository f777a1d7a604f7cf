// How far a visitor's lessons are, kept in this browser from one day to the next.

/** @typedef {import("./types").Component<Lessons & { asked: boolean }>} Component */
/** @typedef {import("./types").Lessons} Lessons */

const NAME = "headlight-lessons";

/** @type {(args: Component) => void} */
export default ({ data, setTriggerValue }) => {
  const before = stored();
  const all = {
    places: { ...before.places, ...data.places },
    finished: [...new Set([...before.finished, ...data.finished])],
  };
  try {
    localStorage.setItem(NAME, JSON.stringify(all));
  } catch {
    return; // this browser keeps nothing: then it is known until the page is closed
  }
  const news = all.finished.length > data.finished.length || Object.keys(all.places).some((name) => !(name in data.places));
  if (data.asked && news) setTriggerValue("kept", all); // once: the same data does not run again
};

/** @type {() => Lessons} */
function stored() {
  try {
    const { places, finished } = JSON.parse(localStorage.getItem(NAME) ?? "null") ?? {};
    return { places: { ...places }, finished: Array.isArray(finished) ? finished : [] };
  } catch {
    return { places: {}, finished: [] };
  }
}
