"""A prediction, and its strength while heads and feed-forwards are removed: the behaviour that a circuit explains."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from analysis.effects import log_softmax
from analysis.patches import check_lengths
from analysis.references import means_of
from analysis.samples import Texts
from models.edits import Edit, Head, Part, Skip
from models.language_model import LanguageModel
from models.trace import Trace

if TYPE_CHECKING:
    from torch import Tensor

    from models.gradients.parts import Heard

FILLS = ("mean", "zero", "other text")  # what takes the place of a part that is taken away


@dataclass(frozen=True)
class Node:
    """A part that can be removed: a head, or with `head` None a feed-forward. kind: of the attention, or the stack; number: the
    layer's number in the network, if it differs."""

    layer: int
    head: int | None = None
    kind: str = "self"
    number: int | None = field(default=None, compare=False)

    @property
    def name(self) -> str:
        """The usual short name: "L5 H1", "cross L2 H0", "L3 feed-forward"."""
        layer = self.layer if self.number is None else self.number
        return f"{'cross ' * (self.kind == 'cross')}L{layer} {'feed-forward' if self.head is None else f'H{self.head}'}"


@dataclass(frozen=True)
class Behaviour:
    """A prediction at a position of `trace.read`, measured while parts are removed.

    token: its id; against: another token, None for any other. fill: the replacement of a removed part, one of `FILLS`: zero, its
    mean output over some texts (`head_means`) at every position, or its output in the text `other` (after the same `target`),
    which must have as many tokens. texts: those of the means, by default the built-in sample. The parts are those of the stack
    that predicts, in an encoder-decoder the decoder; the encoder stays unchanged.
    Errors: ValueError without a language-model head, for an unknown token or fill, a token compared with itself, a trace with
    edits, texts of unequal length, and for a fill other than "zero" in a model with its own attention code.
    """

    model: LanguageModel
    trace: Trace
    position: int
    token: int
    against: int | None = None
    fill: str = "mean"
    other: str = ""
    target: str = ""
    texts: Texts = ()

    def __post_init__(self) -> None:
        info = self.model.info
        if self.trace.unembed is None:
            raise ValueError(f"{info.name} has no language-model head, so there is no prediction that parts could keep.")
        if self.fill not in FILLS:
            raise ValueError(f'fill is "{self.fill}"; it must be one of {", ".join(FILLS)}.')
        if self.token == self.against:
            raise ValueError("A token against itself is no question: the two are always equally likely. Choose another one.")
        if self.trace.edits:
            raise ValueError("A circuit is looked for in the model as it is. Read the text again without edits.")
        if self.fill != "zero" and not info.queries:
            raise ValueError(
                f"{info.name} attends in its own way: what its heads give cannot be replaced, only switched off. Choose zeros."
            )

    @cached_property
    def heard(self) -> tuple[Heard, Heard]:
        """The outputs of the parts in the whole model, and the slope of the measure against them."""
        from models.gradients.parts import slopes  # brings torch, which the first page does not wait for

        return slopes(self.model, self.trace, self.position, self.slope_of)

    @cached_property
    def nodes(self) -> tuple[Node, ...]:
        """Heads and feed-forwards, the first layer first."""
        outputs, stack = self.heard[0], "decoder" if self.trace.target else "self"
        numbers = self.trace.attention[stack].numbers
        heads = [
            Node(layer, head, kind, numbers[layer])
            for (kind, layer), head_outputs in outputs.heads.items()
            if kind in (stack, "cross")
            for head in range(head_outputs.shape[1])
        ]
        feedforward = [Node(layer, None, kind, numbers[layer]) for kind, layer in outputs.feedforward if kind == stack]
        return tuple(
            sorted([*heads, *feedforward], key=lambda node: (node.layer, node.head is None, node.kind == "cross", node.head))
        )

    @cached_property
    def replacements(self) -> dict[Node, np.ndarray | None]:
        """The replacement of each part's output, [position or 1, size]; None for nothing."""
        if self.fill == "zero":
            return dict.fromkeys(self.nodes)
        if self.fill == "mean":
            means = means_of(self.model, self.texts)
            part = {node: "feedforward" if node.head is None else "heads" for node in self.nodes}
            return {node: means[node.kind, part[node]][node.layer, [node.head or 0]] for node in self.nodes}
        from models.gradients.parts import hear

        other_trace = self.model.trace(self.other, self.target, remember=False)
        check_lengths(self.model, self.trace, other_trace)
        outputs = hear(self.model, other_trace, [[]], self.position)
        return {node: value_of(outputs, node) for node in self.nodes}

    @cached_property
    def edits(self) -> dict[Node, list[Edit]]:
        """The edits that remove each part."""
        return {node: replace_part(node, value, len(self.trace.read)) for node, value in self.replacements.items()}

    def estimates(self, nodes: Collection[Node]) -> dict[Node, float]:
        """Return how much the measure would change without each of the kept parts, estimated from its slope: nats.

        Source: Nanda 2023, "Attribution Patching"; Syed, Rager and Conmy 2023, "Attribution Patching Outperforms Automated
        Circuit Discovery".
        """
        from models.gradients.parts import slopes

        removals = self.without(nodes)
        heard = slopes(self.model, self.trace, self.position, self.slope_of, removals) if removals else self.heard
        estimates = {}
        for node in nodes:
            output, slope = (value_of(outputs, node).astype(np.float64) for outputs in heard)
            value = self.replacements[node]
            estimates[node] = float(((0.0 if value is None else value) - output).ravel() @ slope.ravel())
        return estimates

    def without(self, nodes: Collection[Node]) -> list[Edit]:
        """Return the edits that remove all other parts."""
        return [edit for node in self.nodes if node not in nodes for edit in self.edits[node]]

    @cached_property
    def ends(self) -> tuple[float, float]:
        """The measure of the whole model, and without all parts."""
        whole, nothing = self.measures([self.nodes, ()])
        return float(whole), float(nothing)

    def measures(self, sets: Sequence[Collection[Node]]) -> np.ndarray:
        """Return the measure with only some of the parts: float64 [set], nats."""
        return self.measure_of(self.logits(sets))

    def logits(self, sets: Sequence[Collection[Node]]) -> np.ndarray:
        """Return the prediction with only some of the parts: float32 [set, vocabulary]."""
        from models.editing.batches import answers

        return answers(self.model, self.trace, [self.without(nodes) for nodes in sets], self.position)

    def shares(self, sets: Sequence[Collection[Node]]) -> np.ndarray:
        """Return the measures as shares of the behaviour: 1 for the whole model, 0 without all parts."""
        return self.shares_of(self.logits(sets))

    def shares_of(self, logits: np.ndarray) -> np.ndarray:
        """Return the shares of the behaviour in logits [row, vocabulary]: float64 [row]."""
        whole, nothing = self.ends
        return (self.measure_of(logits) - nothing) / (whole - nothing)

    def measure_of(self, logits: np.ndarray) -> np.ndarray:
        """Return the measure of logits [row, vocabulary]: float64 [row]. Errors: ValueError for an unknown token."""
        for id in (self.token, self.against or 0):
            if not 0 <= id < logits.shape[1]:
                raise ValueError(f"There is no token {id}: they are 0 to {logits.shape[1] - 1:,}.")
        if self.against is not None:
            return logits[:, self.token].astype(np.float64) - logits[:, self.against]
        return log_softmax(logits)[:, self.token]

    def slope_of(self, logits: Tensor) -> Tensor:
        """Return the measure of a tensor of logits, to differentiate."""
        self.measure_of(logits.detach().cpu().numpy())
        return logits[0, self.token] - (logits[0].logsumexp(0) if self.against is None else logits[0, self.against])


def value_of(heard: Heard, node: Node, row: int = 0) -> np.ndarray:
    """Return a part's output at each position, or its slope: [position, size]."""
    key = node.kind, node.layer
    return heard.feedforward[key][row] if node.head is None else heard.heads[key][row, node.head]


def replace_part(node: Node, value: np.ndarray | None, length: int) -> list[Edit]:
    """Return the edits that replace a part's output by a value [position or 1, size], or by nothing."""
    if node.head is not None:
        mean = value if value is None or len(value) == length else value[0]
        return [Head(node.layer, node.head, mean=mean, kind=node.kind)]
    if value is None:
        return [Skip(node.layer, "feedforward", kind=node.kind)]
    if len(value) == 1:
        return [Part(node.layer, None, value[0], "feedforward", kind=node.kind)]
    return [Part(node.layer, at, value[at], "feedforward", kind=node.kind) for at in range(length)]
