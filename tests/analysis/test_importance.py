"""The importance of heads: the loss without each, its slope, and the loss without many of them."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis.effects import log_softmax
from analysis.importance import Importance, head_importance, held_out, prune
from analysis.samples import pieces_of
from models.edits import Head
from models.gradients.losses import head_slopes, losses, scored
from tests.analysis.planted import CIRCUIT, SAID_TWICE, planted
from tests.models.edited import TEXT, model, stack, target
from viz.figures.importance import importance_scatter

TWICE = [(SAID_TWICE, ""), ("qdfgzplhtw" * 2, "")]


@pytest.mark.parametrize("name", ["writer", "translator", "GPT-2", "Llama, grouped-query", "BLOOM", "T5"])
def test_the_loss_without_a_head_is_that_of_a_reading_without_it(name):
    text, kind = scored(model(name), TEXT, target(name)), stack(name)
    head_losses = losses(model(name), text, [[], [Head(0, 1, kind=kind)], [Head(1, 2, kind=kind), Head(0, 0, kind=kind)]])
    edits: list[list] = [[], [Head(0, 1, kind=kind)], [Head(1, 2, kind=kind), Head(0, 0, kind=kind)]]
    for loss, some in zip(head_losses, edits, strict=True):
        trace = model(name).trace(TEXT, target(name), edits=some)
        logs = log_softmax(trace.logits)
        places = [i for i, token in enumerate(trace.read[1:]) if not token.special]
        assert loss == pytest.approx(-np.mean([logs[i, trace.read[i + 1].id] for i in places]), abs=1e-4)


def test_an_encoder_is_asked_for_tokens_that_it_does_not_see():
    filler = models.load("filler")
    sentence = "The old gardener opened the gate and the dog ran past him into the street."
    text, plain = scored(filler, sentence), filler.trace(sentence)
    (mask,) = {text.trace.tokens[i].id for i in text.positions}
    assert filler.token_text(mask) == filler.info.mask and mask not in text.ids
    assert list(text.ids) == [plain.tokens[i].id for i in text.positions]
    unmasked = set(range(len(plain.tokens))) - set(text.positions)
    assert all(text.trace.tokens[i].id == plain.tokens[i].id for i in unmasked)


@pytest.mark.parametrize("name", ["writer", "filler", "translator", "GPT-2", "Llama, grouped-query", "BLOOM", "BERT", "T5"])
def test_the_slope_is_what_a_small_change_of_each_head_does(name):
    text, kind = scored(model(name), TEXT, target(name)), stack(name)
    slopes = head_slopes(model(name), text)[kind]
    for layer, head in ((0, 0), (0, 3), (len(slopes) - 1, 2)):
        more, less = losses(model(name), text, [[Head(layer, head, scale, kind=kind)] for scale in (1.002, 0.998)])
        assert slopes[layer, head] == pytest.approx((more - less) / 0.004, abs=2e-3)


def test_heads_of_the_planted_circuit_are_worth_most_and_go_last():
    built = planted()
    importance = head_importance(built, TWICE)
    table = importance.table.set_index(["layer", "head"])
    others = [place for place in table.index if place not in CIRCUIT]
    assert table.loc[CIRCUIT, "effect"].min() > 1 > 0.1 > table.loc[others, "effect"].abs().max()
    assert table.loc[CIRCUIT, "gradient"].min() > 2 * table.loc[others, "gradient"].max()
    pruning = prune(built, importance, TWICE)
    assert pruning.counts.tolist() == [0, 1, 2, 3, 4]
    for order in pruning.orders.values():
        assert order[2] < order[0] + 0.1 and order[3] > order[0] + 1, "two heads are not needed, and each of the others is"
    assert pruning.random.max(0)[1] > pruning.random.min(0)[1] + 1, "at random a needed one goes first or not"
    assert (pruning.random[:, -1] == pytest.approx(pruning.orders["effect"][-1])) and pruning.random[0, 0] == pytest.approx(
        importance.loss
    )


def test_what_all_heads_save_are_the_matrices_of_attention():
    for built in (planted(), model("Llama, grouped-query")):
        importance = head_importance(built, [(SAID_TWICE, "")])
        pruning = prune(built, importance, [(SAID_TWICE, "")], orders=1)
        names = tuple(f"{name}.weight" for name in ("query", "key", "value", "output", "q_proj", "k_proj", "v_proj", "o_proj"))
        matrices = sum(parameter.numel() for name, parameter in built.network.named_parameters() if name.endswith(names))
        assert pruning.saved["effect"][[0, -1]].tolist() == [0, matrices]
        assert (np.diff(pruning.saved["effect"]) >= 0).all()


def test_ranges_hold_the_mean_and_the_texts_are_said():
    importance = head_importance(model("GPT-2"))
    assert isinstance(importance, Importance) and (importance.texts, len(importance.table)) == (12, 12)
    for name in ("effect", "gradient"):
        assert (importance.table[f"{name}_low"] <= importance.table[name]).all() and (
            importance.table[name] <= importance.table[f"{name}_high"]
        ).all()
    assert not {text for text, _ in held_out(model("GPT-2"))} & {text for text, _ in held_out(model("GPT-2"), again=True)}
    alone = head_importance(model("GPT-2"), [(TEXT, "")]).table
    assert alone["effect_low"].isna().all() and alone["effect"].notna().all()


LONG_AND_SHORT = [
    ("The old man said that the dog had run into the garden and that nobody had seen it since the morning.", ""),
    ("A dog ran.", ""),
    ("She put the letter on the table and looked at it again.", ""),
]


def by_token(name: str, edits: list) -> np.ndarray:
    """−ln p of every token that is predicted in LONG_AND_SHORT, whatever text it stands in."""
    chances = []
    for text, _ in LONG_AND_SHORT:
        trace = model(name).trace(text, edits=edits)
        logs = log_softmax(trace.logits)
        chances += [-logs[i, token.id] for i, token in enumerate(trace.read[1:]) if not token.special]
    return np.array(chances)


@pytest.mark.parametrize("name", ["writer", "GPT-2"])
def test_a_loss_and_a_rise_are_means_over_tokens_and_not_over_texts(name):
    importance = head_importance(model(name), LONG_AND_SHORT)
    full, off = by_token(name, []), by_token(name, [Head(1, 2)])
    assert importance.tokens == len(full) and importance.loss == pytest.approx(full.mean(), abs=1e-4)
    row = importance.table.set_index(["layer", "head"]).loc[(1, 2)]
    assert row["effect"] == pytest.approx((off - full).mean(), abs=1e-4)
    assert row["effect_low"] <= row["effect"] <= row["effect_high"]
    pruning = prune(model(name), importance, LONG_AND_SHORT, orders=1)
    assert pruning.orders["effect"][0] == pytest.approx(importance.loss, abs=1e-4)


def test_the_axis_of_what_was_measured_says_that_it_is_a_rise():
    rises = np.array([0.1, -0.2])
    figure = importance_scatter(["L0 H0", "L0 H1"], rises, np.stack([rises, rises]), rises, [0, 0], ["", ""])
    assert "rise" in figure.layout.yaxis.title.text


def test_a_name_lies_on_no_other_point():
    rises, slopes = np.array([2.0, 0.1, 0.08, -0.5]), np.array([1.0, 0.1, 0.15, 0.5])
    figure = importance_scatter([*"abcd"], rises, np.stack([rises, rises]), slopes, [0] * 4, [""] * 4)
    assert [text.strip() for text in figure.data[0].text] == ["a", "", "c", "d"]


def test_a_text_is_cut_into_pieces_that_hold_all_of_it():
    text = " ".join(f"word{i}" for i in range(100))
    assert [len(piece.split()) for piece, _ in pieces_of(text)] == [50, 50]
    assert " ".join(piece for piece, _ in pieces_of(text)) == text
    assert pieces_of(text, "cible") == [(text, "cible")] and pieces_of(" \n") == []


def test_what_cannot_be_measured_is_said():
    with pytest.raises(ValueError, match="XLNet has no language-model head, so it has no loss"):
        head_importance(model("XLNet"))
    with pytest.raises(ValueError, match="What T5 should say of a sample text is not known"):
        head_importance(model("T5"))
    with pytest.raises(ValueError, match="There is no text to measure on"):
        head_importance(model("writer"), [])
    with pytest.raises(ValueError, match='no "cross" attention here; there is self'):
        head_importance(model("writer"), [(TEXT, "")], "cross")
    with pytest.raises(ValueError, match="nothing to predict"):
        scored(model("filler"), "I")
