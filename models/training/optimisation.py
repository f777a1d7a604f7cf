"""Optimisation: the loss, the optimizers with their learning rates, and one update of the weights."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import torch
from torch import Tensor, nn

from models.training.optimizers import AdamW, Muon, Optimizer

IGNORED = -100  # as a target: a position that is not predicted


class DivergedError(ValueError):
    """A loss or gradient that is NaN or infinite; the weights are those from before."""


def smoothed_loss(logits: Tensor, targets: Tensor, smoothing: float = 0.0) -> Tensor:
    """Return the mean over the targets of −Σ_v q_v log p_v in nats, q being 1 − ε on the target and ε / V more on every token
    alike.

    logits: [..., vocabulary], of any float type; targets: int [...], IGNORED where nothing is predicted. smoothing: ε, 0 for the
    plain cross entropy. Source: Szegedy et al. 2016, "Rethinking the Inception Architecture", section 7.
    Errors: ValueError when ε is not from 0 to 1, and when no target is left.
    """
    if not 0 <= smoothing <= 1:
        raise ValueError(f"Label smoothing is a share, from 0 to 1; it is {smoothing}.")
    predicted = targets != IGNORED
    if not predicted.any():
        raise ValueError("There is nothing to predict: every target is ignored.")
    logs = logits[predicted]
    logs = logs.to(torch.promote_types(logs.dtype, torch.float32)).log_softmax(-1)  # [predicted, vocabulary]
    right = logs.gather(-1, targets[predicted, None])[:, 0]  # [predicted]
    return -((1 - smoothing) * right + smoothing * logs.mean(-1)).mean()


def adamw(model: nn.Module, decay: float = 0.1, betas: tuple[float, float] = (0.9, 0.95)) -> AdamW:
    """Return AdamW for all weights: matrices and embeddings shrink by rate · decay a step, biases and norms do not."""
    return AdamW(decaying(model, decay), betas)


def decaying(model: nn.Module, decay: float) -> list[tuple[Tensor, float]]:
    """Return the weights that learn, each with its decay: that of biases and norms is 0."""
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    return [(parameter, decay if parameter.dim() >= 2 else 0.0) for parameter in parameters]


def muon_and_adamw(model: nn.Module, matrix_decay: float = 0.05) -> tuple[Muon, AdamW]:
    """Return Muon for the matrices inside the blocks, which updates all directions alike; AdamW for embeddings, norms, biases."""
    inside = [parameter for name, parameter in model.named_parameters() if "blocks." in name and parameter.dim() == 2]
    others = [parameter for name, parameter in model.named_parameters() if not ("blocks." in name and parameter.dim() == 2)]
    return Muon((parameter, matrix_decay) for parameter in inside), AdamW((parameter, 0.0) for parameter in others)


def update(
    model: nn.Module,
    optimizers: Iterable[tuple[Optimizer, float]],
    loss: Tensor | Iterable[Tensor],
    clip: float = 1.0,
    watch: Callable[[], None] = lambda: None,
) -> float:
    """Update the weights by one step down the gradient of a loss, clipped to norm `clip`; math.inf leaves it as it is.

    optimizers: each with its learning rate at this step, for different weights of the model. loss: or parts that sum to it, of
    which only one is in memory at a time. watch: called once the gradient is there, before it is clipped.
    Returns the norm of the gradient before that. Source of clipping: Pascanu, Mikolov and Bengio 2013, "On the difficulty of
    training recurrent neural networks", algorithm 1. Errors: DivergedError, with the weights left as they are, when the loss or
    the norm is infinite or no number.
    """
    optimizers, total = list(optimizers), 0.0
    model.zero_grad(set_to_none=True)
    for part in [loss] if isinstance(loss, Tensor) else loss:
        part.backward()
        total += part.item()
    watch()
    norm = float(nn.utils.clip_grad_norm_(model.parameters(), clip))
    if not (math.isfinite(norm) and math.isfinite(total)):
        model.zero_grad(set_to_none=True)
        raise DivergedError(f"The loss is {total:.3g} and the norm of its gradient {norm:.3g}. Try a lower learning rate.")
    for optimizer, rate in optimizers:
        optimizer.step(rate)
    return norm
