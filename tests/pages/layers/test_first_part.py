"""The part that page "Layers" opens with."""

import pytest

from tests.pages.opening import open_link

TEXT = "text=The+cat+sat"


@pytest.mark.parametrize(
    ("link", "part"),
    [
        (TEXT, "Lens"),
        (f"{TEXT}&part=Statistics", "Statistics"),
        (f"{TEXT}&part=Evolution", "Lens"),
        (f"{TEXT}&level=intermediate", "Evolution"),
        (f"{TEXT}&model=sorter", "Statistics"),
    ],
    ids=["for a beginner", "of a link", "of a link to what beginners do not have", "for others", "where there are no guesses"],
)
def test_the_page_opens_with_the_guesses_of_each_layer_for_beginners(link, part):
    app = open_link("layers", link)
    assert app.session_state["part"] == part
    assert (app.session_state["address"]["part"] or part) == part  # an address names what another level would not open with


def test_a_part_stays_from_level_to_level():
    app = open_link("layers", f"{TEXT}&part=Statistics")
    app.segmented_control(key="level").set_value("intermediate").run()
    assert app.session_state["part"] == "Statistics"
