"""Who may look at whom: masks that hide the future or padding, and patterns that leave keys out to save work.

A mask is bool, True where a query may look. `mask` puts the parts together; each pattern below is a function of distances.
"""

from __future__ import annotations

import torch
from torch import Tensor

from models.scratch.positions import distances

GLOBAL = 1  # tokens at the start that all see and that see all, in the patterns that have some
RANDOM = 3  # random keys of each query, in the patterns that have some


def causal(queries: int, keys: int, device: torch.device | None = None) -> Tensor:
    """No key after the query: bool [query, key], the queries being the last positions."""
    return distances(queries, keys, device) <= 0


def padding(lengths: Tensor, keys: int) -> Tensor:
    """Only what is text: lengths int [batch]; bool [batch, 1, 1, key]."""
    return (torch.arange(keys, device=lengths.device) < lengths[:, None])[:, None, None]


def window(queries: int, keys: int, reach: int, device: torch.device | None = None) -> Tensor:
    """Keys at most `reach` - 1 away (local attention: Beltagy, Peters and Cohan 2020, "Longformer"; Mistral)."""
    return distances(queries, keys, device).abs() < reach


def strided(queries: int, keys: int, stride: int, device: torch.device | None = None) -> Tensor:
    """The last `stride` keys, and every `stride`-th one before them (Child et al. 2019, "Sparse Transformers", fig. 3b)."""
    apart = distances(queries, keys, device)
    return (apart.abs() < stride) | (apart % stride == 0)


def random(queries: int, keys: int, count: int = RANDOM, device: torch.device | None = None) -> Tensor:
    """`count` keys of each query by chance, the same at every reading, and itself (Zaheer et al. 2020, "Big Bird").

    They are drawn among the keys up to the query, so that a decoder has as many as it can.
    """
    found = torch.zeros(keys, keys, dtype=torch.bool)
    for query in range(keys):  # a generator a query: those of a prefix stay what they are in a longer text
        generator = torch.Generator().manual_seed(query)
        found[query, torch.randperm(query + 1, generator=generator)[:count]] = True
        found[query, query] = True
    return found[keys - queries :].to(device)


def global_tokens(queries: int, keys: int, count: int = GLOBAL, device: torch.device | None = None) -> Tensor:
    """The first `count` tokens see all and are seen by all; the others see themselves (Longformer, section 3.1)."""
    found = distances(queries, keys, device) == 0
    found[:, :count] = True
    found[: max(0, count - (keys - queries))] = True
    return found


def pattern(name: str, queries: int, keys: int, reach: int, device: torch.device | None = None) -> Tensor | None:
    """A pattern by its name: bool [query, key], or None for "full", which hides nothing.

    "longformer": window and global tokens; "bigbird": window, global and random ones. Errors: ValueError for another name.
    """
    local, whole = window(queries, keys, reach, device), global_tokens(queries, keys, GLOBAL, device)
    patterns = {
        "full": lambda: None,
        "window": lambda: local,
        "strided": lambda: strided(queries, keys, reach, device),
        "random": lambda: random(queries, keys, RANDOM, device),
        "global": lambda: whole,
        "longformer": lambda: local | whole,
        "bigbird": lambda: local | whole | random(queries, keys, RANDOM, device),
    }
    if name not in patterns:
        raise ValueError(f"There is no pattern {name!r}; there are {', '.join(patterns)}.")
    return patterns[name]()


def mask(
    name: str, queries: int, keys: int, reach: int, future: bool, lengths: Tensor | None, device: torch.device
) -> Tensor | None:
    """All that hides keys, together: bool broadcastable to [batch, heads, query, key]; None where nothing does.

    future: whether keys after the query may be seen. lengths: how much of each text of the batch is no padding; what is padding
    sees itself, so that no row is empty.
    """
    itself = distances(queries, keys, device) == 0
    parts = [pattern(name, queries, keys, reach, device)]
    parts += [None if future else causal(queries, keys, device), None if lengths is None else padding(lengths, keys) | itself]
    found = None
    for one in parts:
        if one is not None:
            found = one if found is None else found & one
    return found
