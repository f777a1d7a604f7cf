"""Toy tasks and the training that one watches: answers follow from what is given, and it learns, pauses, ends and survives."""

from __future__ import annotations

import time

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from models.scratch.config import TransformerConfig
from models.scratch.live import Budget, Training, inputs, looked
from models.scratch.tasks import MONTHS, TASKS, Task

TYPED = "The cat sat on the mat, and the dog sat on the cat. " * 2
SMALL = {"vocabulary": 129, "context": 64, "d_model": 32, "layers": 2, "heads": 2, "d_ff": 64}


def task(name: str) -> Task:
    return TASKS[name](TYPED) if name == "text" else TASKS[name]()


@pytest.mark.parametrize("name", TASKS)
@given(seed=st.integers(0, 2**31))
def test_examples_have_one_length_and_batches_say_what_is_known(name, seed):
    made = task(name)
    given_, answer = made.example(np.random.default_rng(seed))
    assert answer and len(given_ + answer) == made.length
    codes, known = made.batch(np.random.default_rng(seed), 3)
    assert codes.shape == known.shape == (3, made.length)
    assert bytes(codes[0].tolist()).decode() == given_ + answer
    assert "".join(chr(code) for code in codes[0][known[0]]) == answer


@given(seed=st.integers(0, 2**31))
def test_answers_follow_from_what_is_given(seed):
    generator = np.random.default_rng(seed)
    for name, turn in {"copy": str, "reverse": lambda text: text[::-1], "sort": lambda text: "".join(sorted(text))}.items():
        given_, answer = task(name).example(generator)
        assert answer == turn(given_.removesuffix("|"))
    given_, answer = task("repeat").example(generator)
    text, period = given_ + answer, len(given_) - 1
    assert all(text[i] == text[i - period] for i in range(period, len(text)))
    assert len(set(text[:period])) == period, "what follows a letter is certain"
    given_, answer = task("dates").example(generator)
    year, month, day = answer.split("-")
    assert given_ == f"{int(day):2d} {MONTHS[int(month) - 1]} {year}|"
    given_, answer = task("text").example(generator)
    assert given_ + answer in TYPED


def test_sizes_that_cannot_be_are_a_sentence():
    with pytest.raises(ValueError, match="at least 48 characters"):
        TASKS["text"]("too short")
    with pytest.raises(ValueError, match="from 8 to 52"):
        TASKS["repeat"](500)
    with pytest.raises(ValueError, match="from 1 to 40"):
        TASKS["copy"](0)
    with pytest.raises(ValueError, match="at most 5,000,000"):
        Training(task("copy"), TransformerConfig(**SMALL | {"d_model": 512, "d_ff": 2048, "layers": 6}), Budget())
    with pytest.raises(ValueError, match="takes 40 positions"):
        Training(task("repeat"), TransformerConfig(**SMALL | {"context": 32}), Budget())
    with pytest.raises(ValueError, match="decoder"):
        Training(task("copy"), TransformerConfig(**SMALL, kind="encoder"), Budget())


def test_it_learns_and_shows_itself():
    training = Training(task("dates"), TransformerConfig(**SMALL), Budget(steps=60, every=20, rows=16))
    training.advance(100)
    assert (training.state, training.step, len(training.curves.loss)) == ("done", 60, 60)
    assert [one.step for one in training.snapshots] == [0, 20, 40, 60]
    assert np.mean(training.curves.loss[-10:]) < 0.7 * np.mean(training.curves.loss[:5])
    last = training.snapshots[-1]
    assert last.accuracy > training.snapshots[0].accuracy
    assert last.attention.shape == (2, 2, 22, 22)
    np.testing.assert_allclose(last.attention.astype(float).sum(-1), 1, atol=1e-2)
    assert np.triu(last.attention, 1).max() == 0


def test_the_same_seed_learns_the_same():
    losses = []
    for _ in range(2):
        training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=5))
        training.advance(5)
        losses.append(training.curves.loss)
    assert losses[0] == losses[1]


def test_it_pauses_goes_on_and_stops():
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=10_000, rows=4))
    training.start()
    while training.step < 3:
        time.sleep(0.01)
    training.pause()
    step = training.step
    assert training.state == "paused" and step < 10_000
    time.sleep(0.1)
    assert training.step == step, "it rests"
    training.start()
    while training.step <= step:
        time.sleep(0.01)
    training.stop()
    assert training.state == "stopped" and "Stopped after" in training.says


def test_a_loss_that_is_no_number_keeps_the_last_good_weights():
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=50, every=5, rows=4))
    training.advance(10)
    good = {name: weight.clone() for name, weight in training.network.state_dict().items()}
    training.advance(2)
    with torch.no_grad():
        training.network.embedding.weight.fill_(float("nan"))
    training.advance(1)
    assert training.state == "diverged" and "learning rate" in training.says
    for name, weight in training.network.state_dict().items():
        torch.testing.assert_close(weight, good[name])


def test_time_is_bounded():
    training = Training(task("copy"), TransformerConfig(**SMALL), Budget(steps=10_000, rows=4, seconds=0.0))
    training.advance(10)
    assert training.state == "done" and training.step == 1 and "time is up" in training.says


def test_heads_are_scored_by_where_they_look():
    codes = np.frombuffer(b"abcabca", dtype=np.uint8).astype(np.int64)
    tokens = inputs(codes[None])[0].tolist()
    previous, induction = np.zeros((2, 1, 1, 7, 7))
    for query in range(7):
        previous[..., query, max(0, query - 1)] = 1
        earlier = [place for place in range(query) if tokens[place] == tokens[query]]
        induction[..., query, earlier[-1] + 1 if earlier else 0] = 1
    assert looked(previous, codes)[0] == 1 and looked(induction, codes)[1] == 1
    assert np.isnan(looked(previous[..., :3, :3], codes[:3])[1]).all()
