"""What the server keeps of rooms, without pages and sockets: time is a number that a test sets."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import islice, product

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.rooms.seated import Clock, seated
from ui.memory import guesses
from ui.rooms import store
from ui.rooms.codes import CODE, LETTERS
from ui.rooms.home import Home
from ui.rooms.store import Question, Room, RoomError, Rooms, from_environment


def test_codes_are_unambiguous_and_rooms_differ(rooms):
    codes = {rooms.open()[0].code for _ in range(50)}
    assert len(codes) == 50 and all(CODE.fullmatch(code) for code in codes)
    assert not set("ILOQV0123456789") & set("".join(codes))


def attended(rooms: Rooms, network: str = "", browser: str = "") -> Room:
    """A new room whose teacher's page is open."""
    room, _ = rooms.open(network, browser)
    room.sit("teacher", "browser", leads=True).lines = 1
    return room


def test_a_server_takes_so_many_rooms_in_which_somebody_is_and_no_more(rooms):
    for number in range(store.ROOMS):
        attended(rooms, f"network {number // 50}")
    with pytest.raises(RoomError, match="somebody is in each of them"):
        rooms.open("late")


def test_one_visitor_holds_a_few_rooms_and_their_own_empty_ones_go_first(rooms):
    theirs = rooms.open("home", "browser of somebody else")[0]
    opened = [rooms.open("home", "browser")[0] for _ in range(store.OF_BROWSER + 3)]
    assert [room.ended for room in opened] == [True] * 3 + [False] * store.OF_BROWSER and not theirs.ended
    with pytest.raises(RoomError, match=f"Nobody was in room {opened[0].code}"):
        rooms.find(opened[0].code)
    for room in opened[3:]:
        room.sit("teacher", "browser", leads=True).lines = 1
    with pytest.raises(RoomError, match=f"You lead {store.OF_BROWSER} rooms"):
        rooms.open("home", "browser")


def test_whoever_invents_cookies_is_stopped_by_their_network_and_a_class_is_not(rooms, clock):
    for number in range(10 * store.ROOMS):
        try:
            rooms.open("2001:db8::/64", f"cookie {number}")
        except RoomError as error:
            assert str(error) == store.FULL_NETWORK.format(count=store.OF_NETWORK)
    assert len(rooms.rooms) == store.OF_NETWORK
    class_ = [rooms.open("a school", f"pupil {number}")[0] for number in range(60)]
    clock.now += store.JUST_OPENED + 1
    rooms.open("2001:db8::/64", "another cookie")
    assert len(rooms.rooms) == store.OF_NETWORK + 60 and not any(room.ended for room in class_)


def test_where_a_place_is_needed_the_network_with_most_empty_rooms_gives_it(rooms, clock):
    teacher, waiting = attended(rooms, "a school"), rooms.open("a school")[0]
    for number in range(store.ROOMS - 2):
        rooms.open(f"network {number // (store.OF_NETWORK - 1)}")
    clock.now += store.JUST_OPENED + 1
    for _ in range(store.OF_NETWORK):
        attended(rooms, "newcomers")
        assert len(rooms.rooms) == store.ROOMS
    assert not teacher.ended and not waiting.ended


def test_a_room_that_made_place_opens_again_by_its_key_and_says_what_was_lost(rooms, clock):
    room, key = rooms.open("home", "browser")
    clock.now += 1
    for _ in range(store.OF_BROWSER):
        rooms.open("home", "browser")
    assert room.ended
    again, leads = rooms.find(room.code, key, "home", "browser")
    assert leads and again is not room and again.notice == store.BACK and len(rooms.rooms) == store.OF_BROWSER


def test_a_key_opens_no_room_beyond_what_a_network_may_have(rooms, clock):
    after = Rooms(b"secret", 1800, clock)
    keys = [(code, rooms.key(code)) for code in (f"{number:06}" for number in range(2 * store.OF_NETWORK))]
    for code, key in keys:
        try:
            after.find(code, key, "home")
        except RoomError as error:
            assert str(error) == store.FULL_NETWORK.format(count=store.OF_NETWORK)
    assert len(after.rooms) == store.OF_NETWORK


