"""A model that reads on other machines, as a LanguageModel: the same questions, the same answers."""

from __future__ import annotations

import threading
from collections import OrderedDict
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar, cast

import numpy as np
import torch
from torch import Tensor

from models.given import Spelt, Text
from models.language_model import LanguageModel, check_text
from models.opening import facts_of
from models.prefix import reader_now
from models.remote.answers import Answers, tokens_of
from models.remote.elsewhere import Elsewhere
from models.remote.far import Far, Unreachable
from models.remote.far_trace import FarAttention, FarTrace, Parts, Streams
from models.remote.parts import Part, split
from models.tokens import Token, Turn
from models.trace import Trace

if TYPE_CHECKING:
    from models.edits import Edit

T = TypeVar("T")

READERS = 1000  # of whom it is remembered what they asked of their last text
PATIENCE = (60.0, 2.0)  # seconds that an answer may take; the second where the model here answers then
OPENS_IN = 1800.0  # seconds that a replica may take to download and read a model


class FarVocabulary:
    """The vocabulary of a model elsewhere. Its tokens are here; a text becomes tokens there. How, its tokenizer does not say."""

    rules = None

    def __init__(self, said: dict[str, Any], tokens: Callable[[str], list[Token]]) -> None:
        self.size, self.special, self.tokens = int(said["size"]), frozenset(said["special"]), tokens
        self._texts, self._fragments = list(said["texts"]), frozenset(said["fragments"])

    def text(self, id: int) -> tuple[str, bool]:
        """What a token stands for, and whether it is a fragment of a character."""
        if not 0 <= id < len(self._texts):
            raise ValueError(f"There is no token {id} in this vocabulary.")
        return self._texts[id], id in self._fragments


