"""Circuits: what is found where it was planted, numbers that a plain loop of readings gives, and what cannot be asked."""

from __future__ import annotations

from dataclasses import replace
from math import comb

import numpy as np
import pytest

import models
from analysis import (
    Behaviour,
    circuit_edges,
    feedforward_means,
    find_circuit,
    head_means,
    head_sources,
    logit_attribution,
)
from analysis.behaviour import FILLS, Node
from analysis.circuits import other_sets
from analysis.effects import log_softmax
from models import edits as E
from models.errors import Cancelled
from models.gradients.parts import hear, slopes
from tests.analysis.planted import CIRCUIT, SAID_TWICE, planted
from tests.grids import grid
from tests.models.edited import TEXT, model, read, stack, target

HER = "The girl took her bag and said that"
OTHER = "The boy took his bag and said that"


@pytest.fixture(scope="module")
def writer():
    return models.load("writer")


def removal(net, trace, node, fill):
    """Return the edits that take a part away, written out."""
    if node.head is not None:
        mean = None if fill == "zero" else head_means(net, node.kind)[node.layer, node.head]
        return [E.Head(node.layer, node.head, mean=mean, kind=node.kind)]
    if fill == "zero":
        return [E.Skip(node.layer, "feedforward", kind=node.kind)]
    mean_output = feedforward_means(net)[node.layer]
    return [E.Part(node.layer, at, mean_output, "feedforward") for at in range(len(trace.tokens))]


@pytest.mark.parametrize("fill", ["mean", "zero"])
def test_the_circuit_that_was_planted_is_found_whole(fill):
    net = planted()
    trace = net.trace(SAID_TWICE)
    circuit = find_circuit(net, trace, fill=fill)
    assert [(node.layer, node.head) for node in circuit.members] == CIRCUIT
    assert circuit.share == pytest.approx(1, abs=0.01) and circuit.left < 0.2 and (circuit.without < 0.5).all()
    assert circuit.faithful and circuit.share_rank == 1 and circuit.wins
    assert circuit.every_set and len(circuit.random_shares) == 5  # two of four heads, in all ways but the circuit's own
    likeliest = int(trace.logits_at(-1).argmax())
    edges, direct = circuit_edges(Behaviour(net, trace, len(trace.tokens) - 1, likeliest, fill=fill), circuit.members)
    assert edges[0, 1] > 0.5 and direct[1] > 0.5  # the head before hands to the one that says it
    assert abs(direct[0]) < 0.01 and np.isnan(edges[1, 0])


@pytest.mark.parametrize("fill", grid(["mean", "zero"], ["mean"]))
def test_what_is_left_is_what_a_plain_loop_of_readings_says(writer, fill):
    trace = writer.trace(HER)
    she, he = (writer.tokenize(word)[-1].id for word in (" she", " he"))
    circuit = find_circuit(writer, trace, she, against=he, keep=0.8, fill=fill)

    def measure(nodes):
        removals = [edit for node in circuit.nodes if node not in nodes for edit in removal(writer, trace, node, fill)]
        logits = writer.trace(HER, edits=removals).logits_at(-1) if removals else trace.logits_at(-1)
        return float(logits[she] - logits[he])

    full, nothing = measure(circuit.nodes), measure(())
    assert (circuit.whole, circuit.nothing) == pytest.approx((full, nothing), abs=1e-3)
    shares = {0: circuit.share, 1: circuit.left} | {2 + i: left for i, left in enumerate(circuit.without)}
    sets = [
        circuit.members,
        set(circuit.nodes) - set(circuit.members),
        *(set(circuit.members) - {node} for node in circuit.members),
    ]
    for i, share in shares.items():
        assert share == pytest.approx((measure(sets[i]) - nothing) / (full - nothing), abs=1e-3)
    assert 0.8 - 1e-6 <= circuit.share <= 1.2 + 1e-6 and len(circuit.random_shares) == len(circuit.random_lefts) == 20


