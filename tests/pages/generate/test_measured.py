"""The cache and the time of a text that grows, measured and calculated."""

from __future__ import annotations

import pytest

from analysis.step_cost import step_cost
from models.numbers import sizes
from pages.generate.recipes import numbers_per_token
from tests.grids import grid
from tests.pages.generate.test_generate import LINK, press
from tests.pages.opening import open_link, words_on
from ui.memory import loaded


def test_the_cache_is_measured_as_the_formula_says():
    app = press(open_link("generate", f"{LINK}&level=expert&generate-cache=true"), "next")
    model, continuation = loaded.model("writer"), app.session_state["generated"]
    expected = model.cache_bytes(len(continuation.next_step.tokens))
    assert continuation.next_step.read.bytes == expected and words_on(app).count(f"**{expected:,} bytes**") == 2


SHORT, LONG = "I am tired.", "The black cat is sleeping under the table in the garden."


@pytest.mark.parametrize("text", grid([SHORT, LONG], [SHORT]))
def test_the_operations_of_a_translator_are_those_for_the_source_that_is_typed(text):
    app = press(open_link("generate", f"model=translator&level=expert&generate-cache=true&text={text.replace(' ', '+')}"), "next")
    model, continuation = loaded.model("translator"), app.session_state["generated"]
    read, cost = len(continuation.next_step.tokens), step_cost(model, text)
    table = next(frame.value for frame in app.dataframe if "operations with the cache" in frame.value)
    counted = [sizes.count(operations) for operations in (cost.with_cache(read), cost.without_cache(read))]
    assert [table["operations with the cache"][0], table["without it"][0]] == counted
    assert f"your source of {len(model.tokenize(text))} tokens" in words_on(app)
    config = model.network.config
    assert numbers_per_token(model, continuation.next_step) == 2 * config.key_heads * config.d_head, (
        "of one token in one layer, without the source"
    )


def test_milliseconds_are_measured_at_this_length_and_estimated_at_others():
    app = press(open_link("generate", f"{LINK}&level=intermediate&generate-cache=true"), "next")
    table = next(frame.value for frame in app.dataframe if "tokens" in frame.value)
    cached, uncached = table["milliseconds with the cache"], table["milliseconds without it"]
    assert f"**{cached[0]} ms** with the cache and **{uncached[0]} ms** without" in words_on(app)
    for column in (cached, uncached):
        assert all(cell.startswith("about ") for cell in column[1:])
        numbers = [float(cell.removeprefix("about ").replace(",", "")) for cell in column]
        assert numbers == sorted(numbers) and numbers[0] > 0
