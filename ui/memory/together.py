"""Draws a picture once for all visitors who look at the same trace, such as a class.

Each reading gives a Trace of its own, but those of a text that was read once share their attention, and that tells them.
"""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from viz.view import View

if TYPE_CHECKING:
    from models.trace import Attention, Trace

T = TypeVar("T")

MOST = 16  # things that are kept of a trace, for as long as it is there
LARGE = 2**18  # bytes of a view that is too large to be kept

_lock = Lock()
_made: dict[int, OrderedDict[Hashable, Any]] = {}  # by the identity of what traces share


def once(trace: Trace, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` makes of a trace, or made of it under this key before, which says all that it depends on besides. Kept is a
    view of ours, or a tuple of what nobody changes; and it may hold nothing of the trace, which would then stay for good."""
    read = shared(trace)
    with _lock:
        if id(read) not in _made:
            _made[id(read)] = OrderedDict()
            weakref.finalize(read, _made.pop, id(read), None)
        mine = _made[id(read)]
        if key in mine:
            mine.move_to_end(key)
            known: T = mine[key]
            return known
    made = make()
    if isinstance(made, tuple) or (isinstance(made, View) and len(made.data) <= LARGE):
        with _lock:
            mine[key] = made
            while len(mine) > MOST:
                mine.popitem(last=False)
    return made


def shared(trace: Trace) -> Attention:
    """The last attention of a trace: it depends on all that was read, also where encoders share theirs among several targets."""
    return list(trace.attention.values())[-1]
