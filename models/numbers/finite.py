"""Whether all numbers of tensors are finite."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from torch import Tensor


def all_finite(tensors: Iterable[Tensor]) -> bool:
    """Return whether no number of any tensor is NaN or infinite.

    A sum is not finite if one of its terms is not, and takes a tenth of the time of a look at each; only where large numbers may
    have overflowed it are the terms looked at.
    """
    import torch

    return all(bool(torch.isfinite(tensor.sum(dtype=torch.float32))) or bool(torch.isfinite(tensor).all()) for tensor in tensors)
