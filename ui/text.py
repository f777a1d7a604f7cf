"""Text of a visitor's, as it may stand inside Markdown, and what people call a model."""

from __future__ import annotations

import re
from pathlib import Path

# At the end of the name of a model that was trained here (see `ui.memory.trainings`): its key, or on screen the beginning of it
KEY = re.compile(r" \([0-9a-f]{8}(?:[0-9a-f]{24})?\)$")


def plain(text: str) -> str:
    """Escaped so that Markdown, LaTeX and Streamlit's own marks show it as it is, on one line."""
    return re.sub(r"([\\`*_{}\[\]()#+\-.!|~$<>:&])", r"\\\1", re.sub(r"\s+", " ", text))


def number_below(written: str, count: int) -> int | None:
    """The number from 0 that decimal digits write, if it is below `count`. A link may hold more digits than Python reads."""
    number = int(written) if written.isdecimal() and len(written) < 10 else count
    return number if number < count else None


def called(name: str) -> str:
    """What people call a model: its name; of a folder the last part, for where it stands on a disk is nobody's business; of one
    that was trained here its task and steps, without the key."""
    return Path(name).name if Path(name).is_absolute() else KEY.sub("", name)


def told_apart(name: str) -> str:
    """A name as a screen has it where two models are called the same: of the key of one that was trained here only the
    beginning, since who has the whole key may open it."""
    return f"{name[: key.start()]}{key[0][:10]})" if (key := KEY.search(name)) else name


def loadable(name: str) -> str:
    """What `models.load` takes for a model: its name; for one that was trained here the folder that it is taken away as."""
    return f"./{called(name)}" if KEY.search(name) else name
