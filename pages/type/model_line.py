"""The line on page "Type" that says what the chosen model is, and what it has read."""

from __future__ import annotations

import json
from functools import cache
from math import prod
from pathlib import Path

import streamlit as st

from models.catalog import WEIGHTS, ships
from models.info import ModelInfo
from models.numbers.sizes import count
from ui.choices import picker
from ui.escaping import display_name, plain
from ui.memory import loaded, trainings
from ui.words import words

HERE = Path(__file__).parent


def place() -> None:
    """Place the line."""
    info = loaded.info(picker.in_use())
    trained = trainings.find(info.name)
    task, base = (trained.task, trained.base) if trained else ("", "")
    parameters = info.parameters or parameters_in(WEIGHTS / info.name / "model.safetensors")  # 0 while the writer loads
    facts = {
        "name": plain(picker.shorten(info.name)),
        "count": count(parameters),
        "task": plain(task),
        "base": plain(display_name(base)),
    }
    st.caption(words(HERE, heading_of(info), **facts))


@cache
def parameters_in(file: Path) -> int:
    """Return how many numbers a file of safetensors holds, as its header says, without loading it."""
    with file.open("rb") as weights:
        header = json.loads(weights.read(int.from_bytes(weights.read(8), "little")))
    return sum(prod(tensor["shape"]) for name, tensor in header.items() if name != "__metadata__")


def heading_of(info: ModelInfo) -> str:
    """Return the heading of the words for a model: its own of one that ships, else that of its kind."""
    if ships(info.name):
        return f"model {info.name}"
    if trained := trainings.find(info.name):
        return "model taught" if trained.base else "model trained"
    if "image" in info.reads:
        return "model image"
    return "model labels" if info.labels else f"model {info.kind}"
