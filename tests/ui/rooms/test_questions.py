"""Questions to a class, and their answers as they are counted."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.ui.rooms.seated import Clock, seated
from ui.rooms import store
from ui.rooms.questions import KINDS, WRITTEN, Question, RoomError
from ui.rooms.route import news
from ui.rooms.store import NAMED, Rooms


@given(st.lists(st.tuples(st.integers(0, 5), st.sampled_from(["a", "b", "c", "d", ""]))))
def test_each_browser_is_counted_once_with_its_last_answer(replies):
    room = seated(Rooms(b"secret", 1800, Clock()), 6)
    question = room.ask("Which?", "choices", ("a", "b", "c"))
    last = {}
    for who, answer in replies:
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
    [
        ("1 000", "1000"),
        ("1,000,000", "1000000"),
        ("-1.000.000", "-1000000"),
        ("0,125", "0.125"),
        ("1.000", "1"),
        ("1234,567", "1234.567"),
        ("1,0000", "1"),
    ],
)
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
    for who, words in enumerate(("Mat", " mat ", "MAT", "x" * 10_000)):
        room.answer(str(who), words, "n" * 10_000)
    assert question.counts() == [("Mat", 3), ("x" * WRITTEN, 1)]
    assert {reply.name for reply in question.answers.values()} == {"n" * NAMED}
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
        ("What?", "choices", ("a", "c"), "none of the choices"),
    ],
)
def test_a_question_that_cannot_be_answered_is_refused(rooms, words, kind, choices, why):
    with pytest.raises(RoomError, match=why):
        seated(rooms).ask(words, kind, choices, right="b")


def test_the_right_answer_reaches_no_browser_before_it_is_shown(rooms):
    room = seated(rooms, 3)
    room.people["0"].leads = True
    room.ask("Which?", "choices", ("a", "b"), model="“a”", right="a")
    room.answer("1", "a")
    for visible in (False, True):
        room.show(visible)
        for person in room.people.values():
            told = news(room, person)["question"]
            assert not told["right"] and not told["model"] and told["right_count"] is None
    room.show(False)
    room.reveal()
    assert [news(room, person)["question"]["right"] for person in room.people.values()] == ["a"] * 3
    assert [news(room, person)["question"]["right_count"] for person in room.people.values()] == [1, None, None]
    assert news(room, room.people["0"])["question"]["model"] == "“a”"
    with pytest.raises(RoomError, match="no longer counted"):
        room.answer("2", "a")


@pytest.mark.parametrize(
    ("kind", "right", "answer", "counted"),
    [("a number", "3,50", "3.5", "3.5"), ("a word", "paris", "Paris", "Paris"), ("a number", "3 apples", "3", "3 apples")],
)
def test_the_right_answer_is_counted_as_the_class_writes_it(rooms, kind, right, answer, counted):
    room = seated(rooms)
    question = room.ask("What?", kind, right=right)
    room.answer("0", answer)
    assert question.counted_right() == counted


def test_questions_are_kept_and_bounded_and_only_the_last_is_asked(rooms):
    room = seated(rooms)
    for number in range(store.QUESTIONS + 5):
        room.ask(f"Question {number}", KINDS[2])
        assert room.question.words == f"Question {number}"
    assert len(room.questions) == store.QUESTIONS and sum(question.open for question in room.questions) == 1
