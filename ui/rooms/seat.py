"""A visitor's seat in a room: the page follows the teacher until the visitor touches something.

Every run of a page begins with `enter` and ends with `settle`. In between the choices of the room stand in the session, before
the widgets are placed. What differs, at the beginning of a run, from what stood at the end of the last one was touched by the
visitor, unless it is an echo: a browser that asks for a run sends what it shows, which may be a moment old.
"""

from __future__ import annotations

import secrets
from collections import deque
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.util import calc_hash

import models
from models.errors import FileError
from ui import state
from ui.lessons import files
from ui.memory import addresses, allowed, loaded, trainings
from ui.menu import TITLES
from ui.rooms.home import ELSEWHERE
from ui.rooms.route import cookie
from ui.rooms.store import CODE, HIDDEN, Person, Room, RoomError, rooms
from ui.serving.leaving import open_page
from ui.show import choice, show
from ui.text import place_of
from viz.views.room import room as room_view

ECHO = 2.5  # seconds for which a browser may still send what was replaced, from when it shows what came instead
PRESSED = 0.3  # the same of a page: what fragments send of one that is left is dropped, so that mostly its name was pressed
LATE = 60.0  # the same where it never says that it does
ABSENT: Any = object()
OWN_PAGE = "room"  # of who leads: nobody follows there
TEXTS = (state.TEXT, state.TARGET)
SURE = (
    "page",
    "asked",
    *(key.name for key in (*TEXTS, state.LEVEL, state.LESSON, state.LESSON_STEP)),
)  # no run changes them alone
OURS = {state.LESSON.name, state.LESSON_STEP.name}  # no browser sends them, so that each change of them was pressed
NOT_HERE = "Your teacher has taken page “{page}” out of your menu for now. You see another one."
REFUSED = "Your teacher shows a model that this server may not show to you. You see another one."

Choices = dict[str, Any]
"""Where somebody is: `page`, the `model` in use and the one `asked` for, the texts, and all else that is chosen."""


