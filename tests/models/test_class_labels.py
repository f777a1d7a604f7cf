"""Classifiers of the Hub: their labels are those of transformers, and what cannot be labelled is said."""

from __future__ import annotations

import json

import numpy as np
import pytest
import torch
import transformers

import models
from analysis import head_effects, inside, surprise
from analysis.effects import divergence
from models.class_labels import ANY, MOST, ONE, VALUE, Labels, chances, labels_of, log_chances, log_chances_of
from models.edits import Head, Stream
from models.errors import ModelError
from models.huggingface.model import HuggingFaceModel
from tests.grids import grid
from tests.models.classifiers import CLASSIFIERS, LABELS, TEXT, TEXTS, classifier, model, saved
from tests.models.networks import SIZE, tokenizer

LABELLED = tuple(CLASSIFIERS)
NEAR = 3e-5  # between the scores of one network by two ways to add: those of T5 reach 17, and have seven digits


def its(name: str, tokens) -> np.ndarray:
    """transformers' own scores."""
    with torch.inference_mode():
        return classifier(name)(torch.tensor([[token.id for token in tokens]])).logits[0].numpy()


@pytest.mark.parametrize("name", grid(LABELLED, LABELLED[::4]))
def test_scores_are_those_of_transformers(name):
    """One text and another, of each the row or rows that are labelled; and of several texts at once."""
    labeller = model(name)
    for text in (TEXT, "Once upon a time"):
        trace = labeller.trace(text)
        expected = its(name, trace.tokens)
        rows = expected[labeller.places(trace)] if labeller.info.labels.each else expected[None]
        scores = np.stack([trace.scores_at(place) for place in labeller.places(trace)])
        np.testing.assert_allclose(scores, rows, atol=NEAR)
        at_once = labeller.logits_of([trace.tokens] * 2, labeller.places(trace)[-1])
        np.testing.assert_allclose(at_once, np.stack([rows[-1]] * 2), atol=NEAR)
    assert trace.logits is None and trace.predicts and not labeller.info.predicts


@pytest.mark.parametrize("name", LABELLED)
def test_predictions_are_labels_by_their_names(name):
    labeller = model(name)
    trace, labels = labeller.trace(TEXT), labeller.info.labels
    predictions = labeller.predict(TEXT, top=3)
    assert len(predictions) == len(labeller.places(trace)) * len(labels.names)
    scores = its(name, trace.tokens)
    for prediction in predictions:
        row = torch.from_numpy(scores[prediction.position] if labels.each else scores)
        share = {ONE: row.softmax(-1), ANY: row.sigmoid(), VALUE: row * torch.nan}[labels.rule][prediction.id]
        assert prediction.probability == pytest.approx(float(share), abs=1e-5, nan_ok=True)
        assert (prediction.text, prediction.score) == (
            labels.names[prediction.id],
            pytest.approx(float(row[prediction.id]), abs=NEAR),
        )


@pytest.mark.parametrize("name", TEXTS)
def test_edits_and_random_weights_keep_the_labels(name):
    labeller = model(name)
    kind = "decoder" if labeller.info.kind == "encoder-decoder" else "self"
    trace, off = labeller.trace(TEXT), labeller.trace(TEXT, edits=[Head(1, 0, kind=kind)])
    place = labeller.places(trace)[0]
    before, after = (labeller.log_chances(reading.scores_at(place)) for reading in (trace, off))
    token = int(before.argmax())
    assert head_effects(labeller, TEXT, position=place, kind=kind)[1, 0] == pytest.approx(after[token] - before[token], abs=1e-4)
    other = labeller.with_random_weights(0)
    assert other.info.labels == labeller.info.labels and other.trace(TEXT).scores_at(place).shape == before.shape


def test_padding_at_the_end_is_passed_over_as_transformers_does():
    labeller = model("Llama")
    text = TEXT + "<pad><pad>"
    trace = labeller.trace(text)
    assert [token.id for token in trace.tokens[-2:]] == [0, 0]
    np.testing.assert_allclose(trace.scores_at(labeller.places(trace)[0]), its("Llama", trace.tokens), atol=1e-5)


@pytest.mark.parametrize("name", ["GPT-2", "BERT"])
def test_it_labels_and_does_not_go_on(name):
    labeller = model(name)
    with pytest.raises(ValueError, match=r"does not continue|no language-model head"):
        labeller.generate("Once")
    with pytest.raises(ValueError, match="no predictions"):
        surprise(labeller.trace(TEXT))


