"""The state of a room: a strip that listens to the room's line, has the page run once per move, and asks its question."""

from __future__ import annotations

from typing import Any

from viz.view import View, pack


def room(code: str, *, who: str, role: str, follows: bool, taken: int, large: bool = False, **more: Any) -> View:
    """The strip of one browser.

    who: its seat, which opens the line; role: "leads", "follows", or "waits" for a room that is not there; follows: whether moves
    are followed now; taken: the version of the room that stands on the page; large: with all that who leads sees. more: `ticket`
    and `key`, which the browser keeps; `said` and `refused`, sentences; `elsewhere`, whether another process of the server has
    the room, and the page goes there. A press tells `chosen`: `{"ask": "run", "out", "follow", "seat" or "leave", "n"}`.
    """
    seat = {"code": code, "who": who, "role": role, "follows": follows, "taken": taken, "large": large, **more}
    return View("room", pack(seat), f"Room {code}")
