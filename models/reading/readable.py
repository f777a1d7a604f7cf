"""The part of a model that reading, editing and generating need."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from models.files.weights_digest import WeightsFile, known_by
from models.info import ModelInfo
from models.tokens import Token, Vocabulary
from models.trace import Trace

if TYPE_CHECKING:
    from torch import Tensor

    from models.attention.recorder import Record
    from models.attention.side_by_side import Part, ReadPart
    from models.editing.parts import Place, Sums
    from models.editing.plan import Plan
    from models.edits import Edit
    from models.reading.prefix import Recent
    from models.reading.requests import Request, Trial


@dataclass(frozen=True)
class Ready:
    """A text that fits, before it is read. target_tokens: those for the decoder of an encoder-decoder; cut: as in `Trace`."""

    text: str
    tokens: Sequence[Token]
    target_tokens: Sequence[Token]
    cut: int
    edits: tuple[Edit, ...] = ()

    @property
    def lengths(self) -> dict[str, int]:
        """The number of positions that each stack reads."""
        return (
            {"encoder": len(self.tokens), "decoder": len(self.target_tokens)}
            if self.target_tokens
            else {"self": len(self.tokens)}
        )


class ReadableModel(ABC):
    """The part of a model that reading, editing and generating use. `LanguageModel` adds the public methods."""

    info: ModelInfo
    vocabulary: Vocabulary
    network: Any  # the torch module that reads
    files: tuple[WeightsFile, ...] = ()  # the safetensors files that its weights were read from
    revision: str = ""  # the commit on the Hub that they are from; "" where they are not from the Hub
    recent: Recent[Any]
    tail: Callable[[np.ndarray], np.ndarray] | None = None  # as `Trace.tail`
    at_most: int | None = None  # the most tokens to read at a time, to use less than the context

    @property
    def room(self) -> int | None:
        """The longest input in tokens; None when unbounded."""
        return min((limit for limit in (self.info.context, self.at_most) if limit is not None), default=None)

    @cached_property
    def weights(self) -> str:
        """The identity of its weights: "Hub revision <commit>", or the digest that `known_by` computes from its files on first
        use; "" for a network that was not read from files."""
        return f"Hub revision {self.revision}" if self.revision else known_by(self.files)

    @property
    def sample(self) -> Any:
        """A short input, to be read where any will do."""
        return "the cat"

    def read_image(self, image: Any) -> str:
        """Cut an image into tokens and return it as a `ReadImage` (see `models.images.model`). Errors: TypeError for a model of
        texts."""
        raise TypeError(f"{self.info.name} reads no images.")

    @property
    def ids(self) -> int:
        """The number of token ids it can read, from 0 on. Some models have room for more than their tokenizer has."""
        return self.info.vocabulary

    @property
    def condition(self) -> int | None:
        """A number that differs after every change of the network; None while its answers may differ each time."""
        stamp = self.recent.now()
        return None if stamp is None else stamp.number

    @property
    def shares_layers(self) -> bool:
        """Whether the same layer is run several times, as in ALBERT."""
        return False

    @property
    def has_other_layers(self) -> bool:
        """Whether layers without attention, such as state-space layers, stand among the blocks."""
        return any(places != list(range(len(places))) for places in self.pass_order[1].values())

    @abstractmethod
    def tokenize(self, text: str) -> list[Token]:
        """Return all tokens of a text, special tokens included, however long it is."""

    @abstractmethod
    def token_text(self, id: int) -> str:
        """Return the text of a token of the vocabulary."""

    @abstractmethod
    def is_special(self, id: int) -> bool:
        """Return whether a token of the vocabulary is special, such as the end token, and stands for no text."""

    @property
    def trial(self) -> Trial:
        """The texts that it reads beside others in one pass (`models.reading.together`): none before a trial shows it."""
        from models.reading.requests import Trial

        return Trial()

    def request(self, text: str, target: str = "", remember: bool = True) -> Request:
        """Return a text as a request, for `models.reading.together`. Errors: ValueError for a model that reads no text beside
        others, and for a second text.
        """
        raise ValueError(f"{self.info.name} reads no text beside others.")

    def read_parts(self, parts: Sequence[Part]) -> list[ReadPart]:
        """Read the new tokens of several texts in one pass; nothing is remembered. Errors: as `request`; those of reading them
        at once."""
        raise ValueError(f"{self.info.name} reads no text beside others.")

    @property
    @abstractmethod
    def pass_order(self) -> tuple[list[tuple[str, int]], dict[str, list[int]]]:
        """The calls and places of a pass, as `Plan` takes them."""

    @abstractmethod
    def prepare(self, text: str, target: str) -> Ready:
        """Return a text ready to be read. Errors: ValueError for a second text where the model reads one."""

    @abstractmethod
    def run_plan(
        self,
        texts: Sequence[Sequence[Token]],
        targets: Sequence[Sequence[Token]],
        plan: Plan,
        outs: bool = False,
        stream: Tensor | None = None,
    ) -> Record:
        """Read texts of one length with the edits of a plan, in the gradient mode of the caller.

        stream [batch, position, d_model]: the input of block `plan.start`, where a model of one stack is read from there on.
        """

    @abstractmethod
    def unembed(self, hidden: np.ndarray) -> np.ndarray:
        """Compute `Trace.unembed`."""

    @property
    def label(self) -> Callable[[np.ndarray], np.ndarray] | None:
        """The function `Trace.label`."""
        return self.unembed if self.info.labels else None

    @abstractmethod
    def attention_options(self, kind: str) -> dict[str, Any]:
        """Return the arguments of `Attention` for a kind of it: rotary positions, and the numbers of its layers."""

    @property
    @abstractmethod
    def device(self) -> str:
        """The device that the model computes on: "cpu", "cuda:0", …."""

    @abstractmethod
    def cache_bytes(self, length: int, source: int = 0) -> int:
        """Return the bytes of keys and values for n tokens that a decoder has read, by formula: 2 L g e n numbers for L layers
        with g heads of keys of size e; an encoder-decoder has as many again for each token of its source. 0 for an encoder."""

    @abstractmethod
    def spell(self, ids: Sequence[int], after: Sequence[int] = ()) -> str:
        """Return the text of tokens that follow others, without special ones."""

    @abstractmethod
    def forget(self, but_for: Callable[[Hashable], bool] | None = None) -> None:
        """Drop everything remembered: the next text is read as if it was the first. but_for: returns true for the readers whose
        texts stay (see `models.reading.prefix.reading_for`)."""

    @abstractmethod
    def trace(
        self,
        text: str | Sequence[int],
        target: str | Sequence[int] = "",
        edits: Sequence[Edit] = (),
        remember: bool = True,
        source_language: str = "",
        target_language: str = "",
    ) -> Trace:
        """Read a text and return everything recorded: see `LanguageModel.trace`."""

    @abstractmethod
    def parts(self, trace: Trace) -> dict[str, dict[str, np.ndarray]]:
        """Return what the parts of each block add to the stream: see `LanguageModel.parts`."""

    @property
    @abstractmethod
    def block_sums(self) -> Mapping[Place, Sums]:
        """The sums that its layers make, and their summands (see `models.editing.parts`)."""

    @property
    @abstractmethod
    def starts_anywhere(self) -> bool:
        """Whether a pass can start from the input of any block."""