def test_a_class_of_three_hundred_gives_six_hundred_answers(rooms):
    room = seated(rooms, store.PEOPLE)
    for question in ("First?", "Second?"):
        room.ask(question, "a number")
        for number in range(store.PEOPLE):
            assert room.answer(str(number), number) == str(number)
    assert room.answers == 2 * store.PEOPLE and not room.notice


def test_counts_are_made_once_for_each_change_however_many_look(rooms, monkeypatch):
    room, made, count = seated(rooms, 3), [], Question._count
    monkeypatch.setattr(Question, "_count", lambda question: made.append(1) or count(question))
    question = room.ask("Which?", "choices", ("a", "b"))
    for who, answer, counts in (("0", "a", [1, 0]), ("1", "a", [2, 0]), ("1", "b", [1, 1]), ("2", "b", [1, 2])):
        room.answer(who, answer)
        assert all(question.counts() == list(zip("ab", counts, strict=True)) for _ in range(300))
    room.drop_answers()
    assert question.counts() == [("a", 0), ("b", 0)] and len(made) == 5


def test_answers_of_all_rooms_are_bounded_and_the_oldest_of_the_fullest_room_go(rooms, monkeypatch):
    monkeypatch.setattr(store, "ANSWERS", 100)
    small, large = seated(rooms, 3), seated(rooms, 40)
    small.ask("Which word?", "a word")
    for number in range(3):
        small.answer(str(number), "yes")
    for question in range(6):
        large.ask(f"Question {question}", "a number")
        for number in range(40):
            large.answer(str(number), number)
            assert small.answers + large.answers <= 100
    assert small.answers == 3 and not small.notice and large.answers > 40
    assert large.notice == store.ANSWERS_DROPPED.format(words="Question 3")


def test_a_room_ends_some_time_after_who_leads_has_gone_and_makes_place(rooms, clock):
    for number in range(store.ROOMS):
        room, key = rooms.open(f"network {number}")
    clock.now = 1801
    assert rooms.open()[0].code != room.code and room.ended and len(rooms.rooms) == 1
    for given_key in ("", key):
        with pytest.raises(RoomError, match=f"The room {room.code} has ended."):
            rooms.find(room.code, given_key)


def test_a_room_does_not_end_while_the_page_of_who_leads_is_open(rooms, clock):
    room, _ = rooms.open()
    room.sit("teacher", "browser", leads=True).lines = 1
    clock.now = 1e6
    assert rooms.find(room.code)[0] is room


def test_a_room_is_closed_by_who_leads_for_good(rooms):
    room, key = rooms.open()
    rooms.close(room)
    with pytest.raises(RoomError):
        rooms.find(room.code, key)
    assert not rooms.was_in(room.code, rooms.ticket(room.code))


def test_a_key_brings_a_room_back_after_a_restart_where_the_secret_stays(rooms, clock):
    room, key = rooms.open()
    after, other = Rooms(b"secret", 1800, clock), Rooms(b"another", 1800, clock)
    with pytest.raises(RoomError):
        after.find(room.code)
    assert after.find(room.code, key) == (after.rooms[room.code], True)
    assert after.find(room.code)[1] is False and after.was_in(room.code, rooms.ticket(room.code))
    with pytest.raises(RoomError):
        other.find(room.code, key)
    assert not other.was_in(room.code, rooms.ticket(room.code))


def test_what_was_fixed_is_given_back_by_who_leads_alone_and_where_nothing_was_fixed_since(rooms):
    room = seated(rooms, 1)
    room.sit("teacher", "browser", leads=True)
    for who in ("0", "nobody"):
        room.fix_again(who, {"level": "expert"})
    assert room.fixed == {} and room.version == 0
    room.fix_again("teacher", {"level": "expert", "hidden": ["train"]})
    assert room.fixed == {"level": "expert", "hidden": ["train"]} and room.fixed_at == room.version == 1
    room.fix(level=None)
    room.fix_again("teacher", {"level": "beginner"})
    assert room.fixed == {"hidden": ["train"]}


