"""The ways that visitors follow are bounded by their bytes over all of them, and the page draws for whom theirs has left."""

from __future__ import annotations

import numpy as np
import pytest

import models
from models.reading.bounded import Bounded
from pages.inside import kept
from tests.pages.opening import open_link, words_on

LONG = "The farmer gave the hungry dog a bone. " * 30


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Bounded:
    store: Bounded = Bounded(1, kept.BYTES)
    monkeypatch.setattr(kept, "ways", store)
    return store


def test_many_visitors_with_large_ways_stay_below_the_bound_and_the_oldest_goes_first(ways):
    writer = models.load("writer")
    traces = [writer.trace(f"{number} {LONG}", remember=False) for number in range(6)]
    first = kept.way("0", writer, traces[0], "self", 3, 5)
    assert first.bytes > 10 * 2**20, "large"
    ways.bytes = int(3.5 * first.bytes)
    for visitor, trace in enumerate(traces):
        kept.way(str(visitor), writer, trace, "self", 3, 5)
        assert ways.size <= ways.bytes
    assert ways.owners == ["3", "4", "5"]
    again = kept.way("0", writer, traces[0], "self", 3, 5)
    assert again is not first and (again.stage("queries").values == first.stage("queries").values).all()


def test_a_way_is_followed_once_while_text_layer_and_token_stay(ways):
    writer = models.load("writer")
    trace = writer.trace("The cat sat")
    first = kept.way("me", writer, trace, "self", 3, 1)
    assert kept.way("me", writer, trace, "self", 3, 1) is first and kept.way("me", writer, trace, "self", 2, 1) is not first
    assert ways.size == sum(way.bytes for way in ways.of("me").values()) > trace.bytes


def test_what_comes_after_the_blocks_is_followed_for_one_token_until_one_of_its_stages_is_open(ways):
    writer = models.load("writer")
    trace = writer.trace("The cat sat")
    at_one_token = kept.way("me", writer, trace, "self", 3, 1)
    assert at_one_token.ends == {1} and kept.way("me", writer, trace, "self", 3, 1, "queries") is at_one_token
    whole = kept.way("me", writer, trace, "self", 3, 1, "logits")
    assert whole.ends == set(range(len(trace.tokens)))
    assert at_one_token.stage("logits").rows(np.array([1])) == pytest.approx(whole.stage("logits").rows(np.array([1])), abs=1e-4)
    assert kept.way("me", writer, trace, "self", 3, 2, "logits") is whole


def test_what_is_kept_of_a_model_goes_with_it(ways):
    writer, filler = models.load("writer"), models.load("filler")
    kept.way("one", writer, writer.trace("The cat"), "self", 1, 1)
    kept.way("two", filler, filler.trace("The cat"), "self", 1, 1)
    kept.forget(writer)
    assert ways.owners == ["two"]


def test_the_page_draws_for_whom_the_way_went(ways):
    app = open_link("inside", "text=The+cat+sat&level=intermediate&layer=L3&stage=weights")
    ways.clear()
    app.session_state["stage"] = "queries"
    app.run()
    assert not app.error and not app.exception and "L3" in words_on(app) and len(ways.owners) == 1
