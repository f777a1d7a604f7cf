"""What each visitor's text made of the model in both orders, so that a press on a map reads nothing again."""

from __future__ import annotations

from dataclasses import dataclass
from threading import Lock

from analysis.word_order import BothOrders
from models.bounded import Bounded
from models.language_model import LanguageModel
from models.trace import Trace
from pages.inside.order import recipes
from ui.memory import loaded, visitors

ONE, BYTES = "the orders", 128 * 2**20  # of all visitors' readings


@dataclass(frozen=True)
class Readings:
    """A text in both orders. orders: read with positions (True) and, where the model can leave them out, without (False); note:
    the heading of what there is to say where one of them cannot be had, "" of nothing; what: it was read of."""

    orders: dict[bool, BothOrders]
    note: str
    what: tuple[LanguageModel, int | None, str, str, tuple[int, ...]]

    @property
    def bytes(self) -> int:
        """What it holds in memory."""
        return sum(one.bytes for one in self.orders.values())


_lock, store = Lock(), Bounded[str, Readings](1, BYTES)


def readings(visitor: str, model: LanguageModel, trace: Trace, second: str, order: tuple[int, ...]) -> Readings:
    """A text in both orders: what the visitor has already, or else read now, and kept in the place of their last."""
    what = model, model.condition, trace.text, second, order
    with _lock:
        known = store.of(visitor).get(ONE)
    if known is None or known.what != what or what[1] is None:
        known = read(model, trace, second, order)
    with _lock:
        store.keep(visitor, ONE, known)  # also one that was there: its maps may have been asked for
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
    """Let go of what a model has read."""
    with _lock:
        for visitor in store.owners:
            if any(one.what[0] is model for one in store.of(visitor).values()):
                store.drop(visitor, ONE)


def keep_for(here: visitors.Here) -> None:
    """Let go of what is kept for those who are gone."""
    with _lock:
        store.keep_for(here)


loaded.shelf.leaving.append(forget)
visitors.leaving.append(keep_for)
