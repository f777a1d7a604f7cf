"""A teacher and a follower on the app's pages, without browsers: who follows has what is led to, until they touch something."""

from __future__ import annotations

import threading

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.pages.opening import open_link, press, said, unmarked
from ui.lessons import files
from ui.memory import allowed, loaded, turns
from ui.memory.shelf import Shelf
from ui.menu import TITLES
from ui.rooms import route, seat
from ui.rooms.states import Errand, Event
from ui.rooms.store import BACK, FULL, JUST_OPENED, LETTERS, NOWHERE, Room, Rooms, rooms


def choices(app: AppTest, *names: str) -> tuple:
    return tuple(app.session_state[name] if name in app.session_state else None for name in names)  # noqa: SIM401


def back(app: AppTest, page: str) -> AppTest:
    """The page that the server went to by itself: a browser would have followed it there."""
    app._page_hash = calc_hash(page)
    return app.run()


def lead(page: str, link: str) -> tuple[AppTest, Room]:
    """Who leads, on a page at a link, and the room."""
    app = press(open_link(page, link), "Open a room")
    room = rooms.rooms[app.session_state["room"]]
    press(app, "Back to where the class is")
    return back(app, page), room


@pytest.fixture
def teacher() -> tuple[AppTest, Room]:
    return lead("attention", "text=The+cat&level=expert&layer=L4&head=H3&view=Heatmap")


def follow(room: Room, page: str = "attention", link: str = "") -> AppTest:
    return open_link(page, f"room={room.code}&{link}")


def person(app: AppTest):
    return app.session_state["room-seat"].person


def test_who_joins_has_text_level_layer_head_and_view_whatever_their_link_says(teacher):
    app = follow(teacher[1], link="text=Mine&level=beginner&layer=L1")
    assert choices(app, "text", "level", "layer", "head", "view") == ("The cat", "expert", 4, 3, "Heatmap")
    assert "L4 H3" in said(app) and person(app).follows and person(app).place == "Attention"


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


def send(other: AppTest, page: str) -> AppTest:
    """A follower's next run is one of the page to which the class went (`ui.rooms.whole`)."""
    other.session_state["room-seat"].happen(Event.SENT_TO_PAGE, page)
    return back(other, page)


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
    mine, began = other.session_state["room-seat"], room.clock()
    back(other, "attention")  # as a browser sends it that has not heard of the move yet
    back(other, "layers")
    assert person(other).follows
    room.note_shown(mine.who, mine.placed_version)
    room.clock = lambda: began + 1
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
        lambda app: app.selectbox(key="layer").set_value(0),
        lambda app: app.button_group(key="level").set_value("intermediate"),
        lambda app: app.button_group(key="view").set_value("Reading"),
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
        assert visit.session_state["room-seat"].page == "attention" and "page “Train” out of your menu" in said(visit)
    assert person(other).follows and not person(free).follows and choices(free, "text") == ("My own",)
    back(app, "train")
    assert app.session_state["room-seat"].page == "train" and room.at["page"] == "train", "who leads sees all"
    other.run()
    assert other.session_state["room-seat"].page == "train" and "out of your menu" not in said(other)
    back(app, "attention")
    free.run()
    assert free.session_state["room-seat"].hidden == {"train", "flow"}
    rooms.close(room)
    back(free, "train")
    assert free.session_state["room-seat"] is None and "out of your menu" not in said(free), "it ends with the room"


def test_pages_are_hidden_on_the_page_of_the_room(teacher):
    app, room = teacher
    press(app, f"Room {room.code}: code, questions")
    back(app, "room")
    pages = app.button_group(key="room-pages")
    assert pages.value == [name for name in TITLES if name != "room"]
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
    assert other.session_state["room-seat"].refusal == seat.REFUSED and "secret" not in said(other)
    assert "secret" not in str(other.query_params) and person(other).follows


