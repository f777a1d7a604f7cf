"""Every page, at every level, with a model of each kind: it opens, and says what a link asks for in vain."""

from __future__ import annotations

import pytest

from tests.grids import grid, pairwise
from tests.pages.opening import PAGES, open_link, words_on
from tests.serving import ROOT
from ui.lexicon.marks import sections
from ui.state import LEVELS

MODELS = {
    "writer": "text=The+cat+sat+on+the+mat",
    "filler": "text=The+[MASK]+sat+on+the+mat",
    "translator": "text=The+cat+sleeps.&target=Le+chat",
    "sorter": "text=Did+the+dog+see+the+cat",
}


EVERY = pairwise(PAGES, LEVELS, [*MODELS])


@pytest.mark.parametrize(("page", "level", "model"), grid(EVERY, list({row[:2]: row for row in EVERY}.values())[::2]))
def test_a_page_opens_at_every_level_with_every_kind_of_model(page, level, model):
    app = open_link(page, f"model={model}&{MODELS[model]}&level={level}")
    assert not app.warned
    assert f"# {sections(ROOT / 'pages' / page / f'{level}.md')['title']}" in words_on(app)


@pytest.mark.parametrize("page", grid(PAGES, PAGES[::5]))
def test_a_level_that_does_not_exist_is_told_of_and_the_first_one_is_shown(page):
    app = open_link(page, "text=The+cat&level=teacher")
    assert app.warned == ["The link asks for the level “teacher”, which does not exist here. You see the default instead."]
    assert app.session_state["level"] == LEVELS[0]
