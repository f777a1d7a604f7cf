"""What is taken away of page Space says the numbers on screen, and where it comes from, in each kind of file."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from PIL import Image

import models
from analysis import nearest, projection
from analysis.projections import nearest_tokens
from pages.space import further
from pages.space.scene import Points
from tests.pages.taking import arrays, offered, table
from ui.picture.caption import caption
from ui.picture.files import left_out, numbers
from ui.picture.provenance import as_json
from ui.picture.take_away import page

TEXT = "The dog saw the dog"
LINK = f"level=expert&text={TEXT.replace(' ', '+')}"


@pytest.fixture(scope="module")
def picture() -> Points:
    with pytest.MonkeyPatch.context() as patch:
        (picture,) = offered(patch, "space", f"{LINK}&space=Tokens").values()
    assert isinstance(picture, Points)
    return picture


@pytest.fixture(scope="module")
def hidden() -> np.ndarray:
    return models.load("writer").trace(TEXT).hidden["self"]


def test_a_row_for_each_point_of_each_layer(picture, hidden):
    rows, points = table(picture), projection(hidden).points
    assert list(rows.columns) == ["layer", "point", "token", "position", "part", "x", "y", "z", "norm", "nearest"]
    assert len(rows) == points.shape[0] * points.shape[1] and rows["layer"].unique().tolist() == ["input", *"012345"]
    np.testing.assert_allclose(rows[["x", "y", "z"]].to_numpy().reshape(points.shape), points, atol=1e-3)
    texts = [token.text for token in models.load("writer").tokenize(TEXT)]
    assert rows["token"].tolist()[: len(texts)] == texts
    near = [texts[i].strip() for i in nearest_tokens(hidden)[-1, -1]]
    assert rows["nearest"].iloc[-1] == ", ".join(near)


def test_the_vectors_themselves_are_in_the_arrays_only(picture, hidden):
    saved = arrays(picture)
    np.testing.assert_allclose(saved["hidden"], hidden, atol=1e-4)
    np.testing.assert_array_equal(saved["near"], nearest_tokens(hidden))
    np.testing.assert_allclose(saved["points"][..., 1], saved["y"])
    assert left_out(numbers(picture), picture.look) == "Only the NPZ also holds hidden, near and points."
    assert json.loads(str(saved["provenance"])) == caption(picture).where


def test_pictures_of_each_layer_and_files_for_the_projector(picture, hidden):
    where = caption(picture).where
    with zipfile.ZipFile(io.BytesIO(further.projector(picture, as_json(where)))) as archive:
        assert json.loads(archive.read("provenance.json")) == where
        vectors = np.loadtxt(io.BytesIO(archive.read("vectors.tsv")), delimiter="\t")
    np.testing.assert_allclose(vectors, hidden.reshape(-1, hidden.shape[-1]), rtol=1e-4, atol=1e-4)
    with zipfile.ZipFile(io.BytesIO(further.pictures(further.drawing_of(picture, as_json(where))))) as archive:
        assert len(archive.namelist()) == len(hidden)
        for name in archive.namelist():
            assert json.loads(Image.open(io.BytesIO(archive.read(name))).text["Provenance"]) == where


def test_the_lists_of_words_hold_what_is_on_screen(monkeypatch):
    pictures = offered(monkeypatch, "space", f"{LINK}&space=Vocabulary")
    words = pictures["nearest-words"]
    expected = nearest(models.load("writer"), "dog", 8, words_only=True)
    rows = table(words)
    assert rows["text"].tolist() == expected["text"].tolist() and rows["place"].tolist() == list(range(1, 9))
    np.testing.assert_allclose(rows["cosine"], expected["cosine"])
    whole = page(words, caption(words))
    assert "Words nearest to “dog”" in whole and all(text.strip() in whole for text in expected["text"])
    assert caption(pictures["analogy"]).name == "himself − he + she" and "Text:" not in str(caption(words))
