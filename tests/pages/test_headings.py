"""Every page says at every level what it is called and, in one line, what it is for and what to try."""

from __future__ import annotations

import re

import pytest

from tests.serving import ROOT
from ui.lexicon.marks import sections

PAGES = sorted(path.parent.name for path in (ROOT / "pages").glob("*/page.py"))
TRY = re.compile(r"\b(?:[Pp]ress|[Cc]hoose|[Cc]hange|[Cc]ompare|point at|look for) ")
LONGEST = 130  # characters, which stand beside the name at 1,280 pixels


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_name_and_one_line_that_says_what_it_is_for_and_what_to_try(page, level):
    words = sections(ROOT / "pages" / page / f"{level}.md")
    assert words["title"] == page.capitalize()
    for purpose in (text for heading, text in words.items() if heading.startswith("purpose")):
        assert purpose.endswith(".") and "\n" not in purpose and 20 < len(purpose) <= LONGEST
        assert TRY.search(purpose), "what to do first"
    assert words["purpose"]
