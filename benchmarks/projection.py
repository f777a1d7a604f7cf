"""One space for all layers beside a space for each: what it costs, and how far points jump.

    python -m benchmarks.projection [--tokens 64] [--repeats 3]

The hidden states are those of a random network of GPT-2 small's size, 13 x 64 x 768. Each way is timed in turn with the others,
after a first run, on one thread; the median counts. "Step" is the mean way of a token from a layer to the
next over the root mean square distance of two points, "trust" the trustworthiness over ten neighbours among all points.
"""

from __future__ import annotations

import argparse
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import torch
from openTSNE import TSNE as OpenTSNE
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from analysis import project
from analysis.projections import faithfulness, prepared, step
from benchmarks.peers import gpt2
from models.attention.recorder import recording

DIMENSIONS = 3
AIM = 0.2  # of a step


@dataclass(frozen=True)
class Row:
    """One way of projecting. seconds: the median; ratio: to the first row of the same method."""

    method: str
    name: str
    seconds: float
    ratio: float
    step: float
    trust: float


def hidden_states(tokens: int = 64) -> np.ndarray:
    """float32 [13, tokens, 768] of a random GPT-2 small, read as Headlight reads it."""
    from benchmarks.capture import headlight

    network = gpt2.load()
    ids = torch.randint(0, network.config.vocab_size, (1, tokens), generator=torch.Generator().manual_seed(0))
    with torch.inference_mode(), recording():
        _, (_, hidden, _, _) = headlight(network).read(ids)
    return hidden


def ways(hidden: np.ndarray) -> dict[str, dict[str, Callable[[], np.ndarray]]]:
    """Of each method, the ways to get points [layer, token, 3]; Headlight's first."""
    ready = prepared(hidden)
    shape, flat = (*hidden.shape[:2], DIMENSIONS), ready.reshape(-1, ready.shape[-1]).astype(np.float32)
    fifty = PCA(50).fit_transform(flat)

    def each(way: Callable[[np.ndarray], np.ndarray]) -> np.ndarray:
        return np.stack([np.asarray(way(layer.astype(np.float32))) for layer in hidden])

    perplexity = min(30.0, (hidden.shape[1] - 1) / 3)
    alone = TSNE(DIMENSIONS, perplexity=perplexity, init="random", max_iter=750, random_state=0, n_jobs=1)
    opened = {"random_state": 0, "n_jobs": 1, "negative_gradient_method": "bh", "neighbors": "exact"}
    return {
        "PCA": {
            "Headlight, all layers together": lambda: project(hidden, "pca", DIMENSIONS),
            "scikit-learn, a layer at a time": lambda: each(lambda layer: PCA(DIMENSIONS, random_state=0).fit_transform(layer)),
        },
        "t-SNE": {
            "Headlight, all layers together": lambda: project(hidden, "t-sne", DIMENSIONS),
            "openTSNE, the same points, as it comes": lambda: np.asarray(
                OpenTSNE(DIMENSIONS, **opened).fit(flat.astype(np.float64))
            ).reshape(shape),
            "scikit-learn, the same 50 components": lambda: (
                TSNE(DIMENSIONS, init="pca", max_iter=750, random_state=0, n_jobs=1).fit_transform(fifty).reshape(shape)
            ),
            "scikit-learn, a layer at a time": lambda: each(alone.fit_transform),
        },
    }


def rows(tokens: int = 64, repeats: int = 3) -> list[Row]:
    """Every way, timed in turn."""
    hidden = hidden_states(tokens)
    ready = prepared(hidden)
    timed = []
    with threadpool_limits(1):
        for method, each in ways(hidden).items():
            points = {name: way() for name, way in each.items()}  # once to warm up
            taken: dict[str, list[float]] = {name: [] for name in each}
            for _ in range(repeats):
                for name, way in each.items():
                    began = time.perf_counter()
                    way()
                    taken[name].append(time.perf_counter() - began)
            first = statistics.median(taken[next(iter(each))])
            for name in each:
                seconds = statistics.median(taken[name])
                trust = faithfulness(ready, points[name])[0]
                timed.append(Row(method, name, seconds, seconds / first, step(points[name]), trust))
    return timed


def table(rows: list[Row]) -> str:
    lines = [f"{'':8}{'':40}{'s':>8}{'ratio':>8}{'step':>8}{'trust':>8}"]
    lines += [f"{r.method:8}{r.name:40}{r.seconds:>8.2f}{r.ratio:>8.2f}{r.step:>8.3f}{r.trust:>8.3f}" for r in rows]
    return "\n".join(lines)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--tokens", type=int, default=64)
    parser.add_argument("--repeats", type=int, default=3)
    asked = parser.parse_args()
    timed = rows(asked.tokens, asked.repeats)
    print(f"13 x {asked.tokens} x 768 into {DIMENSIONS} dimensions; load {os.getloadavg()[0]:.1f}.\n\n{table(timed)}\n")
    joint = [row for row in timed if row.name.startswith("Headlight")]
    worst = max(row.step for row in joint)
    print(f"Largest step of the joint ones: {worst:.3f} (aim: at most {AIM}), {'met' if worst <= AIM else 'missed'}.")


if __name__ == "__main__":
    main()
