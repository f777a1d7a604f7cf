// The question of a room: asked of who follows, counted for who leads.

import { element, makeButton, write } from "../../shared/element.js";

/** @typedef {import("./types").Asked} Asked */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Line} Line */
/** @typedef {import("./types").Question} Question */
/** @typedef {(value: string, name: string) => void} Send */

// `send(value, name)` gives an answer. What is half written stays in `line.drafts` while pages change.
/** @type {(place: Asked, line: Line, send: Send) => void} */
export function drawQuestion(place, line, send) {
  const { seat } = line.view;
  const { node } = place;
  const asked = line.news?.question;
  node.hidden = !asked;
  if (!asked) {
    node.replaceChildren();
    place.number = null;
    return;
  }
  if (place.number !== asked.number || place.line !== line) build(place, line, asked, send);
  write(place.words, asked.words);
  for (const { choice, button } of place.buttons) {
    button.setAttribute("aria-pressed", String(choice === asked.mine));
    write(button, mark(choice, asked));
  }
  for (const field of place.node.querySelectorAll("button, input")) field.toggleAttribute("disabled", asked.right !== "");
  write(place.said, said(line, asked, seat));
  place.bars.replaceChildren(...(asked.counts ?? []).map(([words, count]) => bar(mark(words, asked), count, asked.answers)));
  write(place.model, asked.model ? `The model answers: ${asked.model}` : "");
  write(place.right, rightAnswer(asked));
  if (place.fresh) node.scrollIntoView({ block: "nearest" }); // with its words and its choices
  place.fresh = false;
}

// The place of a question in the strip, before any was asked.
/** @type {() => Asked} */
export function makeQuestion() {
  const node = element("div", "question");
  const words = element("h2");
  const status = element("p", "said");
  status.setAttribute("role", "status");
  const [bars, model, right] = [element("ul", "bars"), element("p", "model"), element("p", "right")];
  right.setAttribute("role", "status");
  return { node, number: null, line: null, buttons: [], words, said: status, bars, model, right, fresh: false };
}

/** @type {(place: Asked, line: Line, asked: Question, send: Send) => void} */
function build(place, line, asked, send) {
  const leads = line.view.seat.role === "leads";
  Object.assign(place, { number: asked.number, line, buttons: [] });
  if (line.drafts.number !== asked.number) line.drafts = { number: asked.number, name: line.drafts.name, text: "" };
  const form = leads
    ? []
    : [asked.kind === "choices" ? choices(place, line, asked, send) : box(line, asked, send), nameBox(line, send)];
  place.node.replaceChildren(place.words, ...form, place.said, place.bars, place.right, place.model);
  place.fresh = !leads && !asked.mine;
}

/** @type {(place: Asked, line: Line, asked: Question, send: Send) => HTMLElement} */
function choices(place, line, asked, send) {
  const row = element("div", "choices");
  place.buttons = asked.choices.map((choice) => ({
    choice,
    button: makeButton("choice", choice, () => send(choice, line.drafts.name)),
  }));
  row.append(...place.buttons.map(({ button }) => button));
  return row;
}

/** @type {(line: Line, asked: Question, send: Send) => HTMLElement} */
function box(line, asked, send) {
  const form = element("form", "answer");
  const input = field("Your answer", line.drafts.text, 200, (text) => (line.drafts.text = text));
  if (asked.kind === "a number") input.inputMode = "decimal";
  const button = element("button", "", "Send");
  button.type = "submit";
  form.append(input, button);
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    send(input.value, line.drafts.name);
  });
  return form;
}

// Who has pressed a choice before they write their name has it beside their answer too.
/** @type {(line: Line, send: Send) => HTMLElement} */
function nameBox(line, send) {
  const input = field("Your name, if you like", line.drafts.name, 40, (text) => (line.drafts.name = text));
  input.addEventListener("change", () => {
    const mine = line.news?.question?.mine;
    if (mine) send(mine, input.value);
  });
  return input;
}

/** @type {(label: string, value: string, most: number, keep: (text: string) => void) => HTMLInputElement} */
function field(label, value, most, keep) {
  const input = element("input");
  Object.assign(input, { type: "text", value, maxLength: most, placeholder: label, autocomplete: "off" });
  input.setAttribute("aria-label", label);
  input.addEventListener("input", () => keep(input.value));
  return input;
}

/** @type {(line: Line, asked: Question, seat: Header) => string} */
function said(line, asked, seat) {
  if (line.wrong) return line.wrong;
  if (seat.role === "leads") return asked.shown ? "Everybody sees these counts." : "The others do not see these counts yet.";
  if (!asked.mine) return "";
  return `You answered “${asked.mine}”.${asked.right ? "" : " You can still change it."}`;
}

// An answer as it is written on the page: the right one with a sign, once it is shown.
/** @type {(answer: string, asked: Question) => string} */
function mark(answer, asked) {
  return asked.right === answer ? `✓ ${answer}` : answer;
}

/** @type {(asked: Question) => string} */
function rightAnswer({ right, right_count: given, answers }) {
  if (!right) return "";
  const share = given === null || !answers ? "" : ` ${given} of ${answers} gave it (${percent(given, answers)}).`;
  return `The right answer: ${right}.${share}`;
}

// Whole per cents: a class has a few dozen people.
/** @type {(count: number, all: number) => string} */
function percent(count, all) {
  return `${Math.round((100 * count) / all)}\u00a0%`;
}

/** @type {(words: string, count: number, all: number) => HTMLElement} */
function bar(words, count, all) {
  const row = element("li");
  const share = element("span", "bar");
  share.style.setProperty("--share", `${all ? (100 * count) / all : 0}%`);
  row.append(
    element("span", "words", words),
    share,
    element("span", "count", all ? `${count} · ${percent(count, all)}` : String(count)),
  );
  return row;
}
