"""What docstrings, comments and words on screen call by its name in Python is there under that name."""

from __future__ import annotations

import importlib
import re
from typing import Any

import pytest

from tests.serving import ROOT

NAMED = re.compile(r"`((?:analysis|models|viz|ui|pages)(?:\.\w+)+)[(`]")
PLACES = sorted(
    (name, str(file.relative_to(ROOT)))
    for folder, ending in [
        *((folder, "py") for folder in ("analysis", "models", "viz", "ui", "pages")),
        ("pages", "md"),
        ("lessons", "md"),
    ]
    for file in (ROOT / folder).rglob(f"*.{ending}")
    for name in set(NAMED.findall(file.read_text(encoding="utf-8")))
)


def object_of(name: str) -> Any:
    """What a dotted name stands for: a module, or what one holds."""
    parts = name.split(".")
    for count in range(len(parts), 0, -1):
        try:
            thing = importlib.import_module(".".join(parts[:count]))
        except ModuleNotFoundError:
            continue
        for part in parts[count:]:
            thing = getattr(thing, part)
        return thing
    raise ModuleNotFoundError(name)


@pytest.mark.parametrize(("name", "where"), PLACES)
def test_a_name_that_is_written_stands_for_something(name, where):
    assert object_of(name) is not None