def test_a_second_tab_of_who_leads_moves_nobody_until_it_is_used(teacher, monkeypatch):
    app, room = teacher
    monkeypatch.setattr(seat, "cookie", lambda code: "key")
    other = AppTest.from_file(app._script_path, default_timeout=60)
    other._page_hash = calc_hash("type")
    other.query_params["room"] = room.code
    other.session_state["room-key"] = app.session_state["room-key"]
    before = room.at, room.version
    other.run()
    assert person(other).leads and (room.at, room.version) == before
    other.text_input(key="text").set_value("From here").run()
    assert room.at["text"] == "From here" and room.at["page"] == "type"


def second_device(app: AppTest, page: str, **link: str) -> AppTest:
    """Another device of who leads, at a page."""
    other = AppTest.from_file(app._script_path, default_timeout=60)
    other._page_hash = calc_hash(page)
    for name, value in {**link, "room": app.session_state["room"]}.items():
        other.query_params[name] = value
    other.session_state["room-key"] = app.session_state["room-key"]
    return other.run()


def test_a_second_device_leads_too_and_what_the_first_one_shows_moves(teacher):
    app, room = teacher
    other, follower = second_device(app, "attention"), follow(room)
    other.text_input(key="text").set_value("From the second").run()
    for visit in (app, follower):
        assert choices(visit.run(), "text", "level") == ("From the second", "beginner")
    version = room.version
    app.run()
    assert room.version == version, "who only shows what another one moves, moves nothing"
    app.text_input(key="text").set_value("From the first").run()
    for visit in (other, follower):
        assert choices(visit.run(), "text") == ("From the first",)
    back(other, "layers")
    app.run()
    assert app.session_state["room-seat"].page == room.at["page"] == "layers" and person(follower).follows


def test_after_a_restart_who_leads_goes_back_to_where_most_of_the_class_are(teacher):
    app, room = teacher
    del rooms.rooms[room.code]
    lead = second_device(app, "room")  # with the key, it opens the room again
    room = rooms.rooms[room.code]
    press(lead, "Back to where the class is")
    assert "Nobody is here yet" in lead.toast[0].value and room.at is None
    for link in ("text=Elsewhere&layer=L0", *2 * ["text=The+dog&level=expert&layer=L1&head=H2&view=Reading"]):
        person(follow(room, link=link)).lines = 1  # its browser listens
    press(lead, "Back to where the class is")
    back(lead, "attention")
    assert choices(lead, "text", "level", "layer", "head", "view") == ("The dog", "expert", 1, 2, "Reading")
    assert room.at["text"] == "The dog" and room.at["page"] == "attention"


def test_the_runs_of_who_leads_a_class_go_before_those_of_the_class(teacher, monkeypatch):
    app, room = teacher
    asked, ask = [], turns._ask
    monkeypatch.setattr(turns, "_ask", lambda first: asked.append(first) or ask(first))
    other = follow(room)
    for here, first in ((0, False), (1, True)):
        person(other).lines = here
        asked.clear()
        app.run()
        assert set(asked) == {first}
        asked.clear()
        other.run()
        assert set(asked) == {False}


def test_who_goes_back_a_step_as_soon_as_they_are_led_on_goes_their_own_way(teacher):
    app, room = teacher
    other = follow(room)
    for step in (1, 2):
        app.session_state["lesson"], app.session_state["step"] = "heads", step
        app.run()
        other.run()
        assert choices(other, "lesson", "step") == ("heads", step) and person(other).follows
    press(other, "Back")
    assert choices(other, "lesson", "step") == ("heads", 1) and not person(other).follows


def test_what_a_browser_sends_before_anybody_leads_again_is_no_touch_unless_it_says_so(teacher):
    app, room = teacher
    del rooms.rooms[room.code]
    room = rooms.make(room.code)
    late, writes = follow(room, link="text=The+ca"), follow(room, link="text=The+ca")
    for visit in (late, writes):
        visit.text_input(key="text").set_value("The cat sat").run()
        assert person(visit).follows and choices(visit, "text") == ("The cat sat",)
    writes.session_state["room-seat"].happen(Event.TOUCHED)  # as the strip asks for with the first letter
    lead = second_device(app, "attention")
    for visit in (late, writes):
        visit.run()
    assert person(late).follows and choices(late, "text") == choices(lead, "text") != ("The cat sat",)
    assert not person(writes).follows and choices(writes, "text") == ("The cat sat",)


