"""What heads do to a prediction, what a piece of another run brings back, and who wrote towards a word."""

from __future__ import annotations

import numpy as np
import pytest

import models
from analysis import head_effects, logit_attribution, patching
from analysis.effects import divergence, log_softmax, skip_effects
from models import edits as E
from models.huggingface.model import HuggingFaceModel
from tests.models.edited import NAMES, TEXT, model, read, stack, target
from tests.models.networks import network, tokenizer

PREDICTING = tuple(name for name in NAMES if name != "XLNet")  # which has no head for language here
HER, HIS = "The girl took her bag and said that", "The boy took his bag and said that"


@pytest.fixture(scope="module")
def writer():
    return models.load("writer")


@pytest.mark.parametrize("name", PREDICTING)
def test_all_heads_at_once_are_the_loop_over_heads(name):
    plain, kind = read(name), stack(name)
    token = int(plain.logits_at(2).argmax())
    effects = head_effects(model(name), TEXT, position=2, target=target(name))
    assert effects.shape == (plain.attention[kind].layers, plain.attention[kind].heads)
    before = log_softmax(plain.logits_at([2]))[0, token]
    for layer, head in ((0, 0), (1, 2), (effects.shape[0] - 1, effects.shape[1] - 1)):
        after = log_softmax(read(name, E.Head(layer, head, kind=kind)).logits_at([2]))[0, token]
        assert effects[layer, head] == pytest.approx(after - before, abs=1e-5)


def test_heads_of_cross_attention_too_and_of_any_token():
    effects = head_effects(model("translator"), TEXT, target=target("translator"), token=7, kind="cross")
    plain, off = read("translator"), read("translator", E.Head(2, 1, kind="cross"))
    before, after = (log_softmax(run.logits_at([-1]))[0, 7] for run in (plain, off))
    assert effects[2, 1] == pytest.approx(after - before, abs=1e-5)


def test_heads_are_the_same_layer_by_layer_and_it_says_how_far_it_is(writer):
    shares: list[float] = []
    effects = head_effects(writer, TEXT, report=lambda share, words: shares.append(share))
    np.testing.assert_allclose(effects, head_effects(writer, TEXT), atol=1e-5)
    assert shares == [layer / 6 for layer in range(6)]


@pytest.mark.parametrize("part", ["feedforward", "block"])
def test_what_is_skipped_all_at_once_is_the_loop(writer, part):
    plain = read("writer")
    token = int(plain.logits_at(-1).argmax())
    logs = [log_softmax(read("writer", *edits).logits_at([-1]))[0, token] for edits in ([], [E.Skip(4, part)])]
    assert skip_effects(writer, plain, part).shape == (6,)
    assert skip_effects(writer, plain, part)[4] == pytest.approx(logs[1] - logs[0], abs=1e-5)


def test_the_divergence_of_two_predictions(writer):
    before, after = (trace.logits_at(-1) for trace in (read("writer"), read("writer", E.Head(2, 3))))
    p, q = (np.exp(log_softmax(logits)) for logits in (before, after))
    assert divergence(before, after) == pytest.approx(float(np.sum(p * np.log(p / q))), abs=1e-9)
    assert divergence(before, before) == 0
    assert divergence(before, before + 7) == pytest.approx(0, abs=1e-9)


def test_heads_of_what_is_not_there_are_said(writer):
    with pytest.raises(ValueError, match='no "cross" attention; it has self'):
        head_effects(writer, TEXT, kind="cross")
    with pytest.raises(ValueError, match="no position 99"):
        head_effects(writer, TEXT, position=99)
    with pytest.raises(ValueError, match="no token 99999"):
        head_effects(writer, TEXT, token=99999)


