"""Attention from layer to layer, of one pair of tokens or of the whole map."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.statistics import Report, keys_in_sight, silent
from models.numbers.ragged import stacked
from models.trace import Attention


@dataclass(frozen=True)
class Pair:
    """The attention from a query to a key in every head. weights: float32 [layers, heads]; ranks: int [layers, heads], 1 if no
    key gets more; keys: int [layers], how many the query can see there. A key that it cannot see has rank 0."""

    weights: np.ndarray
    ranks: np.ndarray
    keys: np.ndarray


def pair(attention: Attention, query: int, key: int, report: Report = silent) -> Pair:
    """Return the weight from a query to a key in every layer and head, and its rank among all visible keys.

    Errors: ValueError for an unknown position. report(share, words): called with the progress; it may raise to stop.
    """
    for name, place, count in (("query", query, len(attention.queries)), ("key", key, len(attention.keys))):
        if not 0 <= place < count:
            raise ValueError(f"There is no {name} at position {place}; positions go from 0 to {count - 1}.")
    weights, ranks, keys = [], [], []
    for layer in range(attention.layers):
        report(layer / attention.layers, f"Layer {attention.numbers[layer]}")
        rows = attention[layer][:, query]  # [heads, key]
        weights.append(rows[:, key])
        is_visible = bool((rows[:, key] > 0).any())
        ranks.append(((rows > rows[:, key, None]).sum(-1) + 1) * is_visible)
        keys.append(keys_in_sight(rows[:, None])[0])
    return Pair(stacked(weights), stacked(ranks), np.array(keys))


def maps(attention: Attention, head: int | None = None, report: Report = silent) -> np.ndarray:
    """Return the map of one head, or the mean of all heads, in each layer: float32 [layers, query, key], NaN where masked.

    Errors: ValueError for an unknown head. report(share, words): called with the progress; it may raise to stop.
    """
    if head is not None and not 0 <= head < attention.heads:
        raise ValueError(f"There is no head {head}; heads go from 0 to {attention.heads - 1}.")
    layer_maps = []
    for layer in range(attention.layers):
        report(layer / attention.layers, f"Layer {attention.numbers[layer]}")
        weights = attention[layer]
        chosen_map = (
            weights.mean(0) if head is None else weights[head] if head < len(weights) else np.full(weights.shape[1:], np.nan)
        )
        layer_map = chosen_map.astype(np.float32)
        layer_maps.append(np.where((weights > 0).any(0), layer_map, np.float32(np.nan)))
    return np.stack(layer_maps)


def strongest_key(mean: np.ndarray, query: int, itself: bool = True) -> int:
    """Return the key that gets most from a query. If the keys are the queries, the query itself is left out, and so is the first
    token, which often gets the attention that a head has no use for; if no other key is left, return the first.

    mean: [query, key], NaN where masked; itself: whether the keys are the queries.
    """
    row = np.nan_to_num(mean[query], copy=True)
    if itself:
        row[[0, query]] = 0
    return int(row.argmax())
