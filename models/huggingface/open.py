"""Opens a model of the Hugging Face Hub, or of a local folder in its format, by name: files to a network in memory."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from models.class_labels import Labels
from models.errors import ModelError
from models.files.progress import Progress, Report, silent
from models.files.weights_digest import WeightsFile, files_now
from models.huggingface.classes import OTHER_TASKS, Candidate, config_of
from models.huggingface.confined import confined
from models.huggingface.folder import (
    ADAPTER,
    CONFIG,
    Folder,
    NoTokenizer,
    check_reads,
    inspect_folder,
    read_json,
    reads_images,
)
from models.huggingface.guard import guard_of
from models.huggingface.image_processor import open_processor
from models.huggingface.memory import place
from models.huggingface.names import HubName, is_folder_name, quoted, short, tidied
from models.huggingface.text import TextTokens
from models.huggingface.trial import choices_of, label, open_tokenizer, part_of, plainly, tokenizer_of
from models.huggingface.weights import passing_numbers, read
from models.numbers.precision import note

if TYPE_CHECKING:
    from transformers import BaseImageProcessor, PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

NO_HEAD = "This model has no language-model head, so it makes no predictions. "
NO_HEAD += "You can still look at its attention and hidden states."
PERMUTED = "XLNet predicts words in a shuffled order, which is not what is shown here, so you see no predictions."
LACKS = "Its config.json speaks of {count} labels, but its files hold no head that gives so many scores, so no labels are shown. "
LACKS += "You can still look at its attention and hidden states."
LISTS = {"eos_token_id", "bad_words_ids", "suppress_tokens"}
ANOTHER_TASK = "It was trained {}. Headlight does not show what its head for that answers."
UNREAD = (
    "Its files hold {count} within its layers that transformers’ {cls} does not read, such as {name}: the model that was trained "
)
UNREAD += "with them may answer otherwise than what is shown here."
LEFT_OUT = "Its files also hold {count} that {cls} has no place for, such as {name}; they are left out."
ADAPTED = (
    "An adapter{kind} lies beside its weights and is not applied: this is the model without it. To see both together, merge them "
)
ADAPTED += "with peft (merge_and_unload, then save_pretrained) and open that folder."
NO_LABELS = (
    "This model has no head for labels, so it makes no predictions. You can still look at its attention and hidden states."
)
HALF = "It is the half for images of a model that reads texts too; the half for texts is not opened."
TIED = "The files name no language-model head; predictions use the input embedding, which this kind of model shares."


@dataclass(frozen=True)
class OpenModel:
    """A network in memory, in evaluation mode and without gradients, with its tokenizer, or its processor of images.

    kind: "decoder" | "encoder" | "encoder-decoder". predicts: it has a language-model head, and its weights were in the files.
    source: "Hugging Face Hub, revision abc1234" or "folder". notes: sentences that a page may show. files: those that its weights
    were read from. revision: their commit on the Hub, "" of a folder. labels: those of a classifier. reads: "text" or "image".
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase | BaseImageProcessor
    kind: str
    predicts: bool
    name: str
    source: str
    notes: tuple[str, ...]
    files: tuple[WeightsFile, ...] = ()
    revision: str = ""
    labels: Labels | None = None
    reads: str = "text"


def open_model(
    name: str, device: str | None = None, report: Report = silent, dtype: str | None = None, reads: str | None = None
) -> OpenModel:
    """Open a model by its name on the Hub ("gpt2", "owner/name", "owner/name@revision") or by the path of a folder.

    device: "cpu", "cuda", "cuda:1", "mps"; None: a GPU where there is one and the model fits. Weights are float32 where they
    fit, else 16 bits; or `dtype`, one of `memory.SIZES`. reads: as for `models.load`. Only safetensors files are opened, and a
    model's own code is never run.
    Errors: ModelError, with a sentence for the person who asked; Cancelled, when `report` raises it.
    """
    with plainly(name):
        name = tidied(name)
        if is_folder_name(name):
            path, source = Path(name).expanduser().absolute(), "folder"
        else:
            from models.huggingface.hub import fetch

            path, source = fetch(HubName.parse(name), device, report, dtype=dtype, reads=reads)
        opened = open_folder(path, name, source, device, report, dtype, reads)
        return opened if source == "folder" else replace(opened, revision=path.name)  # the cache names folders by their commits


def open_vocabulary(name: str, report: Report = silent) -> TextTokens:
    """Open the tokenizer of a model alone, named as for `open_model`. No weight is fetched or read. Errors: as there."""
    with plainly(name):
        name = tidied(name)
        if is_folder_name(name):
            path = Path(name).expanduser().absolute()
        else:
            from models.huggingface.hub import fetch

            path, _ = fetch(HubName.parse(name), None, report, weights=False)
        report(Progress("prepare"))
        confined("try_tokenizer", path, name, report)  # before transformers sees a file of it in this process
        tokenizer = tokenizer_of(path, name)
        check_repetitions(tokenizer, name)
        return TextTokens(tokenizer)


