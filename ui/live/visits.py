"""The server's data on each visitor's line: the key that identifies the visitor, and the page and model to ask about."""

from __future__ import annotations

import secrets
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ui.memory import visitors

if TYPE_CHECKING:
    from ui.state import Key


@dataclass
class Visit:
    """A visitor with a page whose board can be asked for on a line.

    key: the proof, which only that page gets. page, model: those of the last run; "" while no line answers there. composer: makes
    the board of that page from a `Look` and the page's own choices, and raises ValueError, a sentence, for one that is not
    allowed. picker, changer: as in `ui.live.connect.Live`. frame: of the board that this run has placed (`Board.frame`). run:
    the number of that run. lines: how many are open. lost: the number of the run whose kept token the line has let go,
    because a text was too short for it; -1 for none. newest: the last message on the line, until a run has its texts; "" for
    none. boxes: the keys of the text boxes that runs have placed, by their names. sent: what these have sent for a run, by
    their names, until a run has it; brought: what of that the visitor brings along from a page that was left.
    """

    session: str
    key: str = field(default_factory=lambda: secrets.token_urlsafe(24), repr=False)
    page: str = ""
    model: str = ""
    composer: Callable[..., Any] | None = None
    picker: Callable[..., Any] | None = None
    changer: Callable[..., Any] | None = None
    frame: object = None
    run: int = 0
    lines: int = 0
    lost: int = -1
    newest: str = field(default="", repr=False)
    boxes: dict[str, Key[str]] = field(default_factory=dict)
    sent: dict[str, str] = field(default_factory=dict, repr=False)
    brought: dict[str, str] = field(default_factory=dict, repr=False)
    knows_typed: bool = False


_visits: dict[str, Visit] = {}
_by_key: dict[str, Visit] = {}


def begin(session: str) -> Visit:
    """Return the visit of a session; it begins with the first text box."""
    visit = _visits.get(session) or _visits.setdefault(session, Visit(session))
    _by_key[visit.key] = visit
    return visit


def mine() -> Visit | None:
    """Return the visit of this run; None where no page of its visitor has had a text box."""
    return _visits.get(visitors.me())


def end() -> None:
    """Note that the page of this run has no line."""
    if visit := mine():
        visit.page = visit.model = ""


def of_key(key: str) -> Visit | None:
    """Return the visit that a key proves; None if it proves none."""
    return _by_key.get(key)


def is_open(page: str) -> bool:
    """Return whether the visitor of this run has a line that answers for a page."""
    visit = mine()
    return visit is not None and visit.lines > 0 and visit.page == page


def note_sent(session: str, texts: dict[str, str]) -> None:
    """Note texts that a browser sends for a run of a page, by the names of their boxes; other names are left out."""
    visit = _visits.get(session)
    if visit is None or not (sent := {name: text for name, text in texts.items() if name in visit.boxes}):
        return
    visit.sent = visit.sent | sent


def bring(session: str, texts: dict[str, str], knows_typed: bool) -> None:
    """Note that a browser leaves a page, with texts that no box has sent. These, and what no run has of those that were sent,
    come along to the next page. knows_typed: as of a `Visit`."""
    if visit := _visits.get(session):
        visit.knows_typed = knows_typed
        newest = {name: text for name, text in texts.items() if name in visit.boxes}
        visit.brought, visit.sent = visit.brought | visit.sent | newest, {}


def take_brought() -> dict[Key[str], str]:
    """Return, once, the texts that no run had on the pages that this visitor has left, by the keys of their boxes."""
    if (visit := mine()) is None:
        return {}
    brought, visit.brought = visit.brought, {}
    return {visit.boxes[name]: text for name, text in brought.items()}


def settle(key: Key[str], text: str) -> None:
    """Note that this run has a text in a box."""
    visit = begin(visitors.me())
    visit.boxes[key.name] = key
    for texts in (visit.sent, visit.brought):
        if texts.get(key.name) == text:
            texts.pop(key.name, None)


def forget_typed(key: Key[str]) -> None:
    """Forget what was typed last: the server writes another text into a box."""
    if visit := mine():
        visit.newest = ""
        for texts in (visit.sent, visit.brought):
            texts.pop(key.name, None)


def take_lost_token() -> bool:
    """Return, once, whether the line has let go the token that this visitor's last run kept chosen."""
    visit = mine()
    if visit is None or visit.lost != visit.run:
        return False
    visit.lost = -1
    return True


def _let_go_of(here: visitors.Here) -> None:
    for session in list(_visits):
        if not here(session) and (visit := _visits.pop(session, None)):
            _by_key.pop(visit.key, None)


visitors.leaving.append(_let_go_of)
