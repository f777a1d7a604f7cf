// How far a visitor's lessons are, kept in this browser from one day to the next.

const NAME = "headlight-lessons";

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

function stored() {
  try {
    const { places, finished } = JSON.parse(localStorage.getItem(NAME)) ?? {};
    return { places: { ...places }, finished: Array.isArray(finished) ? finished : [] };
  } catch {
    return { places: {}, finished: [] };
  }
}
