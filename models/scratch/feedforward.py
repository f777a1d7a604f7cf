"""The second half of a block: what each position does by itself with what attention brought it."""

import torch.nn.functional as F
from torch import Tensor, nn


class GELU(nn.Module):
    """Two matrices with a smooth gate between: W_down GELU(W_up x).

    Source: Hendrycks and Gimpel 2016, "Gaussian Error Linear Units"; the form that GPT-2 uses.
    """

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, position, d_model]. Returns the same shape."""
        return self.down(F.gelu(self.up(x)))


class SwiGLU(nn.Module):
    """A gated feed-forward: W_down (SiLU(W_gate x) * W_up x).

    Source: Shazeer 2020, "GLU Variants Improve Transformer"; the form that Llama uses.
    """

    def __init__(self, d_model: int, d_ff: int):
        super().__init__()
        self.gate = nn.Linear(d_model, d_ff, bias=False)
        self.up = nn.Linear(d_model, d_ff, bias=False)
        self.down = nn.Linear(d_ff, d_model, bias=False)

    def forward(self, x: Tensor) -> Tensor:
        """x: [batch, position, d_model]. Returns the same shape."""
        return self.down(F.silu(self.gate(x)) * self.up(x))


FEEDFORWARD = {"gelu": GELU, "swiglu": SwiGLU}
