"""What many have in front of them is drawn once: a class that follows its teacher looks at one and the same Trace."""

from __future__ import annotations

import weakref
from collections import OrderedDict
from collections.abc import Callable, Hashable
from threading import Lock
from typing import TYPE_CHECKING, Any, TypeVar

from viz.view import View

if TYPE_CHECKING:
    from models.trace import Trace

T = TypeVar("T")

MOST = 16  # things that are kept of a trace, for as long as it is there
LARGE = 2**18  # bytes of a view that is too large to be kept

_lock = Lock()
_made: dict[int, OrderedDict[Hashable, Any]] = {}  # by the identity of a trace


def once(trace: Trace, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` makes of a trace, or made of it under this key before, which says all that it depends on besides. Kept is a
    view of ours, or a tuple of what nobody changes; and it may hold nothing of the trace, which would then stay for good."""
    with _lock:
        if id(trace) not in _made:
            _made[id(trace)] = OrderedDict()
            weakref.finalize(trace, _made.pop, id(trace), None)
        mine = _made[id(trace)]
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
