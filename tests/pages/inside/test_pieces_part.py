"""The stage "pieces" of page Inside, without a browser: its words, its links, and what can be taken away of it."""

from __future__ import annotations

from itertools import product

import pytest
import transformers

import models
from models.pieces.apart import HIDDEN
from tests.grids import grid
from tests.models.huggingface.families import folder
from tests.models.networks import network
from tests.models.pieces.test_pieces import KINDS
from tests.pages.opening import open_link, words_on
from tests.pages.taking import arrays, assert_made_again, offered, opened, table
from ui import state
from ui.memory import allowed, loaded

HERE = "stage=pieces"
TEXT = "text=The+unbelievable+dog"
MINE = ["inside-pieces words", "inside-pieces steps", "inside-tokenizers own", "inside-tokenizers other", "inside-probes"]
FAMILIES = {"BERT": "BERT", "T5": "T5", "GPT-2": "bytes for the unknown"}
IN_PYTHON = "ByT5"  # a tokenizer that does not show its steps


@pytest.fixture(scope="module")
def hub_kinds(tmp_path_factory) -> dict[str, str]:
    """Folders of tiny networks with the tokenizers of other families."""
    home = folder(tmp_path_factory.mktemp("kinds"))
    folders = {}
    for name, kind in [*FAMILIES.items(), ("T5", IN_PYTHON)]:
        transformers.set_seed(0)
        tiny, tokenizer = network(name), KINDS[kind](home)
        tiny.resize_token_embeddings(max(len(tokenizer), tiny.config.vocab_size))
        where = home / kind.replace(" ", "-").lower()
        tiny.save_pretrained(where)
        tokenizer.save_pretrained(where)
        folders[kind] = str(where)
    return folders


@pytest.fixture
def anybody(monkeypatch):
    """Whoever opens the page may open any folder."""
    monkeypatch.setattr(allowed, "folders", lambda: allowed.roots(address="localhost"))


def mine(drawings: dict) -> dict:
    return {name: drawing for name, drawing in drawings.items() if name in MINE}


TURNS = [(name, state.LEVELS[number % 3]) for number, name in enumerate(models.names())]  # each model at one level


@pytest.mark.parametrize(("model", "level"), grid(product(models.names(), state.LEVELS), TURNS))
def test_the_part_is_there_at_every_level_and_its_pictures_are_made_again(monkeypatch, level, model):
    drawings = mine(offered(monkeypatch, "inside", f"{HERE}&word=0&level={level}&model={model}&{TEXT}"))
    assert list(drawings) == MINE
    for drawing in drawings.values():
        assert_made_again(drawing)
        assert len(table(drawing)) > 0 and set(drawing.numbers()) <= set(arrays(drawing).files)


@pytest.mark.parametrize(
    ("kind", "level"), grid(product(FAMILIES.values(), state.LEVELS), [*zip(FAMILIES.values(), state.LEVELS, strict=False)])
)
def test_models_of_the_hub_have_it_too(monkeypatch, anybody, hub_kinds, kind, level):
    loaded.model(hub_kinds[kind])  # so that the page need not be seen waiting for it
    drawings = mine(offered(monkeypatch, "inside", f"{HERE}&word=0&level={level}&model={hub_kinds[kind]}&text=the+cat+sat"))
    assert list(drawings) == MINE
    for drawing in drawings.values():
        assert_made_again(drawing)


@pytest.mark.parametrize("kind", FAMILIES.values())
def test_a_text_is_read_by_the_tokenizer_of_a_model_whose_weights_are_not(monkeypatch, anybody, hub_kinds, kind):
    drawings = mine(offered(monkeypatch, "inside", f"{HERE}&level=expert&{TEXT}&other-tokenizer={hub_kinds[kind]}"))
    assert list(drawings) == MINE
    assert_made_again(drawings["inside-tokenizers other"])


@pytest.mark.parametrize("level", state.LEVELS)
def test_a_tokenizer_that_hides_its_steps_is_said_and_still_compared(monkeypatch, anybody, hub_kinds, level):
    loaded.model(hub_kinds[IN_PYTHON])
    link = f"{HERE}&other-tokenizer=translator&level={level}&model={hub_kinds[IN_PYTHON]}&text=the+cat"
    app, drawings = opened(monkeypatch, "inside", link)
    assert list(mine(drawings)) == MINE[2:]
    assert any(HIDDEN.encode() in component.proto.bytes for component in app.get("bidi_component"))


def test_a_tokenizer_that_cannot_be_read_is_said(monkeypatch, anybody, tmp_path):
    app = open_link("inside", f"{HERE}&{TEXT}&other-tokenizer={tmp_path}")
    assert any("holds no config" in warning for warning in [*app.warned, *(each.value for each in app.warning)])


@pytest.mark.parametrize("level", state.LEVELS)
def test_it_counts_and_says_what_a_text_costs(level):
    app = open_link("inside", f"{HERE}&word=0&level={level}&{TEXT}")
    assert "The weather is beautiful today" in words_on(app)
    (other,) = [selectbox for selectbox in app.selectbox if selectbox.label == "The other tokenizer"]
    assert other.value == "translator" and "writer" not in other.options
    other.set_value("filler").run()
    assert not app.exception and not app.error


def test_a_link_opens_the_word_and_the_other_tokenizer(monkeypatch):
    drawings = mine(offered(monkeypatch, "inside", f"{HERE}&{TEXT}&word=2&other-tokenizer=filler"))
    assert drawings["inside-pieces steps"].options["word"] == 2
    assert drawings["inside-tokenizers other"].options == {"other": "filler"}
    first = mine(offered(monkeypatch, "inside", f"{HERE}&level=intermediate&{TEXT}"))
    assert first["inside-pieces steps"].options["word"] == 2, "the word of the token that is followed"


def test_the_word_of_the_kept_token_is_shown(monkeypatch):
    drawings = mine(offered(monkeypatch, "inside", f"{HERE}&level=intermediate&{TEXT}&token=7"))
    assert drawings["inside-pieces steps"].options["word"] == 2, (
        "token 7 is “ dog”: the start, “The” and five pieces stand before it"
    )


def test_a_word_that_is_not_there_is_told_of(monkeypatch):
    app = open_link("inside", f"{HERE}&{TEXT}&word=17")
    assert "The link asks for the word “17”" in words_on(app) + "".join(app.warned)


def test_a_model_that_may_not_be_opened_is_refused_in_a_sentence(monkeypatch):
    monkeypatch.setattr(allowed, "folders", lambda: ())
    app = open_link("inside", f"{HERE}&{TEXT}&other-tokenizer=/somewhere")
    assert any("could not be opened" in warning.value for warning in app.warning)


def test_an_empty_text_has_no_words_and_no_steps(monkeypatch):
    drawings = mine(offered(monkeypatch, "inside", f"{HERE}&level=intermediate&text="))
    assert "inside-pieces steps" not in drawings and "inside-probes" in drawings


def test_a_beginner_unfolds_the_steps_and_the_other_tokenizer():
    app = open_link("inside", f"{HERE}&level=beginner&{TEXT}")
    others = {"Model", "The other tokenizer"}
    assert {selectbox.label for selectbox in app.selectbox} == {"Model"}
    app.button(key="inside-fold").click().run()
    assert {selectbox.label for selectbox in app.selectbox} == others
    app.button(key="inside-fold").click().run()
    assert {selectbox.label for selectbox in app.selectbox} == {"Model"} and not app.exception
