"""The time of one more token at lengths that were not measured, from a measured step and the speed of the machine."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass

from analysis.step_cost import StepCost
from models.language_model import LanguageModel

TRIES = 5  # the quickest counts: other work of the machine can only slow it down
OPERATIONS = 2**31  # of the largest timed operation
FEW, MANY = 1024, 16_384  # keys that one token looks at
ROWS = (32, 512)  # tokens of a map's input
PAIRS = (128, 1024)  # tokens that look at each other


@dataclass(frozen=True)
class Speeds:
    """Seconds for one operation on this machine, at a model's sizes: when one token looks at cached keys, in a linear map of many
    tokens, and when many tokens look at each other."""

    key: float
    again: float
    pair: float


@dataclass(frozen=True)
class StepTime:
    """Seconds for a step that chooses the token after n others. length: the n at which `cached` and `uncached` were measured.

    The part that grows with n is added or subtracted at the machine's speed; the rest is the same at all lengths. If the measured
    time is shorter than the growing part would take at that speed, the speed is raised until they agree. So the estimate at
    `length` equals the measurement, and it never gets shorter for a longer text.
    """

    cost: StepCost
    speeds: Speeds
    length: int
    cached: float
    uncached: float

    def with_cache(self, length: int) -> float:
        """Return the seconds with cached keys and values."""
        return _scale_time(self.cached, self._growth_with_cache(self.length), self._growth_with_cache(length))

    def without_cache(self, length: int) -> float:
        """Return the seconds without a cache, when all tokens are read again."""
        return _scale_time(self.uncached, self._growth_without_cache(self.length), self._growth_without_cache(length))

    def _growth_with_cache(self, length: int) -> float:
        return self.speeds.key * self.cost.key * length

    def _growth_without_cache(self, length: int) -> float:
        return self.speeds.again * self.cost.again * length + self.speeds.pair * self.cost.pair * length**2


def _scale_time(measured: float, known: float, wanted: float) -> float:
    return measured + (wanted - known) * min(1.0, measured / known if known else 1.0)


def speeds(model: LanguageModel, cost: StepCost) -> Speeds:
    """Time layers of the model's sizes with random numbers, in its type and on its device.

    Each is the slope between a small size and a large one, so that the constant cost of a call is left out.
    """
    import torch

    from models.attention.kernel import attend
    from models.attention.recorder import recording
    from models.generation.generate import rows

    parameter = next(model.network.parameters())
    info, like = model.info, {"dtype": parameter.dtype, "device": parameter.device}
    layers, heads = info.decoder_layers or info.layers, info.decoder_heads or info.heads
    size = max(1, cost.key // (4 * layers * heads))
    key_heads = info.kv_heads if heads % max(1, info.kv_heads) == 0 else heads

    def vectors(heads: int, count: int) -> torch.Tensor:
        return torch.randn(1, heads, count, size, **like)

    def on(keys: int) -> Callable[[], object]:
        query, old, new = vectors(heads, 1), vectors(key_heads, keys - 1), vectors(key_heads, 1)

        def step() -> None:
            with recording(streams=False) as record:
                attend(query, torch.cat([old, new], 2), torch.cat([old, new], 2))
            rows(record.calls, keys)

        return step

    def map_tokens(count: int) -> Callable[[], object]:
        x, weight = torch.randn(count, info.d_model, **like), torch.randn(4 * info.d_model, info.d_model, **like)
        return lambda: torch.nn.functional.linear(x, weight)

    def all_pairs(count: int) -> Callable[[], object]:
        q, k, v = vectors(heads, count), vectors(key_heads, count), vectors(key_heads, count)
        return lambda: attend(q, k, v)

    with torch.inference_mode():
        key = _slope(on, (FEW, MANY), lambda n: 4 * heads * size * n, parameter.device)
        again = _slope(map_tokens, ROWS, lambda n: 8 * info.d_model**2 * n, parameter.device)
        pair = _slope(all_pairs, PAIRS, lambda n: 4 * heads * size * n**2, parameter.device)
    return Speeds(key, again, pair)


def _slope(
    make: Callable[[int], Callable[[], object]], sizes: tuple[int, int], count: Callable[[int], int], device: object
) -> float:
    """Return the seconds of an operation, from a small size and a large one, which is halved until it fits."""
    small, large = sizes
    while count(large) > OPERATIONS and large > 2 * small:
        large //= 2
    few, many = (_quickest(make(size), device) for size in (small, large))
    return max(many - few, 0.1 * many) / (count(large) - count(small))


def _quickest(call: Callable[[], object], device: object) -> float:
    import torch

    quickest = float("inf")
    for _ in range(TRIES):
        began = time.perf_counter()
        call()
        if str(device) != "cpu":
            torch.accelerator.synchronize()
        quickest = min(quickest, time.perf_counter() - began)
    return quickest
