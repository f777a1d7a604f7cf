"""What is taken away of page Space says where it comes from, in each kind of file."""

from __future__ import annotations

import io
import json
import zipfile

import numpy as np
import pytest
from PIL import Image

import models
from analysis import projection
from pages.space import scene, take_away
from ui.picture.provenance import as_json, provenance
from viz.views.space_view import token_colours

TEXT = "The dog ran"


@pytest.fixture(scope="module")
def taken() -> tuple:
    model = models.load("writer")
    trace = model.trace(TEXT)
    hidden, names = trace.hidden["self"], [token.text for token in trace.tokens]
    found = projection(hidden, "pca", 3)
    made = scene.Arranged(found, np.zeros(0), np.zeros(0), np.zeros(0))
    return made, names, hidden, provenance((model, trace))


def test_numbers_and_vectors(taken):
    made, names, hidden, where = taken
    with np.load(io.BytesIO(take_away.numbers(made, names, hidden, where)), allow_pickle=False) as found:
        assert json.loads(str(found["provenance"])) == where
    with zipfile.ZipFile(io.BytesIO(take_away.projector(hidden, {"token": names}, where))) as archive:
        assert json.loads(archive.read("provenance.json")) == where


def test_pictures(taken):
    made, names, _, where = taken
    drawn = {"colours": token_colours(None, len(names)), "axes": None, "provenance": as_json(where)}
    with zipfile.ZipFile(io.BytesIO(take_away.pictures(names, made.found.points, drawn))) as archive:
        for name in archive.namelist():
            assert json.loads(Image.open(io.BytesIO(archive.read(name))).text["Provenance"]) == where
