"""Several texts read at once, and a text that goes on, with edits: as one by one."""

from __future__ import annotations

import numpy as np
import pytest
import torch

import models
from models import edits as E
from models.editing.batches import answers
from tests.models.edited import NAMES, TARGET, TEXT, apart, model, read, stack, target

every = pytest.mark.parametrize("name", NAMES)
TEXTS = [TEXT, "A dog", "The dog sat on the mat", TEXT]


def some(name: str) -> list[list[E.Edit]]:
    """Lists of edits of every sort, which a batch has side by side."""
    kind, streams = list(read(name).attention)[-1], stack(name)
    width = read(name).hidden[streams].shape[-1]
    return [
        [],
        [E.Head(1, 2, kind=kind), E.Cut(1, 0, kind=kind)],
        [E.Skip(1, "feedforward", kind=streams), E.Temperature(1, 1, 3.0, kind=kind)],
        [E.Skip(0, kind=streams), E.Stream(1, 1, add=np.ones(width), kind=streams), E.Skip(1, "attention", kind=streams)],
    ]


@every
def test_a_batch_is_the_loop(name):
    """Texts of different lengths, each with its own edits: streams, maps and logits."""
    edits, target_text = some(name), target(name)
    traces = model(name).traces(TEXTS, edits, target_text)
    for trace, text, own_edits in zip(traces, TEXTS, edits, strict=True):
        alone = model(name).trace(text, target_text, edits=own_edits, remember=False)
        assert [token.id for token in trace.tokens] == [token.id for token in alone.tokens] and trace.text == text
        size = max(1.0, max(float(np.abs(stream).max()) for stream in alone.hidden.values()))
        assert apart(trace, alone) < 1e-5 * size
        for kind, attention in alone.attention.items():
            for layer in range(attention.layers):
                assert trace.attention[kind][layer] == pytest.approx(attention[layer], abs=1e-5)
        if alone.logits is not None:
            assert trace.logits == pytest.approx(alone.logits, abs=2e-5 * max(1.0, float(np.abs(alone.logits).max())))


@every
def test_one_text_with_many_lists_of_edits(name):
    edits = some(name)
    traces = model(name).traces(TEXT, edits, target(name))
    assert len(traces) == len(edits)
    assert all(apart(trace, read(name, *each)) < 1e-4 for trace, each in zip(traces, edits, strict=True))
    if model(name).info.predicts:
        trace = read(name)
        logits = answers(model(name), trace, edits, -1)
        assert logits == pytest.approx(np.stack([edited.logits_at(-1) for edited in traces]), abs=1e-3)


def test_targets_go_with_texts():
    both = models.load("translator").traces(["A cat.", "A dog."], targets=["Un chat", "Le chien"])
    assert [trace.text for trace in both] == ["A cat.", "A dog."]
    assert apart(both[1], models.load("translator").trace("A dog.", "Le chien")) < 1e-5


def test_numbers_that_differ_are_said():
    with pytest.raises(ValueError, match="3 texts, 3 targets and 2 lists"):
        model("writer").traces(["a", "b", "c"], [[], []])
    with pytest.raises(TypeError, match="a list of edits for each text"):
        model("writer").traces(["a"], [E.Head(0, 0)])
    with pytest.raises(TypeError, match="must be a str"):
        model("writer").traces([None])
    with pytest.raises(ValueError, match="reads one text at a time"):
        model("writer").traces(["a"], targets="b")
    assert model("writer").traces([]) == []


GROWING = ("writer", "translator", "GPT-2", "Llama, grouped-query", "BLOOM", "T5", "BART")


def steps(name: str, count: int, *edits: E.Edit, **options) -> list[models.Step]:
    return list(model(name).generate(TEXT, max_new_tokens=count, target=target(name), edits=edits, **options))


@pytest.mark.parametrize("name", GROWING)
def test_a_text_goes_on_as_the_edited_model_reads_it(name):
    kind = list(read(name).attention)[-1]
    edits = E.Head(1, 2, kind=kind), E.Skip(0, "feedforward", kind=stack(name)), E.Cut(-1, 0, kind=kind)
    first, second = steps(name, 2, *edits)
    trace = read(name, *edits)
    assert first.logits == pytest.approx(trace.logits_at(-1), abs=1e-4)
    assert first.attention[kind] == pytest.approx(
        np.stack([trace.attention[kind][layer][:, -1] for layer in range(trace.attention[kind].layers)]), abs=1e-5
    )
    assert len(second.tokens) == len(first.tokens) + 1
    assert not second.attention[kind][:, :, 0].any() or kind == "cross" or second.attention[kind][0, 0, 0] > 0
    assert np.array_equal(steps(name, 1)[0].logits, steps(name, 1, cache=True)[0].logits)


@pytest.mark.parametrize("name", GROWING)
def test_what_changes_nothing_says_the_same(name):
    last = read(name).attention[list(read(name).attention)[-1]].layers
    nothing = E.Stream(last, None, add=np.zeros(read(name).hidden[stack(name)].shape[-1]), kind=stack(name))
    assert [step.token.id for step in steps(name, 6, nothing)] == [step.token.id for step in steps(name, 6, cache=False)]


def test_a_direction_added_everywhere_steers_each_new_token():
    """Along its own row of the way out, added after the last block, a word gets likelier at every step."""
    writer = models.load("writer")
    word = writer.tokenize(" garden")[-1].id
    at = torch.from_numpy(read("writer").hidden["self"][-1][-1:].copy()).requires_grad_()
    (way,) = torch.autograd.grad(writer.way_out(at).log_softmax(-1)[0, word], at)
    plain = list(writer.generate(TEXT, max_new_tokens=4))
    steer = E.Stream(6, None, add=10 * way[0].numpy() / float(way.norm()))
    steered = list(writer.generate(TEXT, max_new_tokens=4, edits=[steer], forced=plain[-1].continuation))
    for plain_step, steered_step in zip(plain, steered, strict=True):
        assert steered_step.probabilities[word] > 2 * plain_step.probabilities[word]


def test_beams_and_positions_that_come_later():
    wide = models.Strategy(method="beam", beams=3)
    answer = list(model("translator").generate("A cat.", wide, 6, edits=[E.Head(0, 0, kind="cross")]))[-1]
    assert answer.text and answer.search is not None
    later = E.Cut(None, len(model("writer").tokenize(TEXT)), layer=0)  # the first token that is said
    with pytest.raises(ValueError, match="There is no key"):
        read("writer", later)
    first, second, third = steps("writer", 3, later)
    assert first.logits == pytest.approx(read("writer").logits_at(-1), abs=1e-4)
    assert not third.attention["self"][0, :, -2].any() and second.attention["self"][1, :, -1].any()


def test_a_text_with_edits_ends_where_the_context_is_full():
    writer = models.load("writer")
    writer.at_most = 12
    try:
        last = list(writer.generate("Once upon a time", max_new_tokens=40, edits=[E.Head(0, 0)]))[-1]
    finally:
        writer.at_most = None
    assert last.end == "full" and last.dropped == 0 and len(last.tokens) == 12


def test_the_target_of_the_tests_is_read_whole():
    assert TARGET in "".join(token.text for token in read("translator").target)
