// What the app sends back. It is late, so that a choice which comes back to where it was made would undo the one after it.

/** @typedef {import("./types").Echo} Echo */

// `told(value)` for what was chosen here; `isNews(value)` says whether what the app sends differs from what it sent before, and is no
// echo of what was told.
/** @type {(most?: number) => Echo} */
export function makeEcho(most = 50) {
  /** @type {string[]} */
  let sent = [];
  /** @type {string | undefined} */
  let before;
  return {
    told(value) {
      sent = [...sent, JSON.stringify(value)].slice(-most);
    },
    isNews(value) {
      const words = JSON.stringify(value);
      const mine = sent.lastIndexOf(words);
      const news = mine < 0 && words !== before;
      before = words;
      if (mine >= 0) sent = sent.slice(mine); // the newest stays: the next data may say it again
      else if (news) sent = []; // from here on the same words are no echo
      return news;
    },
  };
}
