"""Training: it learns, it resumes to the same place, and its parts keep their promises."""

from __future__ import annotations

import itertools
import json
from dataclasses import replace

import numpy as np
import pytest
import torch
from safetensors.torch import load_file

from models.scratch.config import TransformerConfig
from models.scratch.model_folder import from_folder
from models.scratch.signs import MASK, START
from models.scratch.transformer import build
from models.training.corpus import Corpus, documents, pairs, train_tokenizer, with_mask
from models.training.loop import Log, State, train
from models.training.losses import IGNORED, NONE
from models.training.objectives import MaskedTokens, NextToken, Translation
from models.training.recipe import Recipe, Schedule
from models.training.repetition import said_before
from models.training.shipped import Shipped
from models.training.sorting import LABELS, Sorting, held_out, sentences

TEXT = "The cat sat on the mat.\n\nThe dog sat on the cat.\n\nA bird sang to the dog, and the dog sang to the bird.\n"
PAIRS = "The cat sat.\tLe chat était assis.\nThe dog sat.\tLe chien était assis.\nA bird sang.\tUn oiseau a chanté.\nGo.\tVa !\n"
SIZES = {"vocabulary": 300, "context": 16, "d_model": 16, "layers": 1, "heads": 2, "d_ff": 16}
QUESTIONS = "Who sat?\tQui ?\nIs it you?\tToi ?\nDid Mr. Hall sing?\tOui ?\nWait!\tAttends !\nWho sat?\tLequel ?\n"
NEW = "who sat?\tQui ?\nIs it I?\tMoi ?\nI sat.\tMoi.\nYou sat.\tToi.\n"
RECIPE = Recipe(steps=12, batch=4, warmup=2, repeats=0.3)
TRAININGS = {
    "writer": Shipped("writer", NextToken, TransformerConfig(**SIZES), RECIPE),
    "filler": Shipped("filler", MaskedTokens, TransformerConfig(**SIZES | {"kind": "encoder", "vocabulary": 301}), RECIPE),
    "translator": Shipped(
        "translator", Translation, TransformerConfig(**SIZES | {"kind": "encoder-decoder", "context": 32}), RECIPE
    ),
    "sorter": Shipped(
        "sorter", Sorting, TransformerConfig(**SIZES | {"kind": "encoder", "tied": False, "labels": LABELS}), RECIPE
    ),
}


@pytest.fixture
def data(tmp_path):
    for name in ("english_train.txt", "english_valid.txt"):
        (tmp_path / name).write_text(TEXT)
    for name in ("pairs_train.tsv", "pairs_valid.tsv"):
        (tmp_path / name).write_text(PAIRS)
    return tmp_path


@pytest.fixture
def objective(data, tmp_path):
    """`objective("filler")`: what that model learns from the text above."""

    def build_objective(name: str):
        if name == "filler":
            (tmp_path / "weights" / "writer").mkdir(parents=True, exist_ok=True)
            train_tokenizer([TEXT], 300).save(str(tmp_path / "weights" / "writer" / "tokenizer.json"))
        if name == "sorter":
            (data / "pairs_train.tsv").write_text(PAIRS + QUESTIONS)
            (data / "pairs_valid.tsv").write_text(NEW)
        training = TRAININGS[name]
        return training.objective(
            data, training.objective.tokenizer(data, 300, tmp_path / "weights"), training.config, training.recipe
        )

    return build_objective


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


def test_rate_warms_up_holds_and_falls_to_zero():
    schedule = Schedule(steps=1000, decay_from=600, warmup=100)
    assert [schedule.rate(t) for t in (0, 49, 99, 600, 800, 1000, 1200)] == pytest.approx([0.01, 0.5, 1, 1, 0.5, 0, 0])