def test_a_key_leads_its_room_alone_and_for_a_day(rooms, clock):
    (room, key), (other, _) = rooms.open(), rooms.open()
    assert rooms.leads(room.code, key) and not rooms.leads(other.code, key)
    assert not any(rooms.leads(room.code, wrong) for wrong in ("", "é", key[:-1], key.upper() + "0", f"f{key}"))
    clock.now += store.DAY - 1
    assert rooms.leads(room.code, key)
    clock.now += 2
    assert not rooms.leads(room.code, key)


@pytest.mark.parametrize("days", [-10_000, -1.5, 1.5, 10_000])
def test_a_clock_that_is_set_ends_no_key_and_lengthens_none_and_answers_stay(rooms, clock, monkeypatch, days):
    """Many a machine in a classroom begins in 1970 and learns the time from the network later."""
    room, key = rooms.open()
    room.sit("teacher", "browser", leads=True).lines = 1
    room.sit("pupil", "another browser").lines = 1
    question = room.ask("Which head?", "a word")
    room.answer("pupil", "before")
    now = store.time.time()
    monkeypatch.setattr(store.time, "time", lambda: now + days * store.DAY)
    rooms.tidy()
    assert rooms.find(room.code, key) == (room, True)
    later, of_later = rooms.open()
    assert rooms.leads(later.code, of_later)
    room.sit("late", "a third browser").lines = 1
    room.answer("late", "after")
    assert [reply.answer for reply in question.answers.values()] == ["before", "after"]
    clock.now += store.DAY + 1
    assert not rooms.leads(room.code, key) and not rooms.leads(later.code, of_later)


def guess(rooms: Rooms, network: str, browser: str, codes: Iterable[str]) -> None:
    for code in codes:
        with pytest.raises(RoomError):
            rooms.find(code, network=network, browser=browser)


def wrong_codes(count: int, first: str = "A") -> list[str]:
    """So many codes that do not exist; others for another first letter."""
    return [first + "".join(letters) for letters in islice(product(LETTERS, repeat=5), count)]


def test_hundreds_of_wrong_codes_a_minute_are_let_pass_and_then_not_even_a_right_one(rooms, clock):
    room, key = rooms.open()
    guess(rooms, "school", "", wrong_codes(store.WRONG))
    with pytest.raises(RoomError, match="Try again in a minute"):
        rooms.find(room.code, network="school")
    assert rooms.find(room.code, key, "school")[1] and rooms.find(room.code, network="home")[0] is room
    clock.now = store.WITHIN + 1
    assert rooms.find(room.code, network="school")[0] is room


def test_a_class_that_types_the_same_wrong_code_has_made_one_guess(rooms):
    room, _ = rooms.open()
    for number in range(300):
        guess(rooms, "school", f"browser {number}", ["AAAAAA"] * 5)
    assert len(rooms.guesses) <= 301
    assert rooms.find(room.code, network="school", browser="browser 1")[0] is room


