// How it stands in a room. The line to the room outlives the strip, which is placed anew on every page.

import { unpack } from "../../shared/bytes.js";
import { element, makeButton, write } from "../../shared/element.js";
import { stateOf } from "../../shared/state.js";
import { goThere, haveArrived } from "./elsewhere.js";
import { keepHeld } from "./held.js";
import { keepLetters } from "./letters.js";
import { joinCharts } from "./charts.js";
import { followParts, tellParts } from "./parts.js";
import { follow, tellPoints } from "./pointer.js";
import { drawQuestion, makeQuestion } from "./question.js";

/** @typedef {import("../../shared/types").Mount} Mount */
/** @typedef {import("../../shared/types").Tell} Tell */
/** @typedef {import("./types").Header} Header */
/** @typedef {import("./types").Line} Line */
/** @typedef {import("./types").Message} Message */
/** @typedef {import("./types").State} State */

const AGAIN = 2000; // milliseconds after which a run is asked for again: what is asked while Streamlit's line is down is lost
const HANDS_OFF = 400; // after a key or a press, for which nothing is asked: the visitor goes first
const AWAY = "The room is away for a moment. Stay here: you will follow again by yourself.";
const APART = 15_000; // without a strip on the page, after which the line is closed
/** @type {Map<string, Line>} */
const lines = new Map(); // by code
let touched = 0;
/** @type {Line | null} */
let current = null; // the line of the strip that stands on the page

/** @type {Mount} */
export function mount({ parentElement, data, setTriggerValue }) {
  /** @type {Header} */
  const seat = unpack(data);
  const state = stateOf(parentElement, (root) => makeStrip(root, seat, setTriggerValue));
  Object.assign(state, { seat, tell: setTriggerValue });
  state.root.dataset.role = seat.role;
  state.root.classList.toggle("large", seat.large);
  const line = lineOf(seat, state);
  line.view = state;
  current = line;
  keep(line);
  if (seat.elsewhere) goThere(seat.code, address(line, "there"));
  else haveArrived(seat.code);
  if (seat.role !== "waits" || (line.ticket && !seat.elsewhere)) connect(line);
  draw(line);
  ask(line);
  tellShown(line);
  openParts(line);
}

/** @type {(root: HTMLElement, seat: Header, tell: Tell) => State} */
function makeStrip(root, seat, tell) {
  root.setAttribute("role", "region");
  root.setAttribute("aria-label", "Room");
  const strip = element("div", "strip");
  const [where, how] = [element("strong"), element("span", "how")];
  how.setAttribute("role", "status");
  const act = makeButton("act", "", () => press(state, "follow"));
  const leave = makeButton("leave", "Leave the room", () => press(state, "leave"));
  strip.append(where, how, act, leave);
  const places = element("ul", "places");
  const question = makeQuestion();
  root.append(strip, places, question.node);
  /** @type {State} */
  const state = { root, seat, tell, where, how, act, leave, places, question };
  return state;
}

/** @type {(state: State, ask: "run" | "out" | "follow" | "seat" | "leave") => void} */
function press(state, ask) {
  state.tell("chosen", { ask, n: Date.now() });
}

// ---------------------------------------------------------------- the line

/** @type {(seat: Header, view: State) => Line} */
function lineOf(seat, view) {
  let line = lines.get(seat.code);
  if (!line) {
    const fresh = (line = makeLine(seat, view));
    lines.set(seat.code, line);
    setInterval(() => tend(fresh), APART / 3);
    if (lines.size === 1) listenForHands();
  }
  if (line.who !== seat.who) {
    Object.assign(line, { who: seat.who, asked: -1, gone: "" });
    line.socket?.close();
  }
  return line;
}

/** @type {(seat: Header, view: State) => Line} */
function makeLine({ code, who }, view) {
  return {
    code,
    who,
    view,
    socket: null,
    shown: null,
    ticket: stored(code),
    key: "",
    news: null,
    gone: "",
    again: false,
    over: false,
    lost: false,
    wrong: "",
    gave: false,
    asked: -1,
    since: 0,
    tries: 0,
    asksSeat: 0,
    pointed: ["", -1],
    parts: {},
    looking: 0,
    drafts: { name: "", text: "" },
    timer: 0,
    asking: 0,
  };
}

