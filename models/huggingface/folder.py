"""A folder in the Hub's format, inspected before anything is loaded from it.

Nothing here needs torch: JSON, and the headers of the safetensors files
(https://github.com/huggingface/safetensors, "Format": 8 bytes of header length, a JSON header, then the tensors).
"""

from __future__ import annotations

import json
import math
import os
import re
import struct
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from models.errors import ModelError
from models.huggingface.names import quoted, short

CONFIG, SINGLE, INDEX = "config.json", "model.safetensors", "model.safetensors.index.json"
BITS = {
    **dict.fromkeys(("F64", "I64", "U64", "C64"), 64),
    **dict.fromkeys(("F32", "I32", "U32"), 32),
    **dict.fromkeys(("F16", "BF16", "I16", "U16"), 16),
    **dict.fromkeys(("BOOL", "U8", "I8", "F8_E4M3", "F8_E5M2", "F8_E8M0", "F8_E4M3FNUZ", "F8_E5M2FNUZ"), 8),
    **dict.fromkeys(("F6_E2M3", "F6_E3M2"), 6),
    "F4": 4,
}
HEADER_LIMIT = 100_000_000  # bytes, as in the safetensors library
JSON_LIMIT, CONFIG_LIMIT = 50_000_000, 5_000_000  # bytes
# What no model comes near, by the names of its settings: more would fill the memory while the network is only sketched.
LIMITS = (
    (re.compile(r"^(?!(vocab|hidden)_size).*layer(?!.*(_id|_dim|_size)$)"), 2_000),
    (re.compile(r"^(?!.*_(ids?|dim|size|rank|capacity|len|length|channels|width|vocab)$).*(group|block|stage)"), 2_000),
    (re.compile(r"^(?!.*_(ids?|dim|size|rank|capacity)$).*expert"), 20_000),  # Doge has 16,384, which are rows of a matrix
    (re.compile(r"^(d|n|num)_|_(dim|size|rank|heads|experts)$|position|seq_len"), 100_000_000),
)

# What a tokenizer is made of, by the names that transformers looks for.
VOCABULARY = re.compile(
    r"tokenizer\.json|(?:vocab|encoder|merges|dict|bpe|added_tokens|entity_vocab|vocab-\w+)\.(?:json|txt|codes|bpe)|bpe\.codes"
    r"|[\w.-]+\.(?:model|spm|tiktoken|tokenizer|vocab)",
    re.ASCII,
)
ADAPTER = "adapter_config.json"
PROCESSORS = ("preprocessor_config.json", "processor_config.json")  # how an image becomes numbers
# Types of models that read images, beside those whose config names a head for labels of images.
IMAGE_TYPES = {"beit", "data2vec-vision", "deit", "dinov2", "dinov2_with_registers", "dinov3_vit", "hiera", "ijepa", "swin"}
IMAGE_TYPES |= {"swinv2", "vit", "vit_mae", "vit_msn", "clip", "metaclip_2", "siglip", "siglip2"}
BESIDE = {
    *PROCESSORS,
    "tokenizer_config.json",
    "special_tokens_map.json",
    "generation_config.json",
    "chat_template.jinja",
    ADAPTER,
}
WRAPPERS = re.compile(r"(?:^|(?<=\.))_orig_mod\.")  # what torch.compile puts into the names of a network's weights
ADAPTER_ALONE = "{} holds an adapter (such as LoRA), not a whole model. Load the model that it belongs to."
PICKLES = (".bin", ".pt", ".pth", ".ckpt", ".pkl", ".h5", ".msgpack", ".onnx", ".gguf")


@dataclass(frozen=True)
class StoredTensor:
    """A tensor in a file: the file, its dtype as safetensors spells it, its shape, its size in bytes, its name there."""

    file: Path
    dtype: str
    shape: tuple[int, ...]
    bytes: int
    key: str


@dataclass(frozen=True)
class Folder:
    """A folder that holds a whole model: its config as it was written, and every tensor by its name."""

    path: Path
    config: dict
    tensors: dict[str, StoredTensor]


