"""A visitor's seat in a room: the page follows the teacher until the visitor touches something.

Every run of a page begins with `enter` and ends with `settle`. In between the choices of the room stand in the session, before
the widgets are placed. A choice that differs, at the beginning of a run, from its value at the end of the last run was touched by
the visitor, unless it is an echo (`ui.rooms.late_choices`). `ui.rooms.states` has the states of a seat, and their changes.
"""

from __future__ import annotations

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx
from streamlit.util import calc_hash

import models
from ui import state
from ui.memory import addresses, allowed, loaded, trainings
from ui.menu import TITLES
from ui.rooms.codes import CODE
from ui.rooms.home import ELSEWHERE
from ui.rooms.late_choices import ECHO_OF_PAGE, Echoes
from ui.rooms.position import TEXTS, Choices, asked_model, chosen, in_words, model_in_use, position, take_texts, without_texts
from ui.rooms.route import cookie
from ui.rooms.states import Errand, Event, Machine, Run, Way
from ui.rooms.store import HIDDEN, Person, Room, RoomError, rooms
from ui.serving.leaving import open_page
from ui.show import choice, show
from viz.views.room import room as room_view

OWN_PAGE = "room"  # of who leads: nobody follows there
SURE = (
    "page",
    "asked",
    *(key.name for key in (*TEXTS, state.LEVEL, state.LESSON, state.LESSON_STEP)),
)  # no run changes them alone
OURS = {state.LESSON.name, state.LESSON_STEP.name}  # no browser sends them, so that each change of them was a click
NOT_HERE = "Your teacher has taken page “{page}” out of your menu for now. You see another one."
REFUSED = "Your teacher shows a model that this server may not show to you. You see another one."


