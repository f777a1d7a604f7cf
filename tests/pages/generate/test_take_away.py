"""Pictures of page Generate that are downloaded: each notebook has the model say the same again, and draws the same."""

from __future__ import annotations

import io

import numpy as np
import pandas as pd
import pytest

from models.generation.strategy import Strategy
from pages.generate import steps
from pages.generate.continuation import Beginning, Continuation
from tests.grids import grid
from tests.pages.taking import arrays, assert_made_again, offered, table
from ui.memory import loaded
from ui.picture.caption import caption
from ui.picture.files import csv
from ui.picture.take_away import page

TEXT = "text=The+cat+sat+on+the+mat"
SAID = "generate-said=14-561-308-2645~1-370-924"
LINKS = {  # with the parts or keys of what can be taken away
    f"{TEXT}&level=beginner": "text bars",
    f"{TEXT}&level=intermediate&generate-top-k=4&{SAID}&generate-branch=1&generate-cache=true": (
        "text, rows, bars, branch 0, branch 1, generate-boxes"
    ),
    f"{TEXT}&level=expert&generate-method=Always+the+likeliest&generate-penalty=1.3&{SAID}": (
        "text, rows, bars, branch 0, branch 1"
    ),
    f"{TEXT}&level=expert&generate-method=Beams&generate-beams=3&generate-tokens=5&generate-searched=4&generate-beam=2": (
        "generate-tree, text, rows"
    ),
    "model=translator&level=expert&text=I+am+tired.&target=Je&generate-cache=true": "text bars generate-boxes",
    "model=translator&level=expert&text=I+am+tired.&attention=Decoder&generate-said=14-4": "text rows bars",
}


@pytest.mark.parametrize(("link", "names"), grid(LINKS.items(), [*LINKS.items()][::3]), ids=lambda value: value[:70])
def test_each_picture_is_made_again_by_its_notebook_and_its_files_are_read_back(monkeypatch, link, names):
    pictures = offered(monkeypatch, "generate", link)
    assert [picture.part or picture.key for picture in pictures.values()] == (
        names.split(", ") if "," in names else names.split()
    )
    assert len({picture.title for picture in pictures.values()}) == len(pictures), "a menu tells them apart"
    for picture in pictures.values():
        assert_made_again(picture, within=2e-3)  # reading on from other keys
        assert len(table(picture)) > 0 and set(picture.numbers()) <= set(arrays(picture).files)
        picture_caption = caption(picture)
        assert picture_caption.picture and str(picture_caption) in page(picture, picture_caption).replace("&#x27;", "'")


def test_the_numbers_of_the_text_are_the_rows_of_its_steps(monkeypatch):
    picture = offered(monkeypatch, "generate", f"{TEXT}&level=expert&layer=L3&head=H2&{SAID}")["generate-board text"]
    weights = arrays(picture)["weights"]
    text = [token.id for token in loaded.model("writer").tokenize("The cat sat on the mat")]
    whole = loaded.model("writer").trace("The cat sat on the mat. She was curious")
    assert [token.id for token in whole.tokens] == [*text, 14, 561, 308, 2645]
    np.testing.assert_allclose(
        np.nan_to_num(weights), whole.attention["self"][3][2][len(text) - 1 :][:, : weights.shape[1]], atol=1e-4
    )
    assert list(table(picture)["choosing"].unique()) == [".", " She", " was", " curious", "…"]


def test_the_steps_are_a_table_of_what_decided_each():
    continuation, strategy = (
        Continuation(Beginning("writer", "The cat sat on the mat")),
        Strategy("sampling", temperature=1.4, seed=3),
    )
    for id in (None, 561, None):
        continuation.go_on(strategy, id)
    columns = {name: numbers.values for name, numbers in steps.columns(continuation.steps).items()}
    assert list(columns["id"]) == [step.token.id for step in continuation.steps] and columns["id"][1] == 561
    np.testing.assert_allclose(
        columns["before_controls"], [step.distribution.before[step.token.id] for step in continuation.steps]
    )
    np.testing.assert_allclose(columns["after_controls"], [step.distribution.after[step.token.id] for step in continuation.steps])
    assert list(np.isnan(columns["draw"])) == [False, True, False] and list(columns["method"]) == [
        "sampling",
        "pressed",
        "sampling",
    ]
    np.testing.assert_allclose(np.exp(columns["log_probability"]), columns["before_controls"])


def test_the_table_of_steps_is_a_file_that_says_where_it_comes_from(monkeypatch):
    text_picture = offered(monkeypatch, "generate", f"{TEXT}&level=expert&{SAID}")["generate-board text"]
    (look,) = text_picture.looks
    continuation = Continuation(Beginning("writer", look.trace.text), lines=[list(text_picture.known["steps"][:-1])])
    picture = steps.as_picture(continuation, look)
    file = csv(picture, caption(picture))
    assert b"headlight" in file and b"The cat sat on the mat" in file
    read = pd.read_csv(io.BytesIO(file), keep_default_na=False)
    assert list(read["id"]) == [14, 561, 308, 2645] and list(read["token"]) == [".", " She", " was", " curious"]