@pytest.mark.parametrize("seed", range(5))
@pytest.mark.parametrize(("heads", "feedforwards"), [(0, 0), (1, 0), (2, 1), (5, 2), (6, 2), (6, 3)])
def test_the_other_sets_are_different_ones_of_the_same_size_and_never_the_circuit(seed, heads, feedforwards):
    parts = [Node(0, i) for i in range(6)] + [Node(i) for i in range(3)]
    circuit = parts[:heads] + parts[6 : 6 + feedforwards]
    sets, every_set = other_sets(parts, circuit, seed)
    different = {frozenset(nodes) for nodes in sets}
    possible = comb(6, heads) * comb(3, feedforwards) - 1
    assert len(different) == len(sets) == min(20, possible) and every_set == (possible <= 20)
    assert frozenset(circuit) not in different
    assert all(len(nodes) == len(circuit) and sum(node.head is None for node in nodes) == feedforwards for nodes in different)


@pytest.mark.thorough
def test_a_set_that_does_as_well_is_no_worse_than_the_circuit():
    net = planted()
    circuit = find_circuit(net, net.trace(SAID_TWICE))
    equal = replace(circuit, random_shares=np.array([circuit.share - 1e-6, 0.1]), random_lefts=np.array([circuit.left + 1e-6, 1]))
    assert (equal.share_rank, equal.left_rank) == (2, 2) and not equal.faithful and not equal.complete
    without_rivals = replace(circuit, random_shares=np.empty(0), random_lefts=np.empty(0))
    assert not without_rivals.faithful and not without_rivals.complete


@pytest.mark.thorough
def test_a_circuit_wins_only_where_its_own_reading_says_the_word(writer):
    trace = writer.trace("Once upon a time there was a little")
    girl = int(trace.logits_at(-1).argmax())
    wins = []
    for keep in (0.5, 0.9):
        circuit = find_circuit(writer, trace, girl, keep=keep)
        removals = [
            edit for node in circuit.nodes if node not in circuit.members for edit in removal(writer, trace, node, "mean")
        ]
        logits = writer.trace(trace.text, edits=removals).logits_at(-1)
        np.testing.assert_allclose(circuit.alone, logits, atol=1e-3)
        assert circuit.wins == (int(logits.argmax()) == girl)
        wins.append(circuit.wins)
    assert wins == [False, True]  # half of the gain in log-probability is not enough for “girl”, nine tenths are
    he = writer.tokenize(" he")[-1].id
    assert find_circuit(writer, trace, girl, against=he, keep=0.5).wins  # but it stays likelier than a word that is out of place


@pytest.mark.thorough
def test_no_part_of_a_circuit_can_go_by_itself(writer):
    circuit = find_circuit(writer, writer.trace(HER), keep=0.8)
    assert 0 < len(circuit.members) < len(circuit.nodes) == 54 and (np.abs(1 - circuit.without) > 0.2).all()
    again = find_circuit(writer, writer.trace(HER), keep=0.8)
    assert again.members == circuit.members and (again.random_shares == circuit.random_shares).all()


def test_a_part_is_replaced_by_what_it_gives_in_another_text(writer):
    trace, other_trace = writer.trace(HER), writer.trace(OTHER)
    she, he = (writer.tokenize(word)[-1].id for word in (" she", " he"))
    behaviour = Behaviour(writer, trace, len(trace.tokens) - 1, she, he, "other text", OTHER)
    removed = Node(4, 3)
    logits = writer.trace(HER, edits=[E.Head(4, 3, mean=other_trace.attention["self"].out(4)[3])]).logits_at(-1)
    (value,) = behaviour.measures([[node for node in behaviour.nodes if node != removed]])
    assert value == pytest.approx(float(logits[she] - logits[he]), abs=1e-4)
    with pytest.raises(ValueError, match="must have as many"):
        _ = Behaviour(writer, trace, 3, she, he, "other text", "The boy").edits