def test_a_second_recipe_warms_up_again():
    schedule = Schedule.of(Recipe(steps=100, warmup=10, decay=0.5), start=1000)
    assert [schedule.rate(t) for t in (1000, 1009, 1049, 1075, 1100)] == pytest.approx([0.1, 1, 1, 0.5, 0])
    assert schedule.finishing(1020, 10).rate(1025) == pytest.approx(0.5)


def test_the_decay_begins_when_it_is_asked_for_and_goes_on_from_the_same_rate():
    early = Schedule(steps=1000, decay_from=600, warmup=100).finishing(400, 50)
    assert [early.rate(t) for t in (399, 400, 425, 450)] == pytest.approx([1, 1, 0.5, 0])
    assert Schedule(steps=1000, decay_from=600, warmup=100).finishing(700, 5000).steps == 1000


@pytest.mark.parametrize("name", TRAININGS)
def test_the_same_step_gives_the_same_batch(objective, name):
    objective_of_model, schedule = objective(name), Schedule.of(RECIPE)
    straight = list(itertools.islice(objective_of_model.batches(0, schedule), 6))
    resumed = next(objective_of_model.batches(5, schedule))
    assert all(torch.equal(a, b) for a, b in zip(straight[5], resumed, strict=True))


def test_hidden_tokens_are_known_by_their_places_alone(objective):
    masked = objective("filler")
    ids = np.random.default_rng(0).integers(1, 300, (40, 50))
    ids[:, 0] = masked.start
    hidden, places, tokens = masked.hide(ids, np.random.default_rng(1))
    np.testing.assert_array_equal(ids.ravel()[places], tokens)
    assert len(places) == len(set(places)) == 400 and not (tokens == masked.start).any()
    untouched = np.setdiff1d(np.arange(ids.size), places)
    np.testing.assert_array_equal(hidden.ravel()[untouched], ids.ravel()[untouched])
    share = (hidden.ravel()[places] == masked.mask).mean()
    assert 0.74 < share < 0.86
    everywhere, places, _ = masked.hide(ids, np.random.default_rng(1), always=True)
    assert (everywhere.ravel()[places] == masked.mask).all()


def test_the_words_of_its_sentence_are_those_that_can_be_seen_and_are_not_right(objective):
    """Against a plain loop: seldom words up to the sentence's ends, near enough, each once, without the hidden ones."""
    masked, generator = objective("filler"), np.random.default_rng(0)
    masked.seldom = generator.random(301) < 0.5
    masked.seldom[masked.mask] = False
    masked.ends = generator.random(301) < 0.05
    text = generator.integers(1, 300, (6, 70)) // 3
    hidden, places, tokens = masked.hide(text, generator)
    words = masked.seen_words(text, hidden, places)
    for place, right, its in zip(places, tokens, words, strict=True):
        row, column = divmod(int(place), 70)
        expected = set()
        for step in (-1, 1):
            at = column
            while True:
                if step == 1 and masked.ends[text[row, at]]:
                    break
                at += step
                if not 0 <= at < 70 or abs(at - column) > masked.NEAR or (step == -1 and masked.ends[text[row, at]]):
                    break
                expected.add(int(hidden[row, at]))
        assert sorted(its[its != NONE]) == sorted(w for w in expected if masked.seldom[w] and w != right)


def test_a_step_of_own_continuations_blames_what_they_repeat_and_nothing_else(objective):
    writing = objective("writer")
    writing.recipe = replace(RECIPE, own=1.0, repeats=1.0)
    torch.manual_seed(0)
    model = build(writing.config)
    batch = next(writing.batches(3, Schedule.of(RECIPE)))
    rows, known, repeated = writing.prepare(model, 3, batch)
    assert rows.shape == batch[0].shape and not known.any()
    half = writing.config.context // 2
    assert (rows[:, [0, half]] == writing.start).all()
    for at in (0, half):
        piece = rows[:, at : at + half]
        marked = repeated[:, at : at + half]
        assert (marked <= said_before(piece, 0)).all()
    assert all(torch.equal(a, b) for a, b in zip(writing.prepare(model, 3, batch), (rows, known, repeated), strict=True))
    loss = writing.loss(model, (rows, known, repeated))
    assert bool(repeated.any()) == (loss.item() > 0)