@pytest.mark.parametrize("name", ["ModernBERT, the mean", "XLNet, the mean"])
def test_labels_that_are_made_of_all_tokens_follow_every_change_of_any(name):
    """Against transformers' own network with the change made in its own layer."""
    labeller = model(name)
    trace, network = labeller.trace(TEXT), classifier(name)
    assert labeller.info.labels.pooled and not labeller.info.labels.each and labeller.places(trace) == [0]
    layer = (network.model.layers if name.startswith("Modern") else network.transformer.layer)[1]
    at, added = 3, np.linspace(-1, 1, labeller.info.d_model, dtype=np.float32)

    def push(module, args, out):
        stream = out[0] if isinstance(out, tuple) else out
        (stream[at, 0] if name.startswith("XLNet") else stream[0, at]).add_(torch.from_numpy(added))

    layer.register_forward_hook(push)
    with torch.inference_mode():
        expected = network(torch.tensor([[token.id for token in trace.tokens]])).logits[0].numpy()
    edited_trace = labeller.trace(TEXT, edits=[Stream(2, at, add=added)])
    np.testing.assert_allclose(edited_trace.scores_at(0), expected, atol=1e-4)
    assert np.abs(expected - trace.scores_at(0)).max() > 1e-3
    assert np.array_equal(trace.scores_at(0), trace.scores_at(5)), "the text has one label, wherever one asks"


class Deep(transformers.BertForSequenceClassification):
    """Its scores are made of the embedding too, and not of what the last layer gives alone."""

    def forward(self, input_ids, **more):
        out = super().forward(input_ids, **more)
        out.logits = out.logits + self.bert.embeddings(input_ids).mean(1)[:, : out.logits.shape[1]]
        return out


def test_a_head_that_cannot_be_followed_is_left_out_and_said():
    torch.manual_seed(0)
    names = dict(enumerate(LABELS))
    network = Deep(transformers.BertConfig(**SIZE, id2label=names, label2id={label: i for i, label in names.items()}))
    labeller = HuggingFaceModel(network, tokenizer("encoder"), "encoder", False, labels=Labels(LABELS))
    assert labeller.info.labels is None and not labeller.trace(TEXT).predicts
    assert any("several tokens at once" in note for note in labeller.info.notes)


@pytest.mark.parametrize("name", ["BART", "T5"])
def test_the_decoder_of_a_classifier_reads_the_text_again_whatever_is_given_it(name):
    labeller = model(name)
    trace = labeller.trace(TEXT, "another text")
    assert [token.id for token in trace.target[1:]] == [token.id for token in trace.tokens[:-1]]
    assert labeller.places(trace) == [len(trace.tokens) - 1] and labeller.tokenize("")[-1].special
    assert not labeller.info.pairs and any("Of a pair of texts" in note for note in labeller.info.notes), "which is said"
    np.testing.assert_allclose(trace.scores_at(labeller.places(trace)[0]), its(name, trace.tokens), atol=1e-5)
    twice = labeller.trace(TEXT[:20] + "</s>" + TEXT[20:])  # each text that transformers reads has one end, and this one has two
    np.testing.assert_allclose(twice.scores_at(labeller.places(twice)[0]), its(name, twice.tokens), atol=1e-5)
    at_once = labeller.logits_of([trace.tokens, twice.tokens[: len(trace.tokens) - 1] + trace.tokens[-1:]])
    np.testing.assert_allclose(at_once[0], its(name, trace.tokens), atol=1e-5)


@pytest.mark.parametrize("name", ["BERT", "ModernBERT, the mean", "BART", "T5"])
def test_the_way_through_a_classifier_ends_before_its_head(name):
    """Labels are no tokens, so no stage is called a softmax over words, or a choice of one."""
    labeller = model(name)
    stages = [stage.name for stage in inside.follow(labeller, labeller.trace(TEXT), 1).stages]
    assert stages[-1] in ("blocks", "final norm") and not {"unembedding", "logits", "softmax", "choice"} & set(stages)


def test_a_classifier_of_two_stacks_whose_head_is_missing_says_so(tmp_path):
    from safetensors.torch import load_file, save_file

    file = saved("BART", tmp_path) / "model.safetensors"
    save_file({key: value for key, value in load_file(file).items() if "classification" not in key}, file, {"format": "pt"})
    labeller = models.load(str(tmp_path))
    assert labeller.info.labels is None and labeller.trace(TEXT, TEXT).attention["cross"].layers == 2
    assert any("hold no head" in note for note in labeller.info.notes)


def change(folder, **choices) -> str:
    file = folder / "config.json"
    config = {key: value for key, value in json.loads(file.read_text()).items() if key not in choices}
    file.write_text(json.dumps(config | {key: value for key, value in choices.items() if value is not None}))
    return str(folder)


