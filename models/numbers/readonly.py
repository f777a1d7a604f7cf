"""Read-only arrays and mappings, for values that are handed out and remembered at the same time."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


def read_only(array: np.ndarray) -> np.ndarray:
    """Return a read-only view of an array; the array itself stays as it is, and nothing is copied."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def frozen(arrays: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Return arrays by name in a mapping where they can be neither replaced nor written into."""
    return MappingProxyType({name: read_only(array) for name, array in arrays.items()})


def array_of(tensor: Tensor) -> np.ndarray:
    """Return a tensor as a read-only float32 array. It shares the memory of a float32 tensor on the CPU."""
    return read_only(tensor.detach().float().cpu().numpy())
