"""What the recorder costs: the writer's forward pass with it and without it, in turn, at 16, 64 and 256 tokens.

python -m benchmarks.capture
"""

from __future__ import annotations

import statistics
import time

import torch

import models
from models.recorder import recording

REPEATS = 60


def seconds(ids: torch.Tensor, decoder, record: bool) -> float:
    began = time.perf_counter()
    with torch.inference_mode():
        if record:
            with recording():
                decoder.hidden(ids)
        else:
            decoder.hidden(ids)
    return time.perf_counter() - began


def main() -> None:
    decoder = models.load("writer").decoder
    print(f"{'tokens':>6}  {'plain ms':>9}  {'recorded ms':>11}  {'ratio, median of pairs':>22}")
    for length in (16, 64, 256):
        ids = torch.randint(1, 8000, (1, length))
        pairs = []
        for repeat in range(REPEATS + 5):
            first = bool(repeat % 2)
            times = {first: seconds(ids, decoder, first)}
            times[not first] = seconds(ids, decoder, not first)
            pairs.append((times[False], times[True]))
        plain, recorded = (statistics.median(column) for column in zip(*pairs[5:], strict=True))
        ratio = statistics.median(b / a for a, b in pairs[5:])
        print(f"{length:>6}  {1e3 * plain:>9.2f}  {1e3 * recorded:>11.2f}  {ratio:>22.3f}")


if __name__ == "__main__":
    main()