@dataclass
class Seat:
    """A visitor's place in a room, and how far their page follows it.

    placed_version: the version of the room that stands on the page; placing_version: the one that is being placed.
    settled_choices: where the last whole run ended; applied_choices: what was taken from the room last; replaced_choices: what
    stood there before or was to, when it ceased to, and at which version. sent_page: the page of which a run was asked for
    because the class went there. was_cut: whether the last run did not reach its end."""

    room: Room
    who: str
    person: Person
    page: str = ""
    placed_version: int = -1
    placing_version: int = -1
    settled_choices: Choices | None = None
    applied_choices: Choices = field(default_factory=dict)
    replaced_choices: deque[tuple[float, int, Choices]] = field(default_factory=lambda: deque(maxlen=60))
    sent_page: str = ""
    was_cut: bool = False
    refusal: str = ""
    just_opened: bool = (
        False  # whether a button of the page on which the room is led has the class moved, and shows that page again
    )
    return_to: bool = False  # whether who leads wants to see again what the class sees
    mirrors: bool = False  # whether it is one of several that lead, and shows what another one has moved
    was_touched: bool = False  # whether something was touched there since
    current: Choices | None = None  # where the visitor is, as this run has found it, until something of it is changed

    @property
    def follows(self) -> bool:
        return self.person.follows and not self.person.leads

    @property
    def moves(self) -> bool:
        """Whether the class goes where this visitor goes."""
        return self.person.leads and (self.was_touched or not self.mirrors)

    @property
    def fixed(self) -> Choices:
        """What the choices of all have in common, also of those who go their own way; who leads chooses freely."""
        fixed = {} if self.person.leads else self.room.fixed
        return {name: value for name, value in fixed.items() if name != HIDDEN}

    @property
    def hidden(self) -> set[str]:
        """The pages that this visitor may not open: not the one on which the class is."""
        hidden = () if self.person.leads else self.room.fixed.get(HIDDEN, ())
        return set(hidden) - {(self.room.at or {}).get("page")}

    def turn_away(self, page: str) -> None:
        """From a page that this visitor may not open to the one on which the class is, or the first that is open."""
        hidden = self.hidden
        there = (self.room.at or {}).get("page") or next((name for name in TITLES if name not in hidden), page)
        if page in hidden and page != there:
            if self.follows and self.settled_choices is not None and page in {self.settled_choices["page"], self.sent_page}:
                self.sent_page = there  # where the class is by now: nothing was touched
            else:
                state.TROUBLE.set(NOT_HERE.format(page=TITLES.get(page, page)))
            open_page(there)

    def here(self) -> Choices:
        """Where this visitor is now."""
        texts = {key.name: text_of(key) for key in TEXTS}
        model = {"model": model_in_use(), "asked": state.MODEL.get() or models.names()[0]}
        return {**state.chosen(), **texts, **model, "page": self.page}

    def step_out(self) -> None:
        self.person.follows = False
        self.room.tell(leading=True)

    def follow_again(self) -> None:
        self.person.follows, self.placed_version = True, -1
        self.room.tell(leading=True)

    def notice(self) -> None:
        """Step out where the visitor has touched something, or move the class where they lead; an echo is put right by taking all
        again."""
        before, was_cut, self.current = self.settled_choices, self.was_cut, None
        self.was_cut, self.was_touched = True, False  # until this run settles
        self.mirrors = self.person.leads and self.room.moved_by_another(self.person)
        if before is None or not (self.follows or self.mirrors):
            return
        if self.follows and not self.applied_choices:
            return  # as nobody leads yet, a browser of the time before a restart goes on to send what it shows
        self.current = here = self.here()
        changed = {name for name in here.keys() | before.keys() if here.get(name) != before.get(name)}
        if not changed:
            return
        sent_there = (
            {"page": self.page} if self.sent_page == self.page else {}
        )  # what else is not there went with the page before
        recent = [
            self.applied_choices,
            sent_there,
            *(choices for when, version, choices in self.replaced_choices if self.may_echo(when, version)),
        ]
        touched_names = {
            name for name in changed if not any(choices and choices.get(name) == here.get(name) for choices in recent)
        }
        touched_names |= {name for name in changed & OURS if here.get(name) != self.applied_choices.get(name)}
        late = [old["page"] for when, version, old in self.replaced_choices if self.may_echo(when, version, PRESSED)]
        if "page" in changed and here["page"] not in (self.applied_choices.get("page"), self.sent_page, *late):
            touched_names.add("page")
        if not (touched_names & set(SURE) if was_cut else touched_names):
            self.placed_version = -1
        elif self.mirrors:
            self.was_touched = True
        else:
            self.step_out()

    def replace(self, old: Choices, version: int) -> None:
        """Remember what gives way, at a version, to something else."""
        self.replaced_choices.append((self.room.clock(), version, old))

    def may_echo(self, when: float, version: int, echo: float = ECHO) -> bool:
        """Whether the browser may still send what was replaced then, at a version: on a busy server it hears of that late."""
        now = self.room.clock()
        if self.mirrors:  # who leads chooses what has just stood there more often than a browser is late
            return now - when < ECHO
        return now - when < LATE and now - max(when, self.person.shows(version)) < echo

    def take(self, whole: bool) -> None:
        """Have what the room has, before its widgets are placed. whole: whether the whole page runs, and not its stage alone, in
        which nothing but the texts can be taken."""
        self.placing_version = self.room.version  # first: what changes meanwhile is taken in the next run
        at = self.room.at
        if self.return_to or self.moves:
            return self.go_back(whole)
        if self.placing_version == self.placed_version:
            return
        if not whole and self.room.fixed_at > self.placed_version and not self.mirrors:
            st.rerun()
        if not (self.follows or self.mirrors) or at is None:
            return
        at = {**at, **self.fixed}
        if self.applied_choices and self.follows:
            self.replace(
                self.applied_choices, self.placing_version
            )  # also where the run that took it was cut: the browser may have it
        self.applied_choices = {**at, "asked": at["model"]}
        link = self.settled_choices is None and state.names_in_address() - {
            state.ROOM.name
        }  # of the visitor's own, which widgets would take
        page = OWN_PAGE if self.mirrors and self.page == OWN_PAGE else at["page"]  # where its choices alone are taken
        there = bool(page != self.page or link)
        if not whole and not there:
            if self.settled_choices is None or without_texts(at) != without_texts(self.settled_choices):
                st.rerun()
            return take_texts(at)
        self.go(at)
        if there:
            open_page(page)

    def goes_on_with(self) -> str:
        """The page that this visitor is to have as a whole, for more than texts is new; else ""."""
        at, before = self.room.at, self.settled_choices
        if before is None or at is None or not self.follows or self.placed_version == self.room.version:
            return ""
        return str(at["page"]) if without_texts({**at, **self.fixed}) != without_texts(before) else ""

    def set_off(self) -> None:
        """Before a run: follow at once to another page, or with all of this one. The stage would begin, and ask for that. A run
        of the other page, as `ui.rooms.whole` asks for, needs nothing here."""
        if not runs_page(self.page) or not (there := self.goes_on_with()):
            return
        if there != self.page:
            self.notice()
            self.take(whole=False)
        elif only_a_part_runs():
            st.rerun()

    def stay(self, page: str) -> None:
        """Go back from a page to which the visitor was sent, where they have touched something before it ran."""
        before, here, self.sent_page = self.settled_choices, self.current or self.here(), ""
        if before is None or before["page"] == page:
            return
        state.choose(chosen(before | here), anew=True)  # what was touched, and what went with the widgets of that page
        for key in TEXTS:
            key.of("last").set(here[key.name])
        open_page(before["page"])

    def go_back(self, whole: bool) -> None:
        """For who leads: to what the class sees, where a button asked for it."""
        at = self.room.gathered()
        if self.return_to and at is not None:
            if at["page"] == self.page and not whole:
                st.rerun()
            self.go(at)
            self.return_to = at["page"] != self.page
            if self.return_to:
                open_page(at["page"])

    def go(self, at: Choices) -> None:
        """Have the choices that somebody has made, on the page that they were made on."""
        state.LESSON_NEXT.pop()
        anew = self.settled_choices is None or self.settled_choices["page"] != self.page
        state.choose(chosen(at), anew, chosen(self.current) if self.current else None)
        self.current = None
        token = at.get(state.TOKEN.name) if at["model"] != model_in_use() else None  # which another model would let go
        state.LINK.set((at["page"], {} if token is None else {state.TOKEN.name: str(token)}))
        take_texts(at)
        self.ask_for(at["model"], {key.name: at.get(key.name) for key in (state.LAYER, state.HEAD)})

    def hold(self) -> None:
        """Have what who leads has chosen for all, also for who goes their own way."""
        if state.LEVEL.name in self.fixed:
            state.LEVEL.set(self.fixed[state.LEVEL.name])
        if (model := self.fixed.get("model")) and (model in loaded.shelf or model in models.names()):
            self.ask_for(model, {})

    def ask_for(self, model: str, heads: dict[str, int | None]) -> None:
        """Have a model in use, with the layer and the head that are chosen of it, where this visitor may open it."""
        self.refusal = REFUSED if allowed.refusal(model, here=model in loaded.shelf) else ""
        if self.refusal:
            return
        if model != (state.MODEL.get() or models.names()[0]):
            state.ask_for_model(model)
            state.LESSON_MODEL.set(model)
        if model != model_in_use():  # also where it is under way already, and who leads has chosen another head meanwhile
            state.OPENED.set({name: f"{name[0].upper()}{at}" for name, at in heads.items() if at is not None})

    def settle(self) -> None:
        """The run has reached its end: what stands on the page now is where this visitor is."""
        here, before = self.here(), self.settled_choices
        if here["page"] == OWN_PAGE:
            self.just_opened = False  # it was opened here, so that there is nothing to come back from
        if here != before and before is not None:
            self.replace(before, self.placing_version)
        begins = self.just_opened or (self.room.at is None and not state.JOB.get())  # else the class would go by another model
        if here != before and here["page"] != OWN_PAGE and self.moves and (before is not None or begins):
            self.placing_version = self.room.move(here, self.person, in_words(here))
            if self.just_opened:  # what is to be seen stands now
                self.just_opened = False
                go_to_page()
                st.rerun()
        self.settled_choices, self.placed_version, self.was_cut, self.sent_page = here, self.placing_version, False, ""
        self.person.at = here
        if (place := in_words(here)) != self.person.place:
            self.person.place = place
            self.room.tell(leading=True)