def test_a_browser_that_guesses_does_not_shut_out_its_class_and_a_class_that_guesses_is_stopped(rooms, clock):
    room, _ = rooms.open()
    guess(rooms, "school", "one", wrong_codes(10 * store.WRONG))
    with pytest.raises(store.GuessError, match="came from your browser"):
        rooms.find(room.code, network="school", browser="one")
    for other in ("two", ""):
        assert rooms.find(room.code, network="school", browser=other)[0] is room
    assert rooms.find(room.code, network="home", browser="one")[0] is room
    for number in range(store.WRONG // store.OWN):
        guess(rooms, "school", f"cookie {number}", wrong_codes(store.OWN, LETTERS[number]))
    with pytest.raises(store.GuessError, match="came from your network"):
        rooms.find(room.code, network="school", browser="two")
    clock.now = store.WITHIN + 1
    assert rooms.find(room.code, network="school", browser="one")[0] is room


def test_several_processes_let_a_network_guess_no_more_often_than_a_single_one(monkeypatch):
    guessed = 0
    for number in range(4):
        monkeypatch.setattr(store, "home", own := Home())
        own.settle("cookie", ["a", "b", "c", "d"], number)
        rooms = Rooms(b"secret", 1800, Clock(), ours=own.has)
        for code in wrong_codes(store.WRONG):
            with pytest.raises(RoomError) as error:
                rooms.find(code, network="school")
            guessed += not isinstance(error.value, store.GuessError)
    assert guessed == store.WRONG


def test_what_is_known_of_guesses_is_bounded(rooms, monkeypatch):
    monkeypatch.setattr(guesses, "REMEMBERED", 10)
    for number in range(30):
        guess(rooms, f"network {number}", "browser", ["AAAAAA"])
    assert len(rooms.guesses) == 10


def test_a_full_room_gives_the_seats_of_who_has_gone_to_others(rooms):
    room = seated(rooms, store.PEOPLE)
    with pytest.raises(RoomError, match="is full"):
        room.sit("late", "browser")
    room.people["7"].lines = 0
    assert room.sit("late", "browser") and "7" not in room.people and len(room.people) == store.PEOPLE
    assert room.sit("teacher", "hers", leads=True), "who leads finds a seat"


def test_who_comes_back_has_the_seat_as_it_was(rooms):
    room = seated(rooms, 1)
    room.people["0"].follows = False
    assert room.sit("0", "browser 0").follows is False and len(room.people) == 1


@given(
    st.lists(
        st.one_of(
            st.tuples(st.just("move"), st.integers(0, 5)),
            st.tuples(st.sampled_from(["out", "again", "run"]), st.integers(0, 2)),
        )
    )
)
def test_the_last_move_wins_and_who_has_stepped_out_is_left_alone(steps):
    """Three followers who run now and then, as their browsers are told to, and step out and back in any order."""
    room = seated(Rooms(b"secret", 1800, Clock()), 3)
    people = [room.people[str(number)] for number in range(3)]
    shown: list[int | None] = [None] * 3
    places_of_tabs: list[int | None] = [None] * 3
    last = None
    for what, number in steps:
        if what == "move":
            last = number
            room.move(number)
        elif what == "out":
            people[number].follows, places_of_tabs[number] = False, shown[number]
        elif what == "again":
            people[number].follows = True
        elif people[number].follows:
            shown[number] = room.at
        for person, now, before in zip(people, shown, places_of_tabs, strict=True):
            assert person.follows or now == before
    assert room.at == last
    moves = [number for what, number in steps if what == "move"]
    assert room.version == sum(move != before for move, before in zip(moves, [None, *moves], strict=False))


def test_what_is_fixed_is_told_as_a_move_of_its_own(rooms):
    room = seated(rooms)
    room.move("here")
    assert room.fixed_at == 0
    room.fix(level="beginner")
    assert room.fixed_at == room.version == 2 and room.fixed == {"level": "beginner"}
    room.fix(level="beginner")
    assert room.version == 2, "nothing new"
    room.fix(level=None)
    assert room.fixed == {} and room.fixed_at == 3


def test_listeners_are_called_and_counts_only_to_who_leads(rooms):
    room, calls = seated(rooms), []
    room.listeners = {lambda: calls.append("class"): False, lambda: calls.append("teacher"): True}
    room.ask("Which?", "choices", ("a", "b"))
    calls.clear()
    room.answer("0", "a")
    assert calls == ["teacher"]
    room.show(True)
    calls.clear()
    room.answer("0", "b")
    assert sorted(calls) == ["class", "teacher"]


def test_settings_of_whoever_runs_the_server():
    rooms = from_environment({"HEADLIGHT_ROOM_SECRET": "ours", "HEADLIGHT_ROOM_MINUTES": "5"})
    assert (rooms.secret, rooms.end) == (b"ours", 300)
    assert from_environment({"HEADLIGHT_ROOM_MINUTES": "soon"}).end == 1800
    assert from_environment({}).secret != from_environment({}).secret


def test_each_code_lives_in_one_of_several_processes_and_all_agree_in_which():
    homes = [Home() for _ in range(3)]
    for number, home in enumerate(homes):
        home.settle("cookie", ["first", "second", "third"], number)
    for number, home in enumerate(homes):
        rooms = Rooms(b"secret", 1800, ours=home.has)
        for code in (rooms.open()[0].code for _ in range(20)):
            assert [other.has(code) for other in homes] == [other is home for other in homes]
            assert {other.cookie(code) for other in homes} == {("first", "second", "third")[number]}


@given(st.text())
def test_a_server_that_is_alone_has_every_room(code):
    assert Home().has(code) and Home().cookie(code) == ""
