// The sentence beside the player: of the station that is played, of the token that is pointed at, or of the whole.

import { write } from "../../shared/element.js";
import { lookUp } from "../../shared/lookup.js";
import { roughly } from "../../shared/number.js";
import { capitalized, focusOf, largestOf, namesOf, weightsOf } from "./data.js";
import { lookerOf } from "./tour.js";

/** @typedef {import("./types").Row} Row */
/** @typedef {import("./types").State} State */

/** @type {(state: State) => void} */
export function say(state) {
  const { header, player, pointed, hovered, said } = state;
  const at = player.at ?? header.stations.length;
  const station = header.stations[at];
  const { rest } = header;
  const whole = (state.led && rest.sum) || (header.outcomes.length ? rest.rest : rest.pointed);
  // The chances are those after the row that is followed: of another one, only where it looks is known here.
  const isOther = hovered !== null || (pointed && !(pointed[0] === state.last && pointed[1] === header.row));
  const start = state.fresh && header.outcomes.length && header.guesses.length > 1 ? rest.start : "";
  const template = (isOther ? rest.pointed : station ? start || station.step : whole) ?? "";
  const own = station?.key === "look" && header.gazes.bridge ? "lane" : "";
  const more = isOther || pointed ? [sink(state)] : extras(state, station?.key);
  write(said, [filled(state, template, own), ...more].filter(Boolean).join(" "));
}

// What follows the sentence of a station, or of the whole.
/** @type {(state: State, key: string | undefined) => (string | undefined)[]} */
function extras(state, key) {
  const { gazes, rest } = state.header;
  if (state.fresh) return [];
  const open = key === (gazes.bridge ? "bridge" : "look") && rest.open ? filled(state, rest.open, "") : "";
  if (key === "look" || open) return [open, sink(state)];
  if (key) return [key === "tokens" ? rest.cut : ""];
  return state.led ? [again(state), rest.next] : [rest.cut];
}

// Why a head rests at the first token, where it does and that is a sign of the model.
/** @type {(state: State) => string} */
function sink(state) {
  const { header } = state;
  const focus = focusOf(state);
  if (header.lanes.length > 1 || !header.rest.sink || !focus[1]) return "";
  const weights = weightsOf(state, "lane0", focus[1]);
  return weights[0] > 127 ? header.rest.sink : "";
}

// Which head looks back at what the model says next, where that stands in the text.
/** @type {(state: State) => string} */
function again(state) {
  const { header, last } = state;
  const looker = lookerOf(state);
  if (!looker || !header.rest.again) return "";
  const number = header.lanes[last].numbers[looker.layer];
  const { layer, head: own } = header.gazes[`lane${last}`];
  const chosen = `L${header.lanes[last].numbers[layer]} H${own}`;
  const facts = {
    head: `L${number} H${looker.head}`,
    head_words: `layer ${number}, head ${looker.head}`,
    chosen,
    best: header.outcomes[0].name,
    all: looker.heads,
    share: roughly(looker.share),
    even: roughly(looker.even),
  };
  return header.rest.again.replace(/\{([a-z_]+)\}/g, (mark, fact) => String(lookUp(facts, fact) ?? mark));
}

/** @type {(state: State, template: string, own: string) => string} */
function filled(state, template, own) {
  const { header, at, last, main } = state;
  const focus = focusOf(state);
  const name = own && focus[0] === last ? `lane${last}` : gazeOf(state, focus);
  const head = namesOf(state, at[name] ? name : main);
  const [key, share] = strongest(state, name, focus);
  const block = at[`lane${last}`].layer;
  const guess = header.guesses[block + 1];
  const best = header.outcomes[0];
  const before = header.guesses.at(-2);
  const kind = header.lanes.length > 1 ? lookUp({ lane0: "encoder ", lane1: "decoder ", bridge: "cross " }, name) : "";
  const facts = {
    token: header.lanes[focus[0]].names[focus[1]],
    key,
    share,
    head: kind + head.short,
    head_words: head.words,
    layer: `L${header.lanes[last].numbers[block]}`,
    layer_number: String(header.lanes[last].numbers[block]),
    guess: guess?.name ?? "",
    chance: guess?.number ?? "",
    before: before?.name ?? "",
    before_share: before?.number ?? "",
    best: best?.name ?? "",
    best_share: best?.number ?? "",
  };
  return capitalized(template.replace(/\{([a-z_]+)\}/g, (mark, fact) => lookUp(facts, fact) ?? mark));
}

// The gaze by which a token of a lane looks: across to the other lane, where that is what is looked at.
/** @type {(state: State, place: Row) => string} */
export function gazeOf({ header, last, main }, [lane]) {
  return header.gazes.bridge && lane === last && main !== `lane${last}` ? "bridge" : `lane${lane}`;
}

// The token that a row looks at most, by its name, and its share.
/** @type {(state: State, name: string, place: Row) => [name: string, share: string]} */
export function strongest(state, name, [, row]) {
  const weights = weightsOf(state, name, row);
  const keys = state.header.lanes[name === "bridge" ? 0 : Number(name.slice(4))];
  let best = -1;
  weights.forEach((weight, i) => (best < 0 || weight > weights[best]) && (best = i));
  if (best < 0) return ["", ""];
  return [keys.tokens[best] ? keys.names[best] : `${keys.omitted} others`, roughly(largestOf(state, name, row))];
}
