"""The trainings that go on in this process: each visitor comes back to his own, and what was trained opens like any model."""

from __future__ import annotations

import atexit
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
_kept: OrderedDict[str, Training] = OrderedDict()


@cache
def root() -> Path:
    """Where trained models and their logs lie until the server stops."""
    made = Path(tempfile.mkdtemp(prefix="headlight-")).resolve()
    atexit.register(shutil.rmtree, made, ignore_errors=True)
    return made


def new_name() -> str:
    """A name that nobody can guess: who knows it, such as from a link, comes back to the training."""
    return uuid.uuid4().hex[:10]


def keep(name: str, training: Training) -> None:
    """Make a training this visitor's."""
    with _lock:
        _kept[name] = training
        left = _kept.popitem(last=False)[1] if len(_kept) > KEPT else None
    if left is not None:
        left.stop()
    st.session_state["training"] = name


def mine() -> tuple[str, Training | None]:
    """This visitor's training and its name: the one that was begun in this session, or that of the link."""
    name = st.session_state.get("training") or st.query_params.get("training", "")
    found = _kept.get(name)
    if found is None:
        st.session_state.pop("training", None)
        return "", None
    st.session_state["training"] = st.query_params["training"] = name
    return name, found


def forget() -> None:
    """Stop this visitor's training and let go of it."""
    name = st.session_state.pop("training", "")
    st.query_params.pop("training", None)
    with _lock:
        training = _kept.pop(name, None)
    if training is not None:
        training.stop()


def running() -> int:
    """How many go on right now."""
    return sum(one.state == "running" for one in list(_kept.values()))


def written(name: str, training: Training) -> Path:
    """The folder that holds the model as it is now."""
    folder = root() / f"{training.task.name}-{training.step}-{name}"
    if not (folder / "tokenizer.json").is_file():  # written last
        training.write(folder)
    return folder


def logs(name: str) -> Path:
    """The folder for the training's TensorBoard log."""
    return root() / "logs" / name