def model_in_use() -> str:
    return state.IN_USE.get() or models.names()[0]


def text_of(key: state.Key[str]) -> str:
    """What stands in a box, or stood there on the last page that has it, or will where none had it yet."""
    if (now := key.get_or(ABSENT)) is not ABSENT:
        return now or ""
    if (last := key.of("last").get_or(ABSENT)) is not ABSENT:
        return last or ""
    return key.in_address or key.default


def without_texts(at: Choices, *more: str) -> Choices:
    """Choices without the texts, and without the model that is asked for."""
    without = {"asked", *more, *(key.name for key in TEXTS)}
    return {name: value for name, value in at.items() if name not in without}


def chosen(at: Choices) -> Choices:
    """What `state.chosen` says of it."""
    return without_texts(at, "model", "page")


def take_texts(at: Choices) -> None:
    """Write into the boxes, when they are placed next."""
    for key in TEXTS:
        if at.get(key.name, "") != text_of(key):
            key.of("last").set(at[key.name])
            key.of("next").set(at[key.name])


def in_words(here: Choices) -> str:
    """Where somebody is, for who leads."""
    page = str(here["page"]).capitalize()
    lesson, step = here.get(state.LESSON.name), here.get(state.LESSON_STEP.name, 1)
    return f"{page}, step {step} of “{title_of(lesson)}”" if lesson else page


