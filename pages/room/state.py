"""The choices of page "Room", except the room itself, which every page needs (`ui.state.ROOM`)."""

from __future__ import annotations

from typing import Any

from ui.state import Key

ROOM_WRITTEN = Key("room-written", "")  # a code that is typed
ROOM_NOTES = Key("room-notes-shown", False)  # whether who leads sees what the class is not to see
ROOM_ASK, ROOM_KIND, ROOM_CHOICES = Key("room-ask", ""), Key("room-kind", "choices"), Key("room-choices", "")
ROOM_MODEL, ROOM_RIGHT = Key("room-model", ""), Key("room-right", "")
ROOM_RIGHT_CHOICE: Key[str | None] = Key("room-right-choice", None)
ROOM_PAGES, ROOM_FIXED_LEVEL = Key[Any]("room-pages", ()), Key("room-fixed-level", False)
ROOM_FIXED_MODEL = Key("room-fixed-model", False)
