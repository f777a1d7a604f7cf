"""A model that reads elsewhere answers what it answers here, in all that a page asks for, and only that crosses."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import head_scores, logit_lens, surprise
from models import edits as E
from models.errors import ModelError
from models.reading.prefix import reading_for
from models.remote.client import ReplicaClient
from models.remote.far_model import FarModel
from models.trace import Trace
from tests.grids import grid
from tests.models import classifiers
from tests.models.edited import NAMES, OURS, TEXT, model, stack, target
from tests.models.remote.serving import LABELLED, replicas

NEAR = 1e-6


@pytest.fixture(scope="module")
def port():
    with replicas() as port_number:
        yield port_number


def far_model(port: int, name: str) -> FarModel:
    """With the model beside it only where it ships."""
    return FarModel(name, ReplicaClient("127.0.0.1", port), model(name) if name in OURS else None)


def apart(a, b) -> float:
    return float(np.abs(np.asarray(a, np.float64) - np.asarray(b, np.float64)).max(initial=0.0))


def assert_same(far: Trace, here: Trace) -> None:
    """Equal in all that can be asked of a trace."""
    assert (far.text, far.tokens, far.target, far.cut) == (here.text, here.tokens, here.target, here.cut)
    assert far.bytes > 0, "how many depends on which maps have been computed"
    assert far.predicts == here.predicts and (far.unembed is None) == (here.unembed is None)
    assert set(far.hidden) == set(here.hidden) and list(far.attention) == list(here.attention)
    for kind, stream in here.hidden.items():
        assert apart(far.hidden[kind], stream) <= NEAR
    for kind, attention in here.attention.items():
        other = far.attention[kind]
        assert (other.rows, other.keys, other.layers, other.heads) == (
            attention.rows,
            attention.keys,
            attention.layers,
            attention.heads,
        )
        for layer in range(attention.layers):
            assert other.formula(layer) == attention.formula(layer)
            assert apart(other[layer], attention[layer]) <= NEAR
            if attention.calls[layer].query is None:
                with pytest.raises(ValueError, match="attends in its own way"):
                    other.q(layer)
                continue
            for part in ("q", "k", "v", "scores"):
                assert apart(getattr(other, part)(layer), getattr(attention, part)(layer)) <= NEAR
            theirs, ours = other.rotary(layer), attention.rotary(layer)
            assert (theirs is None) == (ours is None)
            assert theirs is None or np.array_equal(theirs.frequencies, ours.frequencies)
    if here.unembed is not None:
        for position in (0, len(here.read) - 1, -1):
            assert apart(far.logits_at(position), here.logits_at(position)) <= NEAR * 10
        assert apart(far.logits, here.logits) <= NEAR * 10
        assert np.allclose(surprise(far), surprise(here), atol=1e-5, equal_nan=True)


@pytest.mark.parametrize("name", [*NAMES, "sorter"])
def test_a_text_that_is_read_elsewhere_is_read_as_it_is_here(port, name):
    here = models.load(name) if name == "sorter" else model(name)
    far = FarModel(name, ReplicaClient("127.0.0.1", port), here if name in (*OURS, "sorter") else None)
    second = "" if name == "sorter" else target(name)
    assert far.info == here.info and far.ids == here.ids and far.weights == here.weights
    assert_same(far.trace(TEXT, second), here.trace(TEXT, second))
    assert far.tokenize(TEXT) == here.tokenize(TEXT)
    if here.info.predicts and here.info.kind != "encoder":
        assert far.predict(TEXT, second) == here.predict(TEXT, second)
    assert far.far.asked and not far.far.trouble, "the replica answered"


@pytest.mark.parametrize("name", ["BERT", "GPT-2, tokens", "ModernBERT, the mean", "XLNet, the mean", "BART", "T5"])
def test_labels_are_those_that_are_given_here(port, name):
    far, here = FarModel(LABELLED + name, ReplicaClient("127.0.0.1", port)), classifiers.model(name)
    far_trace, here_trace = far.trace(TEXT), here.trace(TEXT)
    assert far.info == here.info and far.places(far_trace) == here.places(here_trace)
    assert_same(far_trace, here_trace)
    assert far_trace.logits is None and apart(far_trace.stream, here_trace.stream) <= NEAR
    for place in here.places(here_trace):
        assert apart(far_trace.scores_at(place), here_trace.scores_at(place)) <= NEAR * 10
        assert apart(far_trace.way_out(far_trace.last_stream)[place], here_trace.scores_at(place)) <= NEAR * 10
    assert [(label.text, label.position) for label in far.predict(TEXT)] == [
        (label.text, label.position) for label in here.predict(TEXT)
    ]


def test_ids_a_long_text_and_several_texts_cross_as_they_are(port):
    far, here = far_model(port, "writer"), model("writer")
    ids = [token.id for token in here.tokenize("the cat")]
    assert_same(far.trace(ids), here.trace(ids))
    long = "the cat sat on the mat and " * 80
    assert_same(far.trace(long), here.trace(long))
    assert far.trace(long).cut > 0
    for far_trace, here_trace in zip(far.traces(["a cat", "the old dog"]), here.traces(["a cat", "the old dog"]), strict=True):
        assert_same(far_trace, here_trace)
    with pytest.raises(ValueError, match="reads one text"):
        far.trace("a", "b")
    with pytest.raises(TypeError, match="must be a str"):
        far.trace(None)


@pytest.mark.parametrize("name", grid(OURS, [*OURS][:1]))
def test_what_does_not_cross_is_done_by_the_model_beside(port, name):
    far, here, kind = far_model(port, name), model(name), stack(name)
    off = [E.Head(0, 1, kind=kind)]
    assert_same(far.trace(TEXT, target(name), edits=off), here.trace(TEXT, target(name), edits=off))
    far_trace, here_trace = far.trace(TEXT, target(name)), here.trace(TEXT, target(name))
    for kind, parts in here_trace.parts.items():
        assert all(apart(far_trace.parts[kind][part], values) <= 1e-5 for part, values in parts.items())
    assert far.embedding([3]).tolist() == here.embedding([3]).tolist() and far.network is here.network
    first_kind = next(iter(here_trace.attention))
    assert head_scores(far, kind=first_kind).equals(head_scores(here, kind=first_kind))
    if here.info.kind != "encoder":
        steps = [[step.continuation for step in m.generate(TEXT, max_new_tokens=3, target=target(name))] for m in (far, here)]
        assert steps[0] == steps[1]


def test_a_model_that_is_elsewhere_alone_says_what_it_cannot_do(port):
    far = far_model(port, "GPT-2")
    trace = far.trace(TEXT)
    for ask in (
        lambda: far.trace(TEXT, edits=[E.Head(0, 0)]),
        lambda: far.gradients(trace, -1, 1),
        lambda: list(far.generate(TEXT)),
        lambda: far.watch(trace, "self", 0, []),
        lambda: far.value_weights("self", 0),
        lambda: trace.parts,
    ):
        with pytest.raises(ModelError, match="runs on other machines"):
            ask()
    assert logit_lens(far, trace).equals(logit_lens(model("GPT-2"), model("GPT-2").trace(TEXT)))
    assert far.spell([5, 6]) == model("GPT-2").spell([5, 6])


def test_a_trace_that_was_read_elsewhere_can_be_saved(port, tmp_path):
    trace = far_model(port, "writer").trace(TEXT)
    trace.save(tmp_path / "far.safetensors")
    opened, here = models.load_trace(tmp_path / "far.safetensors"), model("writer").trace(TEXT)
    assert opened.tokens == here.tokens and apart(opened.attention["self"][2], here.attention["self"][2]) <= NEAR
    assert opened.model.weights == here.model.weights


def test_what_was_asked_of_the_last_text_comes_with_the_next_one(port):
    far = far_model(port, "writer")
    counts = []
    with reading_for("somebody"):
        for text in ("the", "the cat", "the cat sat"):
            before = far.far.asked
            trace = far.trace(text)
            trace.logits_at(len(trace.read) - 1), trace.attention["self"][2]
            counts.append(far.far.asked - before)
        assert counts == [3, 1, 1]
        trace.hidden["self"]
        before = far.far.asked
        far.trace("the cat sat on").hidden["self"]
        assert far.far.asked == before + 1
    with reading_for("somebody else"):
        received = far.far.received
        far.trace("the cat sat on")
        assert far.far.received - received < 2000, "who has asked for nothing is sent nothing but tokens"


def test_only_the_layer_that_is_looked_at_crosses_in_the_smaller_form(port):
    far, here = far_model(port, "writer"), model("writer")
    for text in ("the cat", "the cat sat on the mat and " * 30):
        trace = far.trace(text, remember=False)
        size = far.far.received
        trace.attention["self"][4]
        size = far.far.received - size
        count, width = len(trace.tokens), here.info.d_model
        whole = 4 * here.info.heads * count**2
        assert size <= min(whole, 2 * 4 * width * count) + 600
