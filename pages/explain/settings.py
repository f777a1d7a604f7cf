"""Settings of page "Explain", and the answers that its boards show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

    from analysis import Explanation, Faithfulness


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    token: the explained prediction, None for the likeliest. against: the one that it is compared with, None for any other.
    tokens_alone: whether slopes are taken with respect to the token embedding alone.
    """

    token: int | None = None
    against: int | None = None
    tokens_alone: bool = False


@dataclass(frozen=True)
class Tokens:
    """The tokens to choose from, and the reason why little or nothing can be asked at the chosen one."""


@dataclass(frozen=True)
class Asked:
    """The question in words, above the answers."""


@dataclass(frozen=True)
class Explained:
    """The answer of one method."""

    explanation: Explanation


@dataclass(frozen=True)
class Doubted:
    """The faithfulness of one method, compared with random orders."""

    explanation: Explanation
    evidence: Faithfulness


@dataclass(frozen=True)
class Agreed:
    """The answer of each method, or a sentence if it has none."""

    answers: Mapping[str, Explanation | str]


@dataclass(frozen=True)
class Compared:
    """The texts of two methods, one below the other. pair: their names, () for the two that are most alike and the two least."""

    answers: Mapping[str, Explanation | str]
    pair: tuple[str, ...] = ()


@dataclass(frozen=True)
class Costs:
    """The number of texts that each method read. spreads: the scores with several seeds, by method; None until they are
    calculated.
    """

    explanations: Sequence[Explanation]
    spreads: Mapping[str, np.ndarray] | None = None


Reading = Tokens | Asked | Explained | Doubted | Agreed | Compared | Costs
