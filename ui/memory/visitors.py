"""The visitors who are connected; data kept for a visitor is dropped when the visitor leaves."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from threading import Lock
from typing import Any
from weakref import WeakSet

from streamlit import runtime
from streamlit.runtime.scriptrunner import get_script_run_ctx

Here = Callable[[Hashable], bool]
"""Whether a visitor is connected."""

leaving: list[Callable[[Here], None]] = []  # asked, whenever somebody has gone, to keep nothing for those who are not here


class Held:
    """A function that acts for a visitor while they are connected, and does nothing afterwards."""

    def __init__(self, do: Callable[..., Any]) -> None:
        self.do: Callable[..., Any] | None = do

    def __call__(self, *given: Any) -> Any:
        return self.do(*given) if self.do else None


_lock, _held = Lock(), dict[str, WeakSet[Held]]()


_acting_for: ContextVar[str] = ContextVar("headlight_visitor", default="")


def me() -> str:
    """Return the visitor for whom this thread works, so that data kept for them can be limited; "" for nobody."""
    run = get_script_run_ctx(suppress_warning=True)
    return run.session_id if run else _acting_for.get()


def is_run() -> bool:
    """Return whether this thread runs a page."""
    return get_script_run_ctx(suppress_warning=True) is not None


@contextmanager
def acting_for(visitor: str) -> Iterator[None]:
    """Act for a visitor inside the `with` block, on a thread that runs no page."""
    token = _acting_for.set(visitor)
    try:
        yield
    finally:
        _acting_for.reset(token)


def is_here(visitor: str) -> bool:
    """Return whether a visitor is connected; work outside of a page counts as connected."""
    return not visitor or not runtime.exists() or runtime.get_instance().is_active_session(visitor)


def let_go() -> None:
    """Drop the data kept for visitors who have left. For a visitor who returns after a moment without network, it is computed
    again.
    """
    if not runtime.exists():
        return
    connected = runtime.get_instance().is_active_session
    for tell in leaving:
        tell(lambda visitor: not visitor or connected(str(visitor)))  # what is read outside of a page is nobody's


def hold(do: Callable[..., Any]) -> Held:
    """Return a function that acts for this visitor until they leave. Callbacks and fragments hold traces, and Streamlit keeps
    them for minutes after a browser has gone. A returning visitor's page is drawn again (`ui.shell`)."""
    held = Held(do)
    with _lock:
        _held.setdefault(me(), WeakSet()).add(held)
    return held


def _let_go_of(here: Here) -> None:
    with _lock:
        gone = [held for visitor in list(_held) if not here(visitor) for held in _held.pop(visitor)]
    for held in gone:
        held.do = None


leaving.append(_let_go_of)