// What proves that one was here, for a room that comes back; and of who leads, the key, as a cookie that no script can read.
/** @type {(line: Line) => void} */
function keep(line) {
  const { seat } = line.view;
  if (seat.ticket && seat.ticket !== line.ticket) {
    line.ticket = seat.ticket;
    try {
      sessionStorage.setItem("headlight-room-" + line.code, seat.ticket);
    } catch {
      // a browser that keeps nothing
    }
  }
  if (seat.key && seat.key !== line.key) {
    line.key = seat.key;
    fetch(address(line, "lead"), { method: "POST", body: seat.key });
  }
}

/** @type {(code: string) => string | null} */
function stored(code) {
  try {
    return sessionStorage.getItem("headlight-room-" + code);
  } catch {
    return null;
  }
}

/** @type {(line: Line, last: string) => string} */
function address(line, last) {
  return new URL(`rooms/${line.code}/${last}`, document.baseURI).href;
}

/** @type {(line: Line) => void} */
function connect(line) {
  if (line.socket || line.over) return;
  const query = new URLSearchParams({ who: line.who, ticket: line.ticket ?? "" });
  const socket = new WebSocket(address(line, "line").replace("http", "ws") + "?" + query);
  Object.assign(line, { socket, shown: null, gave: false });
  socket.onopen = () => tellShown(line);
  socket.onmessage = (event) => hear(line, JSON.parse(event.data));
  socket.onclose = () => {
    if (line.socket !== socket) return;
    line.socket = null;
    if (line.over) return;
    line.lost = true;
    line.timer = setTimeout(() => connect(line), 500 + Math.random() * (line.gone ? 4000 : 1500));
    draw(line);
  };
}

// Which version stands on the page now: until the server knows, a choice of the one before that arrives there is no touch.
/** @type {(line: Line) => void} */
function tellShown(line) {
  const { socket, view } = line;
  if (socket?.readyState !== WebSocket.OPEN || line.shown === view.seat.taken) return;
  line.shown = view.seat.taken;
  socket.send(JSON.stringify({ shown: line.shown }));
}

/** @type {(line: Line, said: Message) => void} */
function hear(line, said) {
  if (said === null) return; // a sign of life
  if ("gone" in said) {
    Object.assign(line, { gone: said.gone, again: said.again, over: !said.again, news: null });
  } else if ("seat" in said) {
    if (Date.now() - line.asksSeat > AGAIN) {
      line.asksSeat = Date.now();
      press(line.view, "seat");
    }
  } else if ("version" in said) {
    Object.assign(line, { news: said, gone: "", lost: false });
    keepHeld(
      line,
      said,
      (held) => line.socket?.send(JSON.stringify({ held })),
      () => line.view.seat.large && press(line.view, "seat"), // where its switches stand
    );
    if (said.pointed) follow(line, line.view.seat.follows ? said.pointed : ["", -1]);
    openParts(line);
    ask(line);
  } else {
    line.wrong = said.wrong ?? "";
    if (line.news?.question && said.mine !== undefined) line.news.question.mine = said.mine; // news of it come only with the next beat
  }
  draw(line);
}

// A strip that is nowhere on the page any more has no use for its line.
/** @type {(line: Line) => void} */
function tend(line) {
  if (line.view.root.isConnected) return;
  clearTimeout(line.timer);
  const { socket } = line;
  line.socket = null;
  socket?.close();
}

// ---------------------------------------------------------------- runs of the page

// Have the parts of the page open that who leads has opened, once the page is the one where who leads is.
/** @type {(line: Line) => void} */
function openParts(line) {
  const { view, news } = line;
  if (!news?.opened) return; // of who leads
  if (!view.seat.follows) followParts(line, {});
  else if (news.version <= view.seat.taken) followParts(line, news.opened);
}