def test_who_leads_again_moves_nobody_to_another_model_while_their_own_is_read(teacher, monkeypatch):
    app, room = teacher
    del rooms.rooms[room.code]
    let = threading.Event()

    def load(name, report):
        assert name == "writer" or let.wait(60)
        return loaded._load(name, report)

    monkeypatch.setattr(loaded, "shelf", Shelf(load, lambda: 10**9, stay=("writer",)))
    lead = second_device(app, "attention", model="sorter", text="Where is the cat")
    room = rooms.rooms[room.code]
    assert lead.session_state["job"] and room.at is None
    let.set()
    loaded.shelf.get("sorter")
    other = follow(room, link="model=sorter")
    for visit in (lead, other):
        visit.run()
        assert choices(visit, "in-use") == ("sorter",)
    assert room.at["model"] == room.at["asked"] == "sorter" and person(other).follows


def test_the_second_device_has_the_notes_of_the_lesson_and_moves_its_steps(teacher):
    app, room = teacher
    other, follower = second_device(app, "room"), follow(room)
    assert choices(other, "level", "layer", "view") == ("expert", 4, "Heatmap"), "it begins with what the class sees"
    lesson = files.find("heads")
    app.session_state["lesson"], app.session_state["step"] = "heads", 1
    app.run()
    other.run()
    assert f"step 1 of {len(lesson.steps)}: {lesson.steps[0].title}" in said(other)
    assert lesson.teacher not in said(other)
    other.toggle(key="room-notes-shown").set_value(True).run()
    assert unmarked(lesson.teacher) in said(other) and lesson.steps[0].words in said(other)
    press(other, "Next step")
    page = lesson.steps[1].page
    assert other.session_state["room-seat"].page == "room", "back at the notes"
    assert (room.at["lesson"], room.at["step"], room.at["page"]) == ("heads", 2, page)
    assert f"step 2 of {len(lesson.steps)}" in said(other) and other.toggle(key="room-notes-shown").value
    for visit in (app, follower):
        visit.run()
        assert choices(visit, "lesson", "step") == ("heads", 2) and visit.session_state["room-seat"].page == page
    assert room.version == other.session_state["room-seat"].placed_version and person(follower).follows


def test_who_leads_moves_nobody_from_the_page_of_the_room(teacher):
    app, room = teacher
    before = room.at
    press(app, f"Room {room.code}: code, questions")
    assert room.at == before and room.code in said(app)
    assert "You lead this room" in said(app) and "Write a code" not in said(app)
    back(app, "type")
    assert room.at["page"] == "type"


def test_the_first_page_after_a_room_is_opened_on_its_own_page_is_shown_to_all_and_who_leads_stays_there():
    app = open_link("room")
    app.button(key="room-open-here").click().run()
    room = rooms.rooms[app.session_state["room"]]
    other = open_link("room", f"room={room.code}")
    assert "You are in." in said(other) and "Follow again" not in said(other)
    back(app, "attention")
    assert room.at["page"] == "attention" and room.place == "Attention"
    assert person(app).leads and app.session_state["room-seat"].page == "attention", "nobody was sent back"
    assert app.session_state["room-seat"].states.errand is Errand.NONE
    back(other, "attention")
    assert person(other).follows and person(other).place == "Attention"
    other.text_input(key="text").set_value("My own").run()
    assert not person(other).follows
    assert route.news(room, person(other))["place"] == "Attention" and "place" not in route.news(room, person(app))


def test_the_heads_that_who_leads_switches_on_are_led():
    app, room = lead("attention", "text=The+cat&level=expert&layer=L4&head=H3&view=Head")
    other = follow(room)
    app.session_state["heads-on"] = (3, [1, 3, 5])
    app.run()
    other.run()
    assert choices(other, "heads-on") == ((3, [1, 3, 5]),) and person(other).follows
    other.session_state["heads-on"] = (3, [1])
    other.run()
    assert not person(other).follows, "a head of one’s own is one’s own way"