def open_folder(
    path: Path,
    name: str,
    source: str,
    device: str | None,
    report: Report,
    dtype: str | None = None,
    reads: str | None = None,
) -> OpenModel:
    report(Progress("prepare"))
    folder = read_folder(path, name, report)
    of_images = reads_images(folder.config)
    check_reads("image" if of_images else "text", reads, name)
    trial = confined("try_folder", path, name, report)  # before transformers sees a file of it in this process
    config = config_of(folder.config, name)
    reader = open_processor(path, name) if of_images else checked_tokenizer(folder, config, name)
    choices = choices_of(config, folder.config, name)
    labels, chosen = label(config, choices[0], folder.config, name), choices[trial["choice"]]
    config = part_of(config, choices[0])
    used = {key: folder.tensors[key] for key in trial["used"]}
    dtypes = [stored.dtype for stored in used.values()]
    check_precision(dtypes, name)
    placement = place(name, trial["elements"], max(set(dtypes), key=dtypes.count), device, passing_numbers(used), dtype)
    files = files_now(stored.file for stored in folder.tensors.values())
    network = read(chosen.cls, config, used, placement, report)
    report(Progress("prepare"))
    add_special_ids(network, folder)
    notes = notes_on(chosen, config, folder)
    if labels and not chosen.labels:
        notes = (LACKS.format(count=len(labels.names)),)
    if dtype:
        notes += note(dtype)
    elif placement.dtype != "float32":
        notes += (f"Its weights are in {placement.dtype}, because float32 would not fit in memory.",)
    if of_images and "text_config" in folder.config:
        notes += (HALF,)
    else:
        notes += notes_on_files(trial, chosen, folder)
    labels, kind = labels if chosen.labels else None, "image" if of_images else "text"
    return OpenModel(network, reader, chosen.kind, chosen.head, name, source, notes, files, labels=labels, reads=kind)


def checked_tokenizer(folder: Folder, config: PreTrainedConfig, name: str) -> PreTrainedTokenizerBase:
    """Open the tokenizer of a folder. Errors: ModelError."""
    tokenizer = open_tokenizer(folder, config, name)
    check_repetitions(tokenizer, name)
    return tokenizer


def check_repetitions(tokenizer: PreTrainedTokenizerBase, name: str) -> None:
    """Check that a tokenizer reads texts that repeat something in a short time. Errors: ModelError."""
    try:
        guard_of(tokenizer).try_repetitions()
    except ValueError as error:
        raise ModelError(
            f"The tokenizer of {quoted(name)} takes too long for a text that repeats something, or cannot read it, so Headlight "
            "does not read with it. Choose another model."
        ) from error


def read_folder(path: Path, name: str, report: Report) -> Folder:
    """Inspect a folder. Without a tokenizer, the error says what the model reads, if not text."""
    try:
        return inspect_folder(path, name)
    except NoTokenizer:
        confined("try_kind", path / CONFIG, name, report)
        raise


def check_precision(dtypes: list[str], name: str) -> None:
    if odd := sorted(set(dtypes) - {"F64", "F32", "F16", "BF16", "I64", "I32", "BOOL"}):
        raise ModelError(f"The weights of {quoted(name)} are stored as {odd[0]}, which Headlight does not open.")


def add_special_ids(network: PreTrainedModel, folder: Folder) -> None:
    """Set which ids begin and end a text and which are never generated, from generation_config.json or, in older folders,
    config.json."""
    if getattr(network, "generation_config", None) is None:
        return
    file = folder.path / "generation_config.json"
    settings = folder.config | (read_json(file, "generation_config.json") if file.is_file() else {})
    for key, value in settings.items():
        if (key.endswith("_token_id") and (isinstance(value, int) or value is None)) or (key in LISTS and _are_ids(value)):
            setattr(network.generation_config, key, value)


def _are_ids(value: object) -> bool:
    return isinstance(value, list) and all(
        _are_ids(element) if isinstance(element, list) else isinstance(element, int) for element in value
    )


def notes_on(chosen: Candidate, config: PreTrainedConfig, folder: Folder) -> tuple[str, ...]:
    if chosen.labels:
        return ()
    architectures = folder.config.get("architectures")
    named = str(architectures[0]) if isinstance(architectures, list) and architectures else ""
    if reads_images(folder.config):
        return (NO_LABELS,)
    if not chosen.head:
        other = next((task for name, task in OTHER_TASKS.items() if named.endswith(name)), "")
        return (PERMUTED if config.model_type == "xlnet" else NO_HEAD, *([ANOTHER_TASK.format(other)] if other else []))
    bare = named.endswith("Model") and named != chosen.cls.__name__
    return (TIED,) if bare and "LMHead" not in named else ()


def notes_on_files(trial: dict, chosen: Candidate, folder: Folder) -> tuple[str, ...]:
    """Return notes on what the folder holds and the network does not: weights that it has no place for, and an adapter."""
    notes = []
    (inside, *first_inside), (unread, *first) = trial["inside"], trial["unread"]
    if inside:
        notes.append(UNREAD.format(count=_weights(inside), cls=chosen.cls.__name__, name=quoted(first_inside[0])))
    elif unread:
        notes.append(LEFT_OUT.format(count=_weights(unread), cls=chosen.cls.__name__, name=quoted(first[0])))
    if (file := folder.path / ADAPTER).is_file():
        kind = read_json(file, ADAPTER).get("peft_type")
        notes.append(ADAPTED.format(kind=f" ({short(kind, 20)})" if isinstance(kind, str) else ""))
    return tuple(notes)


def _weights(count: int) -> str:
    return f"{count:,} weight{'s' if count > 1 else ''}"
