"""The state of a lesson beside what `ui.state` has of it: the reader's level and own choices, and the questions left out."""

from __future__ import annotations

from typing import Any

from ui.state import Key

LEVELS: Key[tuple[str, str]] = Key("lesson-levels", ("", ""))  # of the open step, and the one that its reader chose
UNANSWERED = Key("lesson-unanswered", "")  # the lesson whose end was asked for while it has questions without an answer
OWN: Key[dict[str, Any] | None] = Key("lesson-own", None)  # level, model and texts before the lesson
