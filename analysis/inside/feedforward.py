"""The neurons of a feed-forward: the strongest on a token, the tokens that each pushes towards, and where else it fires."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from analysis.inside.experts import ExpertLinear, Experts
from analysis.inside.formulas import Activation, Linear, Times
from analysis.inside.sample import Firing, Report, sampled
from analysis.inside.stages import Formula, Stage
from analysis.inside.way import Way

PUSHED = 8  # tokens that a neuron pushes towards
AT_ONCE = 32  # neurons whose logits are calculated at a time


class Push(NamedTuple):
    """A token of the vocabulary that a neuron pushes towards. score: the rise of its logit by the neuron's row alone."""

    id: int
    text: str
    score: float


@dataclass(frozen=True)
class Neuron:
    """A neuron's activity on a token. number: of the neuron; expert: to which it belongs, None without a mixture.

    before: the input of its activation; after: the output of it; fires: the neuron's output. factor: the factor of `after` in a
    gated feed-forward; None without a gate. towards, away: the tokens that it raises and lowers as it fires here, the strongest
    first, () without a language-model head; elsewhere: where it fires most in the built-in sample, () if not requested.
    """

    number: int
    expert: int | None
    before: float
    after: float
    fires: float
    factor: float | None = None
    towards: tuple[Push, ...] = ()
    away: tuple[Push, ...] = ()
    elsewhere: tuple[Firing, ...] = ()


@dataclass(frozen=True)
class Neurons:
    """The neurons of a feed-forward on one token.

    neurons: those that fire most, the strongest first; count: how many there are (in each expert); function: the name of the
    activation; curve: the activation as a function of arrays. experts: the experts that took the token, each with its share, the
    largest first.
    """

    layer: int
    position: int
    neurons: tuple[Neuron, ...]
    count: int
    function: str
    curve: Callable[[np.ndarray], np.ndarray]
    experts: tuple[tuple[int, float], ...] = ()


def neurons(
    way: Way,
    position: int = -1,
    top: int = 10,
    elsewhere: bool = True,
    report: Report = lambda share, words: None,
    also: tuple[int | None, int] | None = None,
    pushed: bool = True,
) -> Neurons:
    """Return the neurons of a layer that fire most on a token, by the size of their outputs (times the expert's share).

    position: in the stack's tokens, negative from the end. also: one more neuron, by its expert (None without a mixture) and its
    number; it comes last if it is not among the first. pushed: calculate the tokens that they push towards and away from.
    towards: a neuron's row of the down projection, with the sign of its output, through the model's own way from the stream to
    logits, less the result for a zero stream; norms between the two in some models (Gemma 2) are left out. elsewhere: also look
    where it fires in the sample, which is read once for each layer of a model; not for a mixture. report(share, words): called
    with the progress of that; it may raise to stop. Errors: ValueError for an unknown position, for less than one neuron, and if
    the feed-forward cannot be followed. Source: Geva et al. 2021, "Transformer Feed-Forward Layers Are Key-Value Memories".
    """
    count = len(way.tokens)
    if not -count <= position < count:
        raise ValueError(f"There are {count} positions, counted from 0: number {position} is none of them.")
    if top < 1:
        raise ValueError(f"top says how many neurons are wanted, a whole number from 1 on; it is {top}.")
    position %= count
    down, inner, activated = _parts(way)
    rule, here = activated.rule, np.array([position])
    assert isinstance(rule, Activation), "found by that"
    before, after, fires = (_of_token(stage, here) for stage in (rule.inputs[0], activated, inner))  # [rank of expert, neuron]
    experts = _experts(way, position) if isinstance(down, ExpertLinear) else ()
    strength = np.abs(fires) * np.array([[share] for _, share in experts] or [[1.0]])
    sample = sampled(way.model, way.stack, way.layer, way.fired, report) if elsewhere and way.fired is not None else None
    best = [divmod(at, fires.shape[1]) for at in np.argsort(-strength, axis=None, kind="stable")[:top].tolist()]
    ranks: dict[int | None, int] = {expert: rank for rank, (expert, _) in enumerate(experts)} or {None: 0}
    if also is not None and also[0] in ranks and 0 <= also[1] < fires.shape[1]:
        best += [pair for pair in [(ranks[also[0]], also[1])] if pair not in best]
    owners = [experts[rank][0] if experts else None for rank, _ in best]
    rows = [_row(down, at, expert) * np.sign(fires[rank, at]) for (rank, at), expert in zip(best, owners, strict=True)]
    pushes = _pushes(way, np.stack(rows)) if pushed else [((), ())] * len(rows)
    gate = next((term for term in inner.rule.inputs if term is not activated), None) if isinstance(inner.rule, Times) else None
    factors = None if gate is None else _of_token(gate, here)
    strongest = []
    for (rank, at), expert, push in zip(best, owners, pushes, strict=True):
        input_value, output_value, firing = (float(numbers[rank, at]) for numbers in (before, after, fires))
        factor = None if factors is None else float(factors[rank, at])
        strongest.append(Neuron(at, expert, input_value, output_value, firing, factor, *push, sample.of(at) if sample else ()))
    return Neurons(way.layer, position, tuple(strongest), fires.shape[1], rule.name, rule.function, experts)