@pytest.mark.parametrize("name", ["writer", "filler", "translator", "GPT-2", "Llama, grouped-query", "Falcon", "BERT", "T5"])
def test_a_slope_is_what_a_small_change_does(name):
    """Of each part that is heard: what it gives, scaled by a little, moves the prediction by the slope times that."""
    trace, net = read(name), model(name)
    at = len(trace.read) - 1
    token = int(trace.logits_at(at).argmax())
    outputs, slope = slopes(net, trace, at, lambda logits: logits[0].log_softmax(0)[token])
    kind, little = stack(name), 0.02
    for edit, key in ((E.Head(1, 2, 1 + little, kind=kind), (kind, 1)), (E.Head(0, 1, 1 - little, kind=kind), (kind, 0))):
        logs = [
            log_softmax(net.traces([TEXT], [[changed]], target(name))[0].logits_at([at]))[0, token]
            for changed in (E.Head(edit.layer, edit.head, 1.0, kind=kind), edit)
        ]
        by_slope = (edit.scale - 1) * float((outputs.heads[key][0, edit.head] * slope.heads[key][0, edit.head]).sum())
        assert logs[1] - logs[0] == pytest.approx(by_slope, abs=3e-4)
    again = hear(net, trace, [[E.Head(1, 2, kind=kind)]], at)
    np.testing.assert_allclose(again.heads[kind, 1][0], outputs.heads[kind, 1][0], atol=1e-5)  # heard before it is switched off
    (part,) = {place for place in outputs.feedforward if place == (kind, 1)}
    expected = net.parts(trace)[kind]["feedforward"][1]
    np.testing.assert_allclose(outputs.feedforward[part][0], expected, atol=1e-5)


@pytest.mark.thorough
def test_it_says_how_far_it_is_and_can_be_stopped(writer):
    shares = []

    def until(share, words):
        shares.append(share)
        if len(shares) == 4:
            raise Cancelled

    with pytest.raises(Cancelled):
        find_circuit(writer, writer.trace(HER), report=until)
    assert len(shares) == 4
    find_circuit(writer, writer.trace("The girl took"), report=lambda share, words: shares.append(share))
    assert shares[4:] == sorted(shares[4:]) and shares[4] == 0 and shares[-1] < 1


def test_what_cannot_be_asked_is_told_why(writer):
    trace = writer.trace(HER)
    she, he = (writer.tokenize(word)[-1].id for word in (" she", " he"))
    for complaint, options in {
        "against itself": {"token": 5, "against": 5},
        "There is no token 99999": {"token": 99999},
        "no position 99": {"position": 99},
        "share of the behaviour": {"keep": 1.5},
        "it must be one of": {"fill": "noise"},
        "nothing that a circuit could keep": {"token": he, "against": she},
    }.items():
        with pytest.raises(ValueError, match=complaint):
            find_circuit(writer, trace, **options)
    with pytest.raises(ValueError, match="as it is"):
        find_circuit(writer, writer.trace(HER, edits=[E.Head(0, 0)]))
    with pytest.raises(ValueError, match="only switched off"):
        find_circuit(model("Falcon"), read("Falcon"))
    behaviour = Behaviour(model("Falcon"), read("Falcon"), 3, 5, fill="zero")
    assert len(behaviour.nodes) == 15
    with pytest.raises(ValueError, match="no edge can be measured"):
        circuit_edges(behaviour, behaviour.nodes[:2])
    assert FILLS[0] == "mean"


SOURCES = ("writer", "filler", "translator", "GPT-2", "Llama, grouped-query", "GPT-OSS, sinks", "Mixtral", "GPT-NeoX", "T5")


@pytest.mark.parametrize("name", SOURCES)
def test_what_a_head_wrote_is_the_sum_over_the_tokens_whose_values_it_took(name):
    trace, kind = read(name), stack(name)
    table = logit_attribution(model(name), trace, 5, 2, against=7)
    for part, kinds in (("attention", kind), ("cross", "cross")):
        for row in table[(table["part"] == part) & table["head"].notna()].itertuples():
            sources = head_sources(model(name), trace, int(row.layer), int(row.head), 5, 2, 7, kinds)
            assert len(sources) == len(trace.attention[kinds].keys)
            assert sources.sum() == pytest.approx(row.contribution, abs=1e-3)


def test_a_head_that_was_changed_has_no_sources_and_a_token_is_not_held_against_itself(writer):
    with pytest.raises(ValueError, match="was changed"):
        head_sources(writer, writer.trace(HER, edits=[E.Head(2, 3)]), 2, 3, 5)
    with pytest.raises(ValueError, match="against itself"):
        logit_attribution(writer, writer.trace(HER), 5, against=5)
