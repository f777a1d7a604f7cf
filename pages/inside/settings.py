"""Settings of page "Inside", and the readings and calculations for its boards."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from pages.inside.spots import Selection

if TYPE_CHECKING:
    from analysis import inside
    from analysis.word_order import BothOrders
    from models.pieces.values import Pieces
    from models.tokens import Vocabulary
    from pages.inside.opened import OpenStage


@dataclass(frozen=True)
class Settings:
    """The choices that only this page has, as plain values: from the session, or from a message.

    selection: the open stage, and the explained number. word: the clicked word of the text, whose pieces are explained.
    every_stage: whether the small stages are unfolded, at intermediate.
    """

    selection: Selection = field(default_factory=Selection)
    word: int | None = None
    every_stage: bool = False


@dataclass(frozen=True)
class Stages:
    """The path of the text through the model, for the list of all stages."""

    way: inside.Way


@dataclass(frozen=True)
class Below:
    """The path of the text through the model, for the words below its last stage."""

    way: inside.Way


@dataclass(frozen=True)
class Explained:
    """A stage that words explain: "text", "pieces" or "order"."""

    stage: str


@dataclass(frozen=True)
class Hidden:
    """A stage whose numbers are missing, with a sentence that says why."""

    sentence: str


@dataclass(frozen=True)
class Glimpse:
    """The first look at an open stage with numbers, for beginners."""

    here: OpenStage

    @property
    def folds(self) -> bool:
        """Whether more can be unfolded: not at the choice, whose number says nothing to beginners."""
        return self.here.stage.name != "choice"


@dataclass(frozen=True)
class Opened:
    """An open stage with its numbers one by one."""

    here: OpenStage


@dataclass(frozen=True)
class Passage:
    """The way through an open feed-forward, from its input to its output."""

    here: OpenStage


@dataclass(frozen=True)
class Neurons:
    """The neurons that fire most on the token of an open stage, and the chosen one."""

    here: OpenStage
    listed: inside.Neurons
    neuron: inside.Neuron


@dataclass(frozen=True)
class NoNeurons:
    """A feed-forward whose neurons are not available, with a sentence that says why."""

    sentence: str


@dataclass(frozen=True)
class Firings:
    """The sample of texts, and the neuron that is looked for there."""

    here: OpenStage
    neuron: inside.Neuron
    sampled: inside.Sampled


@dataclass(frozen=True)
class Experts:
    """The neurons of a mixture, whose experts took tokens."""

    here: OpenStage
    listed: inside.Neurons


@dataclass(frozen=True)
class Cuts:
    """The tokenizer's cuts of the text. with_steps: whether the steps of a word are shown too."""

    pieces: Pieces
    with_steps: bool = True


@dataclass(frozen=True)
class Tokenizer:
    """Another tokenizer, and the name of its model."""

    name: str
    vocabulary: Vocabulary


@dataclass(frozen=True)
class Unmovable:
    """A text in which no word can be moved."""


@dataclass(frozen=True)
class Chips:
    """The words of the text in an order. both: the text as typed and in that order, with positions; None where it is too long."""

    order: tuple[int, ...]
    both: BothOrders | None


@dataclass(frozen=True)
class Orders:
    """The text as typed and with its words in an order.

    orders: the readings with positions (True) and, if the model can leave them out, without (False); note: the heading of the
    words about a missing reading, "" for none; shuffled: whether the order was drawn at random.
    """

    order: tuple[int, ...]
    orders: dict[bool, BothOrders]
    note: str = ""
    shuffled: bool = False


Reading = (
    Stages
    | Below
    | Explained
    | Hidden
    | Glimpse
    | Opened
    | Passage
    | Neurons
    | NoNeurons
    | Firings
    | Experts
    | Cuts
    | Tokenizer
    | Unmovable
    | Chips
    | Orders
)
