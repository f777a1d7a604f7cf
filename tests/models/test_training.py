"""Training: it learns, it resumes to the same place, and its parts keep their promises."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
import torch

from models.scratch.corpus import START, Corpus, documents, repeated_row, train_tokenizer
from models.scratch.training import Recipe, batches, rate_factor, train
from models.scratch.transformer import TransformerConfig

TEXT = "The cat sat on the mat.\n\nThe dog sat on the cat.\n\nA bird sang to the dog, and the dog sang to the bird.\n"
CONFIG = TransformerConfig(vocabulary=300, context=16, d_model=16, layers=1, heads=2, d_ff=16)
RECIPE = Recipe(tokens=16 * 4 * 12, batch=4, warmup=64)


@pytest.fixture
def data(tmp_path):
    for name in ("english_train.txt", "english_valid.txt"):
        (tmp_path / name).write_text(TEXT)
    return tmp_path


@pytest.fixture
def corpus():
    texts = TEXT.strip().split("\n\n")
    return Corpus(texts, train_tokenizer(texts, 300), context=16, twice_under=30)


def test_any_text_survives_the_tokenizer():
    tokenizer = train_tokenizer([TEXT], 300)
    for text in ("plain", " 👩‍👩‍👧 \n", "naïve שלום", "\0\x07"):
        assert tokenizer.decode(tokenizer.encode(text).ids) == text
    assert tokenizer.token_to_id(START) == 0


def test_rows_start_with_the_start_token_and_skip_is_exact(corpus):
    rows = list(itertools.islice(corpus.rows(seed=1), 30))
    assert all(row.shape == (17,) and row[0] == corpus.start for row in rows)
    np.testing.assert_array_equal(next(corpus.rows(seed=1, skip=17)), rows[17])


def test_short_documents_come_twice(corpus):
    assert sorted(corpus.order) == [0, 0, 1, 1, 2]


def test_windows_hold_every_token_once(corpus):
    flat = corpus.windows()[:, 1:].ravel()
    np.testing.assert_array_equal(flat[flat != corpus.start], np.concatenate([d[1:] for d in corpus.documents]))


def test_a_repeated_row_can_be_known_from_the_second_round_on():
    ids, known = repeated_row(np.random.default_rng(0), 0, 300, 64)
    period = int((~known).sum()) - 1
    np.testing.assert_array_equal(ids[known], ids[np.flatnonzero(known) - period])


def test_rate_warms_up_holds_and_falls_to_zero():
    recipe = Recipe(tokens=1000, warmup=100, decay=0.4)
    assert [rate_factor(t, recipe) for t in (0, 50, 100, 600, 800, 1000, 1200)] == pytest.approx([0, 0.5, 1, 1, 0.5, 0, 0])


def test_the_same_step_gives_the_same_batch(corpus):
    straight = list(itertools.islice(batches(corpus, RECIPE, CONFIG, 0), 6))
    resumed = next(batches(corpus, RECIPE, CONFIG, 5))
    assert all(torch.equal(a, b) for a, b in zip(straight[5], resumed, strict=True))


def test_missing_text_says_where_to_put_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="no training text at"):
        documents(tmp_path / "english_train.txt")


def test_training_learns_logs_and_goes_on_where_it_stopped(data, tmp_path, monkeypatch):
    monkeypatch.setattr(torch, "compile", lambda function: function)  # compiling takes longer than these twelve steps
    whole = train(data, tmp_path / "a", tmp_path / "work-a", RECIPE, CONFIG)
    train(data, tmp_path / "b", tmp_path / "work-b", RECIPE, CONFIG, minutes=0)
    state = torch.load(tmp_path / "work-b" / "checkpoint.pt")
    assert state["step"] == 0
    resumed = train(data, tmp_path / "b", tmp_path / "work-b", RECIPE, CONFIG)
    for ours, theirs in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
    log = (tmp_path / "a" / "loss.csv").read_text().splitlines()
    assert log[0].startswith("step,tokens") and log[-1].startswith("12,768")
    assert float(log[-1].split(",")[4]) < np.log(300)
    assert (tmp_path / "a" / "model.safetensors").exists()