@dataclass
class Seat:
    """A visitor's place in a room, and how far their page follows it.

    placed_version: the version of the room that is on the page; placing_version: the one that is being placed. settled_choices:
    the choices at the end of the last whole run; applied_choices: the choices last taken from the room; current: the visitor's
    position at the beginning of this run, until a part of it is changed; refusal: why the model of the class is not shown."""

    room: Room
    who: str
    person: Person
    page: str = ""
    placed_version: int = -1
    placing_version: int = -1
    settled_choices: Choices | None = None
    applied_choices: Choices = field(default_factory=dict)
    refusal: str = ""
    current: Choices | None = None

    def __post_init__(self) -> None:
        way = Way.LEADING if self.person.leads else Way.FOLLOWING if self.person.follows else Way.OWN_WAY
        self.states, self.echoes = Machine(way), Echoes(self.room, self.person)

    def happen(self, event: Event, page: str = "") -> None:
        """Change the seat's states, and tell the room whether this visitor follows. page: to which the visitor is sent."""
        self.states.happen(event, page)
        if not self.person.leads and self.person.follows != self.states.follows:
            self.person.follows = self.states.follows
            self.room.tell(leading=True)

    @property
    def follows(self) -> bool:
        return self.states.follows

    @property
    def fixed(self) -> Choices:
        """The choices that are fixed for all, also for visitors who go their own way; none for the leader."""
        fixed = {} if self.person.leads else self.room.fixed
        return {name: value for name, value in fixed.items() if name != HIDDEN}

    @property
    def hidden(self) -> set[str]:
        """The pages that this visitor may not open; the class's present page is never among them."""
        hidden = () if self.person.leads else self.room.fixed.get(HIDDEN, ())
        return set(hidden) - {(self.room.at or {}).get("page")}

    def turn_away(self, page: str) -> None:
        """Send the visitor from a page that they may not open to the class's page, or to the first open one."""
        hidden = self.hidden
        there = (self.room.at or {}).get("page") or next((name for name in TITLES if name not in hidden), page)
        if page in hidden and page != there:
            was_there = self.settled_choices is not None and page in {self.settled_choices["page"], self.states.sent_page}
            if self.follows and was_there:
                self.happen(Event.SENT_TO_PAGE, there)  # where the class is by now: nothing was touched
            else:
                state.TROUBLE.set(NOT_HERE.format(page=TITLES.get(page, page)))
            open_page(there)

    def here(self) -> Choices:
        """Return where this visitor is now."""
        return position(self.page)

    def follow_again(self) -> None:
        self.placed_version = -1
        self.happen(Event.ASKED_TO_FOLLOW)

    def notice(self) -> None:
        """Find out, at the start of a run, whether the visitor has touched something; after an echo, take all choices again."""
        before, self.current = self.settled_choices, None
        self.happen(Event.RUN_BEGAN)
        self.happen(Event.ANOTHER_LEADS if self.room.moved_by_another(self.person) else Event.NO_OTHER_LEADS)
        if before is None or not (self.follows or self.states.mirrors):
            return
        if self.follows and not self.applied_choices:
            return  # as nobody leads yet, a browser of the time before a restart goes on to send what it shows
        self.current = here = self.here()
        changed = {name for name in here.keys() | before.keys() if here.get(name) != before.get(name)}
        if not changed:
            return
        touched = self.without_echoes(changed, here)
        if self.states.run is Run.CUT:
            touched &= set(SURE)
        if touched:
            self.happen(Event.TOUCHED)
        else:
            self.placed_version = -1

    def without_echoes(self, changed: set[str], here: Choices) -> set[str]:
        """Return the changed choices that no echo explains, which the visitor has touched. here: the present choices."""
        sent_page, mirrors = self.states.sent_page, self.states.mirrors
        sent_there = {"page": sent_page} if sent_page == self.page else {}  # what else is not there went with the page before
        recent = [self.applied_choices, sent_there, *self.echoes.awaited(mirrors)]
        touched = {name for name in changed if not any(choices and choices.get(name) == here.get(name) for choices in recent)}
        touched |= {name for name in changed & OURS if here.get(name) != self.applied_choices.get(name)}
        pages = [
            self.applied_choices.get("page"),
            sent_page,
            *(old["page"] for old in self.echoes.awaited(mirrors, ECHO_OF_PAGE)),
        ]
        return touched | ({"page"} if "page" in changed and here["page"] not in pages else set())

    def take(self, whole: bool) -> None:
        """Take over the room's choices before the widgets are placed. whole: whether the whole page runs, and not its stage
        alone, in which only the texts can be taken over."""
        self.placing_version = self.room.version  # first: what changes meanwhile is taken in the next run
        at = self.room.at
        if self.states.errand is Errand.RETURNING or self.states.moves:
            return self.go_back(whole)
        if self.placing_version == self.placed_version:
            return
        if not whole and self.room.fixed_at > self.placed_version and not self.states.mirrors:
            st.rerun()
        if not (self.follows or self.states.mirrors) or at is None:
            return
        at = {**at, **self.fixed}
        if self.applied_choices and self.follows:
            self.echoes.note(self.applied_choices, self.placing_version)  # also of a run that was cut: the browser may have it
        self.applied_choices = {**at, "asked": at["model"]}
        link = self.settled_choices is None and set(state.values_in_address()) - {
            state.ROOM.name
        }  # of the visitor's own, which widgets would take
        page = OWN_PAGE if self.states.mirrors and self.page == OWN_PAGE else at["page"]  # where its choices alone are taken
        there = bool(page != self.page or link)
        if not whole and not there:
            if self.settled_choices is None or without_texts(at) != without_texts(self.current or self.here()):
                st.rerun()
            return take_texts(at)
        self.go(at)
        if there:
            open_page(page)

    def goes_on_with(self) -> str:
        """Return the page that must run as a whole because more than the texts has changed; else ""."""
        at, before = self.room.at, self.settled_choices
        if before is None or at is None or not self.follows or self.placed_version == self.room.version:
            return ""
        return str(at["page"]) if without_texts({**at, **self.fixed}) != without_texts(before) else ""

    def set_off(self) -> None:
        """Follow, before a run, to another page, or rerun all of this one: the stage alone would have to ask for that. A run of
        the other page, as `ui.rooms.whole` requests it, needs nothing here."""
        if not runs_page(self.page) or not (there := self.goes_on_with()):
            return
        if there != self.page:
            self.notice()
            self.take(whole=False)
        elif only_a_part_runs():
            st.rerun()

    def stay(self, page: str) -> None:
        """Go back from a page to which the visitor was sent if they had touched something before it ran."""
        before, here = self.settled_choices, self.current or self.here()
        self.happen(Event.BROUGHT_BACK)
        if before is None or before["page"] == page:
            return
        state.choose(chosen(before | here), anew=True)  # what was touched, and what went with the widgets of that page
        for key in TEXTS:
            key.of("last").set(here[key.name])
        open_page(before["page"])

    def go_back(self, whole: bool) -> None:
        """Take the leader back to what the class sees, if a button asked for it."""
        at = self.room.gathered()
        if self.states.errand is Errand.RETURNING and at is not None:
            if at["page"] == self.page and not whole:
                st.rerun()
            self.go(at)
            if at["page"] != self.page:
                open_page(at["page"])
            self.happen(Event.ERRAND_DONE)

    def go(self, at: Choices) -> None:
        """Apply another person's choices, on the page where they were made."""
        state.LESSON_NEXT.pop()
        anew = self.settled_choices is None or self.settled_choices["page"] != self.page
        state.choose(chosen(at), anew, chosen(self.current) if self.current else None)
        self.current = None
        token = at.get(state.TOKEN.name) if at["model"] != model_in_use() else None  # which another model would let go
        state.LINK.set((at["page"], {} if token is None else {state.TOKEN.name: str(token)}))
        take_texts(at)
        self.ask_for(at["model"], {key.name: at.get(key.name) for key in (state.LAYER, state.HEAD)})

    def hold(self) -> None:
        """Apply the choices that the leader has fixed for all, also for visitors who go their own way."""
        if state.LEVEL.name in self.fixed:
            state.LEVEL.set(self.fixed[state.LEVEL.name])
        if (model := self.fixed.get("model")) and (model in loaded.shelf or model in models.names()):
            self.ask_for(model, {})

    def ask_for(self, model: str, heads: dict[str, int | None]) -> None:
        """Switch to a model with its chosen layer and head, if this visitor may open it."""
        self.refusal = REFUSED if allowed.refusal(model, here=model in loaded.shelf) else ""
        if self.refusal:
            return
        if model != asked_model():
            state.ask_for_model(model)
            state.LESSON_MODEL.set(model)
        if model != model_in_use():  # also where it is under way already, and who leads has chosen another head meanwhile
            state.OPENED.set({name: f"{name[0].upper()}{at}" for name, at in heads.items() if at is not None})

    def settle(self) -> None:
        """Note that the run has ended: the page's present choices are this visitor's position."""
        here, before = self.here(), self.settled_choices
        if here["page"] == OWN_PAGE and self.states.errand is Errand.SHOWING:
            self.happen(Event.ERRAND_DONE)  # it was opened here, so that there is nothing to come back from
        if here != before and before is not None:
            self.echoes.note(before, self.placing_version)
        shows = self.states.errand is Errand.SHOWING
        begins = shows or (self.room.at is None and not state.JOB.get())  # else the class would go by another model
        if here != before and here["page"] != OWN_PAGE and self.states.moves and (before is not None or begins):
            self.placing_version = self.room.move(here, self.person, in_words(here))
            if shows:  # what is to be seen stands now
                self.happen(Event.ERRAND_DONE)
                go_to_page()
                st.rerun()
        self.settled_choices, self.placed_version = here, self.placing_version
        self.happen(Event.RUN_ENDED)
        self.person.at = here
        if (place := in_words(here)) != self.person.place:
            self.person.place = place
            self.room.tell(leading=True)


