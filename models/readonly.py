"""Arrays and mappings that are handed out while they are remembered: they can be read, not written into."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from torch import Tensor


def read_only(array: np.ndarray) -> np.ndarray:
    """A view of an array that refuses to be written into; the array itself stays as it is, and nothing is copied."""
    if not array.flags.writeable:
        return array
    view = array.view()
    view.flags.writeable = False
    return view


def frozen(arrays: Mapping[str, np.ndarray]) -> Mapping[str, np.ndarray]:
    """Arrays by name, which can be neither replaced nor written into."""
    return MappingProxyType({name: read_only(array) for name, array in arrays.items()})


def array_of(tensor: Tensor) -> np.ndarray:
    """The numbers of a tensor, read-only: float32 of its shape. They share its memory where it is float32 on a CPU."""
    return read_only(tensor.detach().float().cpu().numpy())