class FarModel(Elsewhere):
    """A model that replicas read with. Safe to share between threads.

    What somebody asked of their last text is asked of the next one together with it, so that a key press is one question.
    here: the same model in this process, where it ships with Headlight: it answers where no replica does, and does what does not
    cross (see `Elsewhere`). `bytes`: what is held here.
    """

    def __init__(self, name: str, far: Far, here: LanguageModel | None = None) -> None:
        """Errors, where the model is not here: Unreachable, and ModelError as the replica has it."""
        self.name, self.far, self.here, self._lock = name, far, here, threading.Lock()
        self._wanted: OrderedDict[Hashable, set[str]] = OrderedDict()
        self._said: dict[str, Any] = {}
        self._here = None if here is None else Answers(here)
        if here is not None:
            self.info, self.vocabulary, self.files = here.info, here.vocabulary, here.files
            self.bytes = 4 * here.info.parameters
            return
        self._said = far.ask(name, {"asked": "open"}, self._opened, patience=OPENS_IN)
        self.bytes = 100 * self.info.vocabulary

    def _opened(self, said: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, Any]:
        self.info, self.vocabulary = facts_of(said["info"]), FarVocabulary(said, self.tokenize)
        names = "weights", "ids", "shares_layers", "has_other_layers", "device", "chats"
        return {name: said[name] for name in names}

    # What is known of it

    @property
    def weights(self) -> str:
        return self.here.weights if self.here else str(self._said["weights"])

    @property
    def ids(self) -> int:
        return self.here.ids if self.here else int(self._said["ids"])

    @property
    def condition(self) -> int | None:
        return 0  # what replicas read with does not change

    @property
    def shares_layers(self) -> bool:
        return self.here.shares_layers if self.here else bool(self._said["shares_layers"])

    @property
    def has_other_layers(self) -> bool:
        return self.here.has_other_layers if self.here else bool(self._said["has_other_layers"])

    @property
    def device(self) -> str:
        return self.here.device if self.here else str(self._said["device"])

    @property
    def chats(self) -> bool:
        return self.here.chats if self.here else bool(self._said["chats"])

    # Text and tokens

    def tokenize(self, text: str) -> list[Token]:
        check_text(text)
        if self.here:
            return self.here.tokenize(text)
        return self._ask({"asked": "tokenize", "text": text}, lambda said, _: tokens_of(said["tokens"]))

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return self.here.is_special(id) if self.here else id in cast(FarVocabulary, self.vocabulary).special

    def spell(self, ids: Sequence[int], after: Sequence[int] = ()) -> str:
        if self.here:
            return self.here.spell(ids, after)
        said = {"asked": "spell", "ids": [int(id) for id in ids], "after": [int(id) for id in after]}
        return self._ask(said, lambda said, _: str(said["text"]))

    def as_chat(self, text: str) -> Turn:
        if self.here or not self.chats:
            return super().as_chat(text)
        question = {"asked": "turn", "text": text}
        return self._ask(question, lambda said, _: Turn(str(said["written"]), tuple(tokens_of(said["tokens"]))))

    # Reading

    def traces(
        self, texts: Text | Sequence[Text], edits: Sequence[Sequence[Edit]] = (), targets: Text | Sequence[Text] = ""
    ) -> list[Trace]:
        if any(edits):
            return super().traces(texts, edits, targets)
        from models.batches import columns

        return [self.trace(text, target, remember=False) for text, target, _ in columns(texts, edits, targets)]

    def _read(self, text: str, target: str, remember: bool) -> Trace:
        reader = reader_now()
        question = {
            "asked": "read", "text": _crossing(text), "target": _crossing(target), "reader": str(reader or ""),
            "at_most": self.at_most, "remember": remember,
        }  # fmt: skip
        wanted, used = self._wishes(reader) if remember else ([], set())
        return self._ask({**question, "tokens": True, "parts": wanted}, partial(self._traced, text, question, used))

    def _traced(
        self, text: str, question: dict[str, Any], used: set[str], said: dict[str, Any], tensors: dict[str, Tensor]
    ) -> FarTrace:
        """The trace of an answer; what is asked for of it is noted in `used`."""
        read = said["trace"]
        tokens, among = tokens_of(read["tokens"]), tokens_of(read["target"])
        parts = Parts(partial(self._part, question), split(said, tensors), used)
        attention = {
            kind: FarAttention(among if kind in ("decoder", "cross") else tokens, among if kind == "decoder" else tokens,
                               kind, parts, size)
            for kind, size in read["attention"].items()
        }  # fmt: skip
        made: dict[str, Callable[[np.ndarray], np.ndarray] | None] = {
            "tail": self._scores_of_tail, "label": self._label, "unembed": self._unembed,
        }  # fmt: skip
        ways = {way: made[way] for way in read["ways"]}
        streams = cast(dict[str, np.ndarray], Streams(parts, read["hidden"]))
        return FarTrace(text, tokens, dict(attention), streams, read["cut"], ways.get("unembed"), among, ways.get("tail"),
                        label=ways.get("label"), parts_of=parts, size=read["bytes"],
                        places=tuple(read["places"]))  # fmt: skip

    def places(self, trace: Trace) -> list[int]:
        if isinstance(trace, FarTrace):
            return list(trace.places)
        return self.here.places(trace) if self.here else super().places(trace)

    def _wishes(self, reader: Hashable) -> tuple[list[str], set[str]]:
        """What was asked of this reader's last text, and where it is noted what is asked of this one."""
        used: set[str] = set()
        with self._lock:
            wanted = sorted(self._wanted.pop(reader, set()))
            self._wanted[reader] = used
            while len(self._wanted) > READERS:
                self._wanted.popitem(last=False)
        return wanted, used

    def _part(self, question: dict[str, Any], name: str) -> Part:
        """A part of a text that was read. Where another replica answers it reads the text first."""
        return self._ask({**question, "parts": [name]}, lambda said, tensors: split(said, tensors)[name])

    def _unembed(self, hidden: np.ndarray) -> np.ndarray:
        return self.here._unembed(hidden) if self.here else self._scores(hidden, "unembed")

    @property
    def _label(self) -> Callable[[np.ndarray], np.ndarray] | None:
        if self.info.labels is None:
            return None
        return np.asarray if self.info.labels.pooled else self._unembed  # of what is pooled `Trace.tail` gives the scores

    def _scores_of_tail(self, stream: np.ndarray) -> np.ndarray:
        return self._scores(stream, "tail")

    def _scores(self, rows: np.ndarray, way: str) -> np.ndarray:
        asked = {"asked": "scores", "way": way}
        return self._ask(asked, lambda _, tensors: tensors["made"].numpy(), {"rows": torch.tensor(rows)})

    def forget(self, but_for: Callable[[Hashable], bool] | None = None) -> None:
        with self._lock:
            for reader in [one for one in self._wanted if but_for is None or not but_for(one)]:
                del self._wanted[reader]
        if self.here is not None:
            self.here.forget(but_for)

    def _ask(
        self,
        said: dict[str, Any],
        take: Callable[[dict[str, Any], dict[str, Tensor]], T],
        tensors: dict[str, Tensor] | None = None,
    ) -> T:
        """What `take` makes of the answer of a replica, or of the model here where none has one. Errors: Unreachable; what the
        model has."""
        try:
            return self.far.ask(self.name, said, take, tensors, PATIENCE[self.here is not None])
        except Unreachable:
            if self._here is None:
                raise
            return take(*self._here.answer(said, tensors or {}))


def _crossing(text: str) -> str | list[int]:
    """A text as it crosses: as it is, or the ids that it was given by."""
    return [token.id for token in text.tokens] if isinstance(text, Spelt) else text
