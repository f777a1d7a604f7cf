"""A from-scratch transformer out of its folder: config.json, model.safetensors and tokenizer.json."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_model
from tokenizers import Tokenizer

from models.scratch.config import TransformerConfig
from models.scratch.decoder_model import DecoderModel
from models.scratch.encoder_decoder_model import EncoderDecoderModel
from models.scratch.encoder_model import EncoderModel
from models.scratch.model import ScratchModel
from models.scratch.positions import NoPositions
from models.scratch.transformer import build

MODELS: dict[str, type[ScratchModel]] = {
    "decoder": DecoderModel,
    "encoder": EncoderModel,
    "encoder-decoder": EncoderDecoderModel,
}


def from_folder(folder: Path) -> ScratchModel:
    """The model of a folder that `models.scratch.training` wrote; its weights are computed with in float32."""
    config = TransformerConfig(**json.loads((folder / "config.json").read_text()))
    with torch.device("meta"):
        network = build(config)
    network.to_empty(device="cpu")
    load_model(network, folder / "model.safetensors")
    for part in network.modules():
        if isinstance(part, NoPositions):
            part.reset()  # what follows from the config is not in the file
    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    return MODELS[config.kind](network, tokenizer, folder.name, "Headlight")
