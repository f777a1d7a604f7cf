"""Tests of attributions: the prediction while the tokens that each method calls important are deleted."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property

import numpy as np

from analysis.ranks import rank_correlation
from models.language_model import LanguageModel
from models.tokens import Patch, Token
from models.trace import Trace

Report = Callable[[float, str], None]
ORDERS = 20  # at random, for each method: of 21 orders drawn alike, one beats the 20 others, which is less than 5 %
LEVEL = 0.05  # of all methods of a text, any gets a verdict by chance in so many cases at most
POINTS = (0.1, 0.3, 0.5)  # shares of the text at which deletion and insertion are compared with chance; and their complements
STAYS, FALLS = 0.9, 0.1  # shares of the probability left where a text saturates
WIDEST = 30  # of the text: the widest gap of a grid is one part in so many
SHARES = (1, 5, 10, 20, 50)  # per cent of the tokens, over which comprehensiveness and sufficiency are averages
AT_ONCE = 64  # texts in a batch, at most
WORK = 2 * 10**10  # multiplications in a batch, at most, so that its end is not far


@dataclass(frozen=True)
class Question:
    """A prediction for a text and for the same text with some tokens deleted.

    position: in `trace.read`, where the token of that id is predicted. For a model with a mask token, deleted tokens are masked,
    so that all others keep their places; patches of an image are covered (see `Patch.cover`); for other models tokens are
    removed, and the rest moves up. In an encoder-decoder, tokens of the source and of the target so far can be deleted. against:
    the token that the prediction is compared with; None: all others. keep_last: whether the last token read before the prediction
    always stays, because without it a decoder predicts what follows another token.
    Errors: ValueError without a language-model head, for a token compared with itself, and for a trace with edits. For a
    classifier, token and against are the numbers of labels.
    """

    model: LanguageModel
    trace: Trace
    position: int
    token: int
    against: int | None = None
    keep_last: bool = False
    _known: dict[bytes, float] = field(default_factory=dict, repr=False, compare=False)

    def __post_init__(self) -> None:
        if not self.trace.predicts:
            raise ValueError(f"{self.model.info.name} has no language-model head, so it makes no prediction that could change.")
        info = self.model.info
        if info.labels and info.labels.each and info.kind == "encoder" and not self.mask:
            raise ValueError(f"{info.name} has no mask, and a token that is taken out would move the one that is asked about.")
        if self.trace.edits:
            raise ValueError("Tokens are taken away from texts that are read without edits. Read the text again without them.")
        if self.token == self.against:
            raise ValueError("A token against itself is no question: the two are always equally likely. Choose another one.")

    @cached_property
    def mask(self) -> Token | None:
        name = self.model.info.mask
        return (
            next((token for token in self.model.tokenize(name) if token.special and token.text == name), None) if name else None
        )

    @cached_property
    def keeps_places(self) -> bool:
        """Whether the other tokens keep their places when some are deleted: these are masked then, or covered in an image."""
        return self.mask is not None or any(isinstance(token, Patch) for token in self.trace.tokens)

    @cached_property
    def read(self) -> Sequence[Token]:
        """The tokens read before the prediction: the source, or the text (for a decoder up to the position)."""
        decoder = self.model.info.kind == "decoder"
        return self.trace.tokens[: range(len(self.trace.tokens))[self.position] + 1] if decoder else self.trace.tokens

    @cached_property
    def target_read(self) -> Sequence[Token]:
        """The target's tokens before the prediction, its start first; none for a classifier, whose decoder reads the text
        again."""
        if self.model.info.labels:
            return []
        return self.trace.target[: range(len(self.trace.read))[self.position] + 1] if self.trace.target else []

    def of_tokens(self, scores: np.ndarray) -> np.ndarray:
        """Return the scores of all tokens [source, then target] as scores of `read` and `target_read`: a classifier's decoder
        reads each token a second time, one place later, and both scores belong to the token."""
        count = len(self.trace.tokens)
        if not (self.model.info.labels and self.trace.target):
            return scores[: len(self.read) + len(self.target_read)]
        summed = np.array(scores[:count], dtype=np.float64)
        summed[:-1] += scores[count + 1 :]
        return summed

    @property
    def length(self) -> int:
        """The number of tokens read for an answer, of the source and of the target."""
        return len(self.read) + len(self.target_read)

    @cached_property
    def units(self) -> list[int]:
        """The tokens that can be deleted: the typed ones, without masks. They are positions in `trace.tokens`; those of a target,
        which follows its source, continue the count."""
        mask = self.mask
        last = self.length - 1 if self.keep_last and self.asks_at_the_end else None
        return [
            i
            for i, token in enumerate([*self.read, *self.target_read])
            if i != last and not (token.special and token.start == token.end) and (mask is None or token.id != mask.id)
        ]

    @property
    def asks_at_the_end(self) -> bool:
        """Whether the prediction is for what follows the last token that is read: that of a decoder, not of a classifier."""
        return self.model.info.kind != "encoder" and not self.model.info.labels

    def text(self, keep: np.ndarray) -> list[Token]:
        """Return the tokens read when only some units stay: bool [unit]. For an empty text, these are the tokens that the model
        reads then.
        """
        removed = {unit for unit, stays in zip(self.units, keep, strict=True) if not stays}
        mask = self.mask
        if self.keeps_places and mask is None:
            return [token.cover() if i in removed and isinstance(token, Patch) else token for i, token in enumerate(self.read)]
        if mask is not None:
            return [replace(token, id=mask.id) if i in removed else token for i, token in enumerate(self.read)]
        return [token for i, token in enumerate(self.read) if i not in removed] or self.model.tokenize("")

    def target(self, keep: np.ndarray) -> list[Token]:
        """Return the target's tokens when only some units stay: bool [unit]."""
        removed = {unit - len(self.read) for unit, stays in zip(self.units, keep, strict=True) if not stays}
        return [token for i, token in enumerate(self.target_read) if i not in removed]

    @property
    def texts(self) -> int:
        """The number of changed texts read so far."""
        return len(self._known)

    def probabilities(self, keep: np.ndarray, report: Report | None = None) -> np.ndarray:
        """Return the probability of the token for each choice of units: keep bool [choice, unit] -> float64 [choice].

        Against another token, this is its probability among the two. The rest as `evidence`.
        """
        evidence = self.evidence(keep, report)
        return np.exp(evidence) if self.against is None else np.exp(-np.logaddexp(0, -evidence))

    def evidence(self, keep: np.ndarray, report: Report | None = None) -> np.ndarray:
        """Return the token's log-probability, in nats, for each choice of units: keep bool [choice, unit] -> float64 [choice].

        Against another token, this is the difference of the two log-probabilities, and so of the logits. Results are remembered;
        texts of the same length are read together.
        """
        keep = np.asarray(keep, dtype=bool)
        keys = [row.tobytes() for row in np.packbits(keep, axis=1)]
        new = {key: row for key, row in zip(keys, keep, strict=True) if key not in self._known}
        position = self.position if self.model.info.kind == "encoder" else -1
        read_count = 0
        for batch in self._batches(new):
            if report:
                report(read_count / len(new), f"{read_count:,} of {len(new):,} changed texts read")
            texts, targets = ([of(new[key]) for key in batch] for of in (self.text, self.target))
            logits = self.model.logits_of(texts, position, targets if self.target_read else ())
            self._known.update(zip(batch, self.evidence_of(logits).tolist(), strict=True))
            read_count += len(batch)
        return np.array([self._known[key] for key in keys])

    def evidence_of(self, logits: np.ndarray) -> np.ndarray:
        """Return the `evidence` in logits [choice, vocabulary]: float64 [choice]."""
        if self.against is not None:
            return logits[:, self.token].astype(np.float64) - logits[:, self.against]
        return self.model.log_chances(logits)[:, self.token]

    def _batches(self, new: Mapping[bytes, np.ndarray]) -> Iterator[list[bytes]]:
        """Yield batches of choices of units whose texts have the same length."""
        by_length: dict[tuple[int, int], list[bytes]] = {}
        source = sum(unit < len(self.read) for unit in self.units)
        for key, row in new.items():
            by_length.setdefault((0, 0) if self.keeps_places else (int(row[:source].sum()), int(row[source:].sum())), []).append(
                key
            )
        for keys in by_length.values():
            length = len(self.text(new[keys[0]])) + len(self.target(new[keys[0]]))
            count = min(AT_ONCE, max(1, WORK // (self.model.info.parameters * length)))
            yield from (keys[i : i + count] for i in range(0, len(keys), count))


@dataclass(frozen=True)
class Curves:
    """A prediction's probability while tokens are deleted, or inserted, in one order, the most important first.

    counts: int [point], how many (see `steps`); deletion, insertion: float64 [point].
    Source: Petsiuk, Das and Saenko 2018, "RISE".
    comprehensiveness: the fall of the probability without the first 1, 5, 10, 20 and 50 % of the tokens (rounded up), on average;
    sufficiency: its fall with only these. Both are measured exactly, for any steps.
    Source: DeYoung et al. 2020, "ERASER".
    correlation: Spearman's, of the scores with leave-one-out; None if either is constant, or was not given.
    """

    order: np.ndarray
    counts: np.ndarray
    deletion: np.ndarray
    insertion: np.ndarray
    comprehensiveness: float
    sufficiency: float
    correlation: float | None = None

    @property
    def deletion_area(self) -> float:
        """The mean probability while tokens are deleted (linear between points): small if the important ones go first."""
        return _area(self.counts, self.deletion)

    @property
    def insertion_area(self) -> float:
        """The mean probability while tokens are inserted (linear between points): large if the important ones come first."""
        return _area(self.counts, self.insertion)

    @property
    def gap(self) -> float:
        """Insertion − deletion, the mean over a few points (see `few`): the probability with only the first tokens less that
        without them. From −1 to 1; reversing an order changes only the sign, so chance has 0 on average."""
        return self.alone - self.without

    @property
    def alone(self) -> float:
        """The mean probability with only the first tokens, over the few points of `gap`."""
        return self._mean(self.insertion)

    @property
    def without(self) -> float:
        """The mean probability without the first tokens, over the few points of `gap`."""
        return self._mean(self.deletion)

    def _mean(self, values: np.ndarray) -> float:
        at = np.searchsorted(self.counts, few(self.counts))
        return float(values[at].mean()) if len(at) else 0.0


@dataclass(frozen=True)
class Faithfulness:
    """The faithfulness of attributions: how well they describe what a model does.

    full, empty: the probability with the whole text, and with no token of it. units: positions in the text, as in `Question`.
    counts: how many tokens are gone at each point of every curve. leave_one_out: the fall of the probability without each unit:
    float64 [unit]. methods: by name, "leave-one-out" among them; random: random orders. gaps: float64 [order], the `Curves.gap`
    of these and of further random orders, whose number grows with that of the methods, so that a verdict can be corrected for it.
    """

    full: float
    empty: float
    units: list[int]
    counts: np.ndarray
    leave_one_out: np.ndarray
    methods: dict[str, Curves]
    random: list[Curves]
    gaps: np.ndarray = field(default_factory=lambda: np.empty(0))

    @property
    def exact(self) -> bool:
        """Whether the curves have a point for every token, so that no value is interpolated."""
        return len(self.counts) == len(self.units) + 1

    def beaten(self, method: str) -> int:
        """Return how many random orders let the prediction fall more slowly than this method, with a larger deletion area."""
        area = self.methods[method].deletion_area
        return sum(order.deletion_area > area for order in self.random)

    def faster(self, method: str) -> bool:
        """Return whether the prediction falls faster than in every random order of `random`."""
        return self.beaten(method) == len(self.random) > 0

    def ahead(self, method: str) -> int:
        """Return how many random orders have at least this method's gap."""
        return int((self.gaps >= self.methods[method].gap).sum())

    def as_far(self, method: str) -> int:
        """Return how many random orders have a gap at least as far from 0 as this method's, on either side."""
        return int((np.abs(self.gaps) >= abs(self.methods[method].gap)).sum())

    def chance(self, method: str) -> float:
        """Return the probability that a random order has a gap at least as far from 0 as this method's, on either side: a Monte
        Carlo p, at least 1 / (n + 1), not corrected for the number of methods."""
        return (1 + self.as_far(method)) / (1 + len(self.gaps))

    @cached_property
    def corrected(self) -> dict[str, float]:
        """The `chance` of each method, corrected for the number of methods.

        Source: Holm 1979, "A Simple Sequentially Rejective Multiple Test Procedure".
        """
        chances = {name: self.chance(name) for name in self.methods}
        names = sorted(chances, key=chances.__getitem__)
        steps = np.array([(len(names) - i) * chances[name] for i, name in enumerate(names)])
        return dict(zip(names, np.minimum(1, np.maximum.accumulate(steps)).tolist(), strict=True))

    def allowed(self, method: str) -> int:
        """Return how many random orders may be as far from 0 as this method, at most, for a verdict after the correction: by the
        step at which Holm's procedure rejects it, or at which it stops; −1 if no number is small enough."""
        chances = sorted(self.chance(name) for name in self.methods)
        steps = [int(LEVEL * (1 + len(self.gaps)) / (len(chances) - i) + 1e-9) - 1 for i in range(len(chances))]
        stops = next((i for i, chance in enumerate(chances) if (len(chances) - i) * chance > LEVEL), len(chances))
        return steps[min(stops, chances.index(self.chance(method)))]

    def verdict(self, method: str) -> str:
        """Return "better" or "worse" than chance by deletion and insertion together, or "none".

        If no method knows anything, one of them gets "better" or "worse" in at most 5 % of texts.
        """
        if self.corrected[method] > LEVEL:
            return "none"
        return "better" if self.methods[method].gap > 0 else "worse"

    @property
    def middle(self) -> tuple[int, float, int, float]:
        """The numbers of tokens gone early and halfway, each with the median probability after random deletion."""
        points = few(self.counts)
        early, half = (int(points[0]), int(points[len(points) // 2])) if len(points) else (0, 0)
        medians = [
            float(np.median([order.deletion[np.searchsorted(self.counts, at)] for order in self.random])) for at in (early, half)
        ]
        return early, medians[0], half, medians[1]

    @property
    def saturates(self) -> str:
        """ "stays" if any half of the tokens keeps nearly all of the probability; "falls" if deleting any few tokens takes nearly
        all of it; else "". In the first two cases orders can hardly differ."""
        if not self.random or not len(few(self.counts)):
            return ""
        _, early, _, half = self.middle
        return "stays" if half >= STAYS * self.full else "falls" if early <= FALLS * self.full else ""


def faithfulness(
    question: Question,
    scores: Mapping[str, np.ndarray],
    orders: int = ORDERS,
    seed: int = 0,
    exact: bool = True,
    report: Report | None = None,
) -> Faithfulness:
    """Return deletion and insertion curves of each method, of leave-one-out, and of some random orders.

    scores: by the method's name, one number for each token that is read (see `Attribution.scores`); NaN counts as the smallest.
    Among equal scores the earlier token goes first. orders, seed: how many random orders, and the seed for drawing them; for each
    method after the first, as many more, read only at a few points. exact: every step is measured, else those of a grid (see
    `steps`). report: see `Question.probabilities`.
    Errors: ValueError if nothing was typed.
    """
    units = question.units
    if not units:
        raise ValueError("There is no token that could be taken away. Type a few words.")
    counts, single = steps(len(units), exact), ~np.eye(len(units), dtype=bool)
    ends = np.array([np.ones(len(units), dtype=bool), np.zeros(len(units), dtype=bool)])
    full, empty, *without = question.probabilities(np.concatenate([ends, single]), _part(report, 0.0, 0.1))
    drops = full - np.array(without)
    filled = {
        name: np.nan_to_num(np.asarray(method_scores, dtype=np.float64)[units], nan=-np.inf)
        for name, method_scores in scores.items()
    }
    filled["leave-one-out"] = drops
    draw = np.random.default_rng(seed)
    method_orders = {name: np.argsort(-method_scores, kind="stable") for name, method_scores in filled.items()}
    chance = [draw.permutation(len(units)) for _ in range(orders)]
    more, points = [draw.permutation(len(units)) for _ in range(orders * (len(filled) - 1))], few(counts)
    sets = [
        *(_all_sets(order, counts) for order in [*method_orders.values(), *chance]),
        *(_sets(order, points) for order in more),
    ]
    question.probabilities(np.concatenate(sets), _part(report, 0.1, 1.0))
    methods = {
        name: _curves(question, order, counts, rank_correlation(filled[name], drops)) for name, order in method_orders.items()
    }
    random = [_curves(question, order, counts, None) for order in chance]
    gaps = np.array([*(order.gap for order in random), *(_gap(question, order, points) for order in more)])
    return Faithfulness(full, empty, units, counts, drops, methods, random, gaps)


def steps(units: int, exact: bool = True) -> np.ndarray:
    """Return how many of the units are deleted at each point of a curve, from none to all: int [point].

    exact: at every step. Otherwise the steps widen from both ends by half of the deleted or remaining tokens, up to a thirtieth
    of the text: the tokens that a prediction depends on mostly go first or last, and a wide first gap would decide the area.
    """
    if exact:
        return np.arange(units + 1)
    widest, near = -(-units // WIDEST), [0]
    while 2 * near[-1] < units:
        near.append(near[-1] + min(widest, max(1, near[-1] // 2)))
    ends = np.array([*near[:-1], units // 2])
    return np.unique(np.concatenate([ends, units - ends]))


def few(counts: np.ndarray) -> np.ndarray:
    """Return the points of a curve at which orders are compared with chance, near 10, 30, 50, 70 and 90 % of the text without
    the ends: int [point]. Each count comes with its complement."""
    inner, units = counts[1:-1], counts[-1]
    if not len(inner):
        return inner
    low = [inner[np.abs(inner - share * units).argmin()] for share in POINTS]
    return np.unique([*low, *(units - low)])


def texts_read(units: int, methods: int, orders: int = ORDERS, exact: bool = True) -> int:
    """Return the most changed texts that `faithfulness` reads for so many methods; a text that two methods need is read once."""
    points = {*steps(units, exact).tolist(), *_tops(units).tolist()} - {0, units}
    return 2 + units + 2 * len(points) * (methods + 1 + orders) + 2 * len(few(steps(units, exact))) * orders * methods


def _tops(units: int) -> np.ndarray:
    """Return the `SHARES` as numbers of tokens, rounded up: int [share]."""
    return -(-np.array(SHARES) * units // 100)


def _all_sets(order: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the units that stay at each point of both curves, and for both measures: bool [2 · (points + shares), unit]."""
    return _sets(order, np.concatenate([counts, _tops(len(order))]))


def _sets(order: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return the sets without the first units of an order, then those with only the first units: bool [2 · points, unit]."""
    first = np.argsort(order) < counts[:, None]
    return np.concatenate([~first, first])


def _gap(question: Question, order: np.ndarray, points: np.ndarray) -> float:
    """Return the `Curves.gap` of an order, read at its points alone."""
    without, alone = np.split(question.probabilities(_sets(order, points)), 2)
    return float((alone - without).mean()) if len(points) else 0.0


def _curves(question: Question, order: np.ndarray, counts: np.ndarray, correlation: float | None) -> Curves:
    without, alone = np.split(question.probabilities(_all_sets(order, counts)), 2)
    points, full = len(counts), without[0]
    return Curves(
        order=order,
        counts=counts,
        deletion=without[:points],
        insertion=alone[:points],
        comprehensiveness=float((full - without[points:]).mean()),
        sufficiency=float((full - alone[points:]).mean()),
        correlation=correlation,
    )


def _area(counts: np.ndarray, values: np.ndarray) -> float:
    return float(np.trapezoid(values, counts / counts[-1]))


def _part(report: Report | None, start: float, end: float) -> Report | None:
    """Return a report of a part of the work."""
    return None if report is None else lambda share, words: report(start + (end - start) * share, words)