# ---------------------------------------------------------------- what pages call


def mine() -> Seat | None:
    """Return this visitor's seat; None outside of a room, or if the room is over."""
    seat: Seat | None = state.ROOM_SEAT.get()
    return None if seat is None or seat.room.ended else seat


def arrive() -> Seat | None:
    """Take a seat if the address or a button asks for it."""
    if not state.ROOM.is_set:
        code = (state.ROOM.in_address or "").strip().upper()
        if code and not CODE.fullmatch(code):
            state.complain(state.ROOM, state.ROOM.in_address or "", "the room")
            code = ""
        state.ROOM.set(code)
    return take_seat(state.ROOM.get())


def hidden() -> set[str]:
    """Return the pages that are hidden from this visitor's menu."""
    seat = mine()
    return seat.hidden if seat else set()


def goes_first() -> bool:
    """Return whether a class waits for this visitor's next move: their runs then go first."""
    seat = mine()
    return bool(seat and seat.person.leads and any(person.follows for person in seat.room.here()))


def enter(page: str) -> None:
    """Take a seat, and follow. Each run of a whole page begins with it."""
    seat = arrive()
    state.say_in_address(state.ROOM)
    if seat:
        seat.turn_away(page)
        seat.page = page
        if seat.settled_choices is None and seat.person.leads and page == OWN_PAGE:
            seat.placed_version = -1  # what is led from there begins with what the class sees
        seat.notice()
        if seat.states.way is Way.STAYING and seat.states.sent_page == page:
            seat.stay(page)
        seat.take(whole=True)
        if not seat.follows:
            seat.hold()


