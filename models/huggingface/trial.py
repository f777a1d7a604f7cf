"""Trials of a model's files before they are used: the class that fits them, its size, and whether its tokenizer reads.

A stranger's config.json or tokenizer.json of a few lines may ask for more memory and time than there is: `confined` runs these
functions in a process of their own. They return plain JSON.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from models.class_labels import Labels, labels_of
from models.errors import Cancelled, ModelError, is_full, is_short_of_memory, panics_caught
from models.files.progress import silent
from models.huggingface.classes import Candidate, candidates, config_of
from models.huggingface.folder import (
    CONFIG,
    Folder,
    check_config_is_there,
    check_tokenizer_is_there,
    inspect_folder,
    read_config,
    reads_images,
)
from models.huggingface.growth import growth
from models.huggingface.image_classes import image_candidates
from models.huggingface.image_processor import check_processor, open_processor
from models.huggingface.names import quoted, short
from models.huggingface.text import TextTokens
from models.huggingface.weights import Rehearsal, rehearse

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase

MOST_GROWTH = 10_000  # times that a tokenizer may lengthen a text while it rewrites it; those that are in use: 64 at the most
MOST_TOKENS = 10_000  # that it may make of SAMPLE
SAMPLE = "".join(map(chr, range(32, 127))) + "éß日本Ω🙂"


def try_config(file: str, name: str) -> int:
    """Return the number of elements in the parameters and buffers that a config.json asks for. Errors: ModelError."""
    with plainly(name):
        raw = read_config(Path(file), name)
        config = config_of(raw, name)
        first = choices_of(config, raw, name)[0]
        return rehearse(first.cls, config, {}, silent).elements


def try_kind(file: str, name: str) -> bool:
    """Check that a config.json is that of a model of text. Errors: ModelError, which says what it is instead."""
    with plainly(name):
        raw = read_config(Path(file), name)
        return bool(candidates(config_of(raw, name), raw.get("architectures"), name))


def try_folder(path: str, name: str) -> dict:
    """Return which candidate fits the files, its elements, and the names of the tensors that it uses. Errors: ModelError."""
    with plainly(name):
        folder = inspect_folder(Path(path), name)
        config = config_of(folder.config, name)
        choices = choices_of(config, folder.config, name)
        if reads_images(folder.config):
            check_processor(open_processor(folder.path, name), name)
        else:
            check_reading(open_tokenizer(folder, config, name), name)
        label(config, choices[0], folder.config, name)
        chosen, rehearsal = choose(choices, part_of(config, choices[0]), folder, name)
        return {
            "choice": choices.index(chosen),
            "elements": rehearsal.elements,
            "used": list(rehearsal.used),
            "unread": [len(rehearsal.unread), *rehearsal.unread[:1]],
            "inside": [len(rehearsal.inside), *rehearsal.inside[:1]],
        }


def try_tokenizer(path: str, name: str) -> bool:
    """Check that the tokenizer of a folder reads. Errors: ModelError."""
    with plainly(name):
        check_reading(tokenizer_of(Path(path), name), name)
        return True


def check_reading(tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    """Check that a tokenizer reads plain text, and makes no flood of a short one. Errors: ModelError."""
    backend = getattr(tokenizer, "backend_tokenizer", None)
    steps = [step for step in (getattr(backend, "normalizer", None), getattr(backend, "decoder", None)) if step is not None]
    tokens = 0
    if all(growth(json.loads(step.__getstate__())) <= MOST_GROWTH for step in steps):
        tokens = len(tokenizer(SAMPLE, verbose=False)["input_ids"])
        pieces = tokenizer.convert_ids_to_tokens(list(range(min(len(tokenizer), 100))))
        tokenizer.convert_tokens_to_string([pieces] if isinstance(pieces, str) else pieces)
        if tokens <= MOST_TOKENS:
            return check_plain_text(tokenizer, name)
    raise ModelError(f"The tokenizer of {quoted(name)} makes a flood of text of a short one, so Headlight does not read with it.")


def check_plain_text(tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    """Check that a tokenizer needs no more than a text, such as a table or the places of words on a page. Errors: ModelError."""
    try:
        TextTokens(tokenizer).tokens("a")
    except Exception as error:  # each family raises its own error
        raise ModelError(f"The tokenizer of {quoted(name)} does not read a plain text: {short(error, 120)}") from error


def open_tokenizer(folder: Folder, config: PreTrainedConfig, name: str) -> PreTrainedTokenizerBase:
    from transformers import AutoTokenizer

    try:
        return AutoTokenizer.from_pretrained(folder.path, config=config, local_files_only=True, trust_remote_code=False)
    except Exception as error:
        raise ModelError(f"The tokenizer of {quoted(name)} could not be loaded: {short(error, 160)}") from error


def tokenizer_of(path: Path, name: str) -> PreTrainedTokenizerBase:
    """Open the tokenizer of a folder, which need not hold weights. Errors: ModelError."""
    try:
        files = [file.name for file in path.iterdir() if file.is_file()]
    except (OSError, ValueError) as error:
        raise ModelError(f"There is no folder {quoted(name)} here that can be read. Check the path.") from error
    check_config_is_there(files, name)
    check_tokenizer_is_there(files, name)
    config = read_config(path / CONFIG, name)
    return open_tokenizer(Folder(path, config, {}), config_of(config, name), name)


def label(config: PreTrainedConfig, choice: Candidate, raw: dict, name: str) -> Labels | None:
    """Set the labels of a classifier in its config, so that its head is as wide, and return them; None for another model.

    Errors: ModelError.
    """
    if not choice.labels:
        return None
    try:
        labels = labels_of(raw, each=choice.labels == "token")
    except ValueError as error:
        raise ModelError(f"The config.json of {quoted(name)} {error}, so nobody could tell what it says.") from error
    config.id2label = dict(enumerate(labels.names))
    config.label2id = {text: i for i, text in enumerate(labels.names)}
    return labels


def choices_of(config: PreTrainedConfig, raw: dict, name: str) -> list[Candidate]:
    """Return the classes to try for a config.json, the best first. Errors: ModelError for a model that reads something else."""
    return (image_candidates if reads_images(raw) else candidates)(config, raw.get("architectures"), name)


def part_of(config: PreTrainedConfig, choice: Candidate) -> PreTrainedConfig:
    """Return the part of a config that a class takes: of a model of texts and images, the half that is opened."""
    own = choice.cls.config_class
    halves = config.get_text_config(), getattr(config, "vision_config", None)
    if own is None or isinstance(config, own):
        return config
    return next((half for half in halves if isinstance(half, own)), config)


def choose(choices: list[Candidate], config: PreTrainedConfig, folder: Folder, name: str) -> tuple[Candidate, Rehearsal]:
    """Return the first class for which the files hold every weight, in its shape. Errors: ModelError when there is none."""
    # transformers ties the head of every T5; where the config says that it has its own, it must be in the files.
    own = folder.config.get("tie_word_embeddings") is False and getattr(config, "tie_word_embeddings", False)
    if own and "lm_head.weight" not in folder.tensors:
        choices = [choice for choice in choices if not choice.head]
    rehearsals = []
    # An encoder alone, of files that hold a decoder too, means that the decoder is broken.
    decodes = any(re.search(r"(^|\.)decoder\.(block|layers?)\.", key) for key in folder.tensors)
    decodes = decodes and any(choice.kind == "encoder-decoder" for choice in choices)
    for choice in choices:
        rehearsal = rehearse(choice.cls, config, folder.tensors, silent)
        cut = decodes and choice.kind == "encoder"
        if not (rehearsal.missing or rehearsal.mismatched or cut):
            return choice, rehearsal
        if not cut:
            rehearsals.append(rehearsal)
    best = min(rehearsals, key=lambda rehearsal: len(rehearsal.missing) + len(rehearsal.mismatched))
    if best.mismatched:
        raise ModelError(
            f"The weights of {quoted(name)} do not fit its config.json: {len(best.mismatched)} have another shape, "
            f"such as {quoted(best.mismatched[0])}."
        )
    raise ModelError(
        f"The files of {quoted(name)} lack {len(best.missing)} of the network’s weights, such as {quoted(best.missing[0])}."
    )


@contextmanager
def plainly(name: str) -> Iterator[None]:
    """Turn every unexpected error inside the `with` block into a ModelError, a sentence with the model's name."""
    try:
        with panics_caught():
            yield
    except (ModelError, Cancelled):
        raise
    except OSError as error:  # its own words would reveal the path of the file
        why = "the disk of the server is full" if is_full(error) else short(error.strerror or type(error).__name__)
        raise ModelError(f"{quoted(name)} could not be opened: {why}.") from error
    except Exception as error:
        if is_short_of_memory(error):
            raise ModelError(f"There was not enough memory for {quoted(name)}.") from error
        raise ModelError(f"{quoted(name)} could not be opened: {short(type(error).__name__)}: {short(error, 160)}") from error