def title_of(lesson: str) -> str:
    """A lesson as its readers know it, by the name of its file."""
    try:
        lesson_read = files.find(lesson)
    except FileError:
        lesson_read = None
    return lesson_read.title if lesson_read else lesson


# ---------------------------------------------------------------- what pages call


def mine() -> Seat | None:
    """This visitor's seat; None for who is in no room, or in one that is over."""
    seat: Seat | None = state.ROOM_SEAT.get()
    return None if seat is None or seat.room.ended else seat


def arrive() -> Seat | None:
    """Take a seat where the address or a button asks for it."""
    if not state.ROOM.is_set:
        code = (state.ROOM.in_address or "").strip().upper()
        if code and not CODE.fullmatch(code):
            state.complain(state.ROOM, state.ROOM.in_address or "", "the room")
            code = ""
        state.ROOM.set(code)
    return take_seat(state.ROOM.get())


def hidden() -> set[str]:
    """The pages that are not in this visitor's menu."""
    seat = mine()
    return seat.hidden if seat else set()


def goes_first() -> bool:
    """Whether a class waits for what this visitor does next: then its runs wait for theirs."""
    seat = mine()
    return bool(seat and seat.person.leads and any(person.follows for person in seat.room.here()))


def enter(page: str) -> None:
    """Take a seat, and follow. At the beginning of each run of a whole page."""
    seat = arrive()
    state.say_in_address(state.ROOM)
    if seat:
        seat.turn_away(page)
        seat.page = page
        if seat.settled_choices is None and seat.person.leads and page == OWN_PAGE:
            seat.placed_version = -1  # what is led from there begins with what the class sees
        seat.notice()
        if seat.sent_page == page and not seat.follows:
            seat.stay(page)
        seat.take(whole=True)
        if not seat.follows:
            seat.hold()


def take_seat(code: str) -> Seat | None:
    """The seat in the room of a code; None where there is no such room, of which the line will tell."""
    if not code:
        state.ROOM_SEAT.set(None)
        return None
    seat = mine()
    if seat and seat.room.code == code and seat.who in seat.room.people:
        return seat
    if not rooms.ours(code):
        state.ROOM_SEAT.set(None)
        state.ROOM_TROUBLE.set(ELSEWHERE.format(code=code))
        return None
    keys = state.ROOM_KEY.get(), str(st.context.cookies.get(cookie(code), ""))
    key = next((candidate for candidate in keys if rooms.leads(code, candidate)), "")
    who = seat.who if seat else secrets.token_urlsafe(12)
    state.ROOM_SEAT.set(None)
    try:
        room, leads = rooms.find(code, key, addresses.mine(), trainings.browser())
        version = room.version if leads else -1  # another device that leads stays where it was opened, until the class is moved
        state.ROOM_SEAT.set(Seat(room, who, room.sit(who, trainings.browser() or who, leads), placed_version=version))
    except RoomError as error:
        state.ROOM_TROUBLE.set(str(error))
        return None
    if leads:
        state.ROOM_KEY.set(key)
    return mine()


@contextmanager
def follow_room(with_the_page: bool) -> Iterator[None]:
    """In this block a page's stage runs, with the page or by itself; above it stands the strip of the room."""
    strip, seat = st.container(key="room-strip"), mine()
    if seat and not with_the_page:
        seat.notice()
        seat.take(whole=False)
    yield
    settle()
    if state.ROOM.get():
        with strip:
            place()


