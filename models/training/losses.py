"""The loss for tokens: more of the right token, less of those that the model should not repeat."""

from __future__ import annotations

from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

IGNORED = -100  # as a target: a position that is not predicted
NONE = -1  # among the tokens to avoid: no token
POSITIONS = 1024  # the number whose logits are in memory at once
LEAST = 0.01  # of 1 − p, by which a gradient is divided


@torch.compiler.disable
def token_loss(x: Tensor, unembedding: Tensor, targets: Tensor, avoided: Tensor | None = None, strength: float = 1.0) -> Tensor:
    """Return the mean of −log p(target), plus strength times the mean of −Σ log(1 − p(c)) over the tokens c to avoid.

    x [position, d_model] is the input of the unembedding [vocabulary, d_model], after the final norm; targets [position], IGNORED
    where nothing is predicted; avoided [position, most], each token once, NONE where there is none. The first mean is over the
    positions with a target, the second over all: rare repetitions weigh little. The gradient is computed along with it, for some
    positions at a time: the logits of all of them are never in memory, and their softmax is taken once.
    Source: Welleck et al. 2020, "Neural Text Generation with Unlikelihood Training", eq. 4; section 5.2 for continuations.
    """
    if avoided is None:
        avoided = targets.new_full((len(targets), 1), NONE)
    return _TokenLoss.apply(x, unembedding, targets, avoided, strength)


class _TokenLoss(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, x: Tensor, unembedding: Tensor, targets: Tensor, avoided: Tensor, strength: float) -> Tensor:
        right, wrong = targets != IGNORED, (avoided != NONE).any(-1)
        share = right / right.sum().clamp(min=1)  # [position]: of each in the mean
        blame = strength * wrong / len(wrong)
        used = torch.nonzero(right | wrong)[:, 0]
        loss = torch.zeros((), device=x.device)
        of_x, of_unembedding = torch.zeros_like(x), torch.zeros_like(unembedding)
        for positions in used.split(POSITIONS):
            read = x[positions]
            p = F.linear(read, unembedding).softmax(-1)  # [position, vocabulary]
            target, share_here, blame_here = (
                targets[positions].clamp(min=0)[:, None],
                share[positions, None],
                blame[positions, None],
            )
            likely = p.gather(1, target).float()
            loss -= (share_here * likely.clamp(min=1e-30).log()).sum()
            # −log p of t has the gradient p − 1[t] in the logits, −log(1 − p) of c has p_c / (1 − p_c) · (1[c] − p).
            row, column = torch.nonzero(avoided[positions] != NONE, as_tuple=True)
            other = avoided[positions][row, column]
            chance = p[row, other].float()
            rest = (1 - chance).clamp(min=LEAST)
            loss -= (blame_here[row, 0] * rest.log()).sum()
            push = blame_here[row, 0] * chance / rest
            pull = (share_here[:, 0].index_add(0, row, -push))[:, None]
            own = blame_here[row, 0] * chance + chance * (
                pull[row, 0] + push
            )  # its own and the others' part: exact where p is about 1
            p *= pull.to(p.dtype)
            p[row, other] = own.to(p.dtype)
            p.scatter_add_(1, target, -share_here.to(p.dtype))
            of_x[positions] = (p @ unembedding.to(p.dtype)).to(x.dtype)
            of_unembedding += p.T @ read.to(p.dtype)
        ctx.save_for_backward(of_x, of_unembedding)
        return loss

    @staticmethod
    def backward(ctx: Any, slope: Tensor) -> tuple[Tensor | None, ...]:
        of_x, of_unembedding = ctx.saved_tensors
        return of_x * slope.to(of_x.dtype), of_unembedding * slope, None, None, None
