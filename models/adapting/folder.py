"""Opens a folder that holds an adapter, such as peft writes it, together with the model that it was made for."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import torch

from models.adapting.network import at_strength, merged_weights
from models.errors import ModelError, panics_caught
from models.huggingface.folder import ADAPTER, read_json
from models.huggingface.names import is_folder_name, quoted, short
from models.numbers.finite import all_finite
from models.numbers.sizes import size

if TYPE_CHECKING:
    from models.language_model import LanguageModel

WEIGHTS = "adapter_model.safetensors"
LARGEST = 2 * 10**9  # bytes of an adapter's file
KINDS = {"LORA": "LoraConfig", "IA3": "IA3Config"}  # that become part of the weights
# What a folder may say of its adapter and matters for its numbers; whatever else it says is not handed to peft.
FIELDS = {
    "LORA": ("r", "lora_alpha", "use_rslora", "use_dora", "rank_pattern", "alpha_pattern"),
    "IA3": ("feedforward_modules",),
}
SHARED = ("target_modules", "fan_in_fan_out")
# What else a folder may say: it is of no matter once the adapter has learned.
PASSED_OVER = {
    "auto_mapping",
    "base_model_name_or_path",
    "corda_config",
    "eva_config",
    "inference_mode",
    "init_ia3_weights",
    "init_lora_weights",
    "loftq_config",
    "lora_dropout",
    "lora_ga_config",
    "megatron_core",
    "peft_type",
    "peft_version",
    "qalora_group_size",
    "revision",
    "task_type",
}


def base_of(folder: Path) -> str:
    """Return the name of the model that an adapter was made for. Errors: ModelError."""
    base = read_json(folder / ADAPTER, ADAPTER).get("base_model_name_or_path")
    if not isinstance(base, str) or not base:
        raise ModelError(f"The adapter in {quoted(folder.name)} does not name the model that it was made for.")
    if is_folder_name(base) and (Path(base).expanduser() / ADAPTER).is_file():
        raise ModelError(f"The adapter in {quoted(folder.name)} was made for another adapter, which is not opened here.")
    return base


def open_adapter(model: LanguageModel, folder: Path, strength: float = 1.0, name: str = "") -> LanguageModel:
    """Return a model with the adapter of a folder merged into its weights.

    model: the one that the adapter was made for; it stays as it is. strength: as in `at_strength`. name: of the new model.
    Errors: ModelError, a sentence, for an adapter that does not fit the model or cannot be opened.
    """
    config, kind = _config(folder), read_json(folder / ADAPTER, ADAPTER)["peft_type"]
    tensors = _tensors(folder)
    name = name or f"{Path(model.info.name).name} + {folder.name}"
    misfit = f"The adapter in {quoted(folder.name)} does not fit {quoted(model.info.name)}: "
    import peft

    try:
        network = peft.get_peft_model(model.copy_network(), config)
        result: Any = peft.set_peft_model_state_dict(network, tensors)
    except Exception as error:  # of peft and torch, each of its own kind
        raise ModelError(f"{misfit}{short(error, 160)} Open it with the model that it was made for.") from error
    expected = peft.get_peft_model_state_dict(network, save_embedding_layers=False)
    missing, left = sorted(expected.keys() - tensors.keys()), sorted(result.unexpected_keys)
    if missing or left:
        which = f"it lacks {quoted(missing[0])}" if missing else f"the model has no place for {quoted(left[0])}"
        raise ModelError(f"{misfit}{which}. Open it with the model that it was made for.")
    weights = merged_weights(network)
    if not all_finite(weights.values()):
        raise ModelError(f"Some weights of the adapter in {quoted(folder.name)} are not numbers (NaN or infinite).")
    source = f"{model.info.name} with an adapter ({kind})"
    return at_strength(model, weights, strength, name, source)


def _config(folder: Path) -> Any:
    """Return peft's config for a folder, with only those fields that this file knows. Errors: ModelError."""
    written = read_json(folder / ADAPTER, ADAPTER)
    kind = written.get("peft_type")
    if not isinstance(kind, str) or kind not in KINDS:
        raise ModelError(
            f"The adapter in {quoted(folder.name)} is of the kind {quoted(short(kind, 20))}. Only those that become part of the "
            f"weights are opened here: {' and '.join(KINDS)}."
        )
    for field in sorted(written.keys() - {*FIELDS[kind], *SHARED, *PASSED_OVER}):
        if written[field] and written[field] != "none":
            raise ModelError(
                f"The adapter in {quoted(folder.name)} uses {quoted(short(field, 40))}, which Headlight does not open."
            )
    import peft

    values = {field: written[field] for field in (*FIELDS[kind], *SHARED) if written.get(field) is not None}
    if not _are_plain(values):
        raise ModelError(
            f"{ADAPTER} in {quoted(folder.name)} cannot be read: it names its modules in a way that is not opened here."
        )
    try:
        return getattr(peft, KINDS[kind])(**values)
    except Exception as error:
        raise ModelError(f"{ADAPTER} in {quoted(folder.name)} cannot be read: {short(error, 160)}") from error


def _are_plain(values: dict[str, Any]) -> bool:
    """Return whether fields name modules one by one: peft takes a single string for a pattern, and a hostile one never ends."""
    lists = [values.get("target_modules", []), values.get("feedforward_modules", [])]
    patterns = [*values.get("rank_pattern", {}), *values.get("alpha_pattern", {})] if _are_dicts(values) else [None]
    names = [name for names in lists if isinstance(names, list) for name in names] + patterns
    simple = all(isinstance(name, str) and name.replace(".", "").replace("_", "").isalnum() for name in names)
    numbers = all(
        isinstance(values.get(field, 1), int | float) and 0 < values.get(field, 1) <= 10_000 for field in ("r", "lora_alpha")
    )
    return simple and numbers and all(isinstance(names, list) for names in lists)


def _are_dicts(values: dict[str, Any]) -> bool:
    return all(isinstance(values.get(field, {}), dict) for field in ("rank_pattern", "alpha_pattern"))


def _tensors(folder: Path) -> dict[str, torch.Tensor]:
    """Return the weights of an adapter. Errors: ModelError where they are not in safetensors, or are too large."""
    file = folder / WEIGHTS
    if not file.is_file():
        raise ModelError(
            f"{quoted(folder.name)} has no {WEIGHTS}. Weights in other formats can run code when they are opened, so Headlight "
            "does not open them: save the adapter again with a newer peft."
        )
    if file.stat().st_size > LARGEST:
        raise ModelError(f"The adapter in {quoted(folder.name)} is larger than {size(LARGEST)}: too large to open.")
    from safetensors.torch import load_file

    try:
        with panics_caught():
            return load_file(file)
    except Exception as error:
        raise ModelError(f"{WEIGHTS} in {quoted(folder.name)} cannot be read: {short(error, 160)}") from error