def take_seat(code: str) -> Seat | None:
    """Return the seat in the room of a code; None if there is no such room, which the line will report."""
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
def follow_room(with_the_page: bool, beside: Callable[[Room, str], None]) -> Iterator[None]:
    """In this block a page's stage runs, with the page or by itself; above it stands the strip of the room. beside: draws what
    who leads has below the strip, on the pages that a class sees."""
    strip, seat = st.container(key="room-strip"), mine()
    if seat and not with_the_page:
        seat.notice()
        seat.take(whole=False)
    yield
    settle()
    if state.ROOM.get():
        with strip:
            place()
            if (seat := mine()) and seat.person.leads and seat.page != OWN_PAGE:
                beside(seat.room, seat.page)


def run_part() -> None:
    """Run a part of a stage by itself, as `follow_room`; such a run can take over nothing."""
    if seat := mine():
        seat.notice()
        seat.placing_version = seat.placed_version


def settle() -> None:
    """End such a run: settle the seat."""
    if seat := mine():
        seat.settle()


def place() -> None:
    """Place the strip that shows the state of the room and listens to it; it is large for the leader on the room's page."""
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
    """Handle a click on the strip: a new run, going one's own way, following again, taking a seat, or leaving."""
    request, seat = (choice("room-line") or {}).get("ask"), mine()
    if request == "run" and seat:
        seat.set_off()
    elif request == "follow" and seat:
        seat.follow_again()
    elif request == "out" and seat and seat.follows:  # by the first letter, which may be one that who leads has just written too
        seat.happen(Event.TOUCHED)
    elif request == "leave":
        leave()
    elif request == "seat":
        state.run_whole_page_next()


def leave() -> None:
    """Leave the room; if the leader leaves, the room goes on."""
    if seat := mine():
        seat.room.leave(seat.who)
    state.ROOM.set("")
    state.ROOM_SEAT.set(None)
    state.ROOM_KEY.set("")
    state.run_whole_page_next()


def only_a_part_runs() -> bool:
    """Return whether only a part of the page runs."""
    run = get_script_run_ctx(suppress_warning=True)
    return bool(run and run.fragment_ids_this_run)


def runs_page(page: str) -> bool:
    """Return whether this run is one of that page, by its name in an address."""
    run = get_script_run_ctx(suppress_warning=True)
    return bool(run and run.page_script_hash == calc_hash(page))


def is_fixed(key: state.Key[Any]) -> bool:
    """Return whether the leader has fixed a choice for all."""
    seat = mine()
    return bool(seat and not seat.person.leads and key.name in seat.room.fixed)


def has_notes() -> bool:
    """Return whether this page shows the leader's notes on a lesson's step in the place of the lesson's panel."""
    seat = mine()
    return bool(seat and seat.person.leads and seat.page == OWN_PAGE)


def go_to_page() -> None:
    """Go to the page for leading the room when this page next runs."""
    state.LESSON_NEXT.set((OWN_PAGE, None))