// One run at a time for what is new, none while the visitor types or presses.
/** @type {(line: Line) => void} */
function ask(line) {
  clearTimeout(line.asking);
  const { seat } = line.view;
  if (!line.news || (seat.role !== "follows" && !line.news.mirrors)) return;
  const wanted = seat.follows || seat.role === "leads" ? line.news.version : line.news.fixed;
  if (wanted <= seat.taken) {
    line.tries = 0;
    return;
  }
  const now = Date.now();
  const pending = line.asked > seat.taken ? line.since + AGAIN * 2 ** line.tries - now : 0;
  let wait = Math.max(pending, touched + HANDS_OFF - now);
  if (wait <= 0) {
    line.tries = line.asked > seat.taken ? Math.min(line.tries + 1, 4) : 0;
    Object.assign(line, { asked: wanted, since: now });
    press(line.view, "run");
    wait = AGAIN * 2 ** line.tries;
  }
  line.asking = setTimeout(() => ask(line), wait);
}

function listenForHands() {
  joinCharts();
  const lead = () => {
    if (!current) return null;
    const { view, socket } = current;
    const leads = view.root.isConnected && view.seat.role === "leads" && socket?.readyState === WebSocket.OPEN;
    return leads ? (/** @type {object} */ told) => socket.send(JSON.stringify(told)) : null;
  };
  /** @type {<T>(name: string) => () => ((told: T) => void) | null} */
  const telling = (name) => () => {
    const send = lead();
    return send && ((told) => send({ [name]: told }));
  };
  tellPoints(telling("point"));
  tellParts(telling("open"));
  /** @type {(event: Event) => void} */
  const touch = (event) => {
    if (event.isTrusted) touched = Date.now();
  };
  for (const kind of ["pointerdown", "keydown", "input"]) addEventListener(kind, touch, true);
  keepLetters(
    () => current !== null && isMoved(current),
    () => current && press(current.view, "out"),
  );
}

// Whether who leads moves this page, or another one of several who lead.
/** @type {(line: Line) => boolean} */
function isMoved({ view, news }) {
  return view.root.isConnected && (view.seat.role === "follows" ? view.seat.follows : Boolean(news?.mirrors));
}

// ---------------------------------------------------------------- what is shown

/** @type {(line: Line) => void} */
function draw(line) {
  const { view, news } = line;
  const { seat } = view;
  write(view.where, `Room ${seat.code}`);
  write(view.how, how(line));
  const again = seat.role === "follows" && !seat.follows && !line.gone;
  write(view.act, again ? "Follow again" : "");
  view.act.hidden = !again;
  document.documentElement.dataset.room = again ? "own" : ""; // for the page, which keeps the strip in sight then
  write(view.leave, line.over || seat.role === "waits" ? "Close this" : "Leave the room");
  view.leave.hidden = seat.role === "leads" && !line.over;
  const places = seat.large ? (news?.places ?? []) : [];
  view.places.replaceChildren(...places.map(([place, count]) => element("li", "", `${count} at ${place}`)));
  drawQuestion(view.question, line, (value, name) => line.socket?.send(JSON.stringify({ answer: value, name })));
}

/** @type {(line: Line) => string} */
function how(line) {
  const { seat } = line.view;
  const { news } = line;
  if (line.gone && !line.again) return line.gone;
  if (line.gone || (line.lost && seat.role !== "waits")) return AWAY;
  if (seat.role === "waits") return seat.said ?? "";
  if (seat.role === "leads") {
    if (!news) return "";
    const answers = news.question ? ` ${count(news.question.answers, "answer", "answers")}.` : "";
    return `You lead. ${news.here} here, ${news.follow} of them ${news.follow === 1 ? "follows" : "follow"}.${answers}`;
  }
  if (seat.refused) return seat.refused;
  const away = news && !news.led ? " Your teacher is away for the moment." : "";
  const place = news?.place ? ` The class is at ${news.place}.` : "";
  return (seat.follows ? "You follow your teacher. Touch anything to go your own way." : `You go your own way.${place}`) + away;
}

/** @type {(number: number, one: string, many: string) => string} */
function count(number, one, many) {
  return `${number} ${number === 1 ? one : many}`;
}
