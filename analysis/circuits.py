"""The circuit of a prediction: the fewest heads and feed-forwards that keep it, beside other sets of the same size."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import comb

import numpy as np

from analysis.behaviour import Behaviour, Node
from analysis.samples import Texts
from models.language_model import LanguageModel
from models.trace import Trace

SETS = 20  # random ones of the circuit's size: one of 21 sets drawn alike beats the 20 others, less than 5 %
SAME = 1e-3  # nats: rounding hides a smaller difference between sets
LEAST = 0.01  # nats between all parts and none: with less there is nothing to keep
AT_ONCE = 16  # readings in a batch, at most
STEPS = 8  # about how often the estimates are made again
BACK = 3  # readings that a pass forward and back counts as
Report = Callable[[float, str], None]


@dataclass(frozen=True)
class Circuit:
    """A circuit, and its rank among other sets of its size.

    All shares are of the gain `whole` − `nothing`, in log-probability or in a difference of logits: 1 is the whole model, 0 the
    model without all `nodes`.
    nodes: all heads and feed-forwards considered; members: those of the circuit; both from the first layer on. share: the share
    that remains with only the members (faithfulness); left: the share that remains without them (completeness: the smaller, the
    fewer parts are missing).
    random_shares, random_lefts: float64 [set], the same for other sets with as many heads and feed-forwards; every_set: whether
    these are all such sets; else they are random, and all different. without: float64 [member], the share that remains with the
    circuit less one part. whole, nothing: the measure in nats, the log-probability of the token, or the difference of its logit
    from that of `against`. alone: float32 [vocabulary], the logits with only the circuit. readings: how often the text was read.
    """

    nodes: tuple[Node, ...]
    members: tuple[Node, ...]
    share: float
    left: float
    random_shares: np.ndarray
    random_lefts: np.ndarray
    every_set: bool
    without: np.ndarray
    whole: float
    nothing: float
    token: int
    against: int | None
    alone: np.ndarray
    readings: int

    @property
    def wins(self) -> bool:
        """Whether the token is still the likeliest of all, or likelier than `against`, with only the circuit."""
        return bool(leading(self.alone[None], self.token, self.against)[0])

    @property
    def share_rank(self) -> int:
        """The circuit's place among all sets by how close each alone is to the whole model, from 1. An equal set goes first."""
        return 1 + int((np.abs(1 - self.random_shares) <= abs(1 - self.share) + self._same).sum())

    @property
    def left_rank(self) -> int:
        """Its place among all sets by how little remains without each, from 1. An equal set goes first."""
        return 1 + int((self.random_lefts <= self.left + self._same).sum())

    @property
    def faithful(self) -> bool:
        """Whether it is closer to the whole model than every other tried set; False if there is no other."""
        return self.share_rank == 1 and len(self.random_shares) > 0

    @property
    def complete(self) -> bool:
        """Whether less remains without it than without every other tried set; False if there is no other."""
        return self.left_rank == 1 and len(self.random_lefts) > 0

    @property
    def _same(self) -> float:
        """The largest share that counts as no difference."""
        return SAME / (self.whole - self.nothing)


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
    texts: Texts = (),
    leads: bool = False,
) -> Circuit:
    """Return the fewest heads and feed-forwards that keep a prediction on this text, by greedy pruning.

    Parts are removed one after the other, those with the smallest estimated effect (attribution patching) first. Each removal is
    measured by reading the text again: it stands if the result stays within 1 − `keep` of the whole model, on either side, and,
    with `leads`, if the token stays the likeliest, or likelier than `against`, where it is so in the whole model. This is
    repeated until no part can be removed. So no kept part can be left out by itself, but a smaller set of other parts may
    exist. token: an id, None for the likeliest; the rest: as `Behaviour`. seed: for drawing random sets. report: called with the
    progress. Errors: as `Behaviour`; ValueError if `keep` is no share, and if all parts together do not make the token likelier
    than none.
    The circuit is selected on the text on which it is tested, and the other sets are not, so it should beat them: if it does not,
    its parts are not special. In networks with random weights it beats them in about three of four texts, and the same set on
    another text in about one of nineteen (with `leads`; `benchmarks.false_positives`): so beating them is no proof.
    Source: Wang et al. 2023, "Interpretability in the Wild" (faithfulness, completeness); Conmy et al. 2023, "Towards Automated
    Circuit Discovery" (pruning in a fixed order).
    """
    if not 0 < keep < 1:
        raise ValueError(f"keep is the share of the behaviour that is to be left, between 0 and 1; it is {keep!r}.")
    if not -len(trace.read) <= position < len(trace.read):
        raise ValueError(f"There is no position {position} in {len(trace.read)} tokens.")
    if token is None and trace.unembed is not None:
        token = int(trace.unembed(trace.stream[-1, [position]])[0].argmax())
    behaviour = Behaviour(model, trace, range(len(trace.read))[position], token or 0, against, fill, other, target, texts)
    full, nothing = behaviour.ends
    if full - nothing < LEAST:
        raise ValueError(
            "Without any head or feed-forward the model is as sure of this as with all of them, or surer: there is nothing that "
            "a circuit could keep. Ask about another token, or the other way round."
        )
    circuit, readings = prune(behaviour, keep, report, leads)
    alone = behaviour.logits([circuit])[0]
    sets, every_set = other_sets(behaviour.nodes, circuit, seed)
    less = [[part for part in circuit if part != node] for node in circuit]
    complements = [[node for node in behaviour.nodes if node not in some] for some in (circuit, *sets)]
    all_sets, shares = [*complements[:1], *sets, *complements[1:], *less], np.empty(0)
    for start in range(0, len(all_sets), AT_ONCE):
        if report:
            report(0.75 + 0.25 * start / len(all_sets), f"{len(circuit)} parts are left; comparing with other sets")
        shares = np.concatenate([shares, behaviour.shares(all_sets[start : start + AT_ONCE])])
    lefts, random_shares, random_lefts, without = np.split(shares, [1, 1 + len(sets), 1 + 2 * len(sets)])
    share = (behaviour.measure_of(alone[None])[0] - nothing) / (full - nothing)
    return Circuit(
        behaviour.nodes,
        tuple(circuit),
        float(share),
        float(lefts[0]),
        random_shares,
        random_lefts,
        every_set,
        without,
        full,
        nothing,
        behaviour.token,
        against,
        alone,
        3 + readings + len(all_sets),
    )


