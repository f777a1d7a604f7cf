"""Experiment "Steer" of page Change: the words are true of the model, at every level and with every kind of model."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import direction, push, random_direction
from analysis.steering import DIRECTIONS, moves
from models.edits import Stream
from models.numbers.softmax import softmax
from pages.change.compose import STEER as FOLDER
from pages.change.steer.ready import READY
from pages.change.steer.recipes import with_random
from tests.grids import grid
from tests.pages.generate.test_generate import board
from tests.pages.opening import finish, open_link, unmarked, words_on
from tests.pages.taking import offered
from ui import state
from ui.lexicon.marks import sections
from viz import percent

STEER = "experiment=Steer&steer=sea,+not+land&text=They+went+to+the"


@pytest.mark.parametrize("level", grid(state.LEVELS, ["intermediate"]))
def test_the_text_and_the_prediction_are_those_of_the_model_with_the_direction_added(monkeypatch, level):
    pictures = offered(monkeypatch, "change", f"{STEER}&level={level}&steer-strength=3")
    model, ready = models.load("writer"), READY["sea, not land"]
    added = 3 * direction(model, ready.pairs, ready.layer)
    plain, steered, by_chance = pictures["steering texts"].known["pieces"]
    assert plain[0] == steered[0] == "They went to the" and len({plain[1], steered[1], by_chance[1]}) == 3
    steps = list(model.generate("They went to the", max_new_tokens=14, edits=[Stream(ready.layer, None, add=added)]))
    assert steered[1].startswith(steps[-1].text)
    bars = pictures["steering bars"]
    ids = [model.tokenize("a " + name.strip())[-1].id for name in bars.numbers()["after"].names["token"][:1]]
    logits = model.trace("They went to the", edits=[Stream(ready.layer, None, add=added)]).logits_at(-1)
    np.testing.assert_allclose(bars.numbers()["after"].values[0], softmax(logits)[ids[0]], rtol=1e-3)


@pytest.mark.thorough
def test_a_push_stands_beside_random_ones_each_with_its_own_word():
    model, ready, verdicts = models.load("writer"), READY["sea, not land"], set()
    for strength in (2, 4, -4):
        added = strength * direction(model, ready.pairs, 3)
        pushes = np.stack([0 * added, added, *(random_direction(added, seed) for seed in range(DIRECTIONS))])
        moved = moves(push(model, model.trace("They went to the"), pushes, 3))
        app = open_link("change", f"{STEER}&level=expert&steer-layer=3&steer-strength={strength}")
        page_text = unmarked(board(app)).replace("\u00a0", " ")
        verdict = sections(FOLDER / "expert.md")[moved.verdict].replace("{all}", "21").replace("{count}", "20")
        assert verdict in page_text
        move, rival = moved.push, moved.strongest
        for token_move, name in ((move, "risen"), (rival, "rival")):
            assert (
                f"“{model.token_text(token_move.token).strip()}”, {percent(token_move.before)} → ".replace("\u00a0", " ")
                in page_text
            ), name
        assert f"rank **{moved.rise_rank} of 21**" in page_text and f"rank **{moved.nats_rank} of 21**" in page_text
        verdicts.add(moved.verdict)
    assert verdicts == {"more", "unclear", "no more"}


def first_guesses(text: str, name: str) -> tuple[str, str, str]:
    """The writer's first guess without and with a ready push, and the verdict on the push."""
    model, ready = models.load("writer"), READY[name]
    layer = (model.info.layers + 1) // 2 if ready.layer is None else ready.layer
    vectors = with_random(ready.strength * direction(model, ready.pairs, layer))
    logits = push(model, model.trace(text), vectors, layer)
    before, after = (model.token_text(int(row.argmax())).strip() for row in logits[:2])
    return before, after, moves(logits).verdict


def test_each_ready_direction_changes_the_first_guess_of_its_text_more_than_random_ones_do():
    assert next(iter(READY.values())).text == state.DEFAULT_TEXT, "the first text of a visitor"
    guesses = {name: first_guesses(ready.text, name) for name, ready in READY.items()}
    assert guesses == {
        "cat, not others": ("ball", "cat", "more"),
        "sea, not land": ("park", "beach", "more"),
        "glad, not sad": ("sad", "happy", "more"),
        "she, not he": ("he", "she", "more"),
    }


