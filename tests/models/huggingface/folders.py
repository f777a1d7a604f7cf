"""Folders of small networks as the Hub has them: saved, changed, and refused."""

from __future__ import annotations

import json
from pathlib import Path

import pytest
import torch
import transformers as T

from models.errors import ModelError
from models.huggingface.open import open_model
from tests.models.networks import SIZE, tokenizer

IDS = torch.tensor([[5, 9, 40, 7, 200, 61]])


def save(built: T.PreTrainedModel, folder: Path, **how) -> Path:
    built.save_pretrained(folder, **how)
    kind = "encoder-decoder" if built.config.is_encoder_decoder else "encoder"
    tokenizer(kind).save_pretrained(folder)
    return folder


def fresh(architecture: str, config: str, **choices) -> T.PreTrainedModel:
    torch.manual_seed(1)
    return getattr(T, architecture)(getattr(T, config)(**SIZE | choices)).eval()


def output(network: T.PreTrainedModel) -> torch.Tensor:
    inputs = {"input_ids": IDS.to(network.device)}
    if network.config.is_encoder_decoder:
        inputs["decoder_input_ids"] = IDS
    with torch.inference_mode():
        return network(**inputs)[0]


def edit(folder: Path, **choices) -> None:
    file = folder / "config.json"
    file.write_text(json.dumps(json.loads(file.read_text()) | choices))


def refusal(folder: Path | str, **choices) -> str:
    """The sentence of a refusal: short, on one line, without a path into the library."""
    with pytest.raises(ModelError) as caught:
        open_model(str(folder), **choices)
    message = str(caught.value)
    assert message.isprintable() and len(message) < 400 and "Traceback" not in message
    return message
