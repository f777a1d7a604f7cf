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

from models.files.open_trace import facts_of
from models.language_model import LanguageModel, check_text
from models.reading.inputs import Spelt, Text
from models.reading.prefix import reader_now
from models.remote.answers import Answers, tokens_of
from models.remote.client import ReplicaClient, Unreachable
from models.remote.far_trace import FarAttention, FarTrace, Parts, Streams
from models.remote.parts import Part, split
from models.remote.remote_model import RemoteModel
from models.tokens import Token, Turn
from models.trace import Trace

if TYPE_CHECKING:
    from models.edits import Edit

T = TypeVar("T")

READERS = 1000  # whose wishes of their last text are remembered
PATIENCE = (60.0, 2.0)  # seconds that an answer may take; the second where the model here answers then
OPENS_IN = 1800.0  # seconds that a replica may take to download and read a model


class FarVocabulary:
    """The vocabulary of a model elsewhere. Its tokens are here; texts become tokens there, so there are no rules."""

    rules = None

    def __init__(self, facts: dict[str, Any], tokens: Callable[[str], list[Token]]) -> None:
        self.size, self.special, self.tokens = int(facts["size"]), frozenset(facts["special"]), tokens
        self._texts, self._fragments = list(facts["texts"]), frozenset(facts["fragments"])

    def text(self, id: int) -> tuple[str, bool]:
        """Return the text of a token, and whether it is a fragment of a character."""
        if not 0 <= id < len(self._texts):
            raise ValueError(f"There is no token {id} in this vocabulary.")
        return self._texts[id], id in self._fragments