def test_own_continuations_become_as_seldom_as_the_rate_is_low(objective):
    writing = objective("writer")
    writing.recipe, writing.schedule = replace(RECIPE, own=0.5), Schedule(steps=8000, decay_from=2000, warmup=1)
    shares = [np.mean([writing.continues(step) for step in range(first, first + 1000)]) for first in (0, 4500, 7000, 8000)]
    assert shares == pytest.approx([0.5, 0.25, 1 / 24, 0], abs=0.05) and shares[-1] == 0


def test_the_mask_takes_its_space_along_and_other_signs_cannot_be_typed():
    tokenizer = with_mask(train_tokenizer([TEXT], 300))
    tokenizer.encode_special_tokens = True
    encoded = tokenizer.encode(f"The {MASK} sat.{START}")
    at = encoded.ids.index(tokenizer.token_to_id(MASK))
    assert encoded.offsets[at] == (3, 4 + len(MASK))
    assert tokenizer.token_to_id(START) not in encoded.ids


def test_sources_of_a_batch_are_equally_long_and_every_pair_comes_once(objective):
    translation = objective("translator")
    batches = translation.group(translation.train, np.random.default_rng(0))
    assert sorted(i for batch in batches for i in batch) == list(range(4))
    for batch in batches:
        source, target = translation.pad([translation.train[i] for i in batch])
        assert (source[:, -1] == translation.end).all() and (target[:, 0] == translation.start).all()
        for row, i in zip(target, batch, strict=True):
            assert row[row != IGNORED].tolist() == translation.train[i][1]


def test_padding_changes_no_loss(objective):
    """The mean over a padded batch is the mean over its predictions, each read alone."""
    translation = objective("translator")
    torch.manual_seed(0)
    model = build(translation.config).eval()
    short = (translation.train[0][0], translation.train[3][1])  # the same source, a shorter target
    both = [translation.pad([row]) for row in (translation.train[0], short)]
    alone = [(translation.loss(model, row).item(), row[1].shape[1] - 1) for row in both]
    together = translation.loss(model, translation.pad([translation.train[0], short])).item()
    assert together == pytest.approx(sum(nats * n for nats, n in alone) / sum(n for _, n in alone), abs=1e-5)


def test_the_same_step_has_the_same_names(data):
    """A resumed training gets the same batch; each epoch has other names, in addition to the original pairs."""
    (data / "pairs_train.tsv").write_text(PAIRS + "Tom sat.\tTom était assis.\nTom and Mary sang.\tTom et Mary ont chanté.\n")
    training = TRAININGS["translator"]
    translation = training.objective(
        data, training.objective.tokenizer(data, 300, data), replace(training.config, context=64), replace(RECIPE, names=1)
    )
    schedule = Schedule.of(RECIPE)
    passed = list(itertools.islice(translation.batches(0, schedule), 420))
    for step in (0, 1, 200, 419):
        for ours, theirs in zip(next(translation.batches(step, schedule)), passed[step], strict=True):
            assert torch.equal(ours, theirs)
    epochs = [translation.variants(np.random.default_rng([0, epoch])) for epoch in range(2)]
    assert set(epochs[0]) != set(epochs[1]) and len(epochs[0]) == len(epochs[1]) > 800
    assert all(pair in translation.texts for pair in pairs(data / "pairs_train.tsv"))
    translation.recipe = RECIPE  # of another stage
    assert translation.variants(np.random.default_rng(0)) == []


