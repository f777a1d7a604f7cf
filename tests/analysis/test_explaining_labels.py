"""Attributions of words to a label: captum and shap on transformers' own network give the same numbers."""

from __future__ import annotations

import numpy as np
import pytest
import torch
from captum.attr import InputXGradient, IntegratedGradients

from analysis import Question, attributions, explain, rollout
from analysis.explaining import METHODS, passes_needed
from analysis.lime_and_shap import neighbours
from models.class_labels import ANY, VALUE
from tests.grids import grid
from tests.models.classifiers import CLASSIFIERS, TEXT, classifier, model

ASKED = tuple(CLASSIFIERS)
FEW = [("BERT", False), ("BERT", True), ("GPT-2", False), ("T5", True)]  # of these with and without another label, in `make test`
FEW += [("BERT, any of them", False), ("BERT, a number", False), ("BERT, tokens", True), ("XLNet, the mean", False)]
TURNS = [(name, number % 2 == 1) for number, name in enumerate(ASKED) if (name, number % 2 == 1) not in FEW]
EMBEDDED = ("BERT", "BERT, any of them", "BERT, a number", "BERT, tokens", "RoBERTa")  # how these add up what comes in


def question_of(name: str, against: bool = False, text: str = TEXT) -> Question:
    net = model(name)
    trace = net.trace(text)
    place = net.places(trace)[-1]
    best = [choice.id for choice in net.top(trace.scores_at(place), place, 2)]
    return Question(net, trace, place, best[0], best[1] if against else None)


def evidence(question: Question, logits: torch.Tensor) -> torch.Tensor:
    """Of scores [row, label], as the page says it is."""
    if question.against is not None:
        return logits[:, question.token] - logits[:, question.against]
    rule = question.model.info.labels.rule
    logs = logits if rule == VALUE else logits.sigmoid().log() if rule == ANY else logits.log_softmax(-1)
    return logs[:, question.token]


def its(question: Question, ids: torch.Tensor) -> torch.Tensor:
    """The evidence by transformers' own network, of ids [row, position]."""
    name = next(candidate for candidate in ASKED if model(candidate) is question.model)
    logits = classifier(name)(ids).logits
    if question.model.info.labels.each:
        logits = logits[:, question.position if question.model.info.kind == "encoder" else -1]
    return evidence(question, logits)


@pytest.mark.parametrize(("name", "against"), grid([*FEW, *TURNS], FEW[:4]))
def test_leave_one_out_is_a_loop_over_transformers(name, against):
    if against and len(model(name).info.labels.names) == 1:
        pytest.skip("one label has no other")
    question = question_of(name, against)
    units = np.ones(len(question.units), bool)
    with torch.inference_mode():
        texts = [question.text(units), *(question.text(~row) for row in np.eye(len(units), dtype=bool))]
        full, *without = (float(its(question, torch.tensor([[token.id for token in text]]))[0]) for text in texts)
    scores = explain(question, "leave-one-out").scores[question.units]
    assert scores == pytest.approx(full - np.array(without), abs=1e-4)


@pytest.mark.parametrize("name", EMBEDDED)
def test_captum_called_directly_gives_the_same(name):
    """On transformers' network from the sum of its embeddings on."""
    question = question_of(name)
    net, trace, network = question.model, question.trace, classifier(name)
    network.requires_grad_(False)
    ids = torch.tensor([[token.id for token in trace.tokens]])
    sign = net.tokenize(net.info.mask)[1].id
    empty = ids.clone()
    empty[0, question.units] = sign
    body = network.base_model
    came = []

    def stream(of: torch.Tensor) -> torch.Tensor:
        handle = body.encoder.layer[0].register_forward_pre_hook(lambda layer, args: came.append(args[0]))
        with torch.no_grad():
            network(of)
        handle.remove()
        return came.pop()

    def evidence_of(streams: torch.Tensor) -> torch.Tensor:
        handle = body.encoder.layer[0].register_forward_pre_hook(lambda layer, args: (streams, *args[1:]))
        logits = network(ids.expand(len(streams), -1)).logits
        handle.remove()
        return evidence(question, logits[:, question.position] if net.info.labels.each else logits)

    full, baseline = stream(ids), stream(empty)
    direct = InputXGradient(evidence_of).attribute(full.clone().requires_grad_()).detach().sum(-1)[0].numpy()
    scores = explain(question, "gradient × input").scores
    assert scores[question.units] == pytest.approx(direct[question.units], abs=1e-5)
    direct = IntegratedGradients(evidence_of).attribute(full, baseline, n_steps=64).detach().sum(-1)[0].numpy()
    scores = explain(question, "integrated gradients").scores
    assert scores[question.units] == pytest.approx(direct[question.units], abs=1e-4)


