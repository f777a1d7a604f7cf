"""A clock that tests set, and rooms with people in them."""

from __future__ import annotations

from ui.rooms.store import Room, Rooms


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def seated(rooms: Rooms, count: int = 1) -> Room:
    """A new room with so many people whose pages are open, called "0", "1", …"""
    room, _ = rooms.open()
    for number in range(count):
        room.sit(str(number), f"browser {number}").lines = 1
    return room
