"""Page "Layers" with a lens: what it says of one to beginners, and which one it opens with."""

import pytest

import models
from analysis.lens import lens
from pages.layers import recipes
from pages.layers.recipes import TOP, rank_in_words
from tests.pages.levels import flat, read
from tests.pages.opening import header_of, open_link
from ui.lessons import course
from viz.numbers import percent


def test_a_rank_is_said_in_words():
    assert (
        rank_in_words(1) == "first choice" and rank_in_words(TOP) == "among the first 5" and rank_in_words(8191) == "far behind"
    )


@pytest.mark.parametrize(
    ("link", "lens"),
    [("level=intermediate&part=Lens", "logit lens"), (course.address({"lesson": "layers"}).partition("?")[2], "logit lens")],
    ids=["of the page", "of a lesson"],
)
def test_the_lens_that_a_link_need_not_name_is_the_one_that_the_page_opens_with(link, lens):
    assert open_link("layers", link).session_state["lens"] == lens


def test_beginners_see_the_lens_of_the_overview_and_no_choice_of_lenses():
    app = open_link("layers", "part=Lens&lens=tuned+lens")
    assert "if it stopped there" in read(app) and "lens" not in {choice.key for choice in app.button_group}
    app = open_link("layers", "level=intermediate&part=Lens&lens=tuned+lens")
    assert "affine map" in read(app)


def test_beginners_see_the_layers_without_the_input():
    model = models.load("writer")
    trace = model.trace("The cat sat")
    options = {"positions": [0, 1, 2, 3], "tuned": False}
    place = {"column": 3, "layer": 2}
    for simple, rows in ((True, model.info.layers), (False, model.info.layers + 1)):
        grid = recipes.lens_cells(model, trace, **options, tokens=["a"] * 4, colour="probability", chosen=(2, 3), simple=simple)
        others = [draw(model, trace, **options, **place, simple=simple) for draw in (recipes.lens_position, recipes.lens_answer)]
        for view in (grid, *others):
            header = header_of(view.data)
            assert len(header["rows"]) == rows and header["rows"][header["chosen"][0]] == "L1"
    app = open_link("layers", "part=Lens&text=The+cat+sat")
    assert [fold.label for fold in app.expander] == ["More about this token"] and "from the input" not in read(app)


def test_the_words_name_the_layers_whose_predictions_they_report():
    """Row l + 1 of the lens is what block l left, and blocks count from 0."""
    model = models.load("writer")
    seen = lens(model.trace("The cat sat"))
    last, settled = model.info.layers - 1, int(seen.settled[-1]) - 1
    assert settled >= 0, "this answer stands from the input on, so the words name no block"
    words = read(open_link("layers", "level=expert&part=Lens&lens=logit+lens&text=The+cat+sat"))
    assert f"has rank 1 **{'only after the last layer, ' if settled == last else 'from '}L{settled}" in words
    share = flat(percent(seen.probabilities[-1, -1, 0]))
    assert f"In row “L{last}”, the likeliest token is “{model.token_text(int(seen.answer[-1])).strip()}” ({share})" in words


def test_a_lesson_chooses_a_lens():
    app = open_link("layers", "lesson=first-look&step=4")
    assert (app.session_state["part"], app.session_state["lens"]) == ("Lens", "logit lens")
