"""From a name to a network in memory: a model of the Hugging Face Hub, or of a local folder in its format."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from models.errors import ModelError
from models.huggingface.classes import Candidate, candidates, config_of
from models.huggingface.confined import confined
from models.huggingface.folder import Folder, look_at, read_json
from models.huggingface.memory import place
from models.huggingface.names import HubName, is_folder_name, quoted
from models.huggingface.text import TextTokens
from models.huggingface.trial import label, open_tokenizer, plainly, text_of, tokenizer_of
from models.huggingface.weights import passing, read
from models.outcomes import Labels
from models.precision import note
from models.progress import Progress, Report, silent
from models.stored_weights import WeightsFile, files_now

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

NO_HEAD = "This model has no language-model head, so it makes no predictions. "
NO_HEAD += "You can still look at its attention and hidden states."
PERMUTED = "XLNet predicts words in a shuffled order, which is not what is shown here, so you see no predictions."
LACKS = "Its config.json speaks of {count} labels, but its files hold no head that gives so many scores, so no labels are shown. "
LACKS += "You can still look at its attention and hidden states."
LISTS = {"eos_token_id", "bad_words_ids", "suppress_tokens"}
TIED = "The files name no language-model head; predictions use the input embedding, which this kind of model shares."


@dataclass(frozen=True)
class Opened:
    """A network in memory, in evaluation mode and without gradients, with its tokenizer.

    kind: "decoder" | "encoder" | "encoder-decoder". predicts: it has a language-model head, and its weights were in the files.
    source: "Hugging Face Hub, revision abc1234" or "folder". notes: sentences that a page may show. files: those that its weights
    were read from. revision: their commit on the Hub, "" of a folder. labels: those of a classifier.
    """

    network: PreTrainedModel
    tokenizer: PreTrainedTokenizerBase
    kind: str
    predicts: bool
    name: str
    source: str
    notes: tuple[str, ...]
    files: tuple[WeightsFile, ...] = ()
    revision: str = ""
    labels: Labels | None = None


def open_model(name: str, device: str | None = None, report: Report = silent, dtype: str | None = None) -> Opened:
    """Open a model by its name on the Hub ("gpt2", "owner/name", "owner/name@revision") or by the path of a folder.

    device: "cpu", "cuda", "cuda:1", "mps"; None: a GPU where there is one and the model fits. Weights are float32 where they
    fit, else 16 bits; or `dtype`, one of `memory.SIZES`. Only safetensors files are opened, and a model's own code is never run.
    Errors: ModelError, with a sentence for the person who asked; Cancelled, when `report` raises it.
    """
    with plainly(name):
        if is_folder_name(name):
            path, source = Path(name).expanduser().absolute(), "folder"
        else:
            from models.huggingface.hub import fetch

            path, source = fetch(HubName.parse(name), device, report, dtype=dtype)
        opened = open_folder(path, name, source, device, report, dtype)
        return opened if source == "folder" else replace(opened, revision=path.name)  # the cache names folders by their commits


def open_vocabulary(name: str, report: Report = silent) -> TextTokens:
    """The tokenizer of a model alone, named as for `open_model`: no weight is fetched or read. Errors: as there."""
    with plainly(name):
        if is_folder_name(name):
            path = Path(name).expanduser().absolute()
        else:
            from models.huggingface.hub import fetch

            path, _ = fetch(HubName.parse(name), None, report, weights=False)
        report(Progress("prepare"))
        confined("try_tokenizer", path, name, report)  # before transformers sees a file of it in this process
        return TextTokens(tokenizer_of(path, name))


def open_folder(path: Path, name: str, source: str, device: str | None, report: Report, dtype: str | None = None) -> Opened:
    report(Progress("prepare"))
    folder = look_at(path, name)
    tried = confined("try_folder", path, name, report)  # before transformers sees a file of it in this process
    config = config_of(folder.config, name)
    tokenizer = open_tokenizer(folder, config, name)
    choices = candidates(config, folder.config.get("architectures"), name)
    labels, chosen = label(config, choices[0], folder.config, name), choices[tried["choice"]]
    config = text_of(config, choices[0])
    used = {key: folder.tensors[key] for key in tried["used"]}
    dtypes = [stored.dtype for stored in used.values()]
    check_precision(dtypes, name)
    placement = place(name, tried["elements"], max(set(dtypes), key=dtypes.count), device, passing(used), dtype)
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
    labels = labels if chosen.labels else None
    return Opened(network, tokenizer, chosen.kind, chosen.head, name, source, notes, files, labels=labels)


def check_precision(dtypes: list[str], name: str) -> None:
    if odd := sorted(set(dtypes) - {"F64", "F32", "F16", "BF16", "I64", "I32", "BOOL"}):
        raise ModelError(f"The weights of {quoted(name)} are stored as {odd[0]}, which Headlight does not open.")


def add_special_ids(network: PreTrainedModel, folder: Folder) -> None:
    """Which ids begin and end a text, and which are never to be said: from generation_config.json, or as older folders have it
    from config.json."""
    if getattr(network, "generation_config", None) is None:
        return
    file = folder.path / "generation_config.json"
    said = folder.config | (read_json(file, "generation_config.json") if file.is_file() else {})
    for key, value in said.items():
        if (key.endswith("_token_id") and (isinstance(value, int) or value is None)) or (key in LISTS and _are_ids(value)):
            setattr(network.generation_config, key, value)


def _are_ids(value: object) -> bool:
    return isinstance(value, list) and all(_are_ids(one) if isinstance(one, list) else isinstance(one, int) for one in value)


def notes_on(chosen: Candidate, config: PreTrainedConfig, folder: Folder) -> tuple[str, ...]:
    if chosen.labels:
        return ()
    if not chosen.head:
        return (PERMUTED if config.model_type == "xlnet" else NO_HEAD,)
    said = folder.config.get("architectures")
    named = str(said[0]) if isinstance(said, list) and said else ""
    bare = named.endswith("Model") and named != chosen.cls.__name__
    return (TIED,) if bare and "LMHead" not in named else ()
