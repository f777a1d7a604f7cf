"""The state of a room: a strip that listens to the room's line, reruns the page once per move, and asks the room's question."""

from __future__ import annotations

from typing import Any

from viz.view import View, pack


def room(code: str, *, who: str, role: str, follows: bool, taken: int, large: bool = False, **more: Any) -> View:
    """Draw the strip of one browser.

    who: its seat, which opens the line; role: "leads", "follows", or "waits" for a room that does not exist; follows: whether it
    follows moves now; taken: the version of the room that the page shows; large: whether it shows everything that a leader sees.
    more: `ticket` and `key`, which the browser saves; `said` and `refused`, sentences; `elsewhere`, whether another process of
    the server has the room, so that the page goes there. A click sends `chosen`: `{"ask": "run", "out", "follow", "seat" or
    "leave", "n"}`.
    """
    seat = {"code": code, "who": who, "role": role, "follows": follows, "taken": taken, "large": large, **more}
    return View("room", pack(seat), f"Room {code}")
