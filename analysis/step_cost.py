"""The operations for one more token, with a cache of keys and values and without, for a text of any length."""

from __future__ import annotations

from collections.abc import Sequence
from contextlib import closing
from dataclasses import dataclass
from typing import Any

from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils.flop_counter import flop_registry, shape_wrapper

from analysis.cost import kernels
from models.attention.recorder import active
from models.generation.strategy import Strategy
from models.language_model import GREEDY, LanguageModel

STEPS, TRIES = 3, 20
HOT = 10.0  # a temperature at which few texts end early


@dataclass(frozen=True)
class StepCost:
    """Operations of a step that chooses the token after n others, 2 a multiply-and-add, products of matrices only.

    With cached keys and values it reads one token, and looks at n keys: `token` + `key` · n. Without a cache it reads all tokens,
    and an encoder-decoder its source too: `start` + `again` · n + `pair` · n². For an encoder-decoder, n counts the decoder's
    tokens, and all numbers hold for the source of the count, whose keys each token looks at too.
    """

    token: int
    key: int
    start: int
    again: int
    pair: int

    def with_cache(self, length: int) -> int:
        """Return the operations with cached keys and values."""
        return self.token + self.key * length

    def without_cache(self, length: int) -> int:
        """Return the operations without a cache, when all tokens are read again."""
        return self.start + self.again * length + self.pair * length**2


def step_cost(model: LanguageModel, text: str = "The cat", target: str = "") -> StepCost:
    """Count the operations of three tokens, with and without a cache: both costs are exactly such polynomials, so three counts
    give all lengths.

    text: any text for a decoder; for an encoder-decoder it is the source, and the costs depend on its length. Keys that a window
    or a router hides are counted as for a short text. Errors: as `LanguageModel.generate`.
    """
    lengths, cached = _count_steps(model, text, target)
    uncached = []
    for count in range(STEPS):
        with Counter() as counter:
            next(model.generate(text, GREEDY, 1, target, [0] * count, cache=False))
        uncached.append(counter.operations)
    pair = (uncached[2] - 2 * uncached[1] + uncached[0]) // 2
    again, key = uncached[1] - uncached[0] - pair * (2 * lengths[0] + 1), cached[2] - cached[1]
    return StepCost(cached[1] - key * lengths[1], key, uncached[0] - again * lengths[0] - pair * lengths[0] ** 2, again, pair)


def _count_steps(model: LanguageModel, text: str, target: str) -> tuple[list[int], list[int]]:
    """Return the tokens read and the operations of some steps with a cache. Errors: ValueError if the model always ends its text
    at once."""
    for seed in range(TRIES):
        strategy = Strategy(method="sampling", temperature=HOT, seed=seed)
        lengths, counts = [], []
        with closing(model.generate(text, strategy, STEPS, target)) as steps:
            for _ in range(STEPS):
                with Counter() as counter:
                    step = next(steps, None)
                if step is None:
                    break
                lengths.append(len(step.tokens))
                counts.append(counter.operations)
            else:
                return lengths, counts
    raise ValueError(f"{model.info.name} ends every text at once, so that its steps cannot be counted.")


class Counter(TorchDispatchMode):
    """Counts the recorded operations in this thread: PyTorch's own counter would add hooks to every network."""

    def __init__(self) -> None:
        super().__init__()
        self.operations = 0
        self._counts = flop_registry | {name: shape_wrapper(count) for name, count in kernels().items()}

    def __torch_dispatch__(
        self, function: Any, types: Sequence[type], args: tuple = (), kwargs: dict[str, Any] | None = None
    ) -> Any:
        kwargs = kwargs or {}
        count = self._counts.get(function._overloadpacket)
        if count is None:
            with self:
                parts = function.decompose(*args, **kwargs)
            if parts is not NotImplemented:
                return parts
        out = function(*args, **kwargs)
        if count is not None and active() is not None:  # rows of weights are computed after recording
            self.operations += count(*args, **kwargs, out_val=out)
        return out