def leading(logits: np.ndarray, token: int, against: int | None) -> np.ndarray:
    """Return whether a token is the likeliest of all, or likelier than `against`: bool [row]. logits: [row, vocabulary]."""
    rivals = np.delete(logits, token, axis=1).max(1) if against is None else logits[:, against]
    return np.asarray(logits[:, token] > rivals)


def prune(behaviour: Behaviour, keep: float, report: Report | None = None, leads: bool = False) -> tuple[list[Node], int]:
    """Return the parts that stay, from the first layer on, and how often the text was read; a forward and backward pass counts as
    three. leads: as in `find_circuit`.

    Several parts in a row are tried at once, as sets that each lack one more: those before the first bad set are removed. The
    effects of the remaining parts are then estimated again.
    """
    remaining, readings, before, ahead = set(behaviour.nodes), 0, 0, 1.0
    must_lead = leads and leading(behaviour.logits([behaviour.nodes]), behaviour.token, behaviour.against)[0]
    batch = min(AT_ONCE, max(2, len(remaining) // STEPS))
    while before != len(remaining):
        before, stay, estimates = len(remaining), set[Node](), dict[Node, float]()
        while waiting := [node for node in behaviour.nodes if node in remaining - stay]:
            if report:
                report(
                    0.7 * (1 - ahead * (1 + len(waiting) / before) / 2),
                    f"{len(remaining)} of {len(behaviour.nodes)} parts are left",
                )
            if not estimates:
                estimates, readings = behaviour.estimates(remaining), readings + BACK
            waiting = sorted(waiting, key=lambda node: abs(estimates[node]))[:batch]
            sets = [remaining.difference(waiting[: end + 1]) for end in range(len(waiting))]
            logits = behaviour.logits(sets)
            good = np.abs(1 - behaviour.shares_of(logits)) <= 1 - keep
            if must_lead:
                good &= leading(logits, behaviour.token, behaviour.against)
            removed = len(good) if good.all() else int(good.argmin())
            readings += len(sets)
            if removed:
                remaining.difference_update(waiting[:removed])
                estimates = {}
            stay.update(waiting[removed : removed + 1])
        ahead /= 2
    return [node for node in behaviour.nodes if node in remaining], readings


def other_sets(nodes: Sequence[Node], circuit: Collection[Node], seed: int, most: int = SETS) -> tuple[list[list[Node]], bool]:
    """Return other sets with as many heads and feed-forwards as are kept, and whether these are all there are.

    All of them where there are at most `most`, else `most` different ones, drawn at random.
    """
    heads, feedforwards = ([node for node in nodes if (node.head is None) == alone] for alone in (False, True))
    counts = [sum(node in circuit for node in kind) for kind in (heads, feedforwards)]
    if comb(len(heads), counts[0]) * comb(len(feedforwards), counts[1]) - 1 <= most:
        of_heads, of_feedforwards = combinations(heads, counts[0]), list(combinations(feedforwards, counts[1]))
        all_sets = [[*head_set, *more_nodes] for head_set in of_heads for more_nodes in of_feedforwards]
        return [candidate for candidate in all_sets if set(candidate) != set(circuit)], True
    draw, sets = np.random.default_rng(seed), dict[frozenset[Node], None]()
    while len(sets) < most:
        drawn_set = frozenset(
            kind[i]
            for kind, count in zip((heads, feedforwards), counts, strict=True)
            for i in draw.choice(len(kind), count, replace=False)
        )
        if drawn_set != set(circuit):
            sets[drawn_set] = None
    return [[node for node in nodes if node in drawn_set] for drawn_set in sets], False
