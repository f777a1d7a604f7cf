"""What a link asks for and a beginner does not have is said in one sentence, and is there at the level that it names."""

from __future__ import annotations

import pytest

from tests.grids import grid
from tests.pages.opening import open_link, words_on

TEXT = "text=The+cat+sat"
LATER = {  # page and link for a beginner, and what its sentence says
    ("type", "layer=L3&head=H5"): "layer “L3” and head “H5”. Choose the level “Intermediate”",
    ("type", "temperature=1.5&level=intermediate&bars=20"): "bars “20”. Choose the level “Expert”",
    ("type", "temperature=1.5"): "temperature “1.5”. Choose the level “Intermediate”",
    ("attention", "layer=L3&whole-words=true&view=Model"): "layer “L3”, whole words “true” and view “Model”. Choose",
    ("attention", "view=Heatmap&heat=all+heads&compare=layer"): "heat “all heads” and compare “layer”. Choose",
    ("attention", "view=Reading&shade=rollout"): "shade “rollout”. Choose the level “Intermediate”",
    ("layers", "part=Evolution&movie=one+head"): "movie “one head” and part “Evolution”. Choose the level “Intermediate”",
    ("flow", "discard=0.5&level=intermediate"): "discard “0.5”. Choose the level “Expert”",
    ("space", "projection=t-SNE"): "projection “t-SNE”. Choose the level “Intermediate”",
    ("generate", "generate-top-k=5&generate-method=Beams"): "method “Beams” and top k “5”. Choose the level “Intermediate”",
    ("generate", "generate-min-p=0.1&level=intermediate"): "min p “0.1”. Choose the level “Expert”",
    ("heads", "heads-label=induction"): "heads label “induction”. Choose the level “Intermediate”",
    ("heads", "heads-by=induction&level=intermediate"): "heads by “induction”. Choose the level “Expert”",
    ("build", "build-norm=rms&build=Why+√d"): "build “Why √d” and norm “rms”. Choose the level “Intermediate”",
    ("train", "train-steps=40"): "steps “40”. Choose the level “Intermediate”",
    ("train", "train-seed=7"): "seed “7”. Choose the level “Expert”",
}


@pytest.mark.parametrize(("page", "link"), grid(LATER, LATER.keys() - {("heads", "heads-label=induction")}))
def test_what_a_level_does_not_have_is_said_with_the_level_that_has_it(page, link):
    notices = [
        element.value for element in open_link(page, f"{TEXT}&{link}").info if element.value.startswith("The link also asks for")
    ]
    assert len(notices) == 1 and LATER[page, link] in notices[0].replace("\\", "")


@pytest.mark.parametrize(
    "link", ["", "view=Reading", "level=expert&view=Model&layer=L3&whole-words=true", "layer=Seven&level=expert"]
)
def test_nothing_waits_where_the_level_has_all_that_the_link_asks_for(link):
    assert "The link also asks for" not in words_on(open_link("attention", f"{TEXT}&{link}"))


def test_what_waited_is_chosen_at_the_level_that_has_it():
    app = open_link("attention", f"{TEXT}&view=Model&layer=L3&head=H5")
    app.segmented_control(key="level").set_value("intermediate").run()
    assert (app.session_state["layer"], app.session_state["head"], app.session_state["view"]) == (3, 5, "Model")
    app.segmented_control(key="view").set_value("Head").run()
    assert app.session_state["view"] == "Head", "the link is asked once"
    assert "The link also asks for" not in words_on(app)


@pytest.mark.parametrize(
    ("page", "key", "value", "written"),
    [
        ("space", "space", "Vocabulary", "Vocabulary"),
        ("build", "build-layers", 3, "3"),
        ("train", "train-layers", 3, "3"),
    ],
)
def test_the_address_says_what_is_chosen_at_every_level(page, key, value, written):
    app = open_link(page, TEXT)
    for level in ("beginner", "expert", "beginner"):
        app.segmented_control(key="level").set_value(level).run()
        kind = "segmented_control" if key == "space" else "number_input"
        first = getattr(app, kind)(key=key).value
        getattr(app, kind)(key=key).set_value(value).run()
        assert app.session_state["address"][key] == written
        getattr(app, kind)(key=key).set_value(first).run()
