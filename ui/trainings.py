"""The trainings that go on in this process: each visitor comes back to his own, and what was trained opens like any model."""

from __future__ import annotations

import atexit
import itertools
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

if TYPE_CHECKING:
    from models.scratch.live import Training

KEPT = 16  # trainings; the oldest leaves first, and is stopped if it still runs

_lock = threading.Lock()
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
    """What tells a visitor's browser from others, so that he finds his training after a reload: the token in a cookie of
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


def keep(name: str, training: Training) -> None:
    """Make a training this visitor's."""
    with _lock:
        _kept[name] = browser(), training
        _, left = _kept.popitem(last=False)[1] if len(_kept) > KEPT else ("", None)
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
    """The folder that holds the model as it is now."""
    folder = root() / f"{training.task.name}-{training.learned}-{name}"
    if not (folder / "tokenizer.json").is_file():  # written last
        training.write(folder)
    return folder


def logs(name: str) -> Path:
    """The folder for the training's TensorBoard log."""
    return root() / "logs" / name
