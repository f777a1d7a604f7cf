"""A model's answers to messages, on a replica or, where no replica answers, in the process that asks."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

import torch
from torch import Tensor

from models.files.save_trace import tokens_written
from models.reading.bounded import Bounded
from models.remote.parts import part_of, prefixed
from models.tokens import Token

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.trace import Trace

Answer = tuple[dict[str, Any], dict[str, Tensor]]
FORGOTTEN = 300.0  # seconds without reading, after which nothing of a reader is kept
EACH, BYTES = 4, 128 * 2**20  # traces that are kept for each reader, because their parts are fetched one by one


@dataclass(frozen=True)
class _StoredTrace:
    trace: Trace
    bytes: int


class Answers:
    """A model and its last traces.

    Every question contains all that its answer depends on, so any replica can answer it; a replica that has not read the text
    reads it first. Safe to use from many threads, as long as all of them ask for as many tokens at a time.
    """

    def __init__(self, model: LanguageModel, clock: Callable[[], float] = time.monotonic) -> None:
        self.model, self._clock, self._lock = model, clock, threading.Lock()
        self._traces: Bounded[tuple, _StoredTrace] = Bounded(EACH, BYTES)
        self._last_read: dict[str, float] = {}  # when each reader read last

    def answer(self, question: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        """Return the answer to a question: facts and tensors. Errors: ValueError and TypeError, sentences of the model."""
        return getattr(self, f"_{question['asked']}")(question, tensors) if question.get("asked") in QUESTIONS else _refuse()

    def tidy(self) -> None:
        """Drop the traces of readers who have not read for a while."""
        with self._lock:
            now = self._clock()
            if any(then + FORGOTTEN < now for then in self._last_read.values()):
                self._last_read = {reader: then for reader, then in self._last_read.items() if now <= then + FORGOTTEN}
                self._traces.keep_for(self._last_read.__contains__)
                self.model.forget(self._last_read.__contains__)

    def _open(self, question: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
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

    def _read(self, question: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        trace = self._trace(question)
        answer: Answer = ({"parts": {}}, {})
        if question.get("tokens"):
            answer[0]["trace"] = {
                "tokens": tokens_written(trace.tokens),
                "target": tokens_written(trace.target),
                "cut": trace.cut,
                "places": self.model.places(trace) if trace.predicts else [],
                "bytes": trace.bytes,
                "hidden": list(trace.hidden),
                "attention": {
                    kind: [attention.layers, attention.heads, attention.chooses, attention.counts, attention.numbers]
                    for kind, attention in trace.attention.items()
                },
                "ways": [name for name in ("unembed", "label", "tail") if getattr(trace, name) is not None],
            }
        for name in question.get("parts", ()):
            if (part := part_of(trace, name)) is not None:
                answer[0]["parts"][name] = part.facts
                answer[1].update(prefixed(name, part.tensors))
        return answer

    def _trace(self, question: dict[str, Any]) -> Trace:
        from models.reading.prefix import reading_for

        text, target, reader = question["text"], question["target"], str(question.get("reader", ""))
        key = (_hashable(text), _hashable(target), question.get("at_most"))
        with self._lock:
            self._last_read[reader] = self._clock()
            if entry := self._traces.of(reader).get(key):
                return entry.trace
            self.model.at_most = question.get("at_most")
        with reading_for(reader):
            trace = self.model.trace(text, target, remember=bool(question.get("remember", True)))
        with self._lock:
            self._traces.keep(reader, key, _StoredTrace(trace, trace.bytes))
        return trace

    def _tokenize(self, question: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        return {"tokens": tokens_written(self.model.tokenize(question["text"]))}, {}

    def _spell(self, question: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        return {"text": self.model.spell(question["ids"], question["after"])}, {}

    def _turn(self, question: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        turn = self.model.as_chat(question["text"])
        return {"written": turn.written, "tokens": tokens_written(turn.tokens)}, {}

    def _scores(self, question: dict[str, Any], tensors: dict[str, Tensor]) -> Answer:
        """Return the result of `Trace.unembed` or `Trace.tail` for rows of the stream."""
        way = self.model.tail if question["way"] == "tail" else self.model.unembed
        assert way is not None, "the trace said that there is one"
        return {}, {"made": torch.tensor(way(tensors["rows"].numpy()))}


QUESTIONS = ("open", "read", "tokenize", "spell", "turn", "scores")


def tokens_of(rows: list[list]) -> list[Token]:
    """Return the tokens that `tokens_written` wrote. Errors: TypeError for anything else."""
    if not all([type(value) for value in row] == [int, str, int, int, bool, bool, int, bool] for row in rows):
        raise TypeError("A token is not what a token is.")
    return [Token(*row) for row in rows]


def _hashable(text: str | list[int]) -> str | tuple[int, ...]:
    return text if isinstance(text, str) else tuple(text)


def _refuse() -> Answer:
    raise ValueError("Nobody can answer this question. Is another version of Headlight asking?")
