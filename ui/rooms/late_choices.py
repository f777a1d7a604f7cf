"""Echoes: replaced choices that a browser still sends. They do not mean that its visitor has touched anything."""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ui.rooms.store import Person, Room

# Seconds for which a browser may still send what was replaced, from when it shows what came instead: its request may have been on
# its way, or wait behind another run.
ECHO = 2.5
# The same of a page. What fragments send of a page that is left is dropped (`ui.serving.leaving`), so mostly somebody has clicked
# its name in the menu.
ECHO_OF_PAGE = 0.3
# The same from when it was replaced, where the browser never says what it shows: longer than a busy server takes for a run.
UNHEARD = 60.0
KEPT = 60  # replaced choices, one for each of UNHEARD seconds: who leads by typing fills that in less, and the oldest go


class Replaced(NamedTuple):
    """Choices that were replaced: when, by the room's clock, and at which version of the room."""

    when: float
    version: int
    choices: dict[str, Any]


@dataclass
class Echoes:
    """The choices that were replaced on a visitor's page."""

    room: Room
    person: Person
    replaced: deque[Replaced] = field(default_factory=lambda: deque(maxlen=KEPT))

    def note(self, choices: dict[str, Any], version: int) -> None:
        """Remember choices that are replaced, and the version of the room."""
        self.replaced.append(Replaced(self.room.clock(), version, choices))

    def awaited(self, mirrors: bool, echo: float = ECHO) -> list[dict[str, Any]]:
        """Return the choices that the browser may still send. It reports which version it shows, but late on a busy server.

        mirrors: whether the visitor leads and shows another leader's move: a leader more often chooses again what was just there
        than a browser is late."""
        now = self.room.clock()
        if mirrors:
            return [choices for when, _, choices in self.replaced if now - when < ECHO]
        return [
            choices
            for when, version, choices in self.replaced
            if now - when < UNHEARD and now - max(when, self.person.shows(version)) < echo
        ]
