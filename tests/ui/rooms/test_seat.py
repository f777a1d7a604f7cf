"""A teacher and a follower on the app's pages, without browsers: who follows has what is led to, until they touch something."""

from __future__ import annotations

import threading

import pytest

from tests.pages.opening import press, words_on
from tests.ui.rooms.app_visitors import back, choices, follow, lead, person, send
from ui.lessons import files
from ui.memory import allowed, loaded
from ui.memory.eviction import Shelf
from ui.menu import TITLES
from ui.rooms import seat
from ui.rooms.states import Event
from ui.rooms.store import rooms


def test_who_joins_has_text_level_layer_head_and_view_whatever_their_link_says(teacher):
    app = follow(teacher[1], link="text=Mine&level=beginner&layer=L1")
    assert choices(app, "text", "level", "layer", "head", "view") == ("The cat", "expert", 4, 3, "Heatmap")
    assert "L4 H3" in words_on(app) and person(app).follows and person(app).place == "Attention"


def test_a_key_that_is_pinned_in_the_head_view_is_led():
    app, room = lead("attention", "text=The+cat&level=expert&layer=L4&head=H3&view=Head")
    other = follow(room)
    app.session_state["kept-key"] = 1
    app.run()
    other.run()
    assert choices(other, "kept-key") == (1,) and person(other).follows


def test_each_move_is_followed_and_nothing_else_changes(teacher):
    app, room = teacher
    other = follow(room)
    app.text_input(key="text").set_value("The cat sat").run()
    app.selectbox(key="layer").set_value(1).run()
    other.run()
    assert choices(other, "text", "layer", "head", "view") == ("The cat sat", 1, 3, "Heatmap") and person(other).follows
    app.button_group(key="level").set_value("beginner").run()
    other.run()
    assert choices(other, "level") == ("beginner",) and room.version == 4


def test_a_head_that_a_link_keeps_for_a_higher_level_is_led_to_there():
    app, room = lead("attention", "level=beginner&layer=L2&head=H3")
    other = follow(room)
    app.button_group(key="level").set_value("intermediate").run()
    other.run()
    assert choices(app, "layer", "head") == choices(other, "layer", "head") == (2, 3)


def test_a_page_is_followed(teacher):
    app, room = teacher
    other = follow(room)
    back(app, "layers")
    assert room.at["page"] == "layers"
    other.run()
    assert other.session_state["room-seat"].page == "layers" and person(other).follows


def test_who_is_sent_to_a_page_has_it_in_one_run(teacher):
    app, room = teacher
    other = follow(room)
    app.text_input(key="text").set_value("The cat sat").run()
    back(app, "layers")
    send(other, "layers")
    assert person(other).follows and other.session_state["room-seat"].page == "layers"
    assert choices(other, "text", "level") == ("The cat sat", "expert") == choices(app, "text", "level")
    assert not other.session_state["room-seat"].states.sent_page


@pytest.mark.parametrize("name", ["text", "layer"])
def test_who_touches_something_before_that_run_stays_and_has_what_they_touched(teacher, name):
    app, room = teacher
    other = follow(room)
    back(app, "layers")
    if name == "text":
        other.text_input(key="text").set_value("Mine")
    else:
        other.selectbox(key="layer").set_value(1)
    send(other, "layers")
    assert not person(other).follows
    back(other, "attention")
    mine = ("Mine", 4) if name == "text" else ("The cat", 1)
    assert choices(other, "text", "layer", "view", "level") == (*mine, "Heatmap", "expert")
    assert other.session_state["room-seat"].page == "attention" and not other.exception


def test_a_press_on_the_page_before_is_heard_as_soon_as_the_new_one_is_shown(teacher):
    app, room = teacher
    other = follow(room)
    back(app, "layers")
    send(other, "layers")
    mine = other.session_state["room-seat"]
    back(other, "attention")  # as a browser sends it that has not heard of the move yet
    back(other, "layers")
    assert person(other).follows
    room.note_shown(mine.who, mine.placed_version)
    just_now = room.clock()
    room.clock = lambda: just_now + 1
    back(other, "attention")
    assert not person(other).follows and mine.page == "attention"


def test_who_is_where_the_class_no_longer_may_be_goes_with_it(teacher):
    app, room = teacher
    other = follow(room)
    room.fix(hidden=["attention"])
    back(app, "layers")
    other.run()
    back(other, "layers")
    assert person(other).follows and not other.warning and other.session_state["room-seat"].page == "layers"


def test_who_is_sent_to_a_page_from_which_the_class_has_gone_on_goes_on_too(teacher):
    app, room = teacher
    other = follow(room)
    back(app, "layers")
    back(app, "flow")
    send(other, "layers")
    back(other, "flow")
    assert person(other).follows and other.session_state["room-seat"].page == "flow"