def run_part() -> None:
    """The same where a part of a stage runs by itself, in which nothing can be taken."""
    if seat := mine():
        seat.notice()
        seat.placing_version = seat.placed_version


def settle() -> None:
    """At the end of each of these runs."""
    if seat := mine():
        seat.settle()


def place() -> None:
    """Place the strip that shows the state of the room and listens to it; it is large for who leads, on the room's page."""
    code, seat = state.ROOM.get(), mine()
    leads = bool(seat and seat.person.leads)
    show(
        room_view(
            code,
            who=seat.who if seat else "",
            ticket=rooms.ticket(code) if seat else "",
            key=state.ROOM_KEY.get() if leads else "",
            role="leads" if leads else "follows" if seat else "waits",
            follows=bool(seat and seat.follows),
            taken=seat.placed_version if seat else 0,
            said="" if seat else state.ROOM_TROUBLE.get(),
            elsewhere=not rooms.ours(code),
            refused=seat.refusal if seat and seat.follows else "",
            large=bool(seat and leads and seat.page == OWN_PAGE),
        ),
        "room-line",
        on_strip_click,
    )


def on_strip_click() -> None:
    """Do what a click on the strip asks for: a run, going one's own way, following again, a seat, or leaving."""
    request, seat = (choice("room-line") or {}).get("ask"), mine()
    if request == "run" and seat:
        seat.set_off()
    elif request == "follow" and seat:
        seat.follow_again()
    elif request == "out" and seat and seat.follows:  # by the first letter, which may be one that who leads has just written too
        seat.step_out()
    elif request == "leave":
        leave()
    elif request == "seat":
        state.run_whole_page_next()


def leave() -> None:
    """Leave the room; for who leads that does not end it."""
    if seat := mine():
        seat.room.leave(seat.who)
    state.ROOM.set("")
    state.ROOM_SEAT.set(None)
    state.ROOM_KEY.set("")
    state.run_whole_page_next()


def only_a_part_runs() -> bool:
    """Whether this run is one of a part of the page."""
    run = get_script_run_ctx(suppress_warning=True)
    return bool(run and run.fragment_ids_this_run)


def runs_page(page: str) -> bool:
    """Whether this run is one of that page, by its name in an address."""
    run = get_script_run_ctx(suppress_warning=True)
    return bool(run and run.page_script_hash == calc_hash(page))


def is_fixed(key: state.Key[Any]) -> bool:
    """Whether who leads has chosen it for all."""
    seat = mine()
    return bool(seat and not seat.person.leads and key.name in seat.room.fixed)


def has_notes() -> bool:
    """Whether this page has the notes of a lesson's step, for who leads, in the place of its panel."""
    seat = mine()
    return bool(seat and seat.person.leads and seat.page == OWN_PAGE)


def button() -> None:
    """In the side bar: open a room, or go to the page of the one that is led."""
    seat = mine()
    if not state.ROOM.get():
        st.sidebar.button("Open a room", key="room-open", icon=":material/groups:", width="stretch", on_click=open_here)
    elif seat and seat.person.leads and seat.page != OWN_PAGE:
        label = f"Room {seat.room.code}: code, questions"
        st.sidebar.button(label, key="room-page", icon=":material/groups:", width="stretch", on_click=go_to_page)


def go_to_page() -> None:
    state.LESSON_NEXT.set((OWN_PAGE, None))


def open_here() -> None:
    """Open a room that begins where this visitor is, and go to the page on which it is led."""
    try:
        room, key = rooms.open(addresses.mine(), trainings.browser())
    except RoomError as error:
        st.toast(str(error), icon=":material/groups:")
        return
    keep_what_waits()
    state.ROOM.set(room.code)
    state.ROOM_KEY.set(key)
    if seat := take_seat(room.code):
        seat.just_opened = True
    state.run_whole_page_next()


def keep_what_waits() -> None:
    """Choose the layer and the head that a link asks for and only a higher level has: it is another page that opens now."""
    info = loaded.info(model_in_use())
    for key, numbers in ((state.LAYER, info.numbers()), (state.HEAD, range(info.heads))):
        number_text = (state.linked_value(key) or "").removeprefix(key.name[0].upper())
        if not key.is_set and (number := place_of(number_text, numbers)) is not None:
            key.set(number)