class FarModel(RemoteModel):
    """A model that runs on replicas. Safe to share between threads.

    The parts that a reader needed of the last text are fetched together with the next one, so that a key press is one question.
    here: the same model in this process, where it ships with Headlight: it answers where no replica does, and does what replicas
    cannot (see `RemoteModel`). `bytes`: the memory used here.
    """

    def __init__(self, name: str, far: ReplicaClient, here: LanguageModel | None = None) -> None:
        """Ask a replica for the facts about a model that is not in this process. Errors: Unreachable; ModelError as the replica
        raises it.
        """
        self.name, self.far, self.here, self._lock = name, far, here, threading.Lock()
        self._wishes_by_reader: OrderedDict[Hashable, set[str]] = OrderedDict()
        self._facts: dict[str, Any] = {}
        self._here = None if here is None else Answers(here)
        if here is not None:
            self.info, self.vocabulary, self.files = here.info, here.vocabulary, here.files
            self.bytes = 4 * here.info.parameters
            return
        self._facts = far.ask(name, {"asked": "open"}, self._take_facts, patience=OPENS_IN)
        self.bytes = 100 * self.info.vocabulary

    def _take_facts(self, facts: dict[str, Any], tensors: dict[str, Tensor]) -> dict[str, Any]:
        self.info, self.vocabulary = facts_of(facts["info"]), FarVocabulary(facts, self.tokenize)
        names = "weights", "ids", "shares_layers", "has_other_layers", "device", "chats"
        return {name: facts[name] for name in names}

    # What is known of it

    @property
    def weights(self) -> str:
        return self.here.weights if self.here else str(self._facts["weights"])

    @property
    def ids(self) -> int:
        return self.here.ids if self.here else int(self._facts["ids"])

    @property
    def condition(self) -> int | None:
        return 0  # the weights of replicas do not change

    @property
    def shares_layers(self) -> bool:
        return self.here.shares_layers if self.here else bool(self._facts["shares_layers"])

    @property
    def has_other_layers(self) -> bool:
        return self.here.has_other_layers if self.here else bool(self._facts["has_other_layers"])

    @property
    def device(self) -> str:
        return self.here.device if self.here else str(self._facts["device"])

    @property
    def chats(self) -> bool:
        return self.here.chats if self.here else bool(self._facts["chats"])

    # Text and tokens

    def tokenize(self, text: str) -> list[Token]:
        check_text(text)
        if self.here:
            return self.here.tokenize(text)
        return self._ask({"asked": "tokenize", "text": text}, lambda answer, _: tokens_of(answer["tokens"]))

    def token_text(self, id: int) -> str:
        return self.vocabulary.text(id)[0]

    def is_special(self, id: int) -> bool:
        return self.here.is_special(id) if self.here else id in cast(FarVocabulary, self.vocabulary).special

    def spell(self, ids: Sequence[int], after: Sequence[int] = ()) -> str:
        if self.here:
            return self.here.spell(ids, after)
        question = {"asked": "spell", "ids": [int(id) for id in ids], "after": [int(id) for id in after]}
        return self._ask(question, lambda answer, _: str(answer["text"]))

    def as_chat(self, text: str) -> Turn:
        if self.here or not self.chats:
            return super().as_chat(text)
        question = {"asked": "turn", "text": text}
        return self._ask(question, lambda answer, _: Turn(str(answer["written"]), tuple(tokens_of(answer["tokens"]))))

    # Reading

    def traces(
        self, texts: Text | Sequence[Text], edits: Sequence[Sequence[Edit]] = (), targets: Text | Sequence[Text] = ""
    ) -> list[Trace]:
        if any(edits):
            return super().traces(texts, edits, targets)
        from models.editing.batches import columns

        return [self.trace(text, target, remember=False) for text, target, _ in columns(texts, edits, targets)]

    def _read(self, text: str, target: str, remember: bool) -> Trace:
        reader = reader_now()
        question = {
            "asked": "read",
            "text": _as_sent(text),
            "target": _as_sent(target),
            "reader": str(reader or ""),
            "at_most": self.at_most,
            "remember": remember,
        }
        wishes, used = self._wishes(reader) if remember else ([], set())
        return self._ask({**question, "tokens": True, "parts": wishes}, partial(self._traced, text, question, used))

    def _traced(
        self, text: str, question: dict[str, Any], used: set[str], answer: dict[str, Any], tensors: dict[str, Tensor]
    ) -> FarTrace:
        """Return the trace of an answer. The names of its parts that are needed are added to `used`."""
        facts = answer["trace"]
        tokens, target_tokens = tokens_of(facts["tokens"]), tokens_of(facts["target"])
        parts = Parts(partial(self._part, question), split(answer, tensors), used)
        attention = {
            kind: FarAttention(
                target_tokens if kind in ("decoder", "cross") else tokens,
                target_tokens if kind == "decoder" else tokens,
                kind,
                parts,
                size,
            )
            for kind, size in facts["attention"].items()
        }
        functions: dict[str, Callable[[np.ndarray], np.ndarray] | None] = {
            "tail": self._scores_of_tail,
            "label": self.label,
            "unembed": self.unembed,
        }
        ways = {way: functions[way] for way in facts["ways"]}
        streams = cast(dict[str, np.ndarray], Streams(parts, facts["hidden"]))
        return FarTrace(
            text,
            tokens,
            dict(attention),
            streams,
            facts["cut"],
            ways.get("unembed"),
            target_tokens,
            ways.get("tail"),
            label=ways.get("label"),
            parts_of=parts,
            size=facts["bytes"],
            places=tuple(facts["places"]),
        )

    def places(self, trace: Trace) -> list[int]:
        if isinstance(trace, FarTrace):
            return list(trace.places)
        return self.here.places(trace) if self.here else super().places(trace)

    def _wishes(self, reader: Hashable) -> tuple[list[str], set[str]]:
        """Return the names of the parts that this reader needed of the last text, and a set to note those of this one."""
        used: set[str] = set()
        with self._lock:
            wishes = sorted(self._wishes_by_reader.pop(reader, set()))
            self._wishes_by_reader[reader] = used
            while len(self._wishes_by_reader) > READERS:
                self._wishes_by_reader.popitem(last=False)
        return wishes, used

    def _part(self, question: dict[str, Any], name: str) -> Part:
        """Fetch a part of a text that was read. A replica that has not read it reads it first."""
        return self._ask({**question, "parts": [name]}, lambda answer, tensors: split(answer, tensors)[name])

    def unembed(self, hidden: np.ndarray) -> np.ndarray:
        return self.here.unembed(hidden) if self.here else self._scores(hidden, "unembed")

    @property
    def label(self) -> Callable[[np.ndarray], np.ndarray] | None:
        if self.info.labels is None:
            return None
        return np.asarray if self.info.labels.pooled else self.unembed  # of what is pooled `Trace.tail` gives the scores

    def _scores_of_tail(self, stream: np.ndarray) -> np.ndarray:
        return self._scores(stream, "tail")

    def _scores(self, rows: np.ndarray, way: str) -> np.ndarray:
        question = {"asked": "scores", "way": way}
        return self._ask(question, lambda _, tensors: tensors["made"].numpy(), {"rows": torch.tensor(rows)})

    def forget(self, but_for: Callable[[Hashable], bool] | None = None) -> None:
        with self._lock:
            for reader in [key for key in self._wishes_by_reader if but_for is None or not but_for(key)]:
                del self._wishes_by_reader[reader]
        if self.here is not None:
            self.here.forget(but_for)

    def _ask(
        self,
        question: dict[str, Any],
        take: Callable[[dict[str, Any], dict[str, Tensor]], T],
        tensors: dict[str, Tensor] | None = None,
    ) -> T:
        """Return `take` of a replica's answer, or of the local model's answer if no replica answers.

        Errors: Unreachable; those of the model.
        """
        try:
            return self.far.ask(self.name, question, take, tensors, PATIENCE[self.here is not None])
        except Unreachable:
            if self._here is None:
                raise
            return take(*self._here.answer(question, tensors or {}))


def _as_sent(text: str) -> str | list[int]:
    """Return a text in the form that is sent: the text itself, or the ids that the caller passed."""
    return [token.id for token in text.tokens] if isinstance(text, Spelt) else text