@pytest.mark.parametrize("name", ["writer", "translator"])
def test_a_training_can_begin_with_the_weights_of_another(objective, data, tmp_path, name):
    """At no learning rate it ends with them, in the file's precision, and says whose they were."""
    objective(name)
    training = TRAININGS[name]
    train(training, data, tmp_path / "a" / name, tmp_path / "work-a")
    (tmp_path / "b" / name).mkdir(parents=True)
    (tmp_path / "b" / name / "tokenizer.json").write_text((tmp_path / "a" / name / "tokenizer.json").read_text())
    still = replace(training, recipe=replace(training.recipe, matrix_rate=0.0, rate=0.0))
    train(still, data, tmp_path / "b" / name, tmp_path / "work-b", begin=tmp_path / "a" / name)
    before, after = (load_file(tmp_path / folder / name / "model.safetensors") for folder in "ab")
    assert all(torch.equal(weight, after[key]) for key, weight in before.items())
    figures = [json.loads((tmp_path / folder / name / "figures.json").read_text()) for folder in "ab"]
    assert figures[1]["before"]["step"] == figures[0]["step"] == RECIPE.steps and "before" not in figures[0]


def test_what_is_sorted_has_no_sign_and_the_held_out_half_is_new(objective, data):
    """Both labels have equally many single sentences, none from the training data; signs return equally often at both."""
    sorting, labelled = objective("sorter"), dict(sentences(data / "pairs_train.tsv"))
    assert labelled == {
        **dict.fromkeys(("The cat sat", "The dog sat", "A bird sang", "Go", "Wait"), 0),
        "Who sat": 1,
        "Is it you": 1,
    }
    assert held_out(data) == [("I sat", 0), ("Is it I", 1)]
    rows = [row for epoch in range(300) for row in sorting.draw_epoch(np.random.default_rng([0, epoch]))]
    signed = [np.mean([text[-1] in ".?!" for text, label in rows if label == kind]) for kind in (0, 1)]
    assert signed == pytest.approx([0.5, 0.5], abs=0.06) and np.mean([label for _, label in rows]) == 0.5


def test_padding_changes_no_label(objective):
    sorting = objective("sorter")
    torch.manual_seed(0)
    model = build(sorting.config).eval()
    rows = [("Who sat", 1), ("A bird sang to the dog", 0)]
    together = sorting.scores(model, *sorting.pad(rows)[:2])
    alone = torch.cat([sorting.scores(model, *sorting.pad([row])[:2]) for row in rows])
    assert torch.allclose(together, alone, atol=1e-5)


def test_missing_text_says_where_to_put_it(tmp_path):
    with pytest.raises(FileNotFoundError, match="no training text at"):
        documents(tmp_path / "english_train.txt")


def test_a_line_that_is_no_pair_is_named(tmp_path):
    (tmp_path / "pairs.tsv").write_text("Go.\tVa !\nStop.\n")
    with pytest.raises(ValueError, match=r"Pair 2 of .* has 1 parts"):
        pairs(tmp_path / "pairs.tsv")


def test_the_filler_waits_for_the_writer(data, tmp_path):
    with pytest.raises(FileNotFoundError, match="Train the writer first"):
        MaskedTokens.tokenizer(data, 300, tmp_path)


@pytest.mark.parametrize("name", TRAININGS)
def test_training_learns_logs_and_goes_on_where_it_stopped(objective, data, tmp_path, monkeypatch, name):
    objective(name)
    training, out = TRAININGS[name], tmp_path / "weights"
    whole = train(training, data, out / "a", tmp_path / "work-a")
    clock = itertools.count(0, 10)  # seconds: each look at the clock is ten later
    with monkeypatch.context() as patched:
        patched.setattr("models.training.loop.time.monotonic", lambda: next(clock))
        train(training, data, out / "b", tmp_path / "work-b", minutes=3)
    assert 0 < torch.load(tmp_path / "work-b" / "checkpoint.pt")["state"]["step"] < 12
    resumed = train(training, data, out / "b", tmp_path / "work-b")
    for ours, theirs in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
    header, *lines = (line.split(",") for line in (out / "a" / "loss.csv").read_text().splitlines())
    last = dict(zip(header, lines[-1], strict=True))
    assert last["step"] == "12" and float(last["train_nats"]) < np.log(300)
    model = from_folder(out / "a")
    assert model.info.kind == training.config.kind
    for ours, its in zip(model.network.parameters(), whole.parameters(), strict=True):
        torch.testing.assert_close(ours, its.detach().half().float())


