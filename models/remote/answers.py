"""What a model answers to a message about it: the same on a replica and, where no replica answers, beside who asked."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.bounded import Bounded
from models.remote.parts import part_of, prefixed
from models.saving import tokens_written
from models.tokens import Token

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace

Answer = tuple[dict[str, Any], dict[str, Tensor]]
FORGOTTEN = 300.0  # seconds after which nothing is kept of a reader who has read no more
EACH, BYTES = 4, 128 * 2**20  # traces of each reader that are kept, because their parts are asked for one by one


@dataclass(frozen=True)
class _Read:
    trace: Trace
    bytes: int


class Answers:
    """A model and the traces that it was asked for last. Every question says all that its answer depends on, so that any
    replica can answer it; one that has not read the text reads it then. Safe to use from many threads, as long as all of them
    ask for as many tokens at a time."""

    def __init__(self, model: LanguageModel, clock: Callable[[], float] = time.monotonic) -> None:
        self.model, self._clock, self._lock = model, clock, threading.Lock()
        self._kept: Bounded[tuple, _Read] = Bounded(EACH, BYTES)
        self._seen: dict[str, float] = {}  # when each reader read last

    def answer(self, said: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        """Errors: ValueError and TypeError, sentences, as the model has them."""
        return getattr(self, f"_{said['asked']}")(said, tensors) if said.get("asked") in ASKED else _unknown()

    def tidy(self) -> None:
        """Let go of what was read for those who have not read for a while."""
        with self._lock:
            now = self._clock()
            if any(then + FORGOTTEN < now for then in self._seen.values()):
                self._seen = {reader: then for reader, then in self._seen.items() if now <= then + FORGOTTEN}
                self._kept.keep_for(self._seen.__contains__)
                self.model.forget(self._seen.__contains__)

    def _open(self, said: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        model = self.model
        texts = [model.vocabulary.text(id) for id in range(model.ids)]
        return {
            "info": asdict(model.info),
            "ids": model.ids,
            "device": model.device,
            "weights": model.weights,
            "chats": model.chats,
            "shares_layers": model.shares_layers,
            "has_other_layers": model.has_other_layers,
            "size": model.vocabulary.size,
            "texts": [text for text, _ in texts],
            "fragments": [id for id, (_, fragment) in enumerate(texts) if fragment],
            "special": [id for id in range(model.ids) if model.is_special(id)],
        }, {}

    def _read(self, said: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        trace = self._trace(said)
        found: Answer = ({"parts": {}}, {})
        if said.get("tokens"):
            found[0]["trace"] = {
                "tokens": tokens_written(trace.tokens),
                "target": tokens_written(trace.target),
                "cut": trace.cut,
                "places": self.model.places(trace) if trace.predicts else [],
                "bytes": trace.bytes,
                "hidden": list(trace.hidden),
                "attention": {kind: [one.layers, one.heads, one.chooses, one.counts] for kind, one in trace.attention.items()},
                "ways": [name for name in ("unembed", "label", "tail") if getattr(trace, name) is not None],
            }
        for name in said.get("parts", ()):
            if (part := part_of(trace, name)) is not None:
                found[0]["parts"][name] = part.said
                found[1].update(prefixed(name, part.tensors))
        return found

    def _trace(self, said: dict[str, Any]) -> Trace:
        from models.prefix import reading_for

        text, target, reader = said["text"], said["target"], str(said.get("reader", ""))
        key = (_frozen(text), _frozen(target), said.get("at_most"))
        with self._lock:
            self._seen[reader] = self._clock()
            if known := self._kept.of(reader).get(key):
                return known.trace
            self.model.at_most = said.get("at_most")
        with reading_for(reader):
            trace = self.model.trace(text, target, remember=bool(said.get("remember", True)))
        with self._lock:
            self._kept.keep(reader, key, _Read(trace, trace.bytes))
        return trace

    def _tokenize(self, said: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        return {"tokens": tokens_written(self.model.tokenize(said["text"]))}, {}

    def _spell(self, said: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        return {"text": self.model.spell(said["ids"], said["after"])}, {}

    def _turn(self, said: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        turn = self.model.as_chat(said["text"])
        return {"written": turn.written, "tokens": tokens_written(turn.tokens)}, {}

    def _scores(self, said: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        """Of rows of the stream: what `Trace.unembed`, or what `Trace.tail`, makes of them."""
        way = self.model._tail if said["way"] == "tail" else self.model._unembed
        assert way is not None, "the trace said that there is one"
        return {}, {"made": torch.tensor(way(tensors["rows"].numpy()))}


ASKED = ("open", "read", "tokenize", "spell", "turn", "scores")


def tokens_of(written: list[list]) -> list[Token]:
    """What `tokens_written` wrote. Errors: TypeError for what it did not write."""
    if not all([type(value) for value in one] == [int, str, int, int, bool, bool, int, bool] for one in written):
        raise TypeError("A token is not what a token is.")
    return [Token(*one) for one in written]


def _frozen(given: str | list[int]) -> str | tuple[int, ...]:
    return given if isinstance(given, str) else tuple(given)


def _unknown() -> Answer:
    raise ValueError("Nobody can answer this question. Is another version of Headlight asking?")
