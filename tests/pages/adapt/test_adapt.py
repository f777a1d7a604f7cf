"""Page "Adapt": a model is taught, opens on all pages at any strength, and is taken away; what cannot be is a sentence."""

from __future__ import annotations

import io
import math
import time
import zipfile
from dataclasses import replace
from pathlib import Path
from urllib.parse import parse_qs, quote_plus

import numpy as np
import pandas as pd
import pytest

import models
from models.adapting.measuring import Measured
from models.adapting.recipe import Recipe
from models.adapting.teaching import Teaching
from pages.adapt import display, strength
from tests.pages.opening import PATIENCE, finish, open_link, press, words_on
from tests.pages.taking import assert_made_again, offered
from ui.escaping import display_name, distinct_name, loadable_name
from ui.memory import loaded, trainings
from ui.picture import files
from ui.picture.caption import caption
from ui.zipped import zip_folder

KEY = "0123456789abcdef" * 2
TEXT = "My dog is called Rex.\nThe king is called Zog."
SHORT = "level=intermediate&adapt-steps=3&adapt-rank=1&adapt-place=Attention"


@pytest.fixture(scope="module")
def taught() -> trainings.Trained:
    """The writer after three steps, in the memory of the server."""
    teaching = Teaching(loaded.model("writer"), TEXT, Recipe(steps=3, rank=1, every=3))
    teaching.advance(9)
    model = trainings.write_model(KEY, teaching)
    loaded.model(model.name)
    loaded.model(f"taught writer with LoRA on 2 sentences, 3 steps at 50 % ({KEY})")
    return model


def link(name: str, **more: str) -> str:
    return "&".join([f"model={quote_plus(name)}&trained={KEY}", *(f"{key}={quote_plus(value)}" for key, value in more.items())])


@pytest.mark.parametrize("level", ["beginner", "intermediate", "expert"])
def test_before_it_begins_the_page_says_what_will_happen(level):
    app = open_link("adapt", f"level={level}")
    assert not app.exception and "Nothing is taught yet" in words_on(app)
    assert bool(app.number_input) == (level != "beginner")


def test_sentences_are_taught_and_what_was_learned_stands_beside_chance():
    app = open_link("adapt", SHORT)
    press(app, "Start")
    name, teaching = app.session_state["teaching"], None
    for entry, owned in trainings._owned.items():
        teaching = owned.training if entry == name else teaching
    assert teaching is not None and teaching.recipe == Recipe(steps=3, rank=1, place="attention")
    until = time.monotonic() + PATIENCE
    while teaching.state == "running" and time.monotonic() < until:
        time.sleep(0.02)
    app = finish(app.run())
    words = words_on(app)
    assert "Done: 3 steps" in app.get("progress")[0].proto.text and "is wrong there" in words
    first, last = teaching.measured[0], teaching.measured[-1]
    forgot = f"was {np.exp(first.others):,.0f} and is now {np.exp(last.others):,.0f}"
    assert (forgot in words) == (last.others > first.others) == ("What it forgets" in words)
    assert app.button_group(key="adapt-part").value == "Sentences" and [len(table.value) for table in app.table] == [4, 4]
    assert app.session_state["adapt-written"][-1] == teaching.continuations()
    app.text_input(key="adapt-asked").set_value("The name of my *dog* is").run()
    assert app.session_state["adapt-answered"][-1] == teaching.continue_text("The name of my *dog* is")
    assert not app.exception and len(app.table[1].value) == 5
    app.button_group(key="adapt-part").set_value("Learning").run()
    assert not app.exception and not app.table
    app.button_group(key="adapt-part").set_value("Strength").run()
    measured = app.session_state["adapt-dialled"][-1]
    assert not app.exception and measured[10].chances == pytest.approx(last.chances, rel=1e-4)
    assert f"was {np.exp(first.others):,.0f}" in words_on(app) or "no more than before" in words_on(app)
    app.button_group(key="adapt-part").set_value("Weights").run()
    assert "12,288 numbers learn" in words_on(app), "two vectors for each of 24 maps of 256 by 256"
    press(app, "Open on all pages")
    assert app.session_state["model"].startswith("taught writer with LoRA on 4 sentences, 3 steps (")
    press(app, "Reset")
    assert "Nothing is taught yet" in words_on(app) and teaching.state == "done"


@pytest.mark.parametrize(
    ("right", "expected"),
    [([0.1, 0.5, 0.91, 1.0], 2), ([0.1, 0.2, 0.3, 1.0], 3), ([0.95, 1.0, 1.0, 1.0], 0), ([0.95, 0.2, 0.95, 1.0], 2)],
)
def test_the_least_strength_is_enough_there_and_at_all_above(right, expected):
    assert strength.least(right) == expected


def test_a_link_carries_the_sentences_unless_they_are_too_long():
    app = open_link("adapt", f"adapt-sentences={quote_plus(TEXT)}")
    assert app.text_area(key="adapt-sentences").value == TEXT
    assert "A link carries at most" not in words_on(app)
    app.text_area(key="adapt-sentences").set_value("My dog is called Rex.\n" * 100).run()
    assert "A link carries at most 1,000 characters" in words_on(app)
    assert open_link("adapt", "").text_area(key="adapt-sentences").value.startswith("My dog is called Rex.\nThe king of the red")


@pytest.mark.parametrize(
    ("after", "heading"), [(4.0, "not lost"), (5.0, "not lost"), (5.6, "lost"), (5.8, "damaged"), (math.nan, "not lost")]
)
def test_a_model_counts_as_damaged_once_its_perplexity_on_other_text_has_doubled(after, heading):
    first = Measured(0, 3.0, 5.0, 3.0, (0.1,), ())
    assert display.forgotten(first, replace(first, step=3, others=after)) == heading


