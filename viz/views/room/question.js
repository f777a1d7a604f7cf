// The question of a room: asked of who follows, counted for who leads.

import { element, makeButton, write } from "../../shared/element.js";

// `send(value, name)` gives an answer. What is half written stays in `line.drafts` while pages change.
export function drawQuestion(node, line, send) {
  const { seat } = line.view;
  const asked = line.news?.question;
  node.hidden = !asked;
  if (!asked) {
    node.replaceChildren();
    node.number = undefined;
    return;
  }
  if (node.number !== asked.number || node.line !== line) build(node, line, asked, send);
  write(node.words, asked.words);
  for (const [choice, button] of node.buttons) button.setAttribute("aria-pressed", String(choice === asked.mine));
  write(node.said, said(line, asked, seat));
  node.bars.replaceChildren(...(asked.counts ?? []).map(([words, count]) => bar(words, count, asked.answers)));
  write(node.model, asked.model ? `The model answers: ${asked.model}` : "");
  if (node.fresh) node.scrollIntoView({ block: "nearest" }); // with its words and its choices
  node.fresh = false;
}

function build(node, line, asked, send) {
  const leads = line.view.seat.role === "leads";
  Object.assign(node, { number: asked.number, line, buttons: [] });
  if (line.drafts.number !== asked.number) line.drafts = { number: asked.number, name: line.drafts.name ?? "", text: "" };
  node.words = element("h2");
  node.said = element("p", "said");
  node.said.setAttribute("role", "status");
  node.bars = element("ul", "bars");
  node.model = element("p", "model");
  const form = leads
    ? []
    : [asked.kind === "choices" ? choices(node, line, asked, send) : box(line, asked, send), nameBox(line, send)];
  node.replaceChildren(node.words, ...form, node.said, node.bars, node.model);
  node.fresh = !leads && !asked.mine;
}

function choices(node, line, asked, send) {
  const row = element("div", "choices");
  node.buttons = asked.choices.map((choice) => [choice, makeButton("choice", choice, () => send(choice, line.drafts.name))]);
  row.append(...node.buttons.map(([, button]) => button));
  return row;
}

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
function nameBox(line, send) {
  const input = field("Your name, if you like", line.drafts.name, 40, (text) => (line.drafts.name = text));
  input.addEventListener("change", () => {
    const mine = line.news?.question?.mine;
    if (mine) send(mine, input.value);
  });
  return input;
}

function field(label, value, most, keep) {
  const input = element("input");
  Object.assign(input, { type: "text", value, maxLength: most, placeholder: label, autocomplete: "off" });
  input.setAttribute("aria-label", label);
  input.addEventListener("input", () => keep(input.value));
  return input;
}

function said(line, asked, seat) {
  if (line.wrong) return line.wrong;
  if (seat.role === "leads") return asked.shown ? "Everybody sees these counts." : "Not yet on the others’ pages.";
  return asked.mine ? `You answered “${asked.mine}”. You can still change it.` : "";
}

function bar(words, count, all) {
  const row = element("li");
  const share = element("span", "bar");
  share.style.setProperty("--share", `${all ? (100 * count) / all : 0}%`);
  row.append(element("span", "words", words), share, element("span", "count", String(count)));
  return row;
}