def test_a_lesson_and_its_step_are_followed(teacher):
    app, room = teacher
    other = follow(room)
    app.session_state["lesson"], app.session_state["step"] = "tokens", 2
    app.run()
    other.run()
    assert (
        choices(other, "lesson", "step") == ("tokens", 2)
        and files.find("tokens").title in person(other).place
        and person(other).follows
    )


@pytest.mark.parametrize(
    "touch",
    [
        lambda app: app.text_input(key="text").set_value("My own"),
        *(
            pytest.param(other, marks=pytest.mark.thorough)
            for other in (
                lambda app: app.selectbox(key="layer").set_value(0),
                lambda app: app.button_group(key="level").set_value("intermediate"),
                lambda app: app.button_group(key="view").set_value("Reading"),
            )
        ),
    ],
    ids=["text", "layer", "level", "view"],
)
def test_touching_anything_steps_out_and_nothing_of_ones_own_is_overwritten(teacher, touch):
    app, room = teacher
    other = follow(room)
    touch(other).run()
    mine = choices(other, "text", "layer", "level", "view")
    assert not person(other).follows
    app.text_input(key="text").set_value("Something else").run()
    app.selectbox(key="layer").set_value(5).run()
    other.run()
    assert choices(other, "text", "layer", "level", "view") == mine and not person(other).follows
    other.session_state["room-seat"].follow_again()
    other.run()
    assert choices(other, "text", "layer", "level") == ("Something else", 5, "expert") and person(other).follows


def test_going_to_another_page_steps_out(teacher):
    other = follow(teacher[1])
    back(other, "flow")
    assert not person(other).follows and other.session_state["room-seat"].page == "flow"


def test_what_a_browser_still_sends_of_the_move_before_is_no_touch(teacher):
    app, room = teacher
    other = follow(room)
    app.selectbox(key="layer").set_value(1).run()
    other.run()
    other.selectbox(key="layer").set_value(4).run()  # as it stood there a moment ago
    assert person(other).follows and choices(other, "layer") == (1,)
    other.session_state["room-seat"].echoes.replaced.clear()  # long ago
    other.selectbox(key="layer").set_value(4).run()
    assert not person(other).follows and choices(other, "layer") == (4,)


def test_an_echo_may_be_late_until_the_browser_has_said_what_it_shows(teacher):
    app, room = teacher
    other = follow(room)
    mine, began = other.session_state["room-seat"], room.clock()
    app.selectbox(key="layer").set_value(1).run()
    other.run()
    room.clock = lambda: began + 20  # a busy server
    other.selectbox(key="layer").set_value(4).run()  # as it stands in the browser, which has heard of nothing yet
    assert person(other).follows and choices(other, "layer") == (1,)
    room.note_shown(mine.who, mine.placed_version)
    room.clock = lambda: began + 30  # the browser has shown layer 1 for ten seconds
    other.selectbox(key="layer").set_value(4).run()
    assert not person(other).follows and choices(other, "layer") == (4,)


def test_an_echo_of_what_a_run_had_taken_that_was_cut_is_no_touch(teacher, monkeypatch):
    _, room = teacher
    other = follow(room)
    with monkeypatch.context() as cut:
        cut.setattr(seat.Seat, "settle", lambda self: None)
        for text in ("The cat sat", "The cat sat on"):
            room.move({**room.at, "text": text})
            other.run()
    room.move({**room.at, "text": "The cat sat on the mat"})
    other.text_input(key="text").set_value("The cat sat").run()  # what the first of them has sent is all that the browser has
    assert person(other).follows and choices(other, "text") == ("The cat sat on the mat",)


def test_a_run_that_was_cut_short_is_no_touch(teacher):
    _, room = teacher
    other = follow(room)
    mine = other.session_state["room-seat"]
    mine.happen(Event.RUN_BEGAN)
    other.session_state["head"] = 7  # as a run sets it by itself, before it is cut
    other.run()
    assert person(other).follows and choices(other, "head") == (3,)


def test_what_who_leads_has_fixed_holds_for_those_who_go_their_own_way_too(teacher):
    _, room = teacher
    loaded.model("filler")
    other = follow(room)
    other.text_input(key="text").set_value("My own").run()
    room.fix(level="beginner", model="filler")
    other.run()
    assert choices(other, "level", "in-use", "text") == ("beginner", "filler", "My own")
    assert other.button_group(key="level").proto.disabled and other.selectbox(key="model").proto.disabled
    room.fix(level=None, model=None)
    other.run()
    assert not other.button_group(key="level").proto.disabled
    follower = follow(room)
    room.fix(level="intermediate")
    follower.run()
    assert choices(follower, "level") == ("intermediate",) and person(follower).follows


