"""The use that a mixture makes of its experts."""

from __future__ import annotations

import numpy as np


def in_use(shares: np.ndarray) -> float:
    """Return how many experts are in use, the mean over the mixtures: e to the entropy of their shares of the tokens.

    shares: float [mixture, expert], each row with the sum 1. The result is from 1, where each mixture sends all tokens to one
    expert, to the number of experts, where all of them get as many. Errors: ValueError without a mixture.
    """
    if not shares.size:
        raise ValueError("There is no mixture of experts here.")
    logs = np.log(np.where(shares > 0, shares, 1.0))
    return float(np.exp(-(shares * logs).sum(-1)).mean())