@pytest.mark.parametrize("direction", ["denoising", "noising"])
@pytest.mark.parametrize("measure", ["logit difference", "probability", "KL"])
def test_the_stream_brings_all_back_where_it_is_all(writer, measure, direction):
    """After the last block only the last position counts; before the first only the words that differ do, both together."""
    she, he = (writer.tokenize(word)[-1].id for word in (" she", " he"))
    shares = patching(writer, HER, HIS, "stream", measure, direction, token=she, other=he)
    assert shares.shape == (7, len(writer.tokenize(HER)))
    assert shares[-1, -1] == pytest.approx(1, abs=1e-4)
    assert shares[-1, :-1] == pytest.approx(0, abs=1e-4)
    same = [i for i, (a, b) in enumerate(zip(writer.tokenize(HER), writer.tokenize(HIS), strict=True)) if a.id == b.id]
    assert shares[0, same] == pytest.approx(0, abs=1e-4)
    assert np.abs(np.delete(shares[0], same)).min() > 0.02


@pytest.mark.parametrize("name", ["writer", "GPT-2", "Gemma 2, soft-capped", "GPT-NeoX", "BERT", "BLOOM"])
@pytest.mark.parametrize("part", ["attention", "feedforward"])
def test_a_patched_part_is_a_reading_with_that_part(name, part):
    clean, corrupt = "The cat sat on the mat", "The mat sat on the cat"
    clean_run, corrupt_run = (model(name).trace(text) for text in (clean, corrupt))
    assert len(clean_run.tokens) == len(corrupt_run.tokens)
    token = int(clean_run.logits_at(-1).argmax())
    shares = patching(model(name), clean, corrupt, part, "probability", token=token)
    outputs, at = model(name).parts(clean_run)["self"][part], len(clean_run.tokens) - 2
    patched_run = model(name).trace(corrupt, edits=[E.Part(1, at, outputs[1, at], part)])
    ends = [np.exp(log_softmax(run.logits_at([-1])))[0, token] for run in (corrupt_run, clean_run, patched_run)]
    assert ends[0] + shares[1, at] * (ends[1] - ends[0]) == pytest.approx(ends[2], abs=1e-5)


def test_a_patched_head_is_a_reading_with_what_it_gave(writer):
    she = writer.tokenize(" she")[-1].id
    shares = patching(writer, HER, HIS, "head", "probability", token=she)
    clean_run, corrupt_run = writer.trace(HER), writer.trace(HIS)
    patched_run = writer.trace(HIS, edits=[E.Head(3, 4, mean=clean_run.attention["self"].out(3)[4])])
    ends = [np.exp(log_softmax(run.logits_at([-1])))[0, she] for run in (corrupt_run, clean_run, patched_run)]
    assert shares.shape == (6, 8) and shares[3, 4] == pytest.approx((ends[2] - ends[0]) / (ends[1] - ends[0]), abs=1e-4)


def test_the_source_of_a_translation_is_patched():
    shares = patching(models.load("translator"), "The cat is here.", "The dog is here.", measure="KL", target="Le")
    assert shares.shape == (4, len(models.load("translator").trace("The cat is here.").tokens))
    assert shares[0].max() > 0.5 and np.isfinite(shares).all()


def test_pairs_that_cannot_be_patched_are_told_why(writer):
    for complaint, options in {
        "Both texts give the same answer": {"corrupt": HER, "measure": "KL"},
        "held against itself": {"corrupt": HIS, "token": 5, "other": 5},
        "it must be one of stream": {"corrupt": HIS, "part": "neuron"},
        "it must be one of logit difference": {"corrupt": HIS, "measure": "size"},
        "it must be one of denoising": {"corrupt": HIS, "direction": "both"},
    }.items():
        with pytest.raises(ValueError, match=complaint):
            patching(writer, HER, **options)


SUMS = (
    "writer",
    "filler",
    "translator",
    "GPT-2",
    "Llama, grouped-query",
    "Mistral, sliding window",
    "GPT-OSS, sinks",
    "Mixtral",
    "GPT-NeoX",
    "BLOOM",
    "Falcon",
    "T5",
)


