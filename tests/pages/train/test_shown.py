"""What page Train shows of a head: the future, which no head sees, is blank there as everywhere."""

from __future__ import annotations

import json

import numpy as np

from models.scratch.tasks import TASKS
from pages.train.shown import example, large


def test_the_future_of_a_trained_head_is_blank_and_its_past_is_as_it_is():
    weights = np.tril(np.random.default_rng(0).random((5, 5))).astype(np.float32)
    data = large(weights, list("abcde"), "Attention of L0 H0").data
    end = 4 + int.from_bytes(data[:4], "little")
    header = json.loads(data[4:end])
    place = header["arrays"]["values"]
    start = end + -end % 8 + place["offset"]
    sent = np.frombuffer(data[start : start + 4 * weights.size], dtype=place["dtype"]).reshape(5, 5)
    assert np.isnan(sent[np.triu_indices(5, 1)]).all()
    np.testing.assert_array_equal(sent[np.tril_indices(5)], weights[np.tril_indices(5)])


def test_an_example_of_letters_that_come_again_shows_them_below_one_another():
    for seed in range(20):
        given, answer = TASKS["repeat"]().example(np.random.default_rng(seed))
        first, *again = [line.split()[1] for line in example("repeat", given, answer).split("\n")]
        assert len(again) >= 1 and all(first.startswith(one) for one in again)
        assert first + "".join(again) == given + answer
    assert example("copy", "ab|", "ab") == "given   ab|\nanswer  ab"
