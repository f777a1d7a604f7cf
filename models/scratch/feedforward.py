"""Feed-forwards, the second half of a block: each position transforms by itself what attention brought to it."""

from __future__ import annotations

from collections.abc import Callable

import torch
import torch.nn.functional as F
from torch import Tensor, nn

from models.scratch.config import TransformerConfig


class FeedForward(nn.Module):
    """Two matrices with an activation between: W_down f(W_up x). Subclasses define f."""

    activation: Callable[[Tensor], Tensor]

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.bias)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, position, d_model]. Returns the same shape."""
        return self.down(self.activation(self.up(x)))


class ReLU(FeedForward):
    """f(x) = max(0, x) (Vaswani et al. 2017, eq. 2)."""

    activation = staticmethod(F.relu)


class GELU(FeedForward):
    """f(x) = x Φ(x), with Φ the normal distribution (Hendrycks and Gimpel 2016, "Gaussian Error Linear Units"; BERT)."""

    activation = staticmethod(F.gelu)


class TanhGELU(FeedForward):
    """f(x) = x / 2 · (1 + tanh(√(2/π) (x + 0.044715 x³))), which comes close to GELU (the same paper; GPT-2)."""

    @staticmethod
    def activation(x: Tensor) -> Tensor:
        return F.gelu(x, approximate="tanh")


class SwiGLU(nn.Module):
    """A gated feed-forward: W_down (SiLU(W_gate x) * W_up x) (Shazeer 2020, "GLU Variants Improve Transformer"; Llama)."""

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.gate = nn.Linear(config.d_model, config.d_ff, bias=config.bias)
        self.up = nn.Linear(config.d_model, config.d_ff, bias=config.bias)
        self.down = nn.Linear(config.d_ff, config.d_model, bias=config.bias)

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, position, d_model]. Returns the same shape."""
        return self.down(F.silu(self.gate(x)) * self.up(x))


class MixtureOfExperts(nn.Module):
    """Several feed-forwards, of which each token uses the k that a router finds best: Σ over them of p_e · expert_e(x).

    p is the softmax of the router's scores over the k chosen ones (Jiang et al. 2024, "Mixtral of Experts"; Shazeer et al. 2017).
    `balance` is the loss of the last forward that keeps experts in use alike: E · Σ_e (share of tokens at e) · (mean p of e), 1
    when they are (Fedus, Zoph and Shazeer 2022, "Switch Transformers", eq. 4). `shares` is the share of tokens at each
    expert then: [expert], sum 1.
    """

    def __init__(self, config: TransformerConfig):
        super().__init__()
        self.used = config.experts_used
        self.router = nn.Linear(config.d_model, config.experts, bias=False)
        self.experts = nn.ModuleList(FEEDFORWARD[config.feedforward](config) for _ in range(config.experts))
        self.balance: Tensor | None = None
        self.shares: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, position, d_model]. Returns the same shape."""
        tokens = x.flatten(0, -2)  # [token, d_model]
        scores = self.router(tokens)  # [token, experts]
        scores = scores.to(torch.promote_types(scores.dtype, torch.float32))  # bfloat16 is too coarse to share by
        best, chosen = scores.topk(self.used)  # 2 x [token, used]
        shares = best.softmax(-1).to(x.dtype)
        out = torch.zeros_like(tokens)
        for number, expert in enumerate(self.experts):
            token, rank = torch.where(chosen == number)  # the tokens that chose it, and the rank of that choice
            out = out.index_add(0, token, expert(tokens[token]) * shares[token, rank, None])
        count = len(self.experts)
        at = torch.zeros_like(scores).scatter(1, chosen, 1.0).mean(0) / self.used
        self.balance, self.shares = count * (at * scores.softmax(-1).mean(0)).sum(), at
        return out.view_as(x)


FEEDFORWARD = {"relu": ReLU, "gelu": GELU, "gelu-tanh": TanhGELU, "swiglu": SwiGLU}


def feedforward(config: TransformerConfig) -> nn.Module:
    """Build the feed-forward of a block, one or a mixture."""
    return MixtureOfExperts(config) if config.experts > 1 else FEEDFORWARD[config.feedforward](config)


def balance(network: nn.Module) -> Tensor:
    """Return the mean `balance` of all mixtures after a forward pass, to be added to the loss with a weight such as 0.01.

    Errors: ValueError without a mixture that has read something.
    """
    losses = [mixture.balance for mixture in _mixtures(network) if mixture.balance is not None]
    if not losses:
        raise ValueError("There is no mixture of experts here that has read something.")
    return torch.stack(losses).mean()


def expert_shares(network: nn.Module) -> Tensor:
    """Return the share of tokens at each expert of each mixture in the last forward pass: [mixture, expert]; [0, 0] without
    mixtures."""
    shares = [mixture.shares for mixture in _mixtures(network) if mixture.shares is not None]
    return torch.stack(shares) if shares else torch.zeros(0, 0)


def _mixtures(network: nn.Module) -> list[MixtureOfExperts]:
    return [module for module in network.modules() if isinstance(module, MixtureOfExperts)]
