"""The states of a seat: its table is that of the code, and whatever visitors do, no other change of a state happens."""

from __future__ import annotations

import re
from types import ModuleType
from typing import Any

import pytest
import streamlit
from hypothesis import example, given, settings
from hypothesis import strategies as st

from ui.rooms import seat, states
from ui.rooms.position import TEXTS
from ui.rooms.states import TABLE, Errand, Event, Machine, Run, Way
from ui.rooms.store import Room

REGIONS = (Way, Errand, Run)
PAGES = ("type", "attention", "layers")
START = {"text": "a", "target": "", "layer": 0, "level": "expert", "lesson": "", "step": 1, "model": "writer"}


def test_the_table_of_the_docstring_is_that_of_the_code():
    lines = [re.split(r"\s{2,}", line) for line in states.__doc__.splitlines()]
    rows = [tuple(line) for line in lines if len(line) == 3 and not line[0].startswith("-") and not line[2].startswith("next")]
    assert rows == [(state.value, event.value, new.value) for (state, event), new in TABLE.items()]


def test_each_state_is_reached_and_left_and_each_event_changes_something():
    for region in REGIONS:
        inside = {(state, new) for (state, _), new in TABLE.items() if type(state) is region}
        assert {type(new) for _, new in inside} == {region}
        assert {state for state, new in inside if new is not state} == set(region) == {new for state, new in inside}
    assert {event for _, event in TABLE} == set(Event)


@given(st.sampled_from(list(Way)), st.lists(st.tuples(st.sampled_from(list(Event)), st.sampled_from(["", "flow"])), max_size=30))
def test_of_any_events_each_changes_what_its_lines_say_and_who_leads_never_follows(way, events):
    machine = Machine(way)
    leads = way in (Way.LEADING, Way.MIRRORING)
    for event, page in events:
        before = machine.way, machine.errand, machine.run
        machine.happen(event, page)
        assert [machine.way, machine.errand, machine.run] == [TABLE.get((state, event), state) for state in before]
        assert (machine.way in (Way.LEADING, Way.MIRRORING)) == leads and not (machine.follows and machine.moves)
        assert not machine.sent_page or machine.way in (Way.SENT, Way.STAYING)


class Switched(Exception):
    """The server opens another page."""


class Rerun(Exception):
    """The whole page is asked for."""


class Visit:
    """A visitor of a room, with a session and a browser as small as can be; its seat is that of the app. module: where it is."""

    def __init__(self, module: ModuleType, room: Room, who: str, leads: bool) -> None:
        self.module, self.room, self.choices, self.page = module, room, dict(START), "type"
        self.seat = module.Seat(room, who, room.sit(who, who, leads), placed_version=room.version if leads else -1)
        self.seat.here = lambda: {**self.choices, "asked": self.choices["model"], "page": self.seat.page}
        self.seat.go = self.have

    def have(self, at: dict[str, Any]) -> None:
        self.choices, self.seat.current = {name: at[name] for name in START}, None

    def take_texts(self, at: dict[str, Any]) -> None:
        self.choices |= {key.name: at[key.name] for key in TEXTS}

    def choose(self, values: dict[str, Any], anew: bool = False, now: object = None) -> None:
        self.choices |= {name: value for name, value in values.items() if name in START}

    def run(self, page: str, whole: bool, cut: bool, patch: pytest.MonkeyPatch) -> None:
        """Run a page, or its stage alone, and all runs that follow from it. cut: the last one does not reach its end."""
        module = self.module
        patch.setattr(module, "arrive", lambda: self.seat)
        patch.setattr(module, "mine", lambda: self.seat)
        patch.setattr(module, "take_texts", self.take_texts)
        patch.setattr(module.state, "choose", self.choose)
        for _ in range(4):
            self.page = page
            try:
                if whole or not self.seat.page:  # a visit begins with a whole page
                    module.enter(page)
                else:
                    self.seat.notice()
                    self.seat.take(whole=False)
                if not cut:
                    self.seat.settle()
                return
            except Switched as switched:
                page, whole = str(switched), True
            except Rerun:
                whole = True


def open_page(page: str) -> None:
    raise Switched(page)


def rerun(**_: object) -> None:
    raise Rerun


