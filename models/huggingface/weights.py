"""From tensors in files to a network of transformers.

transformers renames, fuses and ties the tensors. It gets them as things that are read when it indexes them, which is what it
makes of safetensors files itself; so a network can be rehearsed with tensors that hold nothing, and a reading can be watched
and stopped.
"""

from __future__ import annotations

import inspect
import math
import os
import re
import threading
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from models.errors import Cancelled, ModelError
from models.huggingface.folder import Stored
from models.huggingface.memory import Placement
from models.huggingface.names import quoted, short
from models.progress import Progress, Report

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel

# Making a network changes torch's default dtype and transformers' logging for the whole process: one at a time.
MAKING = threading.Lock()
# Tensors of no consequence here: tables that are made again when a model is opened, and the pooler, which `make` leaves out.
TABLES = re.compile(r"(^|\.)(position_ids|token_type_ids|inv_freq|masked_bias|attn\.bias|attention\.bias|pooler\..*)$")
NUMBERED = re.compile(r".*?\.\d+\.")  # up to the number of a layer
EXPERT = re.compile(r"\.experts\.\d+\.")  # a tensor of one expert; transformers makes one tensor of a layer's experts


@dataclass(frozen=True)
class Rehearsal:
    """What would happen: parameters and buffers in numbers of elements, and which tensors of the files are used or lacking.

    unread: the tensors of the files that the network has no place for; inside: those of them within layers that it has.
    """

    elements: int
    used: dict[str, Stored]
    missing: list[str]
    mismatched: list[str]
    unread: list[str]
    inside: list[str]


def rehearse(cls: type[PreTrainedModel], config: PreTrainedConfig, tensors: dict[str, Stored], report: Report) -> Rehearsal:
    """Load a network without a single byte of weights (torch's meta device). tensors may be empty, to count parameters only."""
    used: dict[str, Stored] = {}

    def empty(key: str) -> torch.Tensor:
        used[key] = tensors[key]
        return blank(tensors[key])

    with alone(report):
        network, info = make(cls, config, {key: Lazy(key, empty) for key in tensors}, "meta", "float32")
    counted = [*network.parameters(), *network.buffers()]
    unread = sorted(key for key in info["unexpected_keys"] if not TABLES.search(key))
    layers = {found[0] for key in network.state_dict() if (found := NUMBERED.match(key))}
    return Rehearsal(
        elements=sum(tensor.numel() for tensor in counted),
        used=used,
        missing=lacking(info, cls),
        mismatched=sorted(entry[0] for entry in info["mismatched_keys"]),
        unread=unread,
        inside=[key for key in unread if (found := NUMBERED.match(key)) and found[0] in layers],
    )


def blank(stored: Stored) -> torch.Tensor:
    import torch

    return torch.empty(stored.shape, device="meta")


def read(
    cls: type[PreTrainedModel], config: PreTrainedConfig, tensors: dict[str, Stored], placement: Placement, report: Report
) -> PreTrainedModel:
    """Read the weights into a network for use. `report` may stop it by raising Cancelled at any tensor.

    Errors: ModelError for a file that cannot be read.
    """
    with alone(report), ExitStack() as stack:
        reading = Reading(tensors, report, stack)
        lazy = {key: Lazy(key, reading.tensor) for key in tensors}
        if passing(tensors):
            stack.enter_context(one_by_one())
        try:
            network, info = make(cls, config, lazy, placement.device, placement.dtype)
        finally:
            # transformers catches what is raised inside a conversion and goes on; the first cause is the one to tell.
            if reading.failure:
                raise reading.failure
    if missing := lacking(info, cls):
        raise ModelError(f"{len(missing)} weights could not be read, such as {quoted(missing[0])}.")
    return network.requires_grad_(False).eval()


def passing(tensors: dict[str, Stored]) -> int:
    """Numbers that are held besides the network while experts are put together: measured, three layers' experts."""
    experts = {key: EXPERT.search(key) for key in tensors}
    layers = {key[: found.start()] for key, found in experts.items() if found}
    numbers = sum(math.prod(tensors[key].shape) for key, found in experts.items() if found)
    return 3 * numbers // len(layers) if layers else 0


