"""How much of each matrix an adaptation has changed, and in how many directions."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import torch
from torch import Tensor

if TYPE_CHECKING:
    from models.language_model import LanguageModel

MOST = 4096  # rows or columns of a matrix whose singular values are computed
SMALL = 1e-4  # of the largest singular value: what is below is rounding


@dataclass(frozen=True)
class Change:
    """The change of one matrix inside the layers: ΔW = W′ − W.

    part: its name within the layer, such as "attention.query". size: ‖ΔW‖ (Frobenius); share: ‖ΔW‖ / ‖W‖. singular: the singular
    values of ΔW, the largest first; empty for a matrix that is too large to compute them.
    """

    layer: int
    part: str
    size: float
    share: float
    singular: np.ndarray

    @property
    def rank(self) -> int:
        """The number of directions in which it changes: singular values above 0.0001 of the largest."""
        return int((self.singular > SMALL * self.singular[:1]).sum())


def measure_changes(model: LanguageModel, weights: Mapping[str, Tensor]) -> list[Change]:
    """Return the changes of the matrices inside a model's layers, in the order of the network.

    weights: the changed ones, by the names of the network's parameters."""
    before = dict(model.copy_network().named_parameters())
    changes = []
    for name, old in before.items():
        layer = next((int(part) for part in name.split(".") if part.isdigit()), None)
        if name not in weights or old.dim() != 2 or layer is None:
            continue
        difference = (weights[name] - old).float()
        part = name.partition(f".{layer}.")[2].removesuffix(".weight")
        computed = torch.linalg.svdvals(difference).numpy() if max(difference.shape) <= MOST else np.zeros(0, np.float32)
        size = float(difference.norm())
        changes.append(Change(layer, part, size, size / max(float(old.float().norm()), 1e-12), computed))
    return changes
