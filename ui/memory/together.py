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
_products: dict[int, OrderedDict[Hashable, Any]] = {}  # by the identity of what traces share


def make_once(trace: Trace, key: Hashable, make: Callable[[], T]) -> T:
    """What `make` makes of a trace, or made of it under this key before, which says all that it depends on besides. Kept is a
    view of ours, or a tuple of what nobody changes; and it may hold nothing of the trace, which would then stay for good."""
    attention = shared(trace)
    with _lock:
        if id(attention) not in _products:
            _products[id(attention)] = OrderedDict()
            weakref.finalize(attention, _products.pop, id(attention), None)
        products = _products[id(attention)]
        if key in products:
            products.move_to_end(key)
            known: T = products[key]
            return known
    product = make()
    if isinstance(product, tuple) or (isinstance(product, View) and len(product.data) <= LARGE):
        with _lock:
            products[key] = product
            while len(products) > MOST:
                products.popitem(last=False)
    return product


def shared(trace: Trace) -> Attention:
    """The last attention of a trace: it depends on all that was read, also where encoders share theirs among several targets."""
    return list(trace.attention.values())[-1]
