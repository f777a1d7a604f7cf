"""What page Train shows of a head: the future, which no head sees, is blank there as everywhere."""

from __future__ import annotations

import json
import unicodedata

import numpy as np

from models.training.tasks import TASKS
from pages.train.display import columns, example, first_choices
from pages.train.recipes import large


def test_the_future_of_a_trained_head_is_blank_and_its_past_is_as_it_is():
    weights = np.tril(np.random.default_rng(0).random((5, 5))).astype(np.float32)
    data = large(weights=weights, texts=list("abcde"), label="Attention of L0 H0").data
    end = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:end])
    place = header["arrays"]["values"]
    start = end + -end % 8 + place["offset"]
    sent = np.frombuffer(data[start : start + 4 * weights.size], dtype=place["dtype"]).reshape(5, 5)
    assert np.isnan(sent[np.triu_indices(5, 1)]).all()
    np.testing.assert_array_equal(sent[np.tril_indices(5)], weights[np.tril_indices(5)])


def test_an_example_of_letters_that_come_again_shows_them_below_one_another():
    for seed in range(20):
        given, answer = TASKS["repeat"]().example(np.random.default_rng(seed))
        first, *again = [line.split()[1] for line in example("repeat", given, answer).split("\n")]
        assert len(again) >= 1 and all(first.startswith(line) for line in again)
        assert first + "".join(again) == given + answer
    assert example("copy", "ab|", "ab") == "given    ab|\nanswer   ab"


def test_what_the_model_says_stands_below_the_answer_character_by_character():
    """So that each letter is seen beside the one that it should be: of a round that comes again, below the first."""
    for name, make in TASKS.items():
        task = make("“Für” the 日本 dog 🐕 ran\n" * 4) if name == "text" else make()
        for seed in range(20):
            given, answer = task.example(np.random.default_rng(seed))
            wrong = bytes(33 + (byte + 1) % 90 for byte in answer.encode("latin-1"))
            lines = [(line[:9].strip(), line[9:]) for line in example(name, given, answer, wrong).split("\n")]
            assert {label for label, _ in lines} == (
                {"first", "again", "it says"} if name == "repeat" else {"given", "answer", "it says"}
            )
            right = [wide(line) for label, line in lines if label in ("again", "answer")]
            says = [line for label, line in lines if label == "it says"]
            start = 1 if name == "repeat" else len(given) if name == "text" else 0
            at = 0
            for place, (row, guess) in enumerate(zip(right, says, strict=True)):
                first = start if place == 0 else 0
                assert guess[:first].strip() == "" and guess[first:] == wrong[at : at + len(guess) - first].decode(), name
                at += len(guess) - first
                assert len(row) <= len(guess), "no answer goes further than what is said in its place"
            assert at == len(wrong)
            if name == "repeat":
                rounds = [line for label, line in lines if label in ("first", "again")]
                assert all(rounds[0].startswith(line) for line in rounds[1:]), "the repetition is in sight"


def wide(text: str) -> list[str]:
    """The columns that a text takes in letters that are equally wide."""
    return [column for sign in text for column in ([sign, ""] if unicodedata.east_asian_width(sign) in "WF" else [sign])]


def test_each_byte_has_a_column():
    text = "aü日🐕".encode()
    assert columns(text) == ["a", "ü", " ", "日", " ", "", "🐕", " ", " ", ""] and len(columns(text)) == len(text)
    assert columns(text[2:4] + b"\n") == ["�", "�", "�"] and columns(b"\xff\xe6a") == ["�", "�", "a"]


def test_a_head_is_counted_where_it_looks_most_at_what_came_next_last_time():
    read = [256, *b"abcab"]  # the second a was followed by b at 2, the second b by c at 3
    weights = np.tril(np.full((6, 6), 0.1))
    weights[4, 2] = weights[5, 0] = 0.4
    assert first_choices(weights, read) == (1, 2)
