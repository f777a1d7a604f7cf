"""The state of a lesson beside what `ui.state` has of it: the level of its reader, and the questions that they left out."""

from __future__ import annotations

from ui.state import Key

LEVELS: Key[tuple[str, str]] = Key("lesson-levels", ("", ""))  # of the open step, and the one that its reader chose
UNANSWERED = Key("lesson-unanswered", "")  # the lesson whose end was asked for while it has questions without an answer
