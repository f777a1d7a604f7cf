"""The gallery: models on the Hugging Face Hub that are worth a visit."""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from functools import cache
from pathlib import Path

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
    """The entries of gallery.toml, in the order in which they stand there."""
    return tuple(Entry(**entry) for entry in tomllib.loads(FILE.read_text(encoding="utf-8"))["model"])


def table() -> str:
    """The gallery as a Markdown table, for the README."""
    rows = [
        f"| [{entry.name}](https://huggingface.co/{entry.name}) | {entry.kind} | {count(entry.parameters)} | "
        f"{file_size(entry.bytes)} | {entry.look} |"
        for entry in gallery()
    ]
    return "\n".join(["| model | kind | parameters | download | what to look at |", "|---|---|---|---|---|", *rows])


def file_size(bytes: int) -> str:
    """Bytes in the units that a download is spoken of: "3 KB", "548 MB", "13.8 GB" (decimal)."""
    if bytes < 999_500:
        return f"{bytes / 1e3:.0f} KB"
    if bytes < 999_500_000:
        return f"{bytes / 1e6:.0f} MB"
    return f"{bytes / 1e9:.3g} GB"


def count(number: int) -> str:
    """A large number in words: "70 thousand", "13.1 million", "20.9 billion"."""
    for power, word in ((1e9, "billion"), (1e6, "million"), (1e3, "thousand")):
        if number >= 0.9995 * power:
            return f"{number / power:.3g} {word}"
    return str(number)
