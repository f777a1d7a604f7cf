"""Work that replicas cannot do yet. The same model in this process does it if its weights are here; else a sentence says so."""

from __future__ import annotations

from collections.abc import Generator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from models.errors import ModelError
from models.generation.strategy import Strategy
from models.language_model import GREEDY, LanguageModel
from models.reading.inputs import Text
from models.tokens import Token

if TYPE_CHECKING:
    from torch import Tensor

    from models.attention.recorder import Record
    from models.editing.plan import Plan
    from models.edits import Edit
    from models.generation.generate import Reader, Step
    from models.gradients.attention import Gradients
    from models.reading.readable import Ready
    from models.trace import Trace
    from models.watching.steps import Watched
    from models.watching.watcher import Private


class RemoteModel(LanguageModel):
    """A model whose weights are elsewhere. What needs them here uses `beside`, the same model in this process.

    These are edits, gradients, the steps inside a block, generation, and the weights themselves.
    """

    here: LanguageModel | None

    @property
    def beside(self) -> LanguageModel:
        """The same model in this process. Errors: ModelError where there is none."""
        if self.here is None:
            raise ModelError(
                f"{self.info.name} runs on other machines, and this needs its weights on this one, which is not possible yet. "
                "Choose a model that ships with Headlight, or start Headlight without HEADLIGHT_BACKEND."
            )
        self.here.at_most = self.at_most
        return self.here

    @property
    def grows(self) -> bool:
        return super().grows and self.here is not None

    @property
    def network(self) -> Any:
        return self.beside.network

    @property
    def pass_order(self) -> tuple[list[tuple[str, int]], dict[str, list[int]]]:
        return self.beside.pass_order

    def prepare(self, text: str, target: str) -> Ready:
        return self.beside.prepare(text, target)

    def run_plan(
        self,
        texts: Sequence[Sequence[Token]],
        targets: Sequence[Sequence[Token]],
        plan: Plan,
        outs: bool = False,
        stream: Tensor | None = None,
    ) -> Record:
        return self.beside.run_plan(texts, targets, plan, outs, stream)

    def attention_options(self, kind: str) -> dict[str, Any]:
        return self.beside.attention_options(kind)

    def generate(
        self,
        text: Text,
        strategy: Strategy = GREEDY,
        max_new_tokens: int = 40,
        target: Text = "",
        continuation: Sequence[int] = (),
        cache: bool = True,
        forced: Sequence[int] = (),
        chat: bool = False,
        edits: Sequence[Edit] = (),
        source_language: str = "",
        target_language: str = "",
    ) -> Generator[Step, None, None]:
        languages = source_language, target_language
        return self.beside.generate(text, strategy, max_new_tokens, target, continuation, cache, forced, chat, edits, *languages)

    def reader(self, text: str, target: str, cache: bool, chat: bool) -> Reader:
        return self.beside.reader(text, target, cache, chat)

    def cache_bytes(self, length: int, source: int = 0) -> int:
        return self.beside.cache_bytes(length, source)

    def gradients(self, trace: Trace, position: int, token: int) -> dict[str, Gradients]:
        return self.beside.gradients(trace, position, token)

    def logits_of(
        self,
        texts: Sequence[Sequence[Token]],
        position: int = -1,
        target: Sequence[Token] | Sequence[Sequence[Token]] = (),
    ) -> np.ndarray:
        return self.beside.logits_of(texts, position, target)

    def watch(self, trace: Trace, stack: str, layer: int, positions: Sequence[int]) -> Watched:
        return self.beside.watch(trace, stack, layer, positions)

    def copy_to_watch(self, number: int | None) -> Private:
        return self.beside.copy_to_watch(number)

    def without_positions(self) -> LanguageModel:
        return self.beside.without_positions()

    def with_random_weights(self, seed: int) -> LanguageModel:
        return self.beside.with_random_weights(seed)

    def copy_network(self) -> Any:
        return self.beside.copy_network()

    def with_weights(self, weights: Mapping[str, Tensor], name: str = "", source: str = "") -> LanguageModel:
        return self.beside.with_weights(weights, name, source)

    def save(self, folder: Path) -> None:
        self.beside.save(folder)

    def output_weights(self, kind: str, layer: int) -> np.ndarray:
        return self.beside.output_weights(kind, layer)

    def value_weights(self, kind: str, layer: int) -> np.ndarray:
        return self.beside.value_weights(kind, layer)

    @property
    def cap(self) -> float | None:
        return self.beside.cap

    def query_weights(self, kind: str, layer: int) -> np.ndarray:
        return self.beside.query_weights(kind, layer)

    def key_weights(self, kind: str, layer: int) -> np.ndarray:
        return self.beside.key_weights(kind, layer)

    def normed(self, kind: str) -> bool:
        return self.beside.normed(kind)

    def way_out(self, rows: Tensor) -> Tensor:
        return self.beside.way_out(rows)

    def answers_at(self, streams: Tensor, position: int) -> Tensor:
        return self.beside.answers_at(streams, position)

    def way_out_formula(self, stream: str = "h") -> str:
        return self.beside.way_out_formula(stream)

    def unembedding(self) -> np.ndarray:
        return self.beside.unembedding()

    def embedding(self, ids: Sequence[int] | slice = slice(None)) -> np.ndarray:
        return self.beside.embedding(ids)
