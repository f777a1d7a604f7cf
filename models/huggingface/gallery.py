"""The gallery: models on the Hugging Face Hub that are worth a visit."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

from models.numbers.sizes import count, size

FILE = Path(__file__).with_suffix(".toml")


@dataclass(frozen=True, slots=True)
class Entry:
    """One model: its name on the Hub, kind as in `ModelInfo`, number of parameters, bytes of its safetensors files, and
    look, a sentence on what to look at."""

    name: str
    kind: str
    parameters: int
    bytes: int
    look: str


@cache
def gallery() -> tuple[Entry, ...]:
    """Return the entries of gallery.toml, in the order of the file."""
    return tuple(Entry(**entry) for entry in tomllib.loads(FILE.read_text(encoding="utf-8"))["model"])


def table() -> str:
    """Return the gallery as a Markdown table, for docs/models.md."""
    rows = [
        f"| [{entry.name}](https://huggingface.co/{entry.name}) | {entry.kind} | {count(entry.parameters)} | "
        f"{size(entry.bytes)} | {entry.look} |"
        for entry in gallery()
    ]
    return "\n".join(["| model | kind | parameters | download | what to look at |", "|---|---|---|---|---|", *rows])
