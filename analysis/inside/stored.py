"""Weights as the model stores them: float32 weights in memory are used directly, others are converted part by part on demand."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from models.numbers.readonly import array_of

if TYPE_CHECKING:
    from torch import Tensor

AT_ONCE = 2**24  # numbers that become float32 at a time


class StoredMatrix:
    """A matrix in 16 bits or on another device; indexing returns a float32 array."""

    def __init__(self, tensor: Tensor):
        self.tensor = tensor
        self.shape = tuple(tensor.shape)

    def __len__(self) -> int:
        return self.shape[0]

    def __getitem__(self, index: Any) -> np.ndarray:
        return array(self.tensor[index])


Matrix = np.ndarray | StoredMatrix


def array(value: Any) -> np.ndarray:
    """Return a tensor as a float32 array."""
    return array_of(value)


def matrix(tensor: Tensor) -> Matrix:
    """Return weights to index and multiply with; those of a large model stay in 16 bits, as memory would not hold both."""
    tensor = tensor.detach()
    plain = tensor.device.type == "cpu" and str(tensor.dtype) == "torch.float32"
    return array_of(tensor) if plain else StoredMatrix(tensor)


def times(x: np.ndarray, weight: Matrix, rows: np.ndarray | None = None) -> np.ndarray:
    """Return x [token, n] times these rows of a matrix [out, n], or all of them: float32 [token, row]."""
    if isinstance(weight, np.ndarray):
        return x @ (weight if rows is None else weight[rows]).T
    rows = np.arange(len(weight)) if rows is None else rows
    size = max(1, AT_ONCE // weight.shape[1])
    return np.concatenate([x @ weight[rows[start : start + size]].T for start in range(0, len(rows), size)], axis=-1)
