"""Experiment "What wrote it": the numbers on screen add up to the logit, and a question without an answer gets a sentence."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import models
from analysis import head_sources, logit_attribution
from models.edits import Head
from pages.change.wrote import recipes
from tests.pages.opening import open_link, words_on
from tests.pages.taking import data, offered
from ui import state

WROTE = "experiment=What+wrote+it&text=The+girl+took+her+bag+and+said+that"
TEXT = "The girl took her bag and said that"


@pytest.fixture(scope="module")
def writer():
    return models.load("writer")


@pytest.mark.parametrize("level", state.LEVELS[1:])
def test_the_numbers_on_screen_add_up_to_what_is_asked(monkeypatch, writer, level):
    pictures = offered(monkeypatch, "change", f"{WROTE}&level={level}&change-against=he")
    assert set(pictures) == {"wrote board", "wrote list", "wrote sources"}
    logits = writer.trace(TEXT).logits_at(-1)
    expected = float(logits.max() - logits[writer.tokenize(" he")[-1].id])
    board = pictures["wrote board"].numbers()
    assert np.nansum(board["logits"].values) == pytest.approx(expected, abs=1e-3)
    assert board["sum_so_far"].values[-1] == pytest.approx(expected, abs=1e-3)
    assert pictures["wrote list"].numbers()["logits"].values.sum() == pytest.approx(expected, abs=1e-3)
    packed = pictures["wrote list"].drawn.data
    header = json.loads(packed[4 : 4 + struct.unpack("<I", packed[:4])[0]])
    numbers = [float(text.replace("−", "-")) for text in header["numbers"]]
    assert len(numbers) == recipes.STRONGEST + 1 and f"{sum(numbers):.2f}" == f"{expected:.2f}"


def test_a_head_is_opened_by_a_link_and_its_tokens_sum_to_what_it_wrote(monkeypatch, writer):
    pictures = offered(monkeypatch, "change", f"{WROTE}&level=expert&change-word=she&change-against=he&wrote-cell=L4+H3")
    she, he = (writer.tokenize(word)[-1].id for word in (" she", " he"))
    trace = writer.trace(TEXT)
    table = logit_attribution(writer, trace, she, against=he).query("layer == 4 and head == 3")
    sources = pictures["wrote sources"].numbers()
    np.testing.assert_allclose(sources["logits"].values, head_sources(writer, trace, 4, 3, she, against=he), atol=1e-4)
    assert sources["logits"].values.sum() == pytest.approx(float(table["contribution"].iloc[0]), abs=1e-3)
    np.testing.assert_allclose(sources["attention"].values, trace.attention["self"][4][3, -1], atol=1e-5)


def test_what_was_switched_off_wrote_nothing_here_too(monkeypatch, writer):
    pictures = offered(monkeypatch, "change", f"{WROTE}&level=expert&changes=h5.2,h77.0")
    assert pictures["wrote board"].numbers()["logits"].values[6, 2] == 0
    logits = writer.trace(TEXT, edits=[Head(5, 2)]).logits_at(-1)
    assert np.nansum(pictures["wrote board"].numbers()["logits"].values) == pytest.approx(float(logits.max()), abs=1e-3)
    assert data(pictures["wrote board"].drawn)
    app = open_link("change", f"{WROTE}&level=expert&changes=h5.2,h77.0&wrote-cell=L5+H2")
    assert "does not fit here" in app.info[0].value


def test_words_that_are_typed_and_a_token_against_itself():
    app = open_link("change", f"{WROTE}&level=intermediate&change-against=hippopotamus")
    assert "The question is about the first, “h”" in app.info[0].value and not app.warned
    app = open_link("change", f"{WROTE}&level=intermediate&change-word=she&change-against=she")
    assert "cannot be compared with itself" in app.info[0].value
    app = open_link("change", f"{WROTE}&level=intermediate&wrote-cell=L4+F")
    assert "“L4 F”" in app.warned[0]


@pytest.mark.parametrize(
    ("link", "expected"),
    [
        ("model=filler&text=The+cat+sat&level=intermediate", "so there is no prediction to compare"),
        ("model=filler&text=The+[MASK]+sat&level=expert&wrote-cell=L0+H0", ""),
        ("model=translator&text=The+cat+sat&target=Le&level=intermediate&wrote-cell=cross+L1+H2", ""),
        ("text=&level=intermediate", ""),
        ("text=a&level=expert", ""),
    ],
)
def test_every_kind_of_model_one_token_and_none(link, expected):
    app = open_link("change", f"experiment=What+wrote+it&{link}")
    assert not app.warned and expected.lower() in words_on(app).lower()


def test_where_norms_forbid_a_sum_and_where_nothing_is_predicted_it_is_said(monkeypatch, tmp_path):
    from tests.models.networks import network, tokenizer
    from ui.memory import allowed, loaded

    monkeypatch.setattr(allowed, "folders", lambda: allowed.roots(address="localhost"))
    for name, expected in (("BERT", "more than a norm and a matrix"), ("BERT without a head", "no language-model head")):
        folder = tmp_path / name.replace(" ", "-")
        network(name).save_pretrained(folder)
        tokenizer("encoder").save_pretrained(folder)
        loaded.model(str(folder))
        mask = loaded.model(str(folder)).info.mask
        app = open_link("change", f"experiment=What+wrote+it&model={folder}&level=intermediate&text=The+{mask}+sat")
        assert expected in (words_on(app).replace("\\", ""))