def lacking(info: dict, cls: type[PreTrainedModel]) -> list[str]:
    """The weights that were not in the files, without the pooler's where nothing but a label of the text is made of it."""
    pools = cls.__name__.endswith("ForSequenceClassification")
    return sorted(key for key in info["missing_keys"] if pools or not re.search(r"(^|\.)pooler\.", key))


class Lazy:
    """A tensor that is read when it is indexed."""

    def __init__(self, key: str, read: Callable[[str], torch.Tensor]):
        self.key, self.read = key, read

    def __getitem__(self, index: Any) -> torch.Tensor:
        return self.read(self.key)[index]


class Reading:
    """Reads tensors for several threads and reports how far it is. After a failure nothing more is read."""

    def __init__(self, tensors: dict[str, Stored], report: Report, stack: ExitStack):
        self.tensors, self.report, self.stack = tensors, report, stack
        self.total = sum(stored.bytes for stored in tensors.values())
        self.done = 0
        self.failure: Exception | None = None
        self.lock = threading.Lock()
        self.files: dict[Path, Any] = {}

    def tensor(self, key: str) -> torch.Tensor:
        with self.lock:
            if self.failure:
                raise self.failure
            try:
                if not self.done:
                    self.report(Progress("read", 0, self.total))
                tensor = self.open(self.tensors[key].file).get_tensor(self.tensors[key].key)
                self.done += self.tensors[key].bytes
                self.report(Progress("read", self.done, self.total))
                return tensor
            except Cancelled as cancelled:
                self.failure = cancelled
                raise
            except Exception as error:
                file = self.tensors[key].file.name
                self.failure = ModelError(f"The weights file {quoted(file)} cannot be read: {short(error)}")
                raise self.failure from error

    def open(self, file: Path) -> Any:
        from safetensors import safe_open

        if file not in self.files:
            # pread: the bytes are read now, in our sight, and a file that shrinks meanwhile is an error and not a crash.
            self.files[file] = self.stack.enter_context(safe_open(file, framework="pt", backend="pread"))
        return self.files[file]


def make(
    cls: type[PreTrainedModel], config: PreTrainedConfig, tensors: dict[str, Lazy], device: str, dtype: str
) -> tuple[PreTrainedModel, dict]:
    import torch

    pools = "add_pooling_layer" in inspect.signature(cls.__init__).parameters
    pooling: dict[str, Any] = {"add_pooling_layer": False} if pools else {}
    return cls.from_pretrained(  # type: ignore[return-value]  # with `output_loading_info` it gives a pair
        None,
        config=config,
        state_dict=tensors,
        dtype=getattr(torch, dtype),
        device_map="auto" if device == "auto" else {"": device},
        attn_implementation="eager",
        ignore_mismatched_sizes=True,  # they are looked at in the rehearsal
        output_loading_info=True,
        local_files_only=True,
        trust_remote_code=False,
        **pooling,
    )


@contextmanager
def alone(report: Report) -> Iterator[None]:
    """One network is made at a time, with transformers' own reports and bars off; who waits can still be cancelled."""
    from transformers.utils import logging

    while not MAKING.acquire(timeout=0.2):
        report(Progress("prepare"))
    verbosity, bars = logging.get_verbosity(), logging.is_progress_bar_enabled()
    try:
        logging.set_verbosity(logging.CRITICAL)
        logging.disable_progress_bar()
        yield
    finally:
        logging.set_verbosity(verbosity)
        if bars:
            logging.enable_progress_bar()
        MAKING.release()


@contextmanager
def one_by_one() -> Iterator[None]:
    """transformers reads ahead in threads, which holds all experts twice at the end; without, they pass layer by layer."""
    name = "HF_DEACTIVATE_ASYNC_LOAD"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        os.environ.pop(name) if before is None else os.environ.update({name: before})
