"""Mixed precision: a step's products in fewer bits, and a scale that keeps gradients above float16's smallest number."""

from __future__ import annotations

from contextlib import AbstractContextManager, nullcontext

import torch
from torch import Tensor, nn

SCALED = "float16 scaled"
PRECISIONS = ("float32", "bfloat16", "float16", SCALED)
LOST = 2.0**-25  # what is smaller becomes 0 in float16, whose smallest number is twice as large
FIRST, GROWTH, INTERVAL = 2.0**16, 2.0, 2000  # as in torch.amp.GradScaler


def autocast(precision: str) -> AbstractContextManager[object]:
    """Return the context in which torch computes matrix products in that precision; weights stay in float32.

    Errors: ValueError for a precision that is not in PRECISIONS."""
    if precision not in PRECISIONS:
        raise ValueError(f"The precision must be one of {', '.join(PRECISIONS)}; it is {precision!r}.")
    if precision == "float32":
        return nullcontext()
    return torch.autocast("cpu", dtype=torch.bfloat16 if precision == "bfloat16" else torch.float16)


class LossScale:
    """A factor of the loss, and so of all gradients, that follows the range of float16.

    It is halved when a gradient is infinite or no number, and that step is left out; it is doubled after INTERVAL steps without.
    Source: Micikevicius et al. 2018, "Mixed Precision Training", section 3.2; constants of torch.amp.GradScaler. A precision
    without scaling has the factor 1 for ever."""

    def __init__(self, precision: str) -> None:
        self.is_used = precision == SCALED
        self.factor = FIRST if self.is_used else 1.0
        self.skipped = 0  # steps that were left out
        self._good = 0  # steps since the factor has changed

    def apply(self, loss: Tensor) -> Tensor:
        return loss * self.factor if self.is_used else loss

    def undo(self, network: nn.Module) -> None:
        """Divide the gradients by the factor."""
        if self.is_used:
            for parameter in network.parameters():
                if parameter.grad is not None:
                    parameter.grad /= self.factor

    def grow(self) -> None:
        """Note a step that went well."""
        self._good += self.is_used
        if self.is_used and self._good == INTERVAL:
            self.factor, self._good = self.factor * GROWTH, 0

    def shrink(self) -> bool:
        """Note a step whose gradient was no number; return whether it may be left out: not where nothing is left to halve."""
        if not self.is_used or self.factor <= 1:
            return False
        self.factor, self._good, self.skipped = self.factor / GROWTH, 0, self.skipped + 1
        return True
