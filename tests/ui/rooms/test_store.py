"""What the server keeps of rooms, without pages and sockets: time is a number that a test sets."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui.rooms import store
from ui.rooms.home import Home
from ui.rooms.store import KINDS, NAMED, WRITTEN, Question, Room, RoomError, Rooms, from_environment


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def rooms(clock: Clock) -> Rooms:
    return Rooms(b"secret", 1800, clock)


def seated(rooms: Rooms, count: int = 1) -> Room:
    """A new room with so many people whose pages are open, called "0", "1", …"""
    room, _ = rooms.open()
    for number in range(count):
        room.sit(str(number), f"browser {number}").lines = 1
    return room


def test_codes_are_unambiguous_and_rooms_differ(rooms):
    codes = {rooms.open()[0].code for _ in range(50)}
    assert len(codes) == 50 and all(store.CODE.fullmatch(code) for code in codes)
    assert not set("ILOQV0123456789") & set("".join(codes))


def test_a_server_takes_so_many_rooms_and_no_more(rooms):
    for _ in range(store.ROOMS):
        rooms.open()
    with pytest.raises(RoomError, match="takes no more"):
        rooms.open()


def test_a_room_ends_some_time_after_who_leads_has_gone_and_makes_place(rooms, clock):
    for _ in range(store.ROOMS):
        room, key = rooms.open()
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


def test_a_key_leads_its_room_alone_and_for_a_day(rooms, monkeypatch):
    (one, key), (other, _) = rooms.open(), rooms.open()
    assert rooms.leads(one.code, key) and not rooms.leads(other.code, key)
    assert not any(rooms.leads(one.code, wrong) for wrong in ("", "é", key[:-1], key.upper() + "0", f"f{key}"))
    now = store.time.time()
    monkeypatch.setattr(store.time, "time", lambda: now + store.DAY + 1)
    assert not rooms.leads(one.code, key)


def test_hundreds_of_wrong_codes_a_minute_are_let_pass_and_then_not_even_a_right_one(rooms, clock):
    room, key = rooms.open()
    for _ in range(store.WRONG):
        with pytest.raises(RoomError, match="There is no room AAAAAA"):
            rooms.find("AAAAAA", address="school")
    with pytest.raises(RoomError, match="Try again in a minute"):
        rooms.find(room.code, address="school")
    assert rooms.find(room.code, key, "school")[1] and rooms.find(room.code, address="home")[0] is room
    clock.now = store.WITHIN + 1
    assert rooms.find(room.code, address="school")[0] is room


def test_a_browser_that_guesses_does_not_shut_out_its_class_and_a_class_that_guesses_is_stopped(rooms, clock):
    room, _ = rooms.open()

    def guess(browser: str, times: int) -> None:
        for _ in range(times):
            with pytest.raises(RoomError):
                rooms.find("AAAAAA", address="school", browser=browser)

    guess("one", 10 * store.WRONG)
    with pytest.raises(store.GuessError, match="came from your browser"):
        rooms.find(room.code, address="school", browser="one")
    for other in ("two", ""):
        assert rooms.find(room.code, address="school", browser=other)[0] is room
    assert rooms.find(room.code, address="home", browser="one")[0] is room
    for number in range(store.WRONG // store.OWN):
        guess(f"cookie {number}", store.OWN)
    with pytest.raises(store.GuessError, match="came from your network"):
        rooms.find(room.code, address="school", browser="two")
    clock.now = store.WITHIN + 1
    assert rooms.find(room.code, address="school", browser="one")[0] is room


def test_what_is_known_of_addresses_is_bounded(rooms, monkeypatch):
    monkeypatch.setattr(store, "ADDRESSES", 10)
    for number in range(30):
        with pytest.raises(RoomError):
            rooms.find("AAAAAA", address=str(number))
    assert len(rooms.wrong) == 10


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
    kept: list[int | None] = [None] * 3
    last = None
    for what, number in steps:
        if what == "move":
            last = number
            room.move(number)
        elif what == "out":
            people[number].follows, kept[number] = False, shown[number]
        elif what == "again":
            people[number].follows = True
        elif people[number].follows:
            shown[number] = room.at
        for person, now, before in zip(people, shown, kept, strict=True):
            assert person.follows or now == before
    assert room.at == last
    moves = [number for what, number in steps if what == "move"]
    assert room.version == sum(one != before for one, before in zip(moves, [None, *moves], strict=False))


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", "c", "d", ""]))))
def test_each_browser_is_counted_once_with_its_last_answer(said):
    room = seated(Rooms(b"secret", 1800, Clock()), 6)
    question = room.ask("Which?", "choices", ("a", "b", "c"))
    last = {}
    for who, answer in said:
        if answer in ("a", "b", "c"):
            room.answer(str(who), answer)
            last[who] = answer
        else:
            with pytest.raises(RoomError):
                room.answer(str(who), answer)
    assert dict(question.counts()) == {choice: Counter(last.values())[choice] for choice in "abc"}
    assert sum(count for _, count in question.counts()) == len(last)


def test_two_tabs_of_a_browser_have_one_answer(rooms):
    room = seated(rooms, 2)
    room.people["1"].voter = room.people["0"].voter
    question = room.ask("How many?", "a number")
    room.answer("0", "3")
    room.answer("1", "4")
    assert question.counts() == [("4", 1)]


def test_half_a_sign_is_never_kept_since_no_line_could_tell_it(rooms):
    room = seated(rooms)
    question = room.ask("Which \ud83d?", "a word", model="\udc00")
    room.answer("0", "\ud800 yes", "\udfff")
    assert (question.words, question.model) == ("Which ??", "?")
    assert (
        question.counts() == [("? yes", 1)] and question.answers["browser 0"][:2] == ("?", "? yes") and len(question.answers) == 1
    )


def test_no_number_is_less_than_zero_by_its_sign_alone(rooms):
    room = seated(rooms)
    room.ask("How many?", "a number")
    assert room.answer("0", "-0") == "0"


@given(st.text(max_size=300))
def test_numbers_are_read_as_people_write_them_and_nothing_else(text):
    question = Question("How many?", "a number")
    try:
        value = float(question.read(text))
    except RoomError:
        return
    assert value == value and abs(value) != float("inf")


@pytest.mark.parametrize(("written", "read"), [("3,5", "3.5"), (" −2 ", "-2"), ("1e3", "1000"), (7, "7"), ("-0", "0")])
def test_such_numbers(written, read):
    assert Question("How many?", "a number").read(written) == read


@given(st.floats(-1e9, 1e9), st.sampled_from([" ", ",", ".", "'", "’", "\u202f", "\u00a0"]))
def test_numbers_with_their_thousands_apart(number, apart):
    whole, part = f"{number:,.2f}".split(".")
    written = whole.replace(",", apart) + ("." if apart == "," else ",") + part
    assert float(Question("How many?", "a number").read(written)) == pytest.approx(float(f"{number:.2f}"))


@pytest.mark.parametrize(
    ("written", "read"),
    [("1 000", "1000"), ("1,000,000", "1000000"), ("-1.000.000", "-1000000"), ("0,125", "0.125"), ("1.000", "1"),
     ("1234,567", "1234.567"), ("1,0000", "1")],
)  # fmt: skip
def test_what_a_point_or_a_comma_means_where_it_can_mean_one_thing_alone(written, read):
    assert Question("How many?", "a number").read(written) == read


@pytest.mark.parametrize(("written", "whole", "part"), [("1,000", "1000", "1.000"), ("−12,345", "-12345", "-12.345")])
def test_a_comma_that_may_mean_either_is_asked_about(written, whole, part):
    with pytest.raises(RoomError, match=f"Write {whole}, or {part}"):
        Question("How many?", "a number").read(written)


@pytest.mark.parametrize("written", ["nan", "inf", "three", "", "1_000x", "1,00,000", "1 00", "1.000.5", "--1 000"])
def test_no_numbers(written):
    with pytest.raises(RoomError, match="asks for a number"):
        Question("How many?", "a number").read(written)


def test_words_are_counted_whatever_their_capitals_and_cut(rooms):
    room = seated(rooms, 4)
    question = room.ask("Which word?", "a word")
    for who, said in enumerate(("Mat", " mat ", "MAT", "x" * 10_000)):
        room.answer(str(who), said, "n" * 10_000)
    assert question.counts() == [("Mat", 3), ("x" * WRITTEN, 1)]
    assert {one.name for one in question.answers.values()} == {"n" * NAMED}
    with pytest.raises(RoomError, match="Write a word"):
        room.answer("0", " \n ")


def test_an_answer_needs_a_seat_and_an_open_question(rooms):
    room = seated(rooms)
    with pytest.raises(RoomError, match="no longer asked"):
        room.answer("0", "a")
    room.ask("Which?", "choices", ("a", "b"))
    with pytest.raises(RoomError, match="no longer asked"):
        room.answer("nobody", "a")
    room.stop()
    with pytest.raises(RoomError, match="no longer asked"):
        room.answer("0", "a")


@pytest.mark.parametrize(
    ("words", "kind", "choices", "why"),
    [
        (" ", "a word", (), "Write the question"),
        ("What?", "a song", (), "asks for"),
        ("What?", "choices", ("a", " a "), "different choices"),
        ("What?", "choices", tuple("abcdefghijklm"), "different choices"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(rooms, words, kind, choices, why):
    with pytest.raises(RoomError, match=why):
        seated(rooms).ask(words, kind, choices)


def test_questions_are_kept_and_bounded_and_only_the_last_is_asked(rooms):
    room = seated(rooms)
    for number in range(store.QUESTIONS + 5):
        room.ask(f"Question {number}", KINDS[2])
        assert room.question.words == f"Question {number}"
    assert len(room.questions) == store.QUESTIONS and sum(one.open for one in room.questions) == 1


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
    for number, one in enumerate(homes):
        one.settle("cookie", ["first", "second", "third"], number)
    for number, one in enumerate(homes):
        rooms = Rooms(b"secret", 1800, ours=one.has)
        for code in (rooms.open()[0].code for _ in range(20)):
            assert [other.has(code) for other in homes] == [other is one for other in homes]
            assert {other.cookie(code) for other in homes} == {("first", "second", "third")[number]}


@given(st.text())
def test_a_server_that_is_alone_has_every_room(code):
    assert Home().has(code) and Home().cookie(code) == ""
