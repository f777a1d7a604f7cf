"""Results about an adaptation that are computed once for each step."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar

if TYPE_CHECKING:
    from models.adapting.teaching import Teaching
    from ui.state import Key

T = TypeVar("T")


def once_a_step(key: Key[Any], teaching: Teaching, compute: Callable[[], T], asked: str = "") -> T:
    """Return what `compute` returns, from the key of this visitor where it was computed at this step before.

    asked: what else it depends on."""
    known = key.get()
    if known is None or known[:-1] != (id(teaching), teaching.step, asked):
        known = (id(teaching), teaching.step, asked, compute())
        key.set(known)
    value: T = known[-1]
    return value
