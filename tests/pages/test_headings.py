"""Every page says at every level what it is called and, in one line, what it is for."""

from __future__ import annotations

import pytest

from tests.serving import ROOT
from ui.words import sections

PAGES = sorted(path.parent.name for path in (ROOT / "pages").glob("*/page.py"))
LONGEST = 130  # characters, which stand beside the name at 1,280 pixels


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
@pytest.mark.parametrize("page", PAGES)
def test_a_page_has_its_name_and_one_line_that_says_what_it_is_for(page, level):
    said = sections(ROOT / "pages" / page / f"{level}.md")
    assert said["title"] == page.capitalize()
    assert said["purpose"].endswith(".") and "\n" not in said["purpose"] and 20 < len(said["purpose"]) <= LONGEST
