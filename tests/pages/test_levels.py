"""docs/levels.md says what each page shows, explains and warns of at each level: this is so, and at no other level."""

from __future__ import annotations

import re
from functools import cache

import pytest

from tests.grids import grid
from tests.pages.levels import labels, read, says
from tests.pages.opening import PAGES, open_link
from tests.serving import ROOT
from ui.state import LEVELS

HEADINGS = re.split(r"^## +(.+)$", (ROOT / "docs" / "levels.md").read_text("utf-8"), flags=re.M)[1:]
TABLES = HEADINGS[2:]  # the first lists words, which test_vocabulary.py reads
SHOWN, *WORDS = TABLES[::2]
ROWS = [
    (table, *(cell.strip() for cell in line.strip("|").split(" | ")))
    for table, body in zip(TABLES[::2], TABLES[1::2], strict=True)
    for line in body.splitlines()
    if line.startswith("|") and not line.startswith(("|---", "| page"))
]
LINKS = sorted({row[1] for row in ROWS})


@cache
def page(link: str, level: str) -> tuple[set[str], str]:
    """The labels and the words of a page at a level."""
    name, _, choices = link.partition("?")
    app = open_link(name, f"level={level}&{choices}")
    return labels(app), read(app)


@pytest.mark.parametrize("link", grid(LINKS, [*LINKS][::2]))
def test_a_page_has_what_the_table_says_at_these_levels_and_at_no_other(link):
    for table, _, part, *cells in (row for row in ROWS if row[1] == link):
        named = [re.findall(r"`([^`]+)`", cell) for cell in cells]
        assert len(cells) == len(LEVELS) and all(is_there or cell == "–" for is_there, cell in zip(named, cells, strict=True)), (
            part
        )
        for level, here in zip(LEVELS, named, strict=True):
            shown, text = page(link, level)
            for name in {name_there for each in named for name_there in each}:
                there = name in shown if table == SHOWN else says(text, link.partition("?")[0], level, name)
                assert there == (name in here), f"{link}, {part}, {level}: “{name}” is {'' if there else 'not '}there"


def test_every_page_stands_in_the_table():
    assert {row[1].partition("?")[0] for row in ROWS if row[0] == SHOWN} == set(PAGES)
    assert {row[0] for row in ROWS} == {SHOWN, *WORDS}


def test_a_beginner_meets_no_formula_and_no_code():
    for link in LINKS:
        shown, _ = page(link, LEVELS[0])
        assert not [text for text in shown if re.search(r"_|√|d_|RMS", text)], link
