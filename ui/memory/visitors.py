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
    """What is done for a visitor, while they are here; afterwards nothing."""

    def __init__(self, do: Callable[..., Any]) -> None:
        self.do: Callable[..., Any] | None = do

    def __call__(self, *given: Any) -> Any:
        return self.do(*given) if self.do else None


_lock, _held = Lock(), dict[str, WeakSet[Held]]()


_acting_for: ContextVar[str] = ContextVar("headlight_visitor", default="")


def me() -> str:
    """For whom this thread works: what is kept for them is bounded; "" for nobody."""
    run = get_script_run_ctx(suppress_warning=True)
    return run.session_id if run else _acting_for.get()


def is_run() -> bool:
    """Whether this thread runs a page."""
    return get_script_run_ctx(suppress_warning=True) is not None


@contextmanager
def acting_for(visitor: str) -> Iterator[None]:
    """Work for a visitor inside the `with` block, on a thread that runs no page."""
    token = _acting_for.set(visitor)
    try:
        yield
    finally:
        _acting_for.reset(token)


def is_here(visitor: str) -> bool:
    """Whether a visitor is connected; so is what works outside of a page."""
    return not visitor or not runtime.exists() or runtime.get_instance().is_active_session(visitor)


def let_go() -> None:
    """Let go of what is kept for those who are gone. Who comes back after a moment without network has it computed again."""
    if not runtime.exists():
        return
    connected = runtime.get_instance().is_active_session
    for tell in leaving:
        tell(lambda visitor: not visitor or connected(str(visitor)))  # what is read outside of a page is nobody's


def hold(do: Callable[..., Any]) -> Held:
    """Something to do for this visitor until they go. What a press does, or a fragment, holds a text as a model has read it, and
    Streamlit keeps it for minutes after a browser has gone. Who comes back has their page drawn again (`ui.shell`)."""
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