def test_a_beginner_sees_the_first_guess_change_and_takes_the_text_of_another_direction():
    app = open_link("change", "experiment=Steer")
    assert "changes the first guess from “ball” to “cat”" in unmarked(board(app))
    model, ready = models.load("writer"), READY["cat, not others"]
    layer = (model.info.layers + 1) // 2 if ready.layer is None else ready.layer
    vectors = with_random(ready.strength * direction(model, ready.pairs, layer))
    first, now, *random = push(model, model.trace(ready.text), vectors, layer).argmax(-1).tolist()
    others, same = sum(guess != first for guess in random), random.count(now) or "none"
    assert f"Of {len(random)} random pushes just as strong, {others} change it too, {same} to “cat”." in unmarked(board(app))
    app = open_link("change", "experiment=Steer&steer=she,+not+he")
    app.button(key="steer-text").click()
    app = finish(app.run())
    assert app.text_input(key="text").value == READY["she, not he"].text
    assert "changes the first guess from “he” to “she”" in unmarked(board(app))
    assert not [button for button in app.button if button.key == "steer-text"]


def test_masks_are_filled_and_the_rest_of_the_text_stays(monkeypatch):
    pictures = offered(monkeypatch, "change", "experiment=Steer&model=filler&text=The+[MASK]+saw+a+[MASK].&steer-strength=4")
    for pieces in pictures["steering texts"].known["pieces"]:
        assert pieces[::2] == ["The ", " saw a ", "."] and all(pieces[1::2])


def test_drawn_with_the_same_dice_a_push_of_nothing_changes_nothing(monkeypatch):
    link = f"{STEER}&level=expert&steer-strength=0&steer-method=Draw+by+dice&steer-seed=4"
    versions = offered(monkeypatch, "change", link)["steering texts"].known["pieces"]
    assert versions[0] == versions[1] == versions[2]


@pytest.mark.parametrize(
    ("link", "sentence"),
    [
        ("steer=my+own+pairs", "Write at least one text"),
        ("steer=my+own+pairs&steer-with=a+/+b&steer-without=c", "Write as many"),
        ("steer=my+own+pairs&steer-with=the+cat&steer-without=the+cat", "do not differ"),
    ],
)
def test_pairs_that_are_none_are_told_of_in_a_sentence(link, sentence):
    app = open_link("change", f"{STEER}&level=intermediate&{link}")
    assert sentence in words_on(app)


NO_TOKEN, NO_MASK = "text=", "model=filler&text=The+cat"


@pytest.mark.parametrize("link", grid([NO_TOKEN, "text=a", NO_MASK, "text=" + 300 * "the+cat+"], [NO_TOKEN, NO_MASK]))
def test_no_token_one_token_no_mask_and_a_full_context(link):
    assert not open_link("change", f"experiment=Steer&level=expert&{link}").warned


def test_a_layer_that_another_model_has_not_gives_way_to_its_last():
    app = open_link("change", "experiment=Steer&level=expert&model=translator&text=The+cat&steer-layer=6")
    assert len(app.warned) == 1 and "the place of the stream “6”" in app.warned[0]


def test_another_direction_brings_its_text_along_but_a_visitors_own_text_stays():
    app = open_link("change", "experiment=Steer&steer-strength=8")
    app.segmented_control(key="steer").set_value("sea, not land")
    app = finish(app.run())
    assert app.text_input(key="text").value == READY["sea, not land"].text
    assert app.session_state["steer-strength"] is None, "the strength that was chosen for another direction is gone"
    assert "changes the first guess from “park” to “beach”" in unmarked(board(app))
    own = open_link("change", "experiment=Steer&text=My+own+words+are")
    own.segmented_control(key="steer").set_value("sea, not land")
    own = finish(own.run())
    assert own.text_input(key="text").value == "My own words are" and own.button(key="steer-text")
    assert "tried out on the text on the button" in words_on(own)
