"""The messages between a server and its replicas: safetensors with numbers and text, never code."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

import torch
from safetensors import SafetensorError
from safetensors.torch import load, save
from torch import Tensor

SAID = "headlight"


def pack(said: Mapping[str, Any], tensors: Mapping[str, Tensor] | None = None) -> bytes:
    """A message: what is said, as JSON can hold it, and tensors of any type by name."""
    alone = {
        name: one.detach().cpu().clone(memory_format=torch.contiguous_format) for name, one in (tensors or {}).items()
    }  # a view would bring all that it is a view of
    return save(alone, {SAID: json.dumps(said)})


def unpack(message: bytes) -> tuple[dict[str, Any], dict[str, Tensor]]:
    """What `pack` was given. Errors: ValueError for anything else."""
    try:
        head = json.loads(message[8 : 8 + int.from_bytes(message[:8], "little")])
        said = json.loads(head["__metadata__"][SAID])
        tensors = load(message)
    except (SafetensorError, ValueError, LookupError, TypeError, RecursionError) as error:
        raise ValueError("This is no message of Headlight.") from error
    if not isinstance(said, dict):
        raise ValueError("This is no message of Headlight.")
    return said, tensors
