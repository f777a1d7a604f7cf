"""What a browser may ask on the line: every value is checked, and what is not allowed is answered in a sentence."""

from __future__ import annotations

import json
from dataclasses import asdict, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ui import state
from ui.live.message import Request, RequestError, read
from ui.look import Choices

ALL = Choices("expert", "encoder", 3, 2, 4, False, True, True, True, True, {"token": "type purpose"})
GOOD = {
    "number": 7,
    "run": 3,
    "page": "type",
    "model": "writer",
    "text": "One↵two",
    "target": "",
    "choices": asdict(ALL),
    "values": {"temperature": 0.5},
}


def test_a_message_becomes_the_request_that_was_meant():
    request = Request(7, 3, "type", "writer", "One\ntwo", "", ALL, {"temperature": 0.5})
    assert read(json.dumps(GOOD)) == request
    assert read(json.dumps(GOOD | {"choices": {}})) == replace(request, choices=Choices())


WRONG = [
    ("number", {"number": -1}),
    ("number", {"number": "7"}),
    ("number", {"number": True}),
    ("run", {"run": None}),
    ("run", {"run": 10**30}),
    ("page", {"page": 1}),
    ("page", {"page": "x" * 300}),
    ("model", {"model": ["writer"]}),
    ("text", {"text": 5}),
    ("text", {"text": "x" * (state.LINKED + 1)}),
    ("target", {"target": {}}),
    ("values", {"values": []}),
    ("choices", {"choices": None}),
    ("choices", {"choices": {"colour": "red"}}),
]
WRONG_CHOICES = [
    ("level", "professor"),
    ("level", ["expert"]),
    ("attention", "self"),
    ("layer", -1),
    ("layer", 1.5),
    ("layer", "L1"),
    ("head", True),
    ("token", "last"),
    ("special", 1),
    ("renormalised", None),
    ("whole_words", "yes"),
    ("touched", 0),
    ("narrow", []),
    ("explained", []),
    ("explained", {"token": 1}),
    ("explained", {"token": "x" * 500}),
    ("explained", {str(i): "" for i in range(2000)}),
]


@pytest.mark.parametrize(("name", "change"), [*WRONG, *((name, {"choices": {name: value}}) for name, value in WRONG_CHOICES)])
def test_a_value_that_is_not_allowed_is_named_in_a_sentence(name, change):
    with pytest.raises(RequestError, match=f"“{name}”") as error:
        read(json.dumps(GOOD | change))
    assert str(error.value).endswith(".") and error.value.number == (0 if name == "number" else 7)


def test_the_text_of_a_public_host_is_bounded_as_its_box_is(monkeypatch):
    monkeypatch.setenv("HEADLIGHT_TEXT", "5")
    with pytest.raises(RequestError, match="“text” has at most 5 characters"):
        read(json.dumps(GOOD))


@given(
    st.recursive(
        st.none() | st.booleans() | st.integers() | st.text(max_size=5),
        lambda part: st.lists(part) | st.dictionaries(st.sampled_from([*GOOD, *asdict(ALL)]), part),
    )
)
def test_nothing_else_comes_of_any_message(value):
    for message in (json.dumps(value), str(value), json.dumps({**GOOD, "choices": value}), json.dumps([value] * 3), "[" * 5000):
        try:
            assert isinstance(read(message), Request)
        except RequestError as sentence:
            assert str(sentence)
