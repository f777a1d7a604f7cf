"""Makes a network of transformers from tensors in files.

transformers renames, fuses and ties the tensors. It gets them as objects that are read when it indexes them, as it does with
safetensors files itself; so a network can be rehearsed with tensors that hold nothing, and reading can be reported and stopped.
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
from models.files.progress import Progress, Report
from models.huggingface.folder import StoredTensor
from models.huggingface.memory import Placement
from models.huggingface.names import quoted, short

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
    """The outcome of a rehearsal: elements of parameters and buffers, and the tensors of the files that are used or missing.

    unread: the tensors of the files that the network has no place for; inside: those of them within layers that it has.
    """

    elements: int
    used: dict[str, StoredTensor]
    missing: list[str]
    mismatched: list[str]
    unread: list[str]
    inside: list[str]


def rehearse(cls: type[PreTrainedModel], config: PreTrainedConfig, tensors: dict[str, StoredTensor], report: Report) -> Rehearsal:
    """Load a network without a single byte of weights (torch's meta device). tensors may be empty, to count parameters only."""
    used: dict[str, StoredTensor] = {}

    def empty(key: str) -> torch.Tensor:
        used[key] = tensors[key]
        return empty_tensor(tensors[key])

    with hold_the_maker(report):
        network, info = make(cls, config, {key: LazyTensor(key, empty) for key in tensors}, "meta", "float32")
    counted = [*network.parameters(), *network.buffers()]
    unread = sorted(key for key in info["unexpected_keys"] if not TABLES.search(key))
    layers = {match[0] for key in network.state_dict() if (match := NUMBERED.match(key))}
    return Rehearsal(
        elements=sum(tensor.numel() for tensor in counted),
        used=used,
        missing=missing_weights(info, cls),
        mismatched=sorted(entry[0] for entry in info["mismatched_keys"]),
        unread=unread,
        inside=[key for key in unread if (match := NUMBERED.match(key)) and match[0] in layers],
    )


def empty_tensor(stored: StoredTensor) -> torch.Tensor:
    import torch

    return torch.empty(stored.shape, device="meta")


def read(
    cls: type[PreTrainedModel], config: PreTrainedConfig, tensors: dict[str, StoredTensor], placement: Placement, report: Report
) -> PreTrainedModel:
    """Read the weights into a network for use. `report` may stop it by raising Cancelled at any tensor.

    Errors: ModelError for a file that cannot be read.
    """
    with hold_the_maker(report), ExitStack() as stack:
        reading = TensorReader(tensors, report, stack)
        lazy = {key: LazyTensor(key, reading.tensor) for key in tensors}
        if passing_numbers(tensors):
            stack.enter_context(without_read_ahead())
        try:
            network, info = make(cls, config, lazy, placement.device, placement.dtype)
        finally:
            # transformers catches what is raised inside a conversion and goes on; the first cause is the one to report.
            if reading.failure:
                raise reading.failure
    if missing := missing_weights(info, cls):
        raise ModelError(f"{len(missing)} weights could not be read, such as {quoted(missing[0])}.")
    return network.requires_grad_(False).eval()


def passing_numbers(tensors: dict[str, StoredTensor]) -> int:
    """Return how many numbers are held besides the network while experts are put together: measured, three layers' experts."""
    experts = {key: EXPERT.search(key) for key in tensors}
    layers = {key[: match.start()] for key, match in experts.items() if match}
    numbers = sum(math.prod(tensors[key].shape) for key, match in experts.items() if match)
    return 3 * numbers // len(layers) if layers else 0


def missing_weights(info: dict, cls: type[PreTrainedModel]) -> list[str]:
    """Return the weights that were not in the files, without the pooler's unless a label of the text is made of it."""
    pools = cls.__name__.endswith("ForSequenceClassification")
    return sorted(key for key in info["missing_keys"] if pools or not re.search(r"(^|\.)pooler\.", key))


class LazyTensor:
    """A tensor that is read when it is indexed."""

    def __init__(self, key: str, read: Callable[[str], torch.Tensor]):
        self.key, self.read = key, read

    def __getitem__(self, index: Any) -> torch.Tensor:
        return self.read(self.key)[index]


class TensorReader:
    """Reads tensors for several threads and reports its progress. After a failure nothing more is read."""

    def __init__(self, tensors: dict[str, StoredTensor], report: Report, stack: ExitStack):
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
            # pread: the bytes are read now, and a file that shrinks meanwhile is an error and not a crash.
            self.files[file] = self.stack.enter_context(safe_open(file, framework="pt", backend="pread"))
        return self.files[file]


def make(
    cls: type[PreTrainedModel], config: PreTrainedConfig, tensors: dict[str, LazyTensor], device: str, dtype: str
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
def hold_the_maker(report: Report) -> Iterator[None]:
    """Let one thread at a time make a network, with transformers' own reports and bars off. A waiting thread can be cancelled."""
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
def without_read_ahead() -> Iterator[None]:
    """Keep transformers from reading ahead in threads, which holds all experts twice at the end, instead of layer by layer."""
    name = "HF_DEACTIVATE_ASYNC_LOAD"
    before = os.environ.get(name)
    os.environ[name] = "1"
    try:
        yield
    finally:
        os.environ.pop(name) if before is None else os.environ.update({name: before})
