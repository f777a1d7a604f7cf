"""Names of scores and labels: on the board, in a link, and in a sentence."""

from __future__ import annotations

from ui import state

SCORES = ("previous", "current", "next", "first", "separator", "duplicate", "induction", "name", "alignment")
WRITTEN = dict(zip(SCORES, state.HEADS_LABEL.values[1:], strict=True)) | {"positional": "positions"}
NAMED = {written: name for name, written in WRITTEN.items()}
EVERY = state.HEADS_LABEL.values[0]
