"""Writes the folder of a from-scratch transformer: config.json and model.safetensors."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import save_file
from torch import nn

from models.scratch.config import TransformerConfig


def write_weights(model: nn.Module, config: TransformerConfig, out: Path, dtype: torch.dtype = torch.float16) -> None:
    """Write the weights as safetensors, each once, and the config beside them."""
    weights = {name: p for name, p in model.state_dict().items() if name not in shared(model)}
    save_file({name: p.detach().to(dtype).cpu().contiguous() for name, p in weights.items()}, out / "model.safetensors")
    (out / "model.safetensors").chmod(0o644)  # safetensors makes it readable for its owner only
    (out / "config.json").write_text(json.dumps({"kind": config.kind} | config.changed(), indent=2) + "\n")


def shared(model: nn.Module) -> set[str]:
    """Return the names of weights that repeat another one, such as the decoder's embedding, which is the encoder's."""
    names = {name for name, _ in model.named_parameters()}
    return {name for name, _ in model.named_parameters(remove_duplicate=False)} - names
