"""Attribution of a position to input tokens, by every method of this program."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from analysis.attention_flow import maximum_flows, nearest, restrict
from analysis.gradients import gradient_rollout, relevances, summed_relevance
from analysis.routes import Paths, matrices, paths, shares
from analysis.values import value_weights
from models.language_model import LanguageModel
from models.numbers.readonly import read_only
from models.trace import Trace

if TYPE_CHECKING:
    from models.gradients.attention import Gradients

METHODS = ("raw attention", "rollout", "value-weighted rollout", "attention flow", "attention × gradient", "gradient rollout")
FOLLOWING = METHODS[4:]  # these follow a prediction, so they need one
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Attribution:
    """The attribution of one position of one text to its tokens, by each method.

    position: in `trace.read`; token: the id of the followed prediction there (None: methods that follow a prediction are not
    available); against: another token, whose slopes are subtracted. fusion, discard, residual: as in `analysis.rollout`; the
    methods with gradients have their own. Results are cached.
    """

    model: LanguageModel
    trace: Trace
    position: int
    token: int | None = None
    fusion: str = "mean"
    discard: float = 0.0
    residual: float = 0.5
    against: int | None = None

    @cached_property
    def ways(self) -> Paths:
        return paths(self.trace)

    def scores(self, method: str, layer: int | None = None) -> np.ndarray:
        """Return the score of each of `ways.tokens`, scaled to sum to 1 (all 0 if no token counts): float64 [token].

        layer: score after this layer instead of the last; for attention × gradient, in this layer alone. Errors: ValueError for
        another method or layer, and if the model does not expose what the method needs.
        """
        ways = self.ways.until(self._layer_number(layer))
        place, steps = self.position, slice(len(ways.steps))
        ask = {
            "raw attention": lambda: _last_look(ways, self.attention[steps], place),
            "rollout": lambda: shares(ways, self.attention[steps], place, self.residual)[0],
            "value-weighted rollout": lambda: shares(ways, self.values[steps], place, self.residual)[0],
            "attention flow": lambda: maximum_flows(ways, self.attention[steps], place, self.residual),
            "attention × gradient": lambda: summed_relevance(*self._relevant_steps(layer)),
            "gradient rollout": lambda: gradient_rollout(ways, self.relevance[steps], place),
        }
        if method not in ask:
            raise ValueError(f"The method must be one of {', '.join(METHODS)}; it is {method!r}.")
        scores = ask[method]()
        total = scores.sum()
        return scores / total if total > 0 else scores

    def flow(self, most: int | None = None, report: Report | None = None) -> np.ndarray:
        """Return attention flow between at most `most` tokens of each text (see `attention_flow.nearest`); NaN for others."""
        ways, weights, position, places = self.ways, self.attention, self.position, np.arange(len(self.ways.tokens))
        if most is not None:
            place, places = ways.place(position), nearest(ways, weights, position, most)
            ways, weights = restrict(ways, weights, places)
            position = int(np.flatnonzero(places == place)[0]) - ways.start
        flows = maximum_flows(ways, weights, position, self.residual, report)
        flow_shares = np.full(len(self.ways.tokens), np.nan)
        flow_shares[places] = flows / (flows.sum() or 1.0)
        return flow_shares

    @cached_property
    def attention(self) -> list[np.ndarray]:
        """The attention of each step, its heads fused."""
        return [read_only(matrix) for matrix in matrices(self.ways, self.fusion, self.discard)]

    @cached_property
    def values(self) -> list[np.ndarray]:
        """The `value_weights` of each step, scaled so that rows sum to 1. Errors: ValueError where they are not known."""
        brought = matrices(self.ways, discard=self.discard, of=lambda step: value_weights(self.model, self.trace, step))
        return [read_only(matrix) for matrix in brought]

    @cached_property
    def gradients(self) -> dict[str, Gradients]:
        """The slopes of the prediction's logit. Errors: ValueError without a prediction."""
        if self.token is None:
            raise ValueError("This method follows a prediction, and here is none.")
        return self.model.gradients(self.trace, self.position, self.token)

    @cached_property
    def relevance(self) -> list[np.ndarray]:
        """The dependence of the prediction's logit on each weight of each step (see `analysis.gradients.relevance`)."""
        against = None if self.against is None else self.model.gradients(self.trace, self.position, self.against)
        return [read_only(matrix) for matrix in relevances(self.ways, self.gradients, against)]

    def _layer_number(self, layer: int | None) -> int:
        layer = self.ways.layers - 1 if layer is None else layer
        if not 0 <= layer < self.ways.layers:
            raise ValueError(f"There are {self.ways.layers} layers, counted from 0: number {layer} is none of them.")
        return layer

    def _relevant_steps(self, layer: int | None) -> tuple[Paths, list[np.ndarray]]:
        """Return the steps of one layer of the stack that predicts, or all."""
        is_relevant = [layer is None or (step.kind != "encoder" and step.layer == layer) for step in self.ways.steps]
        steps = tuple(step for step, relevant in zip(self.ways.steps, is_relevant, strict=True) if relevant)
        return replace(self.ways, steps=steps), [
            matrix for matrix, relevant in zip(self.relevance, is_relevant, strict=True) if relevant
        ]


def _last_look(ways: Paths, weights: Sequence[np.ndarray], position: int) -> np.ndarray:
    """Return the attention of a position in the last step alone."""
    look, step = np.zeros(len(ways.tokens)), ways.steps[-1]
    look[step.keys] = weights[-1][ways.place(position) - step.queries.start]
    return look
