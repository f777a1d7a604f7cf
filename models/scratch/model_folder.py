"""Reads the folder of a from-scratch transformer: config.json, model.safetensors and, for texts, tokenizer.json."""

from __future__ import annotations

import json
from pathlib import Path

import torch
from safetensors.torch import load_model
from tokenizers import Tokenizer

from models.errors import ModelError, panics_caught
from models.files.weights_digest import files_now
from models.huggingface.folder import check_is_file
from models.huggingface.names import quoted, short
from models.numbers.finite import all_finite
from models.scratch.config import TransformerConfig
from models.scratch.decoder_model import DecoderModel
from models.scratch.encoder_decoder_model import EncoderDecoderModel
from models.scratch.encoder_model import EncoderModel
from models.scratch.image_model import ScratchImageModel
from models.scratch.initialisation import Unfilled
from models.scratch.model import ScratchModel
from models.scratch.signs import END, MASK, START
from models.scratch.transformer import build
from models.tokens import ByteLevelTokens

MOST_LAYERS = 1000
MODELS: dict[str, type[ScratchModel]] = {
    "decoder": DecoderModel,
    "encoder": EncoderModel,
    "encoder-decoder": EncoderDecoderModel,
}


def from_folder(folder: Path, name: str = "", dtype: str | None = None) -> ScratchModel:
    """Load the model from a folder that training wrote, with weights in float32, or in this dtype.

    name: of the model, if not that of its folder. Errors: ModelError for files that do not fit together.
    """
    for part in ("config.json", "model.safetensors"):
        _check_file(folder / part)
    try:
        with panics_caught():
            return _open(folder, name, dtype)
    except ModelError:
        raise
    except Exception as error:  # of JSON, safetensors, tokenizers and torch, each of its own kind
        raise ModelError(
            f"The folder {quoted(folder.name)} holds no transformer of ours that can be read: {short(error, 200)}"
        ) from error


def _check_file(file: Path) -> None:
    """Check that a file exists. Errors: ModelError."""
    check_is_file(file, file.parent.name)
    if not file.is_file():
        raise ModelError(f"The folder {quoted(file.parent.name)} is not complete: {file.name} is missing.")


def vocabulary_of(folder: Path) -> ByteLevelTokens:
    """Load only the tokenizer of such a folder. Errors: ModelError."""
    _check_file(folder / "tokenizer.json")
    try:
        with panics_caught():
            return ByteLevelTokens(Tokenizer.from_file(str(folder / "tokenizer.json")), START, END, MASK)
    except Exception as error:  # tokenizers has no kind of its own
        raise ModelError(f"The tokenizer in the folder {quoted(folder.name)} cannot be read: {short(error, 200)}") from error


def _open(folder: Path, name: str, dtype: str | None) -> ScratchModel:
    config = TransformerConfig(**json.loads((folder / "config.json").read_text(encoding="utf-8")))
    if not config.image:
        _check_file(folder / "tokenizer.json")
    if config.layers > MOST_LAYERS:
        raise ValueError(f"its config asks for {config.layers:,} layers, and at most {MOST_LAYERS} are built.")
    with Unfilled(), torch.device("meta"):
        needed = sum(p.numel() for p in build(config).parameters())
    file_bytes = (folder / "model.safetensors").stat().st_size
    if needed > file_bytes:  # two bytes each at the least; without this check, a config could fill the memory
        raise ValueError(f"its config asks for {needed:,} parameters, and the file of weights has {file_bytes:,} bytes.")
    with Unfilled():
        network = build(config)
    files = files_now([folder / "model.safetensors"])
    try:
        load_model(network, folder / "model.safetensors")
    except RuntimeError as error:  # torch's own words name each of them, and its classes
        raise ValueError("its config asks for other weights than its file holds.") from error
    if not all_finite(network.parameters()):
        raise ValueError("some of its weights are not numbers (NaN or infinite).")
    if dtype:
        for parameter in network.parameters():  # buffers, such as angles of positions, stay exact
            parameter.data = parameter.data.to(getattr(torch, dtype))
    model_type = ScratchImageModel if config.image else MODELS[config.kind]
    tokenizer = None if config.image else Tokenizer.from_file(str(folder / "tokenizer.json"))
    model = model_type(network, tokenizer, name or folder.name, "folder" if name else "Headlight")
    model.files = files
    return model