@pytest.mark.parametrize("name", ["writer", "filler"])
def test_a_second_recipe_follows_at_once_after_a_break_or_from_what_ships(objective, data, tmp_path, monkeypatch, name):
    """Twelve steps and six more: in one go and after a break the same; from the weights that ship, counted on from theirs."""
    objective(name)
    first, out = TRAININGS[name], tmp_path / "weights"
    both = replace(
        first, more=(Recipe(steps=6, batch=4, warmup=2, repeats=0.5, own=0.5, earlier_share=0.4, masks=1.0, again=1.0, seed=1),)
    )
    whole = train(both, data, out / "a", tmp_path / "work-a")
    clock = itertools.count(0, 10)
    with monkeypatch.context() as patched:
        patched.setattr("models.training.loop.time.monotonic", lambda: next(clock))
        train(both, data, out / "b", tmp_path / "work-b", minutes=8)
    state = torch.load(tmp_path / "work-b" / "checkpoint.pt")["state"]
    assert 12 < state["step"] < 18 and len(state["done"]) == 1
    resumed = train(both, data, out / "b", tmp_path / "work-b")
    for ours, theirs in zip(whole.parameters(), resumed.parameters(), strict=True):
        torch.testing.assert_close(ours, theirs)
    train(first, data, out / "c", tmp_path / "work-c")
    train(both, data, out / "c", tmp_path / "work-d", begin=out / "c")
    figures = [json.loads((out / folder / "figures.json").read_text()) for folder in "ac"]
    for its in figures:
        assert its["step"] == 18 and its["recipe"]["steps"] == 12 and [recipe["steps"] for recipe in its["more"]] == [18]
    assert figures[0]["tokens"] == figures[1]["tokens"]
    assert (out / "c" / "loss.csv").read_text().splitlines()[-1].startswith("18,")


def test_a_recipe_leaves_the_share_of_earlier_weights_that_it_keeps(objective, data, tmp_path):
    objective("writer")
    models_by_share = {}
    for share in (None, 0.0, 0.25, 1.0):
        more = () if share is None else (replace(RECIPE, steps=3, earlier_share=share),)
        name = str(share)
        models_by_share[share] = train(
            replace(TRAININGS["writer"], more=more), data, tmp_path / "weights" / name, tmp_path / name
        )
    for before, after, mixed, same in zip(*(model.parameters() for model in models_by_share.values()), strict=True):
        torch.testing.assert_close(mixed, 0.25 * before + 0.75 * after)
        torch.testing.assert_close(same, before)


def test_a_training_that_is_asked_to_finish_does(objective, data, tmp_path):
    objective("writer")
    (tmp_path / "work").mkdir()
    (tmp_path / "work" / "finish").write_text("0")
    train(TRAININGS["writer"], data, tmp_path / "out", tmp_path / "work")
    state = torch.load(tmp_path / "work" / "checkpoint.pt")["state"]
    assert state["step"] == state["schedule"]["steps"] < 12


def test_lines_of_steps_that_are_done_again_leave_the_log(tmp_path):
    log = Log(tmp_path / "loss.csv", 0)
    for step in (100, 200):
        log.write(State(Schedule(300, 200, 1), step, recent=[1.0]), 1.0, 0.5, "")
    Log(tmp_path / "loss.csv", 150)
    assert [line.split(",")[0] for line in (tmp_path / "loss.csv").read_text().splitlines()] == ["step", "100"]
