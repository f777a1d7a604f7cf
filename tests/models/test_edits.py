"""Truths about edits: what changes nothing, what equals a change of the weights, and what follows from the softmax."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import torch
from transformers.pytorch_utils import Conv1D

from analysis.attribution_tests import Question
from models import edits as E
from tests.models.edited import NAMES, OTHER, OURS, TEXT, apart, model, read, same, stack, target

TAPPED = ("BLOOM", "Falcon", "XLNet")  # of which only the weights of attention are known
SHARED = ("ALBERT",)  # one block in all layers
AFTER = ("BERT", "ALBERT", "XLNet", "BART")  # a norm after the sum
every = pytest.mark.parametrize("name", NAMES)
with_queries = pytest.mark.parametrize("name", [name for name in NAMES if name not in TAPPED])


def kinds(name: str) -> list[str]:
    return list(read(name).attention)


@every
def test_no_edit_and_edits_that_say_as_it_was_change_nothing_bit_for_bit(name):
    model(name).forget()  # what another test read is continued to the last digits but one
    plain = read(name)
    assert same(plain, read(name))
    for kind in kinds(name):
        assert same(plain, read(name, E.Head(1, 2, scale=1, kind=kind)))
    own = plain.hidden[stack(name)]
    assert same(plain, read(name, *(E.Stream(1, i, value=row, kind=stack(name)) for i, row in enumerate(own[1]))))
    assert same(plain, read(name, E.Stream(0, None, add=np.zeros(own.shape[-1]), kind=stack(name))))


@every
def test_a_head_off_is_a_head_whose_rows_of_w_o_are_zero(name):
    for kind in kinds(name):
        layers = range(read(name).attention[kind].layers) if name in SHARED else [1]  # one W_O is that of all layers there
        expected = read(name, *(E.Head(layer, 2, kind=kind) for layer in layers))
        with without_rows(name, kind, 1, 2):
            edited_trace = model(name).trace(TEXT, target(name), remember=False)
        size = max(1.0, float(np.abs(expected.hidden[stack(name)]).max()))
        assert apart(edited_trace, expected) < 1e-6 * size
        assert apart(edited_trace, read(name)) > 1e-3


class without_rows:
    """A `with` block in which the rows of W_O for one head are zero."""

    def __init__(self, name: str, kind: str, layer: int, head: int):
        subject = model(name)
        if name in OURS:
            weight, axis = subject._attention(kind, layer).output.weight, 1
        elif name in TAPPED:
            body = subject.network.base_model
            weight = body.layer[layer].rel_attn.o if name == "XLNet" else body.h[layer].self_attention.dense.weight
            axis = 1
        else:
            call = [i for i, call_kind in enumerate(subject.followed.layout.calls) if call_kind == kind][layer]
            module = subject.followed.output_maps.maps[call]
            weight, axis = module.weight, 0 if isinstance(module, Conv1D) else 1
        size = weight.shape[axis] // read(name).attention[kind].heads
        self.rows = weight.narrow(axis, head * size, size)

    def __enter__(self) -> None:
        self.rows_before = self.rows.clone()
        with torch.no_grad():
            self.rows.zero_()

    def __exit__(self, *_) -> None:
        with torch.no_grad():
            self.rows.copy_(self.rows_before)


@every
def test_a_head_with_a_mean_gives_the_mean_and_tapped_models_say_that_they_cannot(name):
    kind = kinds(name)[-1]
    if name in TAPPED:
        with pytest.raises(ValueError, match="attends in its own way"):
            read(name, E.Head(1, 2, mean=[0.5], kind=kind))
        return
    own = read(name).attention[kind].out(1)[2]
    assert apart(read(name, E.Head(1, 2, mean=own, kind=kind)), read(name)) == 0
    mean = own.mean(0)
    changed = read(name, E.Head(1, 2, mean=mean, kind=kind)).attention[kind]
    assert np.array_equal(changed.out(1)[2], np.broadcast_to(mean, own.shape))
    assert np.array_equal(changed[1], read(name).attention[kind][1])  # it looks where it looked


@every
def test_a_cut_key_gets_nothing_and_its_share_goes_to_the_others(name):
    for kind in kinds(name):
        before = read(name).attention[kind]
        query = len(before.queries) - 1
        after = read(name, E.Cut(query, 0, layer=1, head=2, kind=kind)).attention[kind]
        row, expected = after[1][2, query], before[1][2, query].copy()
        assert row[0] == 0
        if name != "GPT-OSS, sinks" and len(expected) > 1 and 1 - expected[0] > 1e-3:  # a sink gets a share too
            expected[0] = 0
            assert row == pytest.approx(expected / expected.sum(), abs=2e-6)
        others = np.ones(before[1].shape[:2], bool)
        others[2, query] = False
        assert after[1][others] == pytest.approx(before[1][others], abs=1e-6)


@every
def test_a_query_whose_edges_are_all_cut_has_a_row_of_zeros_and_its_heads_give_zeros(name):
    for kind in kinds(name):
        query = len(read(name).attention[kind].queries) - 1
        edited_trace = read(name, E.Cut(query, None, layer=1, kind=kind)).attention[kind]
        assert not edited_trace[1][:, query].any()
        assert edited_trace[0][:, query].sum(-1).min() > 0.01  # in other layers it still looks
        if name not in TAPPED:
            assert not edited_trace.out(1)[:, query].any()


@every
def test_all_heads_cut_one_by_one_are_one_cut_of_all(name):
    kind = kinds(name)[0]
    heads = read(name).attention[kind].heads
    each = read(name, *(E.Cut(1, 0, layer=1, head=head, kind=kind) for head in range(heads)))
    assert same(each, read(name, E.Cut(1, 0, layer=1, kind=kind)))


@every
def test_a_temperature_divides_the_scores(name):
    kind = kinds(name)[0]
    before = read(name).attention[kind]
    after = read(name, E.Temperature(1, 2, 2.0, kind=kind)).attention[kind]
    if name == "GPT-OSS, sinks":
        return
    expected = np.sqrt(before[1][2])  # softmax(s / 2) is √softmax(s), made to sum to 1
    assert after[1][2] == pytest.approx(expected / expected.sum(-1, keepdims=True), abs=1e-5)
    assert after[1][1] == pytest.approx(before[1][1], abs=1e-6)


@every
def test_a_row_put_back_changes_nothing_and_another_one_is_shown(name):
    kind = kinds(name)[-1]
    before = read(name).attention[kind]
    query, keys = len(before.queries) - 1, len(before.keys)
    if name != "GPT-OSS, sinks":
        row = before[1][2, query].astype(np.float64)
        assert apart(read(name, E.Row(1, 2, query, row / row.sum(), kind=kind)), read(name)) < 5e-5
    even = np.full(keys, 1 / keys)
    edited_trace = read(name, E.Row(1, 2, query, even, kind=kind)).attention[kind]
    assert edited_trace[1][2, query] == pytest.approx(even, abs=1e-6)
    if name not in TAPPED:
        assert edited_trace.out(1)[2, query] == pytest.approx(even @ edited_trace.v(1)[2], abs=1e-5)


@every
def test_a_skipped_block_hands_on_the_stream_that_it_was_given(name):
    plain = read(name)
    for layer in (0, 1, plain.attention[kinds(name)[-1]].layers - 1):
        stream = read(name, E.Skip(layer, kind=stack(name))).hidden[stack(name)]
        assert np.array_equal(stream[layer], stream[layer + 1])
        assert np.array_equal(stream[: layer + 1], plain.hidden[stack(name)][: layer + 1])


@every
def test_parts_are_what_is_added_and_a_skipped_part_adds_nothing(name):
    plain = read(name)
    parts = model(name).parts(plain)[stack(name)]
    assert set(parts) == {"attention", "feedforward"} | ({"cross"} if target(name) else set())
    assert not any(np.isnan(values).any() for values in parts.values())
    for part, values in parts.items():
        kind = "cross" if part == "cross" else stack(name)
        skipped = read(name, E.Skip(1, "attention" if part == "cross" else part, kind=kind))
        assert not model(name).parts(skipped)[stack(name)][part][1].any()
        own = [E.Part(1, i, row, "attention" if part == "cross" else part, kind=kind) for i, row in enumerate(values[1])]
        assert same(plain, read(name, *own))
    if name not in AFTER:
        stream = plain.hidden[stack(name)]
        assert sum(parts.values()) == pytest.approx(np.diff(stream, axis=0), abs=2e-5 * float(np.abs(stream).max()))
        nothing = [E.Skip(1, part, kind=stack(name)) for part in ("attention", "feedforward")]
        nothing += [E.Skip(1, "attention", kind="cross")] if target(name) else []
        stream = read(name, *nothing).hidden[stack(name)]
        assert np.array_equal(stream[1], stream[2])


@with_queries
def test_attention_skipped_is_all_heads_off_and_the_bias_gone(name):
    """In models whose W_O has no bias both are the same."""
    if name not in ("writer", "filler", "Llama, grouped-query", "Mistral, sliding window", "Gemma 2, soft-capped", "Mixtral"):
        return
    heads = range(model(name).info.heads)
    assert apart(read(name, E.Skip(1, "attention")), read(name, *(E.Head(1, head) for head in heads))) < 1e-6


@every
def test_the_whole_stream_of_another_text_at_one_layer_is_the_other_run_from_there_on(name):
    other = read(name, text=OTHER)
    length = len(other.hidden[stack(name)][0])
    text = TEXT if target(name) else pad(name, length)
    for layer in (0, 1, len(other.hidden[stack(name)]) - 1):
        if target(name) and layer < len(other.hidden[stack(name)]) - 1:
            continue  # the rest of the decoder looks at another source
        rows = [E.Stream(layer, i, value=row, kind=stack(name)) for i, row in enumerate(other.hidden[stack(name)][layer])]
        edited_trace = read(name, *rows, text=text)
        expected = other.hidden[stack(name)][layer:]
        assert np.array_equal(edited_trace.hidden[stack(name)][layer], expected[0])
        assert edited_trace.hidden[stack(name)][layer:] == pytest.approx(expected, abs=1e-5 * float(np.abs(expected).max()))


def pad(name: str, length: int) -> str:
    """Another text of as many tokens as OTHER has."""
    text = "A man had a hat and a stick and a small red bag of old books"
    for end in range(1, len(text)):
        if len(model(name).tokenize(text[:end])) == length:
            return text[:end]
    raise AssertionError


@every
def test_a_direction_is_added_at_one_position_or_at_all(name):
    plain = read(name).hidden[stack(name)]
    way = np.linspace(-1, 1, plain.shape[-1]).astype(np.float32)
    last_only = read(name, E.Stream(1, -1, add=way, kind=stack(name))).hidden[stack(name)]
    assert np.array_equal(last_only[1, -1], plain[1, -1] + way) and np.array_equal(last_only[1, :-1], plain[1, :-1])
    every = read(name, E.Stream(1, None, add=way, kind=stack(name))).hidden[stack(name)]
    assert np.array_equal(every[1], plain[1] + way)


@every
def test_slopes_are_those_of_the_edited_model(name):
    """The slope by s in s · O is the sum of P · dL/dP over the weights of the head, divided by s."""
    if not model(name).info.predicts:
        return
    kind = kinds(name)[-1]
    query = len(read(name).attention[kind].queries) - 1
    cut, position = E.Cut(0, None, layer=0, kind=kind), len(read(name).read) - 1

    def scaled(scale: float):
        return read(name, E.Head(1, 2, scale=scale, kind=kind), cut, E.Cut(query, 0, layer=1, kind=kind))

    token = int(scaled(0.5).logits_at(position).argmax())
    high, low = (float(scaled(scale).logits_at(position)[token]) for scale in (0.52, 0.48))
    trace = scaled(0.5)
    slopes = model(name).gradients(trace, position, token)[kind][1]
    assert np.isfinite(slopes).all()
    if name in TAPPED:
        return  # there the weights themselves are scaled
    slope = float((trace.attention[kind][1][2] * slopes[2]).sum()) / 0.5
    assert slope == pytest.approx((high - low) / 0.04, rel=0.05, abs=5e-3)


@every
def test_an_edited_reading_leaves_nothing_in_memory_and_takes_nothing_from_it(name):
    model(name).forget()
    fresh = read(name, E.Head(0, 1, kind=kinds(name)[0]))
    model(name).forget()
    plain = read(name)
    assert same(fresh, read(name, E.Head(0, 1, kind=kinds(name)[0])))
    assert same(plain, read(name))


@pytest.mark.parametrize("name", ["writer", "GPT-2", "BLOOM", "T5"])
def test_threads_that_read_without_edits_do_not_meet_those_of_others(name):
    kind = kinds(name)[0]
    edits = E.Skip(1, "feedforward", kind=stack(name)), E.Head(0, 1, kind=kind)
    plain, edited_trace = read(name), read(name, *edits)

    def difference(number: int) -> float:
        if number % 2:
            return apart(plain, model(name).trace(TEXT, target(name), remember=False))
        return apart(edited_trace, read(name, *edits))

    with ThreadPoolExecutor(4) as pool:  # the last digits depend on what was read before, and on the threads of torch
        assert max(pool.map(difference, range(24))) < 1e-3 * apart(plain, edited_trace)


def test_edits_that_say_the_same_are_equal_and_have_one_hash():
    ways = [np.arange(4), np.arange(4.0), [0, 1, 2, 3]]
    assert len({E.Stream(1, 2, add=way) for way in ways}) == 1
    assert E.Stream(1, 2, add=ways[0]) != E.Stream(1, 2, value=ways[0])
    assert E.Head(1, 2) != E.Head(1, 2, mean=[0.0]) != E.Head(1, 2, mean=[[0.0]])
    assert len({E.Head(1, 2), E.Head(1, 2, scale=0), E.Cut(1, 2), E.Cut(1, 2, kind="encoder")}) == 3
    values = np.zeros(3)
    edit = E.Row(0, 0, 0, values)
    values[:] = 7
    assert not edit.weights.any()  # a copy, that nobody writes into
    with pytest.raises(ValueError):
        edit.weights[0] = 1


WRONG = {
    "writer has 6 layers, numbered from 0 to 5; there is no layer 6": E.Head(6, 0),
    "writer has 8 heads, numbered from 0 to 7; there is no head -1": E.Head(0, -1),
    "there is no place 7": E.Stream(7, 0, add=np.zeros(256)),
    "There is no query 99 in": E.Cut(99, 0),
    "There is no key -50 in": E.Cut(1, -50),
    'kind="cross"; for writer it must be "self"': E.Head(0, 0, kind="cross"),
    "A temperature is a number above 0": E.Temperature(0, 0, 0.0),
    "sum to 1": E.Row(0, 0, 1, [0.5, 0.2]),
    "for 7 keys": E.Row(0, 0, 1, np.full(8, 1 / 8)),
    "either value, which replaces, or add": E.Stream(1, 0),
    r"value must be \[256\] numbers": E.Stream(1, 0, value=np.zeros(3)),
    'it must be "block", "attention" or "feedforward"': E.Skip(1, "head"),
    r"must be \[d_head\] or \[query, d_head\]": E.Head(1, 1, mean=np.zeros((1, 2, 3))),
    "must be \\[32\\] or \\[7, 32\\] here": E.Head(1, 1, mean=np.zeros(5)),
}


@pytest.mark.parametrize("sentence", WRONG)
def test_what_the_model_does_not_have_is_said(sentence):
    with pytest.raises(ValueError, match=sentence):
        read("writer", WRONG[sentence])


def test_of_two_stacks_the_kind_is_named():
    with pytest.raises(ValueError, match=r'must be "encoder", "decoder", "cross"'):
        read("translator", E.Head(0, 0))
    with pytest.raises(ValueError, match=r'must be "encoder", "decoder"\.'):
        read("translator", E.Skip(0, kind="cross"))
    with pytest.raises(TypeError, match=r"values of models\.edits"):
        read("writer", 1)
    with pytest.raises(ValueError, match="NaN"):
        E.Stream(0, 0, add=[np.nan])


@pytest.mark.parametrize("name", ["writer", "GPT-2"])
def test_what_would_read_again_without_the_edits_says_so(name):
    edited_trace = read(name, E.Head(0, 1))
    with pytest.raises(ValueError, match="without edits only"):
        model(name).watch(edited_trace, "self", 0, [0])
    with pytest.raises(ValueError, match="read without edits"):
        Question(model(name), edited_trace, -1, 5)