def inspect_folder(path: Path, name: str) -> Folder:
    """Inspect a folder: config, tokenizer, and the header of every weights file against the file's size. No weight is read.

    name: what the person typed, for the messages. Errors: ModelError, a sentence for each way a folder can be broken.
    """
    try:
        is_folder = path.is_dir()
        files = [file.name for file in path.iterdir() if file.is_file()] if is_folder else []
    except (OSError, ValueError) as error:
        raise ModelError(f"The folder {quoted(name)} cannot be read: {short(error)}.") from error
    if not is_folder:
        raise ModelError(f"There is no folder {quoted(name)} here. Check the path.")
    for part in (CONFIG, SINGLE, INDEX):
        check_is_file(path / part, name)
    check_config_is_there(files, name)
    config = read_config(path / CONFIG, name)
    shards = [path / shard for shard in weights_files(files, path / INDEX, name)]
    for shard in shards:
        if not shard.is_file():
            raise ModelError(f"{quoted(name)} is not complete: its weights file {quoted(shard.name)} is missing.")
    check_reader_is_there(files, config, name)
    tensors: dict[str, StoredTensor] = {}
    for shard in shards:
        tensors |= header(shard)
    return Folder(path, config, {WRAPPERS.sub("", key): stored for key, stored in tensors.items()})


def check_is_file(file: Path, name: str) -> None:
    """Check that a path, if it exists, is a file. Errors: ModelError."""
    if os.path.lexists(file) and not file.is_file():
        what = (
            "a folder, not a file" if file.is_dir() else "a link to nothing" if file.is_symlink() else "no file that can be read"
        )
        raise ModelError(f"In {quoted(name)}, {file.name} is {what}. Fetch the model again.")


def check_config_is_there(files: Iterable[str], name: str) -> None:
    if CONFIG in files:
        return
    if ADAPTER in files:
        raise ModelError(ADAPTER_ALONE.format(quoted(name)))
    raise ModelError(f"{quoted(name)} holds no config.json, so it is not a model in the Hugging Face format.")


def read_config(file: Path, name: str) -> dict:
    config = read_json(file, f"The config.json of {quoted(name)}", CONFIG_LIMIT)
    for key, number in numbers(config):
        if any(kind.search(key) and number > limit for kind, limit in LIMITS):
            raise ModelError(f"The config.json of {quoted(name)} says {short(key)} = {short(number)}; that is no model.")
    return config


