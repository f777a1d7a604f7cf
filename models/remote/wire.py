"""The messages between replicas and the app: safetensors, which carry numbers and text and never code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

KEY = "headlight"


def pack(content: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None) -> bytes:
    """Pack a message: content that JSON can hold, and tensors of any type by name."""
    alone = {
        name: tensor.detach().cpu().clone(memory_format=torch.contiguous_format) for name, tensor in (tensors or {}).items()
    }  # a view would bring all that it is a view of
    return save(alone, {KEY: json.dumps(content)})


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """Return the content and tensors of a message of `pack`. Errors: ValueError for anything else."""
    try:
        head = json.loads(message[8 : 8 + int.from_bytes(message[:8], "little")])
        content = json.loads(head["__metadata__"][KEY])
        tensors = load(message)
    except (SafetensorError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError("This is no message of Headlight.") from error
    if not isinstance(content, dict):
        raise ValueError("This is no message of Headlight.")
    return content, tensors