@pytest.mark.parametrize("name", SUMS)
def test_what_was_written_towards_a_word_sums_to_its_logit(name):
    for position in (1, -1):
        trace = read(name)
        logits = trace.logits_at(position)
        token, rival = (int(place) for place in np.argsort(logits)[[-1, 0]])
        table = logit_attribution(model(name), trace, token, position)
        assert table["contribution"].sum() == pytest.approx(float(logits[token]), abs=1e-3)
        against_rival = logit_attribution(model(name), trace, token, position, against=rival)
        assert against_rival["contribution"].sum() == pytest.approx(float(logits[token] - logits[rival]), abs=1e-3)
        layers = trace.attention[stack(name)].layers
        assert (table["part"] == "feedforward").sum() == layers
        if name not in ("BLOOM", "Falcon"):
            heads = trace.attention[stack(name)].heads
            assert table.query("part == 'attention'")["head"].notna().sum() == layers * heads


@pytest.mark.parametrize(
    "name, norm, epsilon", [("GPT-2", "transformer.ln_f", "eps"), ("Llama, grouped-query", "model.norm", "variance_epsilon")]
)
def test_a_stream_as_small_as_the_last_norms_epsilon_still_sums_to_the_logit(name, norm, epsilon):
    net = network(name)
    setattr(net.get_submodule(norm), epsilon, 1.0)  # as in a model that has not learned anything, whose stream is small
    small = HuggingFaceModel(net, tokenizer("decoder"), "decoder", True, name)
    trace = small.trace(TEXT)
    for position in (1, -1):
        token, rival = (int(place) for place in np.argsort(trace.logits_at(position))[[-1, 0]])
        expected = float(trace.logits_at(position)[token])
        assert logit_attribution(small, trace, token, position)["contribution"].sum() == pytest.approx(expected, abs=1e-5)
        against_rival = logit_attribution(small, trace, token, position, against=rival)["contribution"].sum()
        assert against_rival == pytest.approx(expected - float(trace.logits_at(position)[rival]), abs=1e-5)


@pytest.mark.parametrize("name", ["writer", "translator", "GPT-2"])
@pytest.mark.parametrize("part", ["block", "attention", "feedforward"])
def test_what_is_skipped_wrote_nothing_and_the_rest_sums_to_the_logit(name, part):
    trace = read(name, E.Skip(1, part, kind="decoder" if name == "translator" else stack(name)))
    table = logit_attribution(model(name), trace, 5)
    assert table["contribution"].sum() == pytest.approx(
        float(trace.logits_at(-1)[5]), abs=1e-3 * np.abs(table["contribution"]).max()
    )
    skipped = table[(table["layer"] == 1) & (table["part"] == part if part != "block" else True)]
    assert len(skipped) and (skipped["contribution"] == 0).all()


def test_what_is_switched_off_wrote_nothing(writer):
    trace = writer.trace(TEXT, edits=[E.Head(2, 3), E.Skip(4, "feedforward")])
    table = logit_attribution(writer, trace, 5)
    assert table["contribution"].sum() == pytest.approx(float(trace.logits_at(-1)[5]), abs=1e-3)
    off = table.query("(layer == 2 and head == 3) or (layer == 4 and part == 'feedforward')")
    assert len(off) == 2 and not off["contribution"].any()


REFUSED = {"BERT": "more than a norm and a matrix", "BART": "a norm follows each sum"}


@pytest.mark.parametrize("name", REFUSED)
def test_where_norms_forbid_a_sum_it_is_said(name):
    with pytest.raises(ValueError, match=REFUSED[name]):
        logit_attribution(model(name), read(name), 5)


def test_a_word_or_a_place_that_is_not_there_is_said(writer):
    with pytest.raises(ValueError, match="no token 99999"):
        logit_attribution(writer, read("writer"), 99999)
    with pytest.raises(ValueError, match="no position 50"):
        logit_attribution(writer, read("writer"), 5, 50)