@pytest.mark.thorough
@pytest.mark.parametrize("name", grid(["BERT", "GPT-2", "BERT, a number", "BERT, tokens"], ["GPT-2"]))
def test_shap_called_directly_gives_the_same(name):
    """Of a text so short that no group is left undivided: which is, hangs on the last digit."""
    import shap

    question = question_of(name, text="The cat sat on the mat")
    count = len(question.units)

    def evidence_of(masks: np.ndarray) -> np.ndarray:
        with torch.inference_mode():
            texts = [[token.id for token in question.text(row > 0.5)] for row in masks]
            return np.array([float(its(question, torch.tensor([text]))[0]) for text in texts])

    masker = shap.maskers.Partition(np.zeros((1, count)), clustering=neighbours(count))
    limit = passes_needed("shap", count)
    direct = shap.explainers.PartitionExplainer(evidence_of, masker)(np.ones((1, count)), max_evals=limit, silent=True).values[0]
    assert explain(question, "shap").scores[question.units] == pytest.approx(direct, abs=1e-4)


OTHERS = ["DeBERTa-v2", "Llama", "GPT-2, tokens", "ModernBERT, the mean", "BART", "T5"]
ANSWERED = [(name, method) for name in OTHERS for method in METHODS]


@pytest.mark.parametrize(("name", "method"), grid(ANSWERED, ANSWERED[::5]))
def test_every_method_has_an_answer_and_sums_to_what_it_should(name, method):
    explanation = explain(question_of(name), method)
    assert np.abs(explanation.scores[np.isfinite(explanation.scores)]).max() > 0
    if explanation.difference is not None:
        assert explanation.total == pytest.approx(explanation.difference, rel=0.02, abs=0.02)


def test_rollout_of_what_is_made_of_all_tokens_is_that_of_all_rows():
    question = question_of("ModernBERT, the mean")
    rows = rollout(question.trace.attention["self"])[-1]
    assert explain(question, "rollout").scores == pytest.approx(rows.mean(0), abs=1e-6)


@pytest.mark.parametrize("name", ["BART", "T5"])
def test_what_a_token_is_worth_in_both_stacks_is_one_number(name):
    """The slope against the vector of a token, which the encoder and the decoder read, by transformers' own network."""
    question = question_of(name)
    network, ids = classifier(name), [token.id for token in question.trace.tokens]
    target_ids = [token.id for token in question.trace.target]
    inputs = {}

    def enter(stack):
        def note(module, args, kwargs):
            states = (args[0] if args else kwargs["hidden_states"]).detach().requires_grad_()
            inputs[stack] = states
            return ((states, *args[1:]), kwargs) if args else (args, kwargs | {"hidden_states": states})

        return note

    body = network.model if name == "BART" else network.transformer
    for stack in ("encoder", "decoder"):
        part = getattr(body, stack)
        first = part.layers[0] if name == "BART" else part.block[0]
        first.register_forward_pre_hook(enter(stack), with_kwargs=True)
    evidence(question, network(torch.tensor([ids]), decoder_input_ids=torch.tensor([target_ids])).logits).sum().backward()
    worth = [(inputs[stack].grad * inputs[stack]).sum(-1)[0].detach().numpy() for stack in ("encoder", "decoder")]
    expected = worth[0] + np.append(worth[1][1:], 0)
    scores = explain(question, "gradient × input").scores
    assert scores[question.units] == pytest.approx(expected[question.units], abs=1e-4)
    assert question.target_read == [] and np.isnan(scores[len(ids) :]).all()


def test_a_label_of_a_text_is_asked_about_where_it_is_read():
    net, best = model("BERT"), question_of("BERT")
    scores = attributions(net, TEXT, "leave-one-out", token=best.token)
    np.testing.assert_array_equal(scores, explain(best, "leave-one-out").scores)
    with pytest.raises(ValueError, match="no label 3: they are 0 to 2"):
        attributions(net, TEXT, "leave-one-out", token=3)
    with pytest.raises(ValueError, match="against itself"):
        attributions(net, TEXT, "leave-one-out", token=1, against=1)
