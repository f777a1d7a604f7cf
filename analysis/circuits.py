"""The circuit of a prediction: the fewest heads and feed-forwards that keep it, found by taking away, and held against chance."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np

from analysis.behaviour import Behaviour, Node
from models.language_model import LanguageModel
from models.trace import Trace

RANDOM = 20  # sets of the same size: of 21 sets drawn alike one beats the 20 others, which is less than 5 %
LEAST = 0.01  # nats between all parts and none: less is nothing that could be kept
AT_ONCE = 16  # readings in a batch, at most
STEPS = 8  # about so often what is left is estimated again
BACK = 3  # a pass forward and back is about so many readings
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Circuit:
    """What was found. All shares are of `whole` − `nothing`: 1 is the whole model, 0 the model without all `nodes`.

    nodes: all heads and feed-forwards that were asked about; kept: those of the circuit, both the first layer first. share: what
    is left with only them (faithfulness); left: what is left without them (completeness: the less, the less was forgotten).
    random_shares, random_lefts: float64 [set], the same of sets drawn at random, with as many heads and as many feed-forwards.
    without: float64 [kept], what is left of the circuit when one more part is taken away. whole, nothing: the measure in nats,
    the log-probability of the token, or the difference of its logit from another's. readings: how often the text was read.
    """

    nodes: tuple[Node, ...]
    kept: tuple[Node, ...]
    share: float
    left: float
    random_shares: np.ndarray
    random_lefts: np.ndarray
    without: np.ndarray
    whole: float
    nothing: float
    readings: int

    @property
    def faithful(self) -> bool:
        """Whether it is closer to the whole model than every random set."""
        return bool(abs(1 - self.share) < np.abs(1 - self.random_shares).min())

    @property
    def complete(self) -> bool:
        """Whether less is left without it than without every random set."""
        return bool(self.left < self.random_lefts.min())


def find_circuit(
    model: LanguageModel,
    trace: Trace,
    token: int | None = None,
    position: int = -1,
    against: int | None = None,
    keep: float = 0.9,
    fill: str = "mean",
    other: str = "",
    target: str = "",
    seed: int = 0,
    report: Report | None = None,
) -> Circuit:
    """The fewest heads and feed-forwards that keep a prediction on this text, by greedy pruning.

    Parts go one after the other, those first whose estimated effect is smallest (attribution patching), and each is measured by
    reading again without it: it stays away where what is left stays within 1 − `keep` of the whole model, to either side. This
    is repeated until no part can go any more. So none of what is kept can be left out by itself, but a smaller set of other parts
    may exist. token: an id, None for the likeliest; the rest: as `Behaviour`. seed: what random sets are drawn with. report: is
    told how far it is. Errors: as `Behaviour`; ValueError where `keep` is no share, and where all parts do not make the token
    likelier than none.
    Source: Wang et al. 2023, "Interpretability in the Wild" (faithfulness, completeness); Conmy et al. 2023, "Towards Automated
    Circuit Discovery" (pruning in a fixed order).
    """
    if not 0 < keep < 1:
        raise ValueError(f"keep is the share of the behaviour that is to be left, between 0 and 1; it is {keep!r}.")
    if not -len(trace.read) <= position < len(trace.read):
        raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
    if token is None and trace.unembed is not None:
        token = int(trace.unembed(trace.stream[-1, [position]])[0].argmax())
    asked = Behaviour(model, trace, range(len(trace.read))[position], token or 0, against, fill, other, target)
    whole, nothing = asked.ends
    if whole - nothing < LEAST:
        raise ValueError(
            "Without any head or feed-forward the model is as sure of this as with all of them, or surer: there is nothing that "
            "a circuit could keep. Ask about another token, or the other way round."
        )
    kept, tried = prune(asked, keep, report)
    sets = random_sets(asked.nodes, kept, seed)
    less = [[one for one in kept if one != node] for node in kept]
    rest = [[one for one in asked.nodes if one not in some] for some in (kept, *sets)]
    shares = np.empty(0)
    every = [kept, *rest[:1], *sets, *rest[1:], *less]
    for start in range(0, len(every), AT_ONCE):
        if report:
            report(0.75 + 0.25 * start / len(every), f"{len(kept)} parts are left; comparing with random sets")
        shares = np.concatenate([shares, asked.shares(every[start : start + AT_ONCE])])
    share, left, random_shares, random_lefts, without = np.split(shares, [1, 2, 2 + len(sets), 2 + 2 * len(sets)])
    return Circuit(
        asked.nodes, tuple(kept), float(share[0]), float(left[0]), random_shares, random_lefts, without, whole, nothing,
        2 + tried + len(every),
    )  # fmt: skip


def prune(asked: Behaviour, keep: float, report: Report | None = None) -> tuple[list[Node], int]:
    """What is kept, the first layer first, and how often the text was read for it, a pass forward and back counted as three.

    Several parts in a row are tried at once, as sets that each lack one more: those before the first bad set go. What is left is
    estimated again then.
    """
    kept, readings, before, ahead = set(asked.nodes), 0, 0, 1.0
    at_once = min(AT_ONCE, max(2, len(kept) // STEPS))
    while before != len(kept):
        before, stay, estimates = len(kept), set[Node](), dict[Node, float]()
        while waiting := [node for node in asked.nodes if node in kept - stay]:
            if report:
                report(0.7 * (1 - ahead * (1 + len(waiting) / before) / 2), f"{len(kept)} of {len(asked.nodes)} parts are left")
            if not estimates:
                estimates, readings = asked.estimates(kept), readings + BACK
            waiting = sorted(waiting, key=lambda node: abs(estimates[node]))[:at_once]
            sets = [kept.difference(waiting[: end + 1]) for end in range(len(waiting))]
            good = np.abs(1 - asked.shares(sets)) <= 1 - keep
            gone = len(good) if good.all() else int(good.argmin())
            readings += len(sets)
            if gone:
                kept.difference_update(waiting[:gone])
                estimates = {}
            stay.update(waiting[gone : gone + 1])
        ahead /= 2
    return [node for node in asked.nodes if node in kept], readings


def random_sets(nodes: Sequence[Node], kept: Sequence[Node], seed: int) -> list[list[Node]]:
    """Sets drawn at random, with as many heads and as many feed-forwards as are kept."""
    draw, sets = np.random.default_rng(seed), []
    kinds = [[node for node in nodes if (node.head is None) == alone] for alone in (False, True)]
    for _ in range(RANDOM):
        chosen = [
            each[i] for each in kinds for i in draw.choice(len(each), sum(one in each for one in kept), replace=False)
        ]  # fmt: skip
        sets.append(chosen)
    return sets
