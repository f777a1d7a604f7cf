"""docs/security.md: each thing that it promises names tests, and they are there."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.serving import ROOT

SAID = (ROOT / "docs" / "security.md").read_text("utf-8")
PROMISES = [paragraph for paragraph in SAID.split("\n\n") if paragraph.startswith("**")]


@cache
def named_in(path: str) -> frozenset[str]:
    """The names of the tests in a file, or in all files of a folder."""
    place = ROOT / path
    files = [place] if place.is_file() else sorted(place.rglob("test_*.py"))
    return frozenset(re.findall(r"^(?:async )?def (test_\w+)\(", "\n".join(file.read_text("utf-8") for file in files), re.M))


@pytest.mark.parametrize("promise", PROMISES, ids=lambda promise: promise.split("**")[1])
def test_a_promise_names_tests_that_are_there(promise):
    places = re.findall(r"`(tests/[\w/.]+)`", promise)
    names = re.findall(r"`(test_\w+)`", promise)
    assert names or places, "whoever reads it wants to know how it is held"
    for place in places:
        assert (ROOT / place).exists() and (place == "tests/serving.py" or named_in(place)), place
    there = frozenset().union(*map(named_in, places))
    assert not set(names) - there, "a test is named that is in none of the files that are named with it"


def test_each_hole_that_was_looked_for_is_named():
    """So that nobody takes a line away with its test."""
    for hole in (
        "path",
        "link",
        "pickle",
        "Python",
        "token",
        "name",
        "notebook",
        "CSV",
        "training",
        "room",
        "visit",
        "header",
        "log",
    ):
        assert any(hole in promise.lower() or hole in promise for promise in PROMISES), hole
