"""The paths from the input tokens up to one position: attention after attention, with a residual connection beside each.

In a decoder or an encoder a step is a layer. In an encoder-decoder the steps are the encoder's layers over the source, and then
two for each of the decoder's: the target looks at itself, and at the encoder's output for the source.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np

from analysis.attention_rollout import check_residual, fuse_heads
from models.tokens import Token
from models.trace import Attention, Trace


@dataclass(frozen=True)
class Step:
    """One attention on the path; queries and keys: the tokens of the path that look and that are looked at; number: of the layer
    in the network."""

    kind: str
    layer: int
    queries: slice
    keys: slice
    number: int

    @property
    def name(self) -> str:
        """ "L3", or "encoder L3" where there are several kinds."""
        return f"{'' if self.kind == 'self' else f'{self.kind} '}L{self.number}"


@dataclass(frozen=True)
class Paths:
    """The paths through a text. tokens: all tokens that are read, the source before the target; start: where the target begins
    (0: none)."""

    attention: Mapping[str, Attention]
    tokens: Sequence[Token]
    start: int
    steps: tuple[Step, ...]

    @property
    def layers(self) -> int:
        """The number of layers of the stack that the model predicts from."""
        return 1 + max(step.layer for step in self.steps if step.kind != "encoder")

    def until(self, layer: int) -> Paths:
        """Return the paths up to this layer's output (of the decoder, if there are two stacks)."""
        return replace(self, steps=tuple(step for step in self.steps if step.kind == "encoder" or step.layer <= layer))

    def place(self, query: int) -> int:
        """Return the index in `tokens` of a position in `trace.read`; negative ones count from the end. Errors: ValueError."""
        count = len(self.tokens) - self.start
        if not -count <= query < count:
            raise ValueError(f"There are {count} positions, counted from 0: number {query} is none of them.")
        return self.start + query % count


def paths(of: Trace | Attention) -> Paths:
    """Return the paths through a trace, or through self-attention alone. Errors: ValueError for any other attention alone."""
    attention = {"self": of} if isinstance(of, Attention) else of.attention
    first = attention.get("self") or attention["encoder"]
    count = len(first.queries)
    if len(first.keys) != count:
        raise ValueError("This needs self-attention: here the queries and the keys are different texts.")
    source = slice(0, count)
    if "self" in attention:
        steps = [Step("self", layer, source, source, number) for layer, number in enumerate(first.numbers)]
        return Paths(attention, first.queries, 0, tuple(steps))
    target_tokens = attention["decoder"].queries
    target = slice(count, count + len(target_tokens))
    steps = [Step("encoder", layer, source, source, number) for layer, number in enumerate(first.numbers)]
    for layer, number in enumerate(attention["decoder"].numbers):
        steps += [Step("decoder", layer, target, target, number), Step("cross", layer, target, source, number)]
    return Paths(attention, [*first.queries, *target_tokens], count, tuple(steps))


def matrices(
    ways: Paths, fusion: str = "mean", discard: float = 0.0, of: Callable[[Step], np.ndarray] | None = None
) -> list[np.ndarray]:
    """Return one matrix for each step: float64 [query, key], the heads fused, rows that sum to 1 (see
    `analysis.attention_rollout.fuse_heads`).

    of: returns other weights [heads, query, key] of a step in place of attention.
    """
    return [fuse_heads(of(step) if of else ways.attention[step.kind][step.layer], fusion, discard) for step in ways.steps]


def shares(ways: Paths, weights: Sequence[np.ndarray], query: int, residual: float = 0.5) -> np.ndarray:
    """Return how much of the final state at a position comes through each token, step by step: float64 [steps + 1, token].

    weights: a matrix for each step, as from `matrices`. Row s has the shares of the tokens' states after s steps: row 0 those of
    the inputs, the last row the position alone; every row sums to 1. Row 0 is this position's row of attention rollout.
    Source: Abnar and Zuidema 2020; for an encoder-decoder the same rule, with cross-attention as one more step with its residual.
    """
    check_residual(residual)
    rows = [np.zeros(len(ways.tokens))]
    rows[0][ways.place(query)] = 1.0
    for step, matrix in zip(reversed(ways.steps), reversed(weights), strict=True):
        rows.append(_down(rows[-1], step, matrix, residual))
    return np.stack(rows[::-1])


def _down(after: np.ndarray, step: Step, matrix: np.ndarray, residual: float) -> np.ndarray:
    """Return the shares before a step from those after it."""
    spread = (1 - residual) * after[step.queries]
    before = after.copy()
    before[step.queries] -= spread * matrix.sum(-1)  # the residual stays, and what a row without weights keeps
    before[step.keys] += spread @ matrix
    return before


@dataclass(frozen=True)
class Stream:
    """The flow from one token's state to another's, as a share of the total that arrives. Columns count from the inputs, 0."""

    share: float
    from_column: int
    from_token: int
    to_column: int
    to_token: int


def streams(
    ways: Paths, weights: Sequence[np.ndarray], query: int, residual: float = 0.5, least: float = 0.0
) -> tuple[list[Stream], float]:
    """Return the flows behind `shares` that are at least `least`, and the largest total left out of a step.

    A state's column is the step that made it, counted from 1; inputs are one column before the first step that uses them.
    """
    after = shares(ways, weights, query, residual)
    # The column of each token's state, step by step.
    column_of = np.zeros((len(ways.steps) + 1, len(ways.tokens)), dtype=int)
    column_of[0, ways.start :] = next((i for i, step in enumerate(ways.steps) if step.queries.start == ways.start), 0)
    for i, step in enumerate(ways.steps):
        column_of[i + 1] = column_of[i]
        column_of[i + 1, step.queries] = i + 1
    strong, most = [], 0.0
    for i, (step, matrix) in enumerate(zip(ways.steps, weights, strict=True)):
        mass = after[i + 1, step.queries]
        flows = (1 - residual) * mass[:, None] * matrix
        stays = mass - flows.sum(-1)
        same = step.queries == step.keys
        if same:
            flows[np.diag_indices(len(mass))] += stays
        else:
            staying = np.flatnonzero((stays > 0) & (stays >= least)) + step.queries.start
            strong += [Stream(float(stays[q - step.queries.start]), int(column_of[i, q]), int(q), i + 1, int(q)) for q in staying]
        rows, columns = np.nonzero((flows > 0) & (flows >= least))
        for row, column in zip(rows.tolist(), columns.tolist(), strict=True):
            k, q = column + step.keys.start, row + step.queries.start
            strong.append(Stream(float(flows[row, column]), int(column_of[i, k]), k, i + 1, q))
        total = sum(stream.share for stream in strong if stream.to_column == i + 1)
        most = max(most, float(mass.sum()) - total)
    return strong, max(0.0, most)
