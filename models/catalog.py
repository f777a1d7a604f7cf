"""The models that ship with Headlight, and the functions that load a model or its tokenizer by name."""

from __future__ import annotations

import json
from functools import cache
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.adapting.strength import strength_of, without_strength
from models.errors import ModelError
from models.files.progress import Report, silent
from models.numbers.precision import name_of

if TYPE_CHECKING:
    from models.language_model import LanguageModel
    from models.tokens import Vocabulary

WEIGHTS = Path(__file__).parent / "weights"
ORDER = ("writer", "filler", "translator", "sorter")  # the easiest for a newcomer first
OF_IMAGES = ("digits",)


@cache
def names(reads: str = "text") -> tuple[str, ...]:
    """Return the models that ship with Headlight, in order. Their files are looked up once, as pages call this often.

    reads: what they read, "text" or "image". Errors: ValueError for anything else.
    """
    if reads not in ("text", "image"):
        raise ValueError(f'reads is "text" or "image"; it is {reads!r}.')
    return tuple(name for name in (ORDER if reads == "text" else OF_IMAGES) if (WEIGHTS / name / "model.safetensors").is_file())


def ships(name: str) -> bool:
    """Return whether a model ships with Headlight, whatever it reads."""
    return name in names() or name in names("image")


def load(
    name: str, device: str | None = None, report: Report = silent, dtype: Any = None, reads: str | None = None
) -> LanguageModel:
    """Load a model: one that ships, a name on the Hugging Face Hub ("gpt2"), or a local folder ("./folder").

    A folder that holds an adapter, as peft writes it, opens as the model that it names with the adapter in its weights, also at a
    part of its strength ("./folder at 50 %").

    device: where a model of transformers computes, "cpu", "cuda", …; None: a GPU where there is one and the model fits. The
    transformers of our own compute on the CPU.
    report: is called with the progress of loading, and may raise `Cancelled` to stop it.
    dtype: what it calculates with, "float32", "bfloat16" or "float16", or torch's type of that name; None: float32 where it fits,
    else 16 bits. Traces are float32 arrays all the same. In 16 bits the identities that the docstrings name hold to about 1e-3
    (float16) or 1e-2 (bfloat16) of the largest number, where in float32 they hold to 1e-5; scores and the softmax of the maps are
    computed in float32, so their rows sum to 1. `info.dtype` and `info.notes` name the type.
    reads: what it must read, "text" or "image"; another model is refused before its weights are downloaded. None: either.
    Errors: ModelError, with a sentence for the person who asked; TypeError for a name that is no str; ValueError for
    another dtype.
    """
    if not isinstance(name, str | PathLike):
        raise TypeError(f'A model is named by a str, such as {names()[0]!r} or "gpt2"; this is of type {type(name).__name__}.')
    name, wanted = str(name), None if dtype is None else name_of(dtype)
    if ships(name) or own(name):
        from models.huggingface.folder import check_reads
        from models.scratch.model_folder import from_folder

        _check_cpu(name, device)
        folder = (WEIGHTS / name, "") if ships(name) else (Path(name).expanduser(), name)
        own_model = from_folder(*folder, dtype=wanted)
        check_reads(own_model.info.reads[0], reads, name)
        return own_model
    if adapter := adapter_folder(name):
        from models.adapting.folder import base_of, open_adapter

        base = load(base_of(adapter), device, report, dtype, reads)
        return open_adapter(base, adapter, strength_of(name), name)
    from dataclasses import fields

    from models.huggingface.image_model import HuggingFaceImageModel
    from models.huggingface.model import HuggingFaceModel
    from models.huggingface.open import open_model
    from models.huggingface.trial import plainly

    loaded = open_model(name, device, report, wanted, reads)
    facts = {field.name: getattr(loaded, field.name) for field in fields(loaded)}
    model_type = HuggingFaceImageModel if facts.pop("reads") == "image" else HuggingFaceModel
    with plainly(name):
        return model_type(**facts)


def load_tokenizer(name: str, report: Report = silent) -> Vocabulary:
    """Load only the tokenizer of a model, by the names of `load`: no weight is downloaded or read. Errors: ModelError."""
    if name in names("image"):
        raise ModelError(f"“{name}” reads images, so it has no tokenizer: load the model, and call `model.tokenize(image)`.")
    if name in names() or own(name):
        from models.scratch.model_folder import vocabulary_of

        return vocabulary_of(WEIGHTS / name if name in names() else Path(name).expanduser())
    if adapter := adapter_folder(name):
        from models.adapting.folder import base_of

        return load_tokenizer(base_of(adapter), report)
    from models.huggingface.open import open_vocabulary

    return open_vocabulary(name, report)


def _check_cpu(name: str, device: str | None) -> None:
    """Check the device for a transformer of our own. Errors: ModelError for an unknown device, and for any but the CPU."""
    if not device:
        return
    import torch

    from models.huggingface.memory import free_on
    from models.huggingface.names import quoted

    free_on(device)
    if torch.device(device).type != "cpu":
        raise ModelError(f"{quoted(name)} is a transformer of our own, which computes on the CPU: leave out the device.")


def load_adapted(base: LanguageModel, folder: Path, strength: float = 1.0, name: str = "") -> LanguageModel:
    """Return a model as a folder of `Teaching.write` changes it, at a strength from 0 to 1: by an adapter, or in all its weights.
    Errors: ModelError."""
    from models.adapting.folder import ADAPTER, open_adapter
    from models.adapting.network import at_strength

    if (folder / ADAPTER).is_file():
        return open_adapter(base, folder, strength, name)
    weights = dict(load(str(folder)).copy_network().named_parameters())
    return at_strength(base, weights, strength, name, "all weights taught")


def adapter_folder(name: str) -> Path | None:
    """Return the folder of an adapter that a name names, at any strength; None for other names, and where a whole model is."""
    from models.huggingface.names import is_folder_name

    if not is_folder_name(name):
        return None
    folder = Path(without_strength(name)).expanduser()
    return folder if (folder / "adapter_config.json").is_file() and not (folder / "config.json").exists() else None


def own(name: str) -> bool:
    """Return whether a name is the folder of a transformer of our own, as training writes it: its config has only our fields."""
    from dataclasses import fields

    from models.huggingface.names import is_folder_name
    from models.scratch.config import TransformerConfig

    if not is_folder_name(name):
        return False
    folder = Path(name).expanduser()
    if not (folder / "config.json").is_file():
        return False
    try:
        config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return isinstance(config, dict) and {"kind"} <= set(config) <= {field.name for field in fields(TransformerConfig)}
