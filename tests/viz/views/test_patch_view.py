"""The view of an image in patches: what it sends is the image, its weights and which patches are hidden."""

from __future__ import annotations

import json
import struct

import numpy as np
import pytest

import models
from models.images.model import ImageModel
from viz import patch_view
from viz.view import View

MODEL = models.load("digits")
assert isinstance(MODEL, ImageModel)


def header(view: View) -> dict:
    (length,) = struct.unpack("<I", view.data[:4])
    return json.loads(view.data[4 : 4 + length])


def test_it_names_hidden_patches_and_the_tokens_before_them():
    trace = MODEL.trace("digit 3 without 1.2 4.4")
    sent = header(patch_view(MODEL.grid.image_of(trace.tokens), trace.tokens, trace.attention["self"][0][0], writes="digit 3"))
    assert (sent["rows"], sent["columns"], sent["leading"], sent["hidden"]) == (4, 4, ["[CLS]"], [1, 15])
    assert sent["arrays"]["picture"]["shape"] == [8, 8, 3] and sent["arrays"]["weights"]["shape"] == [17, 17]
    assert sent["writes"] == "digit 3"


def test_of_a_large_image_only_the_chosen_row_is_sent(monkeypatch):
    monkeypatch.setattr("viz.views.patch_view.EVERY_ROW", 16)
    trace = MODEL.trace("digit 3")
    sent = header(patch_view(MODEL.grid.image_of(trace.tokens), trace.tokens, trace.attention["self"][0][0], 5))
    assert sent["arrays"]["weights"]["shape"] == [1, 17] and sent["chosen"] == 5


def test_numbers_in_place_of_weights_are_written_and_scaled():
    tokens = MODEL.trace("digit 3").tokens
    values = np.full(17, np.nan)
    values[[1, 2]] = 0.5, -2
    sent = header(patch_view(np.zeros((8, 8, 3), np.uint8), tokens, values=values, unit="nats"))["values"]
    assert (sent["largest"], sent["unit"], sent["words"][:3]) == (2.0, "nats", ["–", "0.5", "−2"])
    values[[1, 2]] = 0.5, 12.5
    sent = header(patch_view(np.zeros((8, 8, 3), np.uint8), tokens, values=values, unit="%", whole=True))["values"]
    assert (sent["unit"], sent["words"][:3]) == ("", ["–", "under 1\u00a0%", "12\u00a0%"]), "as beginners read them"


@pytest.mark.parametrize(
    ("weights", "values", "words"),
    [(np.ones((3, 3)), None, "Weights of shape"), (None, np.ones(3), "Values of shape")],
)
def test_numbers_of_another_size_are_refused(weights, values, words):
    tokens = MODEL.trace("digit 3").tokens
    with pytest.raises(ValueError, match=words):
        patch_view(np.zeros((8, 8, 3), np.uint8), tokens, weights, values=values)


def test_tokens_without_patches_are_refused():
    with pytest.raises(ValueError, match="no patch"):
        patch_view(np.zeros((8, 8, 3), np.uint8), MODEL.trace("digit 3").tokens[:1])