def test_a_page_that_is_hidden_leads_to_the_page_of_the_class_with_a_sentence(teacher):
    app, room = teacher
    other, free = follow(room), follow(room)
    free.text_input(key="text").set_value("My own").run()
    room.fix(hidden=["train", "flow"])
    for visit in (other, free, follow(room, "train"), app):
        assert person(visit).leads or visit.session_state["room-seat"].hidden == {"train", "flow"}
    for visit in (other, free):
        back(visit, "train")
        assert visit.session_state["room-seat"].page == "attention" and "page “Train” out of your menu" in words_on(visit)
    assert person(other).follows and not person(free).follows and choices(free, "text") == ("My own",)
    back(app, "train")
    assert app.session_state["room-seat"].page == "train" and room.at["page"] == "train", "who leads sees all"
    other.run()
    assert other.session_state["room-seat"].page == "train" and "out of your menu" not in words_on(other)
    back(app, "attention")
    free.run()
    assert free.session_state["room-seat"].hidden == {"train", "flow"}
    rooms.close(room)
    back(free, "train")
    assert free.session_state["room-seat"] is None and "out of your menu" not in words_on(free), "it ends with the room"


def test_pages_are_hidden_on_the_page_of_the_room(teacher):
    app, room = teacher
    press(app, f"Room {room.code}: code, questions")
    back(app, "room")
    pages = app.button_group(key="room-pages")
    assert pages.value == [name for name in TITLES if name != "room"]
    app.run()
    for control in (app.button_group(key="room-pages"), app.toggle(key="room-fixed-level")):
        assert not control.proto.set_value, "a run would take back a press that is on its way"
    pages.unselect("train").run()
    assert room.fixed == {"hidden": ["train"]}
    app.button_group(key="room-pages").select("train").run()
    assert room.fixed == {}


def test_another_model_is_followed_with_its_layer_and_its_text(teacher):
    app, room = teacher
    loaded.model("translator")
    other = follow(room)
    app.selectbox(key="model").set_value("translator").run()
    app.run()
    for _ in range(2):
        other.run()
    names = ("in-use", "text", "layer", "head")
    assert choices(other, *names) == choices(app, *names) and room.at["model"] == "translator" and person(other).follows


def test_a_lesson_that_changes_the_model_leads_to_its_token_layer_and_head(teacher):
    app, room = teacher
    loaded.model("translator")
    other = follow(room)
    link = {"model": "translator", "text": "The cat sleeps.", "level": "expert", "layer": "L1", "head": "H2", "token": "2"}
    app.session_state["lesson-next"] = ("attention", link)
    app.run()
    app.run()
    for _ in range(2):
        other.run()
    names = ("in-use", "text", "layer", "head", "token")
    assert choices(app, *names) == choices(other, *names) == ("translator", "The cat sleeps.", 1, 2, 2)
    assert room.at["token"] == 2 and person(other).follows and not other.warning


def test_who_still_waits_for_a_model_is_led_on_meanwhile_and_has_it_when_it_is_there(teacher, monkeypatch):
    _, room = teacher
    let = threading.Event()

    def load(name, report):
        assert name == "writer" or let.wait(60)
        return loaded._load(name, report)

    monkeypatch.setattr(loaded, "shelf", Shelf(load, lambda: 10**9, stay=("writer",)))
    other = follow(room)
    for head, text in enumerate(("Where is the cat", "Where is the black cat")):
        room.move({**room.at, "model": "sorter", "text": text, "layer": 1, "head": head, "token": 2 + head})
        other.run()
        assert choices(other, "text", "model") == (text, "sorter") and choices(other, "in-use") != ("sorter",)
        assert person(other).follows and other.session_state["job"]
    let.set()
    loaded.shelf.get("sorter")
    other.run()
    assert choices(other, "text", "in-use") == ("Where is the black cat", "sorter") and person(other).follows
    assert choices(other, "layer", "head", "token") == (1, 1, 3), "the last that was led to"


def test_a_model_that_a_visitor_may_not_open_is_not_shown_to_them(teacher, monkeypatch):
    _, room = teacher
    other = follow(room)
    monkeypatch.setattr(allowed, "folders", lambda: ())
    room.move({**room.at, "model": "/secret/place", "text": "Hello"})
    other.run()
    assert choices(other, "in-use", "text") == (None, "Hello") or choices(other, "in-use", "text") == ("writer", "Hello")
    assert other.session_state["room-seat"].refusal == seat.REFUSED and "secret" not in words_on(other)
    assert "secret" not in str(other.query_params) and person(other).follows
