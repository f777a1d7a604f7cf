"""A random network of GPT-2 small's size, the same for everybody, and how it is read plainly."""

from __future__ import annotations

import copy
from pathlib import Path

import torch
from torch import Tensor
from transformers import GPT2Config, GPT2LMHeadModel

BUILD = Path(__file__).parents[2] / "build" / "peers"
WEIGHTS = BUILD / "gpt2-small-random"
VOCABULARY = 50_257


def prepare() -> None:
    """Write the weights, once."""
    if (WEIGHTS / "model.safetensors").exists():
        return
    torch.manual_seed(0)
    # Wider than GPT-2's own start of 0.02: heads look at something, so that wrong maps would differ from right ones.
    GPT2LMHeadModel(GPT2Config(vocab_size=VOCABULARY, initializer_range=0.05)).save_pretrained(WEIGHTS)


def load() -> GPT2LMHeadModel:
    """The network as one runs it plainly: float32, the fused kernel (SDPA)."""
    network = GPT2LMHeadModel.from_pretrained(WEIGHTS, attn_implementation="sdpa", dtype=torch.float32)
    return network.eval().requires_grad_(False)


def twin(network: GPT2LMHeadModel, attention: str) -> GPT2LMHeadModel:
    """Another network on the very same weights in memory. attention: "sdpa" | "eager"."""
    with torch.device("meta"):
        other = GPT2LMHeadModel._from_config(copy.deepcopy(network.config), attn_implementation=attention)
    other.load_state_dict(network.state_dict(), assign=True)
    other.tie_weights()
    return other.eval().requires_grad_(False)


def tokens(length: int) -> Tensor:
    """Token ids [1, length], always the same."""
    return torch.randint(VOCABULARY, (1, length), generator=torch.Generator().manual_seed(length))


def inputs_for(ids: Tensor) -> dict:
    """Return the arguments with which every network here is called: no cache, and the logits of the last position only."""
    return {"input_ids": ids, "attention_mask": torch.ones_like(ids), "use_cache": False, "logits_to_keep": 1}
