"""The part that page "Layers" opens with."""

import pytest

from pages.layers.boards.statistics import COMMON, NUMBERS
from tests.pages.levels import read
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


def test_statistics_has_one_number_for_beginners_the_common_ones_for_others_and_all_for_experts():
    common = {NUMBERS[name][0] for name in COMMON}
    rare = {"Specialisation", "Diversity", "in nats"}
    for level, there in (("beginner", set()), ("intermediate", common), ("expert", common | rare)):
        words = read(open_link("layers", f"{TEXT}&part=Statistics&level={level}"))
        assert {title for title in common | rare if title in words} == there
