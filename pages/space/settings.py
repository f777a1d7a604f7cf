"""Settings of page "Space", and the readings and calculations for its boards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from analysis.projections import MEASURES

if TYPE_CHECKING:
    import numpy as np

    from analysis import Projection
    from analysis.embedding import Chance
    from models.trace import Trace


OWN = "your text"  # instead of a meaning, which nobody has given to the word there


@dataclass(frozen=True)
class Choice:
    """A chosen projection; for a beginner PCA in three dimensions. measure: of all distances on the page."""

    method: str = "pca"
    dimensions: int = 3
    measure: str = MEASURES[0]
    perplexity: float = 30.0
    seed: int = 0


@dataclass(frozen=True)
class Arrangement:
    """A projection, each point's nearest points in all dimensions by the same measure, and the typical distance between two
    tokens of a layer [layers + 1]: as drawn, and by the original vectors."""

    projection: Projection
    near: np.ndarray
    drawn: np.ndarray
    raw: np.ndarray


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    chosen: the projection. followed: the followed point. colour: the quantity that colours the tokens of the text. centred:
    whether the mean of the vocabulary is subtracted; words_only: whether the lists leave out tokens that are no words.
    """

    chosen: Choice = field(default_factory=Choice)
    followed: int | None = None
    colour: str = "Position"
    centred: bool = False
    words_only: bool = True


@dataclass(frozen=True)
class Tokens:
    """The tokens of the text at these places. arranged: None until they are arranged."""

    stack: str
    places: list[int]
    arranged: Arrangement | None


@dataclass(frozen=True)
class Missing:
    """A word that is in none of the texts, "" for none."""

    word: str


@dataclass(frozen=True)
class Word:
    """A word at each of its places in several texts. others: more tokens, each given by the number of its text and its position;
    meanings: the meaning that the word has in each text, as the visitor sorted them; () for none."""

    word: str
    traces: tuple[Trace, ...]
    stack: str
    others: list[tuple[int, int]]
    arranged: Arrangement
    meanings: tuple[str, ...] = ()


@dataclass(frozen=True)
class Map:
    """Words of the vocabulary as points; None if they are too few for a map."""

    words: list[str]
    arranged: Arrangement | None


@dataclass(frozen=True)
class Nearest:
    """A word whose nearest words are listed."""

    word: str


@dataclass(frozen=True)
class NearestByChance:
    """The results of chance for the nearest words. cosines: of the list."""

    word: str
    cosines: np.ndarray
    chance: Chance


@dataclass(frozen=True)
class Analogy:
    """Words a, b and c of a − b + c."""

    terms: list[str]


@dataclass(frozen=True)
class AnalogyByChance:
    """The results of chance for an analogy. cosines: of the list; highest: for three random words, [draw]."""

    cosines: np.ndarray
    highest: np.ndarray


Reading = Tokens | Missing | Word | Map | Nearest | NearestByChance | Analogy | AnalogyByChance
