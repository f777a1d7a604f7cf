"""The words of page Flow about its measurements, at every level."""

from __future__ import annotations

import re

import pytest

from tests.serving import ROOT
from ui.lexicon.marks import sections

PAGES = ROOT / "pages"
LEVELS = ("beginner", "intermediate", "expert")


@pytest.mark.parametrize("level", LEVELS)
def test_a_slope_is_no_part_of_a_logit_and_a_logit_no_probability(level):
    words = sections(PAGES / "flow" / f"{level}.md")["method attention × gradient"]
    assert "more likely" not in words and not re.search(r"(?<!not what the look )adds to the logit", words)
