"""The choices of part "Evolution" as a message on the line brings them."""

from __future__ import annotations

import json

import pytest

from pages.layers.live import settings_of, values_of
from pages.layers.settings import Settings


@pytest.mark.parametrize("settings", [Settings(), Settings((4, 17), True, (2, 1))])
def test_settings_come_back_as_they_were(settings):
    assert settings_of(json.loads(json.dumps(values_of(settings)))) == settings


WRONG = [
    ("film", 1),
    ("film", None),
    ("clicked", [1]),
    ("clicked", [-2, 0]),
    ("clicked", "ab"),
    ("pair_key", [0]),
    ("pair_key", [None, 3]),
    ("pair_key", [-1, 3]),
    ("pair_key", [10**12, 3]),
    ("pair_key", {}),
]


@pytest.mark.parametrize(("name", "value"), WRONG)
def test_what_is_not_allowed_is_named_in_a_sentence(name, value):
    with pytest.raises(ValueError, match=f"“{name}” is .*\\.$"):
        settings_of({name: value})
