"""Beginners read which head the words on page Attention are about, and in which layer it is."""

from __future__ import annotations

import pytest

from tests.serving import ROOT
from ui.lexicon.marks import sections
from ui.state import LEVELS


@pytest.mark.parametrize("level", LEVELS)
def test_every_summary_names_the_head_and_its_layer(level):
    summaries = {name: text for name, text in sections(ROOT / "pages" / "attention" / f"{level}.md").items() if "summary" in name}
    assert summaries and all("{layer}" in text and "{head}" in text for text in summaries.values())
