"""The trainings that go on in this process: each visitor comes back to their own, and what was trained opens like any model."""

from __future__ import annotations

import atexit
import errno
import itertools
import logging
import os
import shutil
import tempfile
import threading
import uuid
from collections import OrderedDict
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING

import streamlit as st

from models.errors import ModelError

if TYPE_CHECKING:
    from models.scratch.live import Training

EXAMPLES = 5  # that a trained model offers
KEPT = 16  # trainings; of those that have ended the oldest leaves first, then of those that are paused, and none that runs

_lock = threading.Lock()
_examples: dict[str, list[str]] = {}  # by the folder of a trained model
_kept: OrderedDict[str, tuple[str, Training]] = OrderedDict()  # by name: whose it is, and the training


@cache
def root() -> Path:
    """Where trained models and their logs lie until the server stops."""
    import psutil

    for old in Path(tempfile.gettempdir()).glob("hl-*-*"):  # of servers that could not tidy up
        if (pid := old.name.split("-")[1]).isdecimal() and not psutil.pid_exists(int(pid)):
            shutil.rmtree(old, ignore_errors=True)
    made = Path(tempfile.mkdtemp(prefix=f"hl-{os.getpid()}-")).resolve()
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def browser() -> str:
    """What tells a visitor's browser from others, so that they find their training after a reload: the token in a cookie of
    Streamlit's own, made against forged requests; "" where it is switched off."""
    return unmasked(str(st.context.cookies.get("_streamlit_xsrf", "")))


def unmasked(cookie: str) -> str:
    """The token of a cookie "2|mask|token xor mask|time", both in hex: it stays while the mask is another one at each request."""
    try:
        _, mask, masked, _ = cookie.strip("\"'").split("|")
        return bytes(a ^ b for a, b in zip(bytes.fromhex(masked), itertools.cycle(bytes.fromhex(mask)), strict=False)).hex()
    except ValueError:
        return ""


def new_name() -> str:
    return uuid.uuid4().hex[:6]


class Full(ValueError):
    """As many trainings run as there is room for."""


def keep(name: str, training: Training) -> None:
    """Make a training this visitor's. Errors: Full, a sentence, when there are so many that run that none can leave."""
    with _lock:
        left = None
        if len(_kept) >= KEPT:
            states = {one: kept.state for one, (_, kept) in _kept.items()}
            ended = [one for one, state in states.items() if state not in ("running", "paused")]
            paused = [one for one, state in states.items() if state == "paused"]
            if not ended and not paused:
                raise Full(
                    f"{KEPT} trainings run on this server at the moment, and it takes no more. Try again in a few minutes."
                )
            _, left = _kept.pop((ended or paused)[0])
        _kept[name] = browser(), training
    if left is not None:
        left.stop()
    st.session_state["training"] = name


def mine() -> tuple[str, Training | None]:
    """This visitor's training and its name: the one that was begun in this session, or the newest of this browser."""
    name, me = st.session_state.get("training", ""), browser()
    if name not in _kept:
        name = next((one for one, (whose, _) in reversed(list(_kept.items())) if me and whose == me), "")
    st.session_state["training"] = name
    return name, _kept.get(name, ("", None))[1]


def forget() -> None:
    """Stop this visitor's training and let go of it."""
    name = st.session_state.pop("training", "")
    with _lock:
        _, training = _kept.pop(name, ("", None))
    if training is not None:
        training.stop()


def running() -> int:
    """How many go on right now."""
    return sum(training.state == "running" for _, training in list(_kept.values()))


def written(name: str, training: Training) -> Path:
    """The folder that holds the model as it is now. Errors: ModelError when it cannot be written."""
    folder = root() / f"{training.task.name}-{training.learned}-{name}"
    if not (folder / "tokenizer.json").is_file():  # written last
        try:
            training.write(folder)
        except Exception as error:  # of the system, or of safetensors and tokenizers in their own kinds
            shutil.rmtree(folder, ignore_errors=True)
            why = "The disk of the server is full" if full(error) else "The server’s log says why"
            logging.getLogger(__name__).exception("%s could not be written", folder.name)
            raise ModelError(f"The model could not be written to a folder. {why}; the training is not harmed.") from error
    _examples[str(folder)] = own_examples(training)
    return folder


def full(error: Exception) -> bool:
    """Whether it says that there is no room on the disk; libraries in Rust only say it in words."""
    return getattr(error, "errno", None) == errno.ENOSPC or os.strerror(errno.ENOSPC).lower() in str(error).lower()


def own_examples(training: Training) -> list[str]:
    """Texts that a trained model is good at: its probe and others of its task, each without the last character."""
    import numpy as np

    generator = np.random.default_rng(training.budget.seed)
    more = ["".join(training.task.example(generator)) for _ in range(EXAMPLES - 1)]
    read = [one.encode("latin-1").decode("utf-8", "replace") for one in more]  # a character of a task is a byte
    return list(dict.fromkeys(one[:-1] for one in ["".join(training.probe), *read]))


def examples(name: str) -> list[str]:
    """The examples of a model that was trained here, by its name; none of another."""
    return _examples.get(name, [])


def logs(name: str) -> Path:
    """The folder for the training's TensorBoard log."""
    return root() / "logs" / name
