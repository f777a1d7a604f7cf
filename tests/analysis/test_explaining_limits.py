"""Explanations that agree, that cannot be had, and that are stopped in the middle."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.stats import spearmanr

from analysis import agreement, attributions, explain
from analysis.lime_and_shap import neighbours
from tests.analysis.test_explaining import HEADLESS, question_of
from tests.models.edited import model
from tests.models.networks import network


def test_agreement_is_spearmans_of_every_two():
    question = question_of("writer")
    explanations = [explain(question, method) for method in ("leave-one-out", "integrated gradients", "rollout")]
    ranks = agreement(explanations, question.units)
    assert np.diag(ranks) == pytest.approx(1) and ranks == pytest.approx(ranks.T)
    expected = spearmanr(explanations[0].scores[question.units], explanations[1].scores[question.units]).statistic
    assert ranks[0, 1] == pytest.approx(expected)


def test_attributions_of_a_text():
    net, question = model("writer"), question_of("writer")
    scores = attributions(net, question.trace.text, "leave-one-out")
    assert scores.shape == (len(question.trace.tokens),)
    assert scores == pytest.approx(explain(question, "leave-one-out").scores, nan_ok=True)
    middle = attributions(net, question.trace.text, "integrated gradients", position=4)
    assert np.isfinite(middle[1:5]).all() and np.isnan(middle[5:]).all()


def test_what_cannot_be_explained_is_said():
    net = model("writer")
    with pytest.raises(ValueError, match="must be one of leave-one-out"):
        attributions(net, "The dog", "magic")
    with pytest.raises(ValueError, match="no token that could be taken away"):
        attributions(net, "", "shap")
    with pytest.raises(ValueError, match="A token against itself"):
        attributions(net, "The dog", "shap", token=300, against=300)
    with pytest.raises(ValueError, match="no token 99999"):
        attributions(net, "The dog", "shap", token=99999)
    with pytest.raises(ValueError, match="no position 99"):
        attributions(net, "The dog", "shap", position=99)


def test_a_model_without_a_head_says_so():
    from models.huggingface.model import HuggingFaceModel
    from tests.models.networks import tokenizer

    net = HuggingFaceModel(network(HEADLESS), tokenizer("encoder"), "encoder", False, HEADLESS)
    with pytest.raises(ValueError, match="no language-model head"):
        attributions(net, "The dog", "lime")


def test_work_can_be_left_in_the_middle():
    from models.errors import Cancelled

    def report(share: float, words: str) -> None:
        assert 0 <= share <= 1
        raise Cancelled

    for method in ("leave-one-out", "integrated gradients", "lime", "shap", "sampled shap"):
        with pytest.raises(Cancelled):
            explain(question_of("writer"), method, report=report)


def test_a_tree_of_neighbours_joins_neighbours():
    for count in (2, 3, 7, 8):
        members = {i: [i] for i in range(count)}
        for row, (left, right, _, size) in enumerate(neighbours(count)):
            joint = members.pop(int(left)) + members.pop(int(right))
            assert joint == list(range(joint[0], joint[0] + int(size)))
            members[count + row] = joint
        assert len(members) == 1
