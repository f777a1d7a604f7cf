"""What every model can do, whoever made it."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from models.tokens import Prediction, Token
from models.trace import Trace


@dataclass(frozen=True)
class ModelInfo:
    """The facts about a model. kind: "decoder" | "encoder" | "encoder-decoder"; context in tokens, None when unbounded."""

    name: str
    kind: str
    layers: int
    heads: int
    kv_heads: int
    d_model: int
    vocabulary: int
    context: int | None
    parameters: int
    source: str


class LanguageModel(ABC):
    """A model that reads text and can be looked into while it does."""

    info: ModelInfo

    @abstractmethod
    def tokenize(self, text: str) -> list[Token]:
        """All tokens of a text, special tokens included, however long it is."""

    @abstractmethod
    def token_text(self, id: int) -> str:
        """What a token of the vocabulary stands for."""

    @abstractmethod
    def trace(self, text: str, target: str = "", edits: Sequence = ()) -> Trace:
        """Read a text and keep what happened. A text longer than the context is cut from the left (see `Trace.cut`)."""

    def predict(self, text: str, target: str = "", top: int = 10) -> list[Prediction]:
        """The most likely next tokens, the first one first; probabilities from a softmax over the whole vocabulary."""
        trace = self.trace(text, target)
        return self.top(trace.logits_at(-1), len(trace.tokens) - 1, top)

    def top(self, logits: np.ndarray, position: int, top: int = 10, temperature: float = 1.0) -> list[Prediction]:
        """The `top` most likely tokens by logits [vocabulary], made after reading `position`.

        Temperature divides the logits before the softmax: below 1 the likely grows likelier.
        """
        probabilities = softmax(logits, temperature)
        best = np.argpartition(-probabilities, min(top, len(probabilities)) - 1)[:top]
        best = best[np.lexsort((best, -probabilities[best]))]
        return [Prediction(position, int(id), self.token_text(int(id)), float(probabilities[id])) for id in best]


def softmax(logits: np.ndarray, temperature: float = 1.0) -> np.ndarray:
    """exp(z / T) over its sum along the last axis, in float64. Errors: ValueError when the temperature is not above 0."""
    if not temperature > 0:
        raise ValueError(f"The temperature must be above 0; it is {temperature}.")
    scaled = np.asarray(logits, dtype=np.float64) / temperature
    raised = np.exp(scaled - scaled.max(axis=-1, keepdims=True))
    return raised / raised.sum(axis=-1, keepdims=True)
