"""A store of each visitor's text, read in both orders, so that a click on a map reads nothing again."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from analysis.word_order import BothOrders
from models.language_model import LanguageModel
from models.reading.bounded import Bounded
from models.trace import Trace
from pages.inside.order import recipes
from ui.memory import loaded, visitors

ONE, BYTES = "the orders", 128 * 2**20  # of all visitors' readings


@dataclass(frozen=True)
class Readings:
    """A text in both orders. orders: the readings with positions (True) and, if the model can leave them out, without (False);
    note: the heading of the words about a missing reading, "" for none; what: everything that the readings depend on."""

    orders: dict[bool, BothOrders]
    note: str
    what: tuple[LanguageModel, int | None, str, str, tuple[int, ...]]

    @property
    def bytes(self) -> int:
        """The size in memory."""
        return sum(reading.bytes for reading in self.orders.values())


_lock, store = Lock(), Bounded[str, Readings](1, BYTES)


def readings(visitor: str, model: LanguageModel, trace: Trace, second: str, order: tuple[int, ...]) -> Readings:
    """Return a text in both orders: the visitor's stored readings, else new ones, which replace them."""
    what = model, model.condition, trace.text, second, order
    with _lock:
        known = store.of(visitor).get(ONE)
    if known is None or known.what != what or what[1] is None:
        known = read(model, trace, second, order)
    with _lock:
        store.keep(visitor, ONE, known)  # stored readings too, for they may have grown by maps
    return known


def read(model: LanguageModel, trace: Trace, second: str, order: tuple[int, ...]) -> Readings:
    orders: dict[bool, BothOrders] = {}
    what = model, model.condition, trace.text, second, order
    try:
        for positions in (True, False):
            orders[positions] = recipes.read(model, trace, list(order), second, positions)
    except ValueError:
        return Readings(orders, "hub" if orders else "longer", what)
    return Readings(orders, "already" if model.network.config.positions == "none" else "", what)


def forget(model: LanguageModel) -> None:
    """Drop a model's readings."""
    with _lock:
        for visitor in store.owners:
            if any(stored.what[0] is model for stored in store.of(visitor).values()):
                store.drop(visitor, ONE)


def keep_for(here: visitors.Here) -> None:
    """Drop the readings of visitors who have left."""
    with _lock:
        store.keep_for(here)


loaded.shelf.leaving.append(forget)
visitors.leaving.append(keep_for)
