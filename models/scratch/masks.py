"""Who may look at whom: masks that hide the future or padding, and patterns that leave keys out to save work.

A mask is bool, True where a query may look. `mask` puts the parts together; each pattern is a function by its name. The queries
are always the last of the positions, so that a text can be read on; all that a pattern says of a beginning stays as it was.
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
    """No key after the query: bool [query, key]."""
    return distances(queries, keys, device) <= 0


def padding(lengths: Tensor, keys: int) -> Tensor:
    """Only what is text: lengths int [batch], how much of each text is; bool [batch, 1, 1, key]."""
    return (torch.arange(keys, device=lengths.device) < lengths[:, None])[:, None, None]


def window(queries: int, keys: int, reach: int, device: torch.device | None = None) -> Tensor:
    """Keys less than `reach` away: bool [query, key] (local attention: Beltagy, Peters and Cohan 2020, "Longformer"; Mistral)."""
    return distances(queries, keys, device).abs() < reach


def strided(queries: int, keys: int, stride: int, device: torch.device | None = None) -> Tensor:
    """Keys less than `stride` away, and every `stride`-th one beyond: bool [query, key].

    Source: Child et al. 2019, "Generating Long Sequences with Sparse Transformers", fig. 3b; there one head does the first and
    another the second.
    """
    apart = distances(queries, keys, device)
    return (apart.abs() < stride) | (apart % stride == 0)


def random(queries: int, keys: int, count: int, future: bool = False, device: torch.device | None = None) -> Tensor:
    """`count` keys for each query at random, the same at every reading, and itself: bool [query, key].

    They are drawn from what comes before it; where the future may be seen, who is drawn looks back at who drew.
    Source: Zaheer et al. 2020, "Big Bird: Transformers for Longer Sequences".
    """
    found = distances(queries, keys, device) == 0
    pairs = [(query, key) for query in range(keys) for key in drawn(query, count)]
    rows, columns = torch.tensor([pair for pair in pairs if future or pair[0] >= keys - queries], device=device).T
    found[rows - (keys - queries), columns] = True
    return found | found.T if future else found


@lru_cache(maxsize=65_536)
def drawn(query: int, count: int) -> tuple[int, ...]:
    """The keys that a query draws from those up to it: at most `count`, whatever the length of the text."""
    return tuple(Random(query).sample(range(query + 1), min(count, query + 1)))


def global_tokens(queries: int, keys: int, count: int, device: torch.device | None = None) -> Tensor:
    """The first `count` tokens see all and are seen by all, the others see themselves: bool [query, key] (Longformer, 3.1)."""
    found = distances(queries, keys, device) == 0
    found[:, :count] = True
    found[: max(0, count - (keys - queries))] = True
    return found


def pattern(
    config: TransformerConfig, queries: int, keys: int, future: bool = False, device: torch.device | None = None
) -> Tensor | None:
    """The pattern of a config: bool [query, key], or None for "full", which hides nothing.

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
    found = None
    for part in mixes.get(config.pattern, (config.pattern,)):
        found = parts[part]() if found is None else found | parts[part]()
    return found


def pairs(config: TransformerConfig, length: int, future: bool = False) -> int:
    """How many pairs of a query and a key `mask` lets meet in a text of so many tokens, counted without building it.

    Where keys are drawn at random, each query is asked once.
    """
    if config.pattern == "full":
        earlier = length * (length - 1) // 2
    elif config.pattern in ("random", "bigbird"):
        earlier = int(_drawn_before(config, length).sum())
    elif config.pattern == "strided":
        every, rest = divmod(length, config.window)  # Σ ⌊q / stride⌋ over the queries q
        earlier = _nearest(config.window - 1, length) + config.window * every * (every - 1) // 2 + rest * every
    else:
        reach = {"window": config.window - 1, "global": config.global_tokens}
        earlier = _nearest(reach.get(config.pattern, sum(reach.values())), length)
    return length + earlier * (2 if future else 1)  # every pattern is the same to both sides


def _nearest(count: int, length: int) -> int:
    """Σ min(q, count) over the queries q below `length`."""
    count = min(count, length)
    return count * (count - 1) // 2 + count * (length - count)


def _drawn_before(config: TransformerConfig, length: int) -> np.ndarray:
    """How many keys before it each query sees, where some are random: int [query]."""
    near, first = (config.window - 1, config.global_tokens) if config.pattern == "bigbird" else (0, 0)
    return _seen_before(config.random_keys, near, first, 1 << (length - 1).bit_length())[:length]


@lru_cache(maxsize=16)
def _seen_before(count: int, near: int, first: int, length: int) -> np.ndarray:
    """Of queries below `length`: all of the `near` keys before it, of the `first` of the text, and of what it has drawn."""
    return np.array([min(q, near + first) + sum(first <= key < q - near for key in drawn(q, count)) for q in range(length)])


def mask(
    config: TransformerConfig,
    queries: int,
    keys: int,
    future: bool = False,
    lengths: Tensor | None = None,
    device: torch.device | None = None,
) -> Tensor | None:
    """All that hides keys in self-attention, together: bool broadcastable to [batch, heads, query, key]; None where nothing does.

    future: whether keys after the query may be seen. lengths: int [batch], how much of each text is no padding; what is padding
    sees itself, so that no row is empty.
    """
    found = pattern(config, queries, keys, future, device)
    if not future:
        before = causal(queries, keys, device)
        found = before if found is None else found & before
    if lengths is not None:
        text = padding(lengths, keys) | (distances(queries, keys, device) == 0)  # [batch, 1, query, key]
        found = text if found is None else found & text
    return found