def test_only_who_leads_points_and_only_at_what_may_be_a_token():
    room, _ = Rooms(b"", 60).open()
    room.sit("a", "a", leads=True), room.sit("b", "b")
    route.point(room, "b", ["text", 3])
    for nothing in (None, "text", ["text"], ["text", "3"], ["text", True], ["t" * 99, 3], ["text", -2], {"text": 3}):
        route.point(room, "a", nothing)
    assert room.pointed == NOWHERE
    route.point(room, "a", ["text", 3])
    assert route.news(room, room.people["b"])["pointed"] == ("text", 3)
    route.point(room, "a", ["text", -1])
    assert room.pointed == NOWHERE


def test_a_room_that_is_opened_on_its_own_page_names_the_model_that_all_may_stay_with():
    app = open_link("room").button(key="room-open-here").click().run()
    assert [one.label for one in app.toggle if "the model" in one.label] == ["All stay with the model “writer”"]


def test_a_code_that_does_not_exist_takes_no_seat_and_can_be_left():
    app = open_link("type", f"room={LETTERS[:6]}")
    assert app.session_state["room-seat"] is None
    assert app.session_state["room-trouble"] == f"There is no room {LETTERS[:6]}. It has ended, or its code is another one."
    counted = len(rooms.guesses)
    app.run()
    assert counted == len(rooms.guesses) != 0, "once, and not with each run of a page"


def test_a_code_is_typed_on_the_page_of_the_room_in_any_letters(teacher):
    _, room = teacher
    app = open_link("room")
    app.text_input(key="room-written").set_value(f" {room.code[:3].lower()} {room.code[3:].lower()} ").run()
    assert choices(app, "room") == (room.code,)
    back(app, "attention")
    assert person(app).follows and choices(app, "text") == ("The cat",)


def test_the_box_for_a_code_counts_no_characters_and_a_long_text_in_it_is_no_room(teacher):
    app = open_link("room")
    assert app.text_input(key="room-written").max_chars == 0
    app.text_input(key="room-written").set_value("x" * 100_000).run()
    assert "There is no room XXXXXX." in app.session_state["room-trouble"]


def test_so_many_rooms_that_there_is_place_for_none_is_said(monkeypatch):
    monkeypatch.setattr("ui.rooms.store.ROOMS", 0)
    monkeypatch.setattr(rooms, "rooms", {})
    app = press(open_link("type"), "Open a room")
    assert app.toast[0].value == FULL.format(count=0) and choices(app, "room") == ("",)


def test_a_room_that_made_place_comes_back_with_its_teacher_who_is_told(teacher, monkeypatch):
    app, room = teacher
    assert not app.info
    monkeypatch.setattr("ui.rooms.store.OF_NETWORK", 1)
    monkeypatch.setattr(rooms, "rooms", {room.code: room})
    room.seen -= JUST_OPENED + 1
    _, another = lead("type", "")
    another.seen -= JUST_OPENED + 1
    assert room.ended and room.code not in rooms.rooms
    app.run()
    press(app, f"Room {room.code}: code, questions")
    back(app, "room")
    assert rooms.rooms[room.code].notice == BACK == app.info[0].value.replace("\\", "")


def test_a_question_is_put_with_what_the_model_says(teacher):
    app, room = teacher
    press(app, f"Room {room.code}: code, questions")
    back(app, "room")
    app.text_input(key="room-ask").set_value("What comes next?").run()
    app.text_area(key="room-choices").set_value("sat\nran\n\nsat").run()
    app.selectbox(key="room-model").set_value("what comes next").run()
    press(app, "Ask")
    assert room.question.choices == ("sat", "ran") and room.question.model not in ("", "“”")
    press(app, "Show the counts to all")
    assert room.question.counts_visible
    press(app, "End the question")
    assert room.question is None and app.get("download_button")
    press(app, "End it for all")
    assert room.ended and choices(app, "room") == ("",)
