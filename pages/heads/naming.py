"""Names of scores and labels: on the board, in a link, and in a sentence."""

from __future__ import annotations

from pages.heads import state as page_state

SCORES = ("previous", "current", "next", "first", "separator", "duplicate", "induction", "name", "alignment")
WRITTEN = dict(zip(SCORES, page_state.HEADS_LABEL.values[1:], strict=True)) | {"positional": "positions"}
NAMED = {written: name for name, written in WRITTEN.items()}
EVERY = page_state.HEADS_LABEL.values[0]
