"""Heads that were built to copy get 1, those that were built to take away what they look at get −1."""

from __future__ import annotations

import numpy as np
import pytest
import torch

from analysis import copying_scores
from models import load
from models.scratch.decoder_model import DecoderModel
from tests.models.ours import small


def test_copying_is_one_for_a_head_that_copies_and_minus_one_for_its_opposite():
    network = small(kv_heads=2)
    with torch.no_grad():
        attention = network.blocks[0].attention  # four heads of size 4; the first two share their values, and so the others
        attention.output.weight[:, :4] = attention.value.weight[:4].T
        attention.output.weight[:, 4:8] = -attention.value.weight[:4].T
    model = DecoderModel(network, load("writer").vocabulary.tokenizer, "planted", "")
    scores = copying_scores(model)
    assert scores[0, :2] == pytest.approx([1, -1])
    embedding, values, outputs = model.embedding(), model.value_weights("self", 1), model.output_weights("self", 1)
    eigenvalues = np.linalg.eigvals((embedding @ values[3] @ outputs[3] @ embedding.T).astype(np.float64))  # [vocabulary]
    assert scores[1, 3] == pytest.approx(eigenvalues.sum().real / np.abs(eigenvalues).sum(), abs=1e-4)


def test_the_writer_copies_and_takes_away_more_than_random_weights_do():
    writer = load("writer")
    assert np.abs(copying_scores(writer)).max() > 3 * np.abs(copying_scores(writer.with_random_weights(0))).max()


def test_where_it_is_not_measured_it_says_so():
    with pytest.raises(ValueError, match="copying is not measured"):
        copying_scores(load("translator"))