def _parts(way: Way) -> tuple[Formula, Stage, Stage]:
    """Return the down projection, its input, and the activation in that input."""
    width = way.trace.hidden[way.stack].shape[-1]
    ends = [stage for stage in way.stages if stage.name.startswith("feed-forward") and isinstance(stage.rule, Experts | Linear)]
    ends = [stage for stage in ends if stage.shape[-1] == width]  # others end in something narrower, beside the stream
    last = next((stage for stage in ends if isinstance(stage.rule, Experts)), ends[0] if ends else None)
    if last is None or last.rule is None or last.missing:
        own = next((stage.missing for stage in way.stages if stage.missing and stage.name.startswith("feed-forward")), None)
        raise ValueError(own or "The feed-forward of this layer is not taken apart.")
    down = last.rule if isinstance(last.rule, Linear) else last.rule.inputs[1].rule
    inner = down.inputs[0] if down is not None else last
    ahead = [inner]
    for stage in ahead:  # the list grows while it is walked
        if down is not None and isinstance(stage.rule, Activation):
            return down, inner, stage
        if stage.rule is not None and stage.axes[-1] in ("neuron", inner.axes[-1]):
            ahead.extend(stage.rule.inputs)
    raise ValueError("The feed-forward of this layer has no activation that is known.")


def _of_token(stage: Stage, here: np.ndarray) -> np.ndarray:
    """Return the numbers of one token: [rank, neuron], one rank without a mixture."""
    rows = stage.rows(here)
    return rows[:, 0] if rows.ndim == 3 else rows


def _experts(way: Way, position: int) -> tuple[tuple[int, float], ...]:
    choice = next((stage for stage in way.stages if stage.name == "experts"), None)
    if choice is None or choice.rule is None:
        return ()
    shares = choice.rule.inputs[0].rows(np.array([position]))[0]
    return tuple((int(expert), float(shares[int(expert)])) for expert in choice.rows(np.array([position]))[0])


def _row(down: Formula, number: int, expert: int | None) -> np.ndarray:
    """Return the vector that a neuron adds to the stream when it fires with 1: [d_model]."""
    if isinstance(down, ExpertLinear):
        return down.of(expert or 0)[0][:, number]
    assert isinstance(down, Linear), "a down projection is one or the other"
    return down.weight[:, number]


def _pushes(way: Way, rows: np.ndarray) -> list[tuple[tuple[Push, ...], tuple[Push, ...]]]:
    """Return the tokens whose logits each row [row, d_model] raises most, and lowers most, at the usual length of the stream
    before a final norm."""
    if way.trace.unembed is None or way.stack == "encoder":
        return [((), ())] * len(rows)
    pushes = []
    for start in range(0, len(rows), AT_ONCE):
        part = rows[start : start + AT_ONCE].astype(np.float32)
        *rows_logits, nothing = way.trace.unembed(np.concatenate([part, np.zeros_like(part[:1])]))
        pushes += [(_most(way, logits - nothing, -1), _most(way, logits - nothing, 1)) for logits in rows_logits]
    return pushes


def _most(way: Way, scores: np.ndarray, sign: int) -> tuple[Push, ...]:
    """Return the tokens with the largest scores, or, with sign 1, the smallest."""
    best = np.argsort(sign * scores, kind="stable")[:PUSHED].tolist()
    return tuple(Push(id, way.model.token_text(id), float(scores[id])) for id in best)
