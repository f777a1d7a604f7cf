"""Who leads a room, on the app’s pages, without browsers: what moves the class and what does not."""

from __future__ import annotations

import threading

from streamlit.testing.v1 import AppTest
from streamlit.util import calc_hash

from tests.pages.opening import open_link, press, unmarked, words_on
from tests.ui.rooms.app_visitors import back, choices, follow, lead, person, second_device
from ui.lessons import files
from ui.memory import loaded, turns
from ui.memory.eviction import Shelf
from ui.rooms import route, seat
from ui.rooms.codes import LETTERS
from ui.rooms.states import Errand, Event
from ui.rooms.store import BACK, FULL, JUST_OPENED, NOWHERE, PARTS, Rooms, rooms


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
    assert f"step 1 of {len(lesson.steps)}: {lesson.steps[0].title}" in words_on(other)
    assert lesson.teacher not in words_on(other)
    other.toggle(key="room-notes-shown").set_value(True).run()
    assert unmarked(lesson.teacher) in words_on(other) and lesson.steps[0].words in words_on(other)
    press(other, "Next step")
    page = lesson.steps[1].page
    assert other.session_state["room-seat"].page == "room", "back at the notes"
    assert (room.at["lesson"], room.at["step"], room.at["page"]) == ("heads", 2, page)
    assert f"step 2 of {len(lesson.steps)}" in words_on(other) and other.toggle(key="room-notes-shown").value
    for visit in (app, follower):
        visit.run()
        assert choices(visit, "lesson", "step") == ("heads", 2) and visit.session_state["room-seat"].page == page
    assert room.version == other.session_state["room-seat"].placed_version and person(follower).follows


def test_who_leads_moves_nobody_from_the_page_of_the_room(teacher):
    app, room = teacher
    before = room.at
    press(app, f"Room {room.code}: code, questions")
    assert room.at == before and room.code in words_on(app)
    assert "You lead this room" in words_on(app) and "Write a code" not in words_on(app)
    back(app, "type")
    assert room.at["page"] == "type"


def test_the_first_page_after_a_room_is_opened_on_its_own_page_is_shown_to_all_and_who_leads_stays_there():
    app = open_link("room")
    app.button(key="room-open-here").click().run()
    room = rooms.rooms[app.session_state["room"]]
    other = open_link("room", f"room={room.code}")
    assert "You are in." in words_on(other) and "Follow again" not in words_on(other)
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


def test_what_is_pinned_on_layers_and_in_space_is_led():
    app, room = lead("layers", "text=The+cat&level=expert")
    other = follow(room, "layers")
    pinned = {"pair-key": (1, 3), "layers-head": (2, 1), "lens-layer": 3, "followed": {"space-tokens": 1}}
    for name, value in pinned.items():
        app.session_state[name] = value
    app.run()
    other.run()
    assert choices(other, *pinned) == tuple(pinned.values()) and person(other).follows


def test_only_who_leads_opens_parts_and_another_page_begins_with_none():
    room, _ = Rooms(b"", 60).open()
    leader, _ = room.sit("a", "a", leads=True), room.sit("b", "b")
    room.move({"page": "type"}, leader, "Type")
    route.open_part(room, "b", ["more 0", True])
    for nothing in (None, "more", ["more"], ["more 0", 1], ["more 0", "true"], ["m" * 99, True], {"more": True}):
        route.open_part(room, "a", nothing)
    assert room.opened == {}
    for number in range(PARTS + 5):
        route.open_part(room, "a", [f"more {number}", True])
    route.open_part(room, "a", ["more 44", False])
    news = route.news(room, room.people["b"])["opened"]
    assert len(news) == PARTS and news["more 43"] and not news["more 44"] and "opened" not in route.news(room, leader)
    room.move({"page": "type", "text": "The"}, leader, "Type")
    assert room.opened == news
    room.move({"page": "layers"}, leader, "Layers")
    assert room.opened == {}


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
    assert [toggle.label for toggle in app.toggle if "the model" in toggle.label] == ["All stay with the model “writer”"]


def test_a_code_that_does_not_exist_takes_no_seat_and_can_be_left():
    app = open_link("type", f"room={LETTERS[:6]}")
    assert app.session_state["room-seat"] is None
    assert app.session_state["room-trouble"] == f"There is no room {LETTERS[:6]}. It has ended, or the code is wrong."
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
    app.selectbox(key="room-right-choice").set_value("ran").run()
    app.selectbox(key="room-model").set_value("what comes next").run()
    press(app, "Ask")
    assert room.question.choices == ("sat", "ran") and room.question.model not in ("", "“”")
    press(app, "Show the counts to all")
    assert room.question.counts_visible and room.question.right == "ran" and not room.question.right_visible
    press(app, "Show the right answer")
    assert room.question.right_visible
    press(app, "End the question")
    assert room.question is None and app.get("download_button")
    press(app, "End it for all")
    assert room.ended and choices(app, "room") == ("",)
