"""Draws a picture once for all visitors who look at the same trace, such as a class.

Each reading has its own Trace, but traces of a text that was read once share their attention, which identifies them.
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
    """Return `make(trace)`, computed once for each trace and key. The key names everything else that the result depends on. The
    result is a view of ours, or an immutable tuple; it must not refer to the trace, which would then never be freed."""
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
    """Return the last attention of a trace: it depends on everything that was read, even where several targets share an encoder's
    attention.
    """
    return list(trace.attention.values())[-1]
