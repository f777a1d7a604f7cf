"""The words of page Flow about its measurements, at every level."""

from __future__ import annotations

import re

import pytest

import models
from analysis import rollout
from pages.flow import recipes
from tests.pages.levels import flat, read
from tests.pages.opening import header_of, open_link
from tests.serving import ROOT
from ui.lexicon.marks import sections
from viz import percent
from viz.numbers import decimal

PAGES = ROOT / "pages"
LEVELS = ("beginner", "intermediate", "expert")


@pytest.mark.parametrize("level", LEVELS)
def test_a_slope_is_no_part_of_a_logit_and_a_logit_no_probability(level):
    words = sections(PAGES / "flow" / f"{level}.md")["method attention × gradient"]
    assert "more likely" not in words and not re.search(r"(?<!not what the look )adds to the logit", words)


def test_a_beginner_reads_first_what_most_goes_back_to_and_why_that_is_the_start():
    shares = rollout(models.load("writer").trace("The cat sat").attention["self"])[-1][-1]
    assert shares.argmax() == 0
    app = open_link("flow", "text=The+cat+sat")
    words = read(app)
    assert flat(f"“start” has {percent(shares[0])}") in words and "many heads rest there" in words
    assert [fold.label for fold in app.expander] == ["Two other ways to ask"] and not app.expander[0].proto.expanded


def test_beside_the_start_a_beginner_sees_the_other_shares_in_all_shades():
    trace = models.load("writer").trace("The cat sat")
    options = {"position": 3, "token": None, "choices": (), "between": None, "second": "", "scope_options": {}, "link": "flow"}
    header = header_of(recipes.method(models.load("writer"), trace, name="rollout", simple=True, **options).data)
    shares = rollout(trace.attention["self"])[-1][-1]
    assert header["quantity"]["apart"] == 0 and header["quantity"]["high"] == f"{decimal(100 * shares[1:].max())}\u00a0%"
    assert "apart" not in header_of(recipes.method(models.load("writer"), trace, name="rollout", simple=False, **options).data)


def test_the_first_token_goes_back_to_itself_alone():
    words = read(open_link("flow", "text=The+cat+sat&token=0"))
    assert "Followed back through all layers, most comes" not in words and "counts most" not in words
