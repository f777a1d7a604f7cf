"""Attention masks: they hide the future or padding, and patterns leave keys out to save work.

A mask is bool, True where a query may look. `mask` combines the parts; each pattern is a function of its name. The queries are
always the last of the positions, so that a text can be read on; the pattern of a beginning does not change when a text grows.
"""

from __future__ import annotations

from functools import lru_cache
from random import Random

import numpy as np
import torch
from torch import Tensor

from models.scratch.config import TransformerConfig
from models.scratch.positions import distances


def causal(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """Allow no key after the query: bool [query, key]."""
    return distances(queries, keys, device) <= 0


def padding(lengths: Tensor, keys: int) -> Tensor:
    """Hide padding: bool [batch, 1, 1, key]; lengths: int [batch], of each text."""
    return (torch.arange(keys, device=lengths.device) < lengths[:, None])[:, None, None]


def window(queries: int, keys: int, reach: int, device: torch.device | None = None) -> Tensor:
    """Allow keys less than `reach` away: bool [query, key] (local attention: Beltagy, Peters and Cohan 2020, "Longformer";
    Mistral)."""
    return distances(queries, keys, device).abs() < reach


def strided(queries: int, keys: int, stride: int, device: torch.device | None = None) -> Tensor:
    """Allow keys less than `stride` away, and every `stride`-th one beyond: bool [query, key].

    Source: Child et al. 2019, "Generating Long Sequences with Sparse Transformers", fig. 3b; there one head does the first and
    another the second.
    """
    distance = distances(queries, keys, device)
    return (distance.abs() < stride) | (distance % stride == 0)


def random(queries: int, keys: int, count: int, future: bool = False, device: torch.device | None = None) -> Tensor:
    """Allow for each query itself and `count` random keys, the same at every reading: bool [query, key].

    They are drawn from the keys before it; where the future may be seen, each drawn key sees the query in turn.
    Source: Zaheer et al. 2020, "Big Bird: Transformers for Longer Sequences".
    """
    allowed = distances(queries, keys, device) == 0
    pairs = [(query, key) for query in range(keys) for key in draw_keys(query, count)]
    rows, columns = torch.tensor([pair for pair in pairs if future or pair[0] >= keys - queries], device=device).T
    allowed[rows - (keys - queries), columns] = True
    return allowed | allowed.T if future else allowed


@lru_cache(maxsize=65_536)
def draw_keys(query: int, count: int) -> tuple[int, ...]:
    """Draw keys for a query from those up to it: at most `count`, independent of the length of the text."""
    return tuple(Random(query).sample(range(query + 1), min(count, query + 1)))


def global_tokens(queries: int, keys: int, count: int, device: torch.device | None = None) -> Tensor:
    """Let the first `count` tokens see all and be seen by all; others see themselves: bool [query, key] (Longformer, 3.1)."""
    allowed = distances(queries, keys, device) == 0
    allowed[:, :count] = True
    allowed[: max(0, count - (keys - queries))] = True
    return allowed


def pattern(
    config: TransformerConfig, queries: int, keys: int, future: bool = False, device: torch.device | None = None
) -> Tensor | None:
    """Return the pattern of a config: bool [query, key], or None for "full", which hides nothing.

    "longformer": window and global tokens; "bigbird": window, global tokens and random keys. future: whether keys after the query
    may be seen; it is `mask` that hides them.
    """
    parts = {
        "window": lambda: window(queries, keys, config.window, device),
        "strided": lambda: strided(queries, keys, config.window, device),
        "random": lambda: random(queries, keys, config.random_keys, future, device),
        "global": lambda: global_tokens(queries, keys, config.global_tokens, device),
    }
    mixes = {"full": (), "longformer": ("window", "global"), "bigbird": ("window", "global", "random")}
    allowed = None
    for part in mixes.get(config.pattern, (config.pattern,)):
        allowed = parts[part]() if allowed is None else allowed | parts[part]()
    return allowed


def pairs(config: TransformerConfig, length: int, future: bool = False) -> int:
    """Count the pairs of a query and a key that `mask` allows in a text of so many tokens, without building it.

    Where keys are drawn at random, they are drawn once for each query.
    """
    if config.pattern == "full":
        earlier = length * (length - 1) // 2
    elif config.pattern in ("random", "bigbird"):
        earlier = int(_keys_before(config, length).sum())
    elif config.pattern == "strided":
        rounds, rest = divmod(length, config.window)  # Σ ⌊q / stride⌋ over the queries q
        earlier = _nearest(config.window - 1, length) + config.window * rounds * (rounds - 1) // 2 + rest * rounds
    else:
        reach = {"window": config.window - 1, "global": config.global_tokens}
        earlier = _nearest(reach.get(config.pattern, sum(reach.values())), length)
    return length + earlier * (2 if future else 1)  # every pattern is the same to both sides


def _nearest(count: int, length: int) -> int:
    """Return Σ min(q, count) over the queries q below `length`."""
    count = min(count, length)
    return count * (count - 1) // 2 + count * (length - count)


def _keys_before(config: TransformerConfig, length: int) -> np.ndarray:
    """Count the keys before each query that it sees, where some are random: int [query]."""
    near, first = (config.window - 1, config.global_tokens) if config.pattern == "bigbird" else (0, 0)
    return _random_keys_before(config.random_keys, near, first, 1 << (length - 1).bit_length())[:length]


@lru_cache(maxsize=16)
def _random_keys_before(count: int, near: int, first: int, length: int) -> np.ndarray:
    """Count, for queries below `length`, their `near` keys before them, the `first` of the text, and those they have drawn."""
    return np.array([min(q, near + first) + sum(first <= key < q - near for key in draw_keys(q, count)) for q in range(length)])


def mask(
    config: TransformerConfig,
    queries: int,
    keys: int,
    future: bool = False,
    lengths: Tensor | None = None,
    device: torch.device | None = None,
) -> Tensor | None:
    """Combine everything that hides keys in self-attention: bool broadcastable to [batch, heads, query, key]; None for nothing.

    future: whether keys after the query may be seen. lengths: int [batch], of each text without its padding; padding sees itself,
    so that no row is empty.
    """
    allowed = pattern(config, queries, keys, future, device)
    if not future:
        before = causal(queries, keys, device)
        allowed = before if allowed is None else allowed & before
    if lengths is not None:
        text = padding(lengths, keys) | (distances(queries, keys, device) == 0)  # [batch, 1, query, key]
        allowed = text if allowed is None else allowed & text
    return allowed