class Class:
    """A room with two visitors who lead and two who follow, and what happens to them, by a list of acts."""

    def __init__(self, module: ModuleType, patch: pytest.MonkeyPatch) -> None:
        self.now, self.patch = 0.0, patch
        self.room = Room("ABCDEF", lambda: self.now)
        self.visits = [Visit(module, self.room, name, leads=name < "c") for name in "abcd"]
        patch.setattr(module, "open_page", open_page)
        patch.setattr(streamlit, "rerun", rerun)
        patch.setattr(streamlit, "session_state", {})
        patch.setattr(streamlit, "query_params", {})
        patch.setattr(module.state, "say_in_address", lambda key: None)
        patch.setattr(module.state, "values_in_address", dict)

    def act(self, act: str, who: int, value: int) -> None:
        visit = self.visits[who]
        mine = visit.seat
        if act in ("text", "layer", "level", "lesson", "step"):
            visit.choices[act] = f"lesson {value}" if act == "lesson" else value
            visit.run(visit.page, whole=act == "level", cut=False, patch=self.patch)
        elif act == "cut":
            visit.choices["text"] = value
            visit.run(visit.page, whole=value % 2 == 0, cut=True, patch=self.patch)
        elif act == "page":
            visit.run((*PAGES, "room")[value] if mine.person.leads else PAGES[value % 3], True, False, self.patch)
        elif act == "run":
            visit.run(visit.page, whole=value % 2 == 0, cut=False, patch=self.patch)
        elif act == "sent" and (page := mine.goes_on_with()):
            mine.happen(Event.SENT_TO_PAGE, page)
            if value:  # else its run is still to come
                visit.run(page, whole=True, cut=False, patch=self.patch)
        elif act == "time":
            self.now += (0.1, 1.0, 5.0, 100.0)[value]
        elif act == "shown":
            self.room.note_shown(mine.who, mine.placed_version)
        elif act == "hide":
            self.room.fix(hidden=[PAGES[value % 3]] if value else None)
        elif act == "out" and mine.follows:
            mine.happen(Event.TOUCHED)
        elif act == "again" and not mine.person.leads:
            mine.follow_again()
        elif act in ("show", "return") and mine.person.leads:
            mine.happen(Event.ASKED_TO_SHOW if act == "show" else Event.ASKED_TO_RETURN)


ACTS = (
    *("text", "layer", "level", "lesson", "step", "cut", "page", "page", "run", "run", "run", "sent", "time", "shown"),
    *("hide", "out", "again", "show", "return"),
)
LISTS = st.lists(st.tuples(st.sampled_from(ACTS), st.integers(0, 3), st.integers(0, 3)), max_size=40)


@settings(max_examples=200)
@given(LISTS)
@example([("text", 2, 0), ("page", 0, 0), ("lesson", 2, 0)])  # what a browser sends late, in a run of the stage alone
def test_whatever_visitors_do_no_change_of_a_state_happens_but_those_of_the_table(acts):
    with pytest.MonkeyPatch.context() as patch:
        happened: dict[int, list[tuple]] = {}
        happen = Machine.happen

        def record(machine: Machine, event: Event, page: str = "") -> None:
            before = machine.way, machine.errand, machine.run
            happen(machine, event, page)
            happened.setdefault(id(machine), []).append((before, event, (machine.way, machine.errand, machine.run)))

        patch.setattr(Machine, "happen", record)
        group = Class(seat, patch)
        for act in acts:
            group.act(*act)
            for visit in group.visits:
                check(visit)
        for visit in group.visits:
            machine, last = visit.seat.states, (Way.LEADING if visit.seat.person.leads else Way.FOLLOWING, Errand.NONE, Run.ENDED)
            for before, event, after in happened.get(id(machine), []):
                assert before == last, "nothing else changes a state"
                for old, new in zip(before, after, strict=True):
                    assert new is TABLE.get((old, event), old)
                last = after
            assert last == (machine.way, machine.errand, machine.run)


def check(visit: Visit) -> None:
    """What is true of a seat between two runs."""
    mine, machine, at = visit.seat, visit.seat.states, visit.room.at
    assert mine.person.leads == (machine.way in (Way.LEADING, Way.MIRRORING))
    assert mine.person.leads or (machine.errand is Errand.NONE and mine.person.follows == mine.follows)
    assert bool(machine.sent_page) == (machine.way in (Way.SENT, Way.STAYING))
    if machine.way is Way.FOLLOWING and machine.run is Run.ENDED and at and mine.placed_version == visit.room.version:
        assert mine.settled_choices == {**at, "asked": at["model"]}, "who follows has what the class sees"
