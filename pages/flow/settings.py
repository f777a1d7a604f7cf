"""Settings of page "Flow", and the results of long calculations that its boards show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from pages.flow.recipes import ROLLOUT

if TYPE_CHECKING:
    import numpy as np

    from analysis.routes import Stream
    from models.tokens import Prediction


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    token: the id of the followed prediction, None if there is none. choices: fields of `analysis.Attribution`, as pairs of a name
    and a value. streams_of: the method of "Streams"; least: the smallest share of the total for which a stream is drawn.
    """

    token: int | None = None
    choices: tuple[tuple[str, Any], ...] = ()
    streams_of: str = ROLLOUT
    least: float = 0.01


@dataclass(frozen=True)
class Tokens:
    """The tokens to choose from."""


@dataclass(frozen=True)
class Followed:
    """The predictions that can be followed, the likeliest first; none where the model predicts nothing."""

    candidates: Sequence[Prediction]


@dataclass(frozen=True)
class Methods:
    """Results for "Sources".

    scores: of each method [token], or a sentence if it has none; "slopes": the sum of attention × gradient. Those of attention
    flow are missing until they are calculated. between: the most tokens that it takes, None for all.
    """

    scores: Mapping[str, np.ndarray | str]
    between: int | None = None


@dataclass(frozen=True)
class Layers:
    """Results for "Layer by layer". values: [layer, method, token], of these methods."""

    methods: list[str]
    values: np.ndarray


@dataclass(frozen=True)
class Streams:
    """Results for "Streams". left_out: the largest total that is left out of a step."""

    strong: list[Stream]
    left_out: float

    @property
    def ranked(self) -> list[Stream]:
        """The streams from the first column to the last, the widest of each first."""
        return sorted(self.strong, key=lambda stream: (stream.to_column, -stream.share))


@dataclass(frozen=True)
class Without:
    """The guess when a token is taken away. word: that token; covered: whether a mask takes its place.

    share: the probability of the first guess then; usual: its mean without each of the other tokens, None where there is none;
    best: the likeliest prediction then.
    """

    word: str
    covered: bool
    share: float
    usual: float | None
    best: Prediction


@dataclass(frozen=True)
class Unfollowed:
    """There is no prediction whose fall could be measured."""


Reading = Tokens | Followed | Methods | Layers | Streams | Without | Unfollowed
