"""Networks without attention that learn the tasks of a transformer: torch's own LSTM, GRU and causal convolution."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache

import torch
from torch import Tensor, nn
from torch.nn import functional as F

from models.scratch.config import TransformerConfig
from models.scratch.initialisation import Unfilled
from models.scratch.transformer import Decoder, build

BASELINES = ("lstm", "gru", "convolution")
WIDEST = 4096  # the width up to which `matching` looks
KERNEL = 4  # tokens that a convolution sees: its own and those before it


@dataclass(frozen=True)
class BaselineConfig:
    """The sizes of a network without attention. network: BASELINES; d_model: the numbers of a token between two layers.

    Errors: ValueError for a network that does not exist or a size below 1.
    """

    network: str
    layers: int
    d_model: int
    vocabulary: int
    context: int
    dropout: float = 0.0

    def __post_init__(self) -> None:
        if self.network not in BASELINES:
            raise ValueError(f"The network must be one of {', '.join(BASELINES)}; it is {self.network!r}.")
        if min(self.layers, self.d_model, self.vocabulary, self.context) < 1:
            raise ValueError("Layers, width, vocabulary and context must be at least 1.")

    @property
    def heads(self) -> int:
        """The number of attention heads, which is none."""
        return 0


class Recurrent(nn.Module):
    """A layer of torch's LSTM or GRU: [batch, position, width] to the same."""

    def __init__(self, kind: Callable[..., nn.LSTM | nn.GRU], width: int) -> None:
        super().__init__()
        self.cells = kind(width, width, batch_first=True)

    def forward(self, stream: Tensor) -> Tensor:
        return self.cells(stream)[0]


class Convolution(nn.Module):
    """A causal convolution over KERNEL tokens, GELU, and the residual: [batch, position, width] to the same."""

    def __init__(self, width: int) -> None:
        super().__init__()
        self.mixing = nn.Conv1d(width, width, KERNEL)

    def forward(self, stream: Tensor) -> Tensor:
        past = F.pad(stream.transpose(1, 2), (KERNEL - 1, 0))
        return stream + F.gelu(self.mixing(past)).transpose(1, 2)


class Baseline(nn.Module):
    """An embedding, layers without attention, and an unembedding of its own, all as torch fills them.

    It takes ids [batch, position] and returns logits [batch, position, vocabulary]; a position depends on those up to it alone.
    """

    def __init__(self, config: BaselineConfig) -> None:
        super().__init__()
        layer: Callable[[], nn.Module] = {
            "lstm": lambda: Recurrent(nn.LSTM, config.d_model),
            "gru": lambda: Recurrent(nn.GRU, config.d_model),
            "convolution": lambda: Convolution(config.d_model),
        }[config.network]
        self.embedding = nn.Embedding(config.vocabulary, config.d_model)
        self.blocks = nn.ModuleList(layer() for _ in range(config.layers))
        self.unembedding = nn.Linear(config.d_model, config.vocabulary)
        self.dropout = nn.Dropout(config.dropout)

    def forward(self, ids: Tensor) -> Tensor:
        stream = self.dropout(self.embedding(ids))
        for block in self.blocks:
            stream = self.dropout(block(stream))
        return self.unembedding(stream)


Config = TransformerConfig | BaselineConfig


def network_of(config: Config) -> Decoder | Baseline:
    """Return a new network of a config: a baseline, or a transformer that is a decoder."""
    if isinstance(config, BaselineConfig):
        return Baseline(config)
    network = build(config)
    assert isinstance(network, Decoder), "its config is that of a decoder"
    return network


def count_parameters(network: Callable[[], nn.Module]) -> int:
    """Return how many parameters a network has, without filling them."""
    with Unfilled(), torch.device("meta"):  # filling it would load torch's compiler
        return sum(parameter.numel() for parameter in network().parameters())


@lru_cache(maxsize=64)  # a page asks for the same one at each of its runs
def matching(network: str, config: TransformerConfig) -> BaselineConfig:
    """Return the baseline of as many layers as a transformer, and of the width that brings it nearest to its parameters.

    Errors: ValueError for a network that does not exist.
    """
    wanted = count_parameters(lambda: build(config))

    def sized(width: int) -> BaselineConfig:
        return BaselineConfig(network, config.layers, width, config.vocabulary, config.context, config.dropout)

    low, high = 1, WIDEST
    while high - low > 1:  # parameters grow with the width
        middle = (low + high) // 2
        if count_parameters(lambda: Baseline(sized(middle))) <= wanted:  # noqa: B023 called at once
            low = middle
        else:
            high = middle
    return min((sized(low), sized(high)), key=lambda each: abs(count_parameters(lambda: Baseline(each)) - wanted))
