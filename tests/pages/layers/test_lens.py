"""Page "Layers" with a lens: what it says of one to beginners, and which one it opens with."""

import pytest

from pages.layers.recipes import TOP, rank_in_words
from tests.pages.opening import open_link
from ui.lessons import course


def test_a_rank_is_said_in_words():
    assert (
        rank_in_words(1) == "first choice" and rank_in_words(TOP) == "among the first 5" and rank_in_words(8191) == "far behind"
    )


@pytest.mark.parametrize(
    ("link", "lens"),
    [("level=intermediate&part=Lens", "tuned lens"), (course.address({"lesson": "layers"}).partition("?")[2], "logit lens")],
    ids=["of the page", "of the lesson that asks about the other one"],
)
def test_the_lens_that_a_link_need_not_name_is_the_one_that_the_page_opens_with(link, lens):
    assert open_link("layers", link).session_state["lens"] == lens