def read_json(file: Path, what: str, limit: int = JSON_LIMIT) -> dict:
    try:
        if file.stat().st_size > limit:
            raise ModelError(f"{what} is too large to be one.")
        content = json.loads(file.read_text(encoding="utf-8"), object_hook=_parse_number)
    except (OSError, ValueError, TypeError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{what} is not readable JSON.") from error
    if not isinstance(content, dict):
        raise ModelError(f"{what} is not readable JSON: it should be an object.")
    return content


def _parse_number(parsed: dict) -> dict | float:
    """Return the number that transformers writes as {"__float__": "Infinity"}, which JSON does not have; else what was parsed."""
    return float(parsed["__float__"]) if parsed.keys() == {"__float__"} else parsed


def numbers(config: dict) -> Iterable[tuple[str, float]]:
    """Yield every number in a config with its name, also nested ones and those of lists."""
    for key, value in config.items():
        for part in value if isinstance(value, list) else [value]:
            if isinstance(part, dict):
                yield from numbers(part)
            elif isinstance(part, int | float):
                yield key, part


def weights_files(files: Iterable[str], index: Path, name: str) -> list[str]:
    """Return the names of the safetensors files of a model: the single one, those of the index, or all that there are."""
    files = list(files)
    if SINGLE in files:
        return [SINGLE]
    if INDEX in files:
        return shards_of(index, name)
    shards = sorted(f for f in files if f.endswith(".safetensors") and not f.startswith(("adapter_", "consolidated")))
    if not shards:
        if ADAPTER in files:
            raise ModelError(ADAPTER_ALONE.format(quoted(name)))
        pickles = sorted(f for f in files if f.endswith(PICKLES))
        if pickles:
            raise ModelError(
                f"{quoted(name)} has its weights only as {quoted(pickles[0])}, a format that Headlight does not open "
                "(some of them can run code). Look for a version with safetensors files, or convert it with transformers: "
                "load it there and call save_pretrained."
            )
        raise ModelError(f"{quoted(name)} holds no weights: there is no .safetensors file in it.")
    return shards


def shards_of(index: Path, name: str) -> list[str]:
    shards = read_json(index, f"The weights index of {quoted(name)}").get("weight_map")
    shards = sorted(set(map(str, shards.values()))) if isinstance(shards, dict) else []
    if not shards or any(re.search(r"[/\\]|^\.", shard) or not shard.endswith(".safetensors") for shard in shards):
        raise ModelError(f"The weights index of {quoted(name)} names no safetensors files beside it.")
    return shards


def is_vocabulary(file: str) -> bool:
    return bool(VOCABULARY.fullmatch(file))


class NoTokenizer(ModelError):
    """A folder holds no tokenizer file. Its config may say that the model does not read text."""


def reads_images(config: dict) -> bool:
    """Return whether a config.json is that of a model of images. Of a model of texts and images, only its half for images is
    opened."""
    kind, architectures = config.get("model_type"), config.get("architectures")
    architecture = architectures[0] if isinstance(architectures, list) and architectures else ""
    listed = isinstance(kind, str) and (kind in IMAGE_TYPES or kind.endswith("_vision_model"))
    return listed or (isinstance(architecture, str) and architecture.endswith("ForImageClassification"))


def check_reads(kind: str, wanted: str | None, name: str) -> None:
    """Check that a model reads what is wanted, "text" or "image"; None: either. Errors: ModelError."""
    if wanted == "text" and kind == "image":
        raise ModelError(f"{quoted(name)} reads images, and here a model is needed that reads text. Choose another model.")
    if wanted == "image" and kind == "text":
        raise ModelError(f"{quoted(name)} reads text, and here a model is needed that reads images.")


def check_reader_is_there(files: Iterable[str], config: dict, name: str) -> None:
    """Check that a model has what makes its input: a tokenizer, or for images a processor. Errors: ModelError."""
    if not reads_images(config):
        return check_tokenizer_is_there(files, name)
    if not any(file in PROCESSORS for file in files):
        raise ModelError(
            f"{quoted(name)} reads images, and holds no {PROCESSORS[0]}, which says how an image becomes numbers. "
            "Save its image processor into the same folder (save_pretrained)."
        )
    return None


def check_tokenizer_is_there(files: Iterable[str], name: str) -> None:
    # tokenizer_config.json alone will do for the tokenizers of bytes, which have no vocabulary.
    if not any(is_vocabulary(file) or file == "tokenizer_config.json" for file in files):
        raise NoTokenizer(
            f"{quoted(name)} holds no tokenizer files (such as tokenizer.json), so Headlight cannot read text with it."
        )


def header(file: Path) -> dict[str, StoredTensor]:
    """Return the tensors of a safetensors file by name. Errors: ModelError when header and file do not fit together."""
    what = f"The weights file {quoted(file.name)}"
    try:
        size = file.stat().st_size
        with file.open("rb") as opened:
            start = opened.read(8)
            length = struct.unpack("<Q", start)[0] if len(start) == 8 else None
            if length is None or 8 + length > size:
                raise ModelError(f"{what} is cut short or is not a safetensors file ({size:,} bytes). Fetch it again.")
            if length > HEADER_LIMIT:
                raise ModelError(f"{what} is not a safetensors file.")
            content = json.loads(opened.read(length))
        tensors, end = {}, 0
        for key, entry in content.items():
            if key == "__metadata__":
                continue
            first, last = entry["data_offsets"]
            shape = tuple(entry["shape"])
            if math.prod(shape) * BITS[entry["dtype"]] != 8 * (last - first) or first < 0 or min(shape, default=0) < 0:
                raise ValueError(key)
            tensors[key] = StoredTensor(file, entry["dtype"], shape, last - first, key)
            end = max(end, last)
    except OSError as error:
        raise ModelError(f"{what} cannot be read: {short(error)}.") from error
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        if isinstance(error, ModelError):
            raise
        raise ModelError(f"{what} is damaged: its header does not describe tensors. Fetch it again.") from error
    if 8 + length + end > size:
        raise ModelError(f"{what} is cut short: {size:,} bytes of {8 + length + end:,}. Fetch it again.")
    if not tensors:
        raise ModelError(f"{what} holds no tensors.")
    return tensors
