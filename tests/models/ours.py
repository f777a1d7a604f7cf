"""Small transformers of ours with random weights everywhere, those that start at zero or one too."""

from __future__ import annotations

import torch
from torch import Tensor

from models.scratch.transformer import Decoder, Encoder, EncoderDecoder, TransformerConfig, build

VOCABULARY = 40
SMALL = {"vocabulary": VOCABULARY, "context": 32, "d_model": 16, "layers": 2, "heads": 4, "d_ff": 20, "window": 4, "features": 8}


def small(seed: int = 0, **choices) -> Decoder | Encoder | EncoderDecoder:
    """A transformer of SMALL and these choices, ready to be read with."""
    torch.manual_seed(seed)
    network = build(TransformerConfig(**SMALL | choices)).eval()
    scramble(network)
    return network


def scramble(network: torch.nn.Module) -> None:
    """Random weights for every parameter: scales near 1, what mixes the text in a linformer above 0."""
    with torch.no_grad():
        for name, parameter in network.named_parameters():
            if name.endswith("mixing"):
                parameter.uniform_(0, 1)
            elif parameter.dim() == 1 and name.endswith("weight"):
                parameter.normal_(1, 0.2)
            else:
                parameter.normal_(0, 0.3)


def texts(count: int = 2, length: int = 12, seed: int = 1) -> Tensor:
    """Random ids [count, length]."""
    return torch.randint(VOCABULARY, (count, length), generator=torch.Generator().manual_seed(seed))


def answer(network: torch.nn.Module, ids: Tensor) -> Tensor:
    """Logits of any kind of transformer; one with two stacks reads the same ids as its source, backwards."""
    return network(ids.flip(1), ids) if isinstance(network, EncoderDecoder) else network(ids)