def test_labels_that_the_head_lacks_are_not_shown_and_that_is_said(tmp_path):
    labeller = models.load(change(saved("BERT", tmp_path), id2label={"0": "no", "1": "yes"}))
    assert labeller.info.labels is None and "speaks of 2 labels" in labeller.info.notes[0]
    assert labeller.trace(TEXT).attention["self"].layers == 3


def test_a_pooler_that_is_missing_is_no_random_one(tmp_path):
    from safetensors.torch import load_file, save_file

    file = saved("BERT", tmp_path) / "model.safetensors"
    save_file({key: value for key, value in load_file(file).items() if "pooler" not in key}, file, {"format": "pt"})
    assert models.load(str(tmp_path)).info.labels is None


def test_labels_without_names_have_numbers(tmp_path):
    labeller = models.load(change(saved("BERT", tmp_path), id2label=None, label2id=None, num_labels=3))
    assert labeller.info.labels.names == ("LABEL_0", "LABEL_1", "LABEL_2") and not labeller.info.labels.named


@pytest.mark.parametrize(
    ("config", "sentence"),
    [
        ({"id2label": ["sad", "happy"]}, "one by one"),
        ({"id2label": {"0": "sad", "2": "happy"}}, "from 0 on"),
        ({"id2label": {"sad": 0}}, "from 0 on"),
        ({"num_labels": MOST + 1}, "labels"),
        ({"num_labels": "many"}, "many labels"),
        ({"num_labels": 0}, "0 labels"),
    ],
)
def test_labels_that_nobody_can_tell_apart_are_refused(config, sentence, tmp_path):
    with pytest.raises(ValueError, match=sentence):
        labels_of(config, each=False)
    with pytest.raises(ModelError, match=sentence):
        models.load(change(saved("BERT", tmp_path), **{"id2label": None, "label2id": None} | config))


@pytest.mark.parametrize(
    ("config", "rule"),
    [
        ({"id2label": dict(enumerate(LABELS))}, ONE),
        ({"id2label": dict(enumerate(LABELS)), "problem_type": "multi_label_classification"}, ANY),
        ({"num_labels": 1, "problem_type": "multi_label_classification"}, ANY),
        ({"num_labels": 1}, VALUE),
        ({"num_labels": 1, "problem_type": "single_label_classification"}, VALUE),
        ({"num_labels": 3, "problem_type": "regression"}, VALUE),
        ({}, ONE),
    ],
)
def test_what_scores_stand_for_is_what_the_config_says(config, rule):
    assert labels_of(config, each=False).rule == rule
    assert labels_of(config, each=True).rule == ONE


def test_names_that_are_twice_there_are_told_apart():
    assert labels_of({"id2label": {"0": "yes", "1": "yes"}}, each=False).names == ("yes (0)", "yes (1)")


@pytest.mark.parametrize("rule", [ONE, ANY, VALUE])
def test_evidence_is_the_logarithm_of_the_chance(rule):
    scores, labels = np.array([[-800.0, 0.5, 3.0], [2.0, 2.0, -1.0]], np.float32), Labels(LABELS, rule=rule)
    evidence = log_chances(scores, labels)
    np.testing.assert_allclose(log_chances_of(torch.from_numpy(scores).double(), labels).numpy(), evidence, rtol=1e-9)
    if rule == VALUE:
        assert np.isnan(chances(scores, labels)).all() and (evidence == scores).all()
    else:
        np.testing.assert_allclose(np.exp(evidence), chances(scores, labels), atol=1e-12)


def test_the_divergence_of_labels_of_which_any_may_hold_is_the_sum_of_theirs():
    labels, before, after = Labels(LABELS, rule=ANY), np.array([0.3, -1.0, 2.0]), np.array([0.1, 0.5, 1.0])
    pairs = [torch.distributions.Bernoulli(logits=torch.from_numpy(scores)) for scores in (before, after)]
    assert divergence(before, after, labels) == pytest.approx(float(torch.distributions.kl_divergence(*pairs).sum()))
    assert divergence(before, before, labels) == 0 and np.isnan(divergence(before, after, Labels(LABELS, rule=VALUE)))


@pytest.mark.parametrize("name", ["BERT", "BERT, tokens"])
def test_a_trace_that_was_saved_keeps_its_labels(name, tmp_path):
    labeller = model(name)
    trace = labeller.trace(TEXT)
    trace.save(tmp_path / "trace.safetensors")
    again = models.load_trace(tmp_path / "trace.safetensors")
    assert again.info.labels == labeller.info.labels and again.predicts and again.logits is None and again.logits_at(1) is None
    for place in labeller.places(trace):
        np.testing.assert_allclose(again.scores_at(place), trace.scores_at(place), atol=1e-6)