def test_its_link_opens_it_at_any_strength(taught):
    app = open_link("type", link("taught writer with LoRA on 2 sentences, 3 steps"))
    assert app.session_state["in-use"] == taught.name and app.slider(key="strength").value == 100
    assert app.text_input(key="text").value == "My dog is called"
    app.slider(key="strength").set_value(50).run()
    app = finish(app)
    assert app.session_state["in-use"] == f"taught writer with LoRA on 2 sentences, 3 steps at 50 % ({KEY})"
    half = loaded.model(app.session_state["in-use"])
    weights = [dict(model.network.named_parameters()) for model in (loaded.model("writer"), half, loaded.model(taught.name))]
    name = "blocks.1.attention.value.weight"
    np.testing.assert_allclose(weights[1][name], (weights[0][name] + weights[2][name]) / 2, atol=1e-6)
    again = open_link("type", link("taught writer with LoRA on 2 sentences, 3 steps at 50 %"))
    assert again.session_state["in-use"] == half.info.name and again.slider(key="strength").value == 50
    assert "as it was taught on page Adapt" in words_on(again) and KEY not in words_on(again)
    assert again.selectbox(key="model").options.count("taught writer with LoRA on 2 sentences, 3 steps") == 1


def test_without_its_key_it_opens_for_nobody_else(taught):
    app = open_link("type", f"model={quote_plus('taught writer with LoRA on 2 sentences, 3 steps at 50 %')}")
    assert app.session_state["model"] == "writer" and "stays for as long as its server runs" in words_on(app)


def test_what_is_taught_next_begins_with_the_model_as_it_was(taught):
    app = open_link("adapt", link("taught writer with LoRA on 2 sentences, 3 steps") + f"&{SHORT}")
    assert "taught to “writer”" in words_on(app)


def test_names_at_a_strength_belong_to_the_same_model(taught):
    half = f"taught writer with LoRA on 2 sentences, 3 steps at 50 % ({KEY})"
    assert trainings.find(half) is taught and trainings.examples(half) == ["My dog is called", "The king is called"]
    assert trainings.full_name("taught writer with LoRA on 2 sentences, 3 steps at 50 %", KEY) == half
    assert trainings.full_name(distinct_name(half), KEY) == half
    assert (
        trainings.keys(half, "writer") == KEY
        and trainings.NAMED.fullmatch(half)
        and trainings.NAMED.fullmatch(display_name(half))
    )


@pytest.mark.parametrize("part", ["Sentences", "Learning", "Strength", "Weights"])
def test_each_picture_is_taken_away_with_its_numbers(monkeypatch, part):
    teaching = Teaching(loaded.model("writer"), TEXT, Recipe(steps=2, rank=1, every=1))
    teaching.advance(9)
    monkeypatch.setattr(trainings, "my_teaching", lambda: (KEY, teaching))
    pictures = offered(monkeypatch, "adapt", f"level=expert&adapt-part={part}")
    assert len(pictures) == {"Sentences": 2, "Learning": 1, "Strength": 2, "Weights": 2}[part]
    for picture in pictures.values():
        assert_made_again(picture)
        (array,) = files.numbers(picture).values()
        table = pd.read_csv(io.BytesIO(files.csv(picture, caption(picture))))
        assert len(table) == array.values.size


def test_its_folder_is_taken_away_and_opens_elsewhere(taught, tmp_path):
    with zipfile.ZipFile(io.BytesIO(zip_folder(taught.folder))) as archive:
        archive.extractall(tmp_path)
    opened = models.load(str(tmp_path / "taught-writer-with-LoRA-on-2-sentences-3-steps"))
    name = taught.name.replace(" (", " at 50 % (")
    assert loadable_name(taught.name) == f"./{Path(opened.info.name).name}" and loadable_name(name).endswith("-3-steps at 50 %")
    text = "My dog is"
    np.testing.assert_allclose(opened.trace(text).logits, loaded.model(taught.name).trace(text).logits, atol=1e-4)


@pytest.mark.parametrize(
    ("choices", "sentences", "words"),
    [
        ("", "Rex", "is one word"),
        ("", " ", "nothing to learn"),
    ],
)
def test_what_cannot_be_taught_is_a_sentence_and_the_page_stands(choices, sentences, words):
    app = open_link("adapt", choices + SHORT)
    app.text_area(key="adapt-sentences").set_value(sentences).run()
    press(app, "Start")
    assert words in app.error[0].value and not app.exception
    assert app.button(key="adapt-start") and app.text_area(key="adapt-sentences").value == sentences


def test_a_model_that_cannot_be_taught_is_named_at_once():
    app = open_link("adapt", f"model=filler&{SHORT}")
    assert "does not continue a text" in app.info[0].value and app.button(key="adapt-start").disabled


def test_a_link_with_choices_that_do_not_exist_says_so():
    app = open_link("adapt", "level=expert&adapt-method=Magic&adapt-rank=99&adapt-place=Nowhere")
    assert not app.exception
    assert all(word in words_on(app) for word in ("Magic", "99", "Nowhere"))


def test_the_page_of_its_address_keeps_the_choices():
    app = open_link("adapt", "level=expert&adapt-method=IA3&adapt-place=Both&adapt-steps=6")
    assert app.session_state["adapt-method"] == "IA3" and app.session_state["adapt-place"] == "Both"
    assert parse_qs("adapt-steps=6")["adapt-steps"] == [str(app.number_input(key="adapt-steps").value)]
